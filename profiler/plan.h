// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The points (D, P) at which a kernel is measured: small sizes, together and apart, some of them odd so that
// alignment shows; blocks spread over the legal ones; the largest sizes held out.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/analysis/launches/description.h"
#include "profiler/annotated_plan.h"
#include "profiler/plan_levels.h"
#include "profiler/profile.h"
#include "trimtab/driver.h"

namespace trimtab::profiler {

// How a data parameter is varied.
enum class Role : std::uint8_t {
    extent,    // threads of the launch: what the guards ask for, or a size of its own
    bound,     // sets which indices pass the guards
    size,      // a trip count or a stride
    part,      // shortens a loop together with others: kept below the sizes
    small,     // work grows very fast with it
    exponent,  // the number of indices that pass the guards doubles with it: 1 << n
    pitch,     // changes addresses alone: at least as large as every size
    offset,    // only moves addresses: 0
    fixed      // a flag, or floating-point: 1
};

// Threads of a launch of one dimension, for each that one of two has in a row.
inline constexpr double of_one_dimension = 4;

// As a filter's width.
inline constexpr double few_iterations = 3;

struct PlannedPoint {
    std::vector<double> data;                      // D, extents included
    trimtab_dim3 extent{1, 1, 1}, block{1, 1, 1};  // the grid covers the extent exactly where it is stated
    std::uint32_t dynamic_shared_bytes = 0;
    bool held_out = false;
    bool boxes = false;         // footprints of boxes of several blocks are wanted too
    bool counts_alone = false;  // what a warp executes is wanted, and not what it touches
};

class Planner {
  public:
    // Roles as the description tells them; set_role() corrects them by what runs show.
    Planner(const analysis::KernelDescription& description, const PlanOptions& options);

    [[nodiscard]] const std::vector<Role>& roles() const { return roles_; }
    void set_role(std::size_t data, Role role) { roles_[data] = role; }
    // A number that the data has at all points but special ones: the kernel does nothing at others.
    void set_mode(std::size_t data, double mode) {
        roles_[data] = Role::fixed;
        modes_[data] = mode;
    }
    [[nodiscard]] bool has_mode(std::size_t data) const { return modes_.contains(data); }
    void drop_mode(std::size_t data, Role role) {
        roles_[data] = role;
        modes_.erase(data);
    }
    // A size of the data that is this many times the others, or such a share of them.
    void set_scale(std::size_t data, double scale) { scales_[data] = scale; }
    [[nodiscard]] double scale(std::size_t data) const { return scales_[data]; }
    // Of what is small: no more than so much.
    void set_most(std::size_t data, double most) { most_[data] = most; }
    // Values of the data that are multiples of this alone: vectors are loaded at multiples of it.
    void set_unit(std::size_t data, double unit) { units_[data] = unit; }
    // A size or part that each thread counts to by itself: it is planned as few, too.
    void set_count(std::size_t data) { counts_[data] = true; }
    // Blocks beyond this many do nothing, in a dimension whose grid stays: programs launch as many. False: the grid is no
    // size of its own.
    bool set_rows(std::size_t dimension, std::size_t data);
    [[nodiscard]] bool sets_rows(std::size_t data) const {
        return std::ranges::find(rows_, data) != rows_.end();
    }
    // A size that is how far apart neighbouring threads' rows lie, too: it is planned at `least` as well, where these begin
    // to share no sectors.
    void set_width(std::size_t data, double least) { widths_[data] = least; }
    [[nodiscard]] bool has_widths() const { return !widths_.empty(); }
    [[nodiscard]] bool is_of_one_dimension() const { return dimensions_ == 1; }
    // Strides that are 1 together, or one that is a few, at further points: neighbours lie side by side there, or nearly, and
    // far apart elsewhere.
    using Layout = std::vector<SpecialValue>;
    void set_layouts(std::vector<Layout> layouts) { layouts_ = std::move(layouts); }
    [[nodiscard]] bool drop_layout();  // the last one; false: there is none
    // At further points, all together each: the kernel does something else there. The first ones matter most.
    void set_special(std::vector<Layout> special) { special_ = std::move(special); }
    [[nodiscard]] bool drop_special();  // likewise
    // All sizes become smaller by half; false where they are as small as they may be.
    bool halve_sizes();
    // The same of those that bound indices: as many rounds as their product is a thread may run.
    bool shrink_bounds();

    // D with every size at one of the levels (plan_levels.h), extents as the guards ask.
    [[nodiscard]] std::vector<double> data_at(std::size_t level) const;
    [[nodiscard]] std::vector<PlanLevel> levels() const;
    // `data` with one parameter changed, extents as the guards then ask.
    [[nodiscard]] std::vector<double> with(std::vector<double> data, std::size_t parameter,
                                           double value) const;
    // `data` with pitches that are multiples of `alignment` alone, and so large that no two rows or planes meet.
    [[nodiscard]] std::vector<double> apart(std::vector<double> data, double alignment) const;
    [[nodiscard]] trimtab_dim3 extent_of(const std::vector<double>& data) const;
    // Legal at `data`; several, from wide to narrow, the first one ordinary. Empty: no block can be chosen.
    [[nodiscard]] std::vector<trimtab_dim3> blocks_at(const std::vector<double>& data) const;
    // The launch of a block at `data`, as annotations state it: its D has the extents of that block.
    [[nodiscard]] std::optional<PlannedPoint> point(const std::vector<double>& data,
                                                    const trimtab_dim3& block) const;
    [[nodiscard]] std::vector<PlannedPoint> points() const;

  private:
    [[nodiscard]] bool is_aligned() const;
    [[nodiscard]] double value_at(std::size_t parameter, std::size_t level) const;
    [[nodiscard]] double any_value_at(std::size_t parameter, std::size_t level) const;
    [[nodiscard]] bool is_symbol(std::size_t parameter) const;
    void finish(std::vector<double>& data) const;
    void set_grid_scale();
    void set_thread_factor();
    void scale_bound_of_product();
    void find_bounds();
    [[nodiscard]] bool is_bounded() const;
    [[nodiscard]] bool runs_on(std::size_t dimension) const;
    [[nodiscard]] std::optional<double> threads_at(std::size_t level) const;
    [[nodiscard]] PlanOptions bound_options() const;
    [[nodiscard]] std::vector<std::size_t> free_dimensions() const;
    [[nodiscard]] std::uint32_t most_threads() const;
    [[nodiscard]] std::vector<trimtab_dim3> annotated_blocks(const std::vector<double>& data,
                                                             const trimtab_dim3& extent) const;
    [[nodiscard]] bool must_divide(std::size_t dimension) const;
    [[nodiscard]] bool of_warps(std::size_t dimension) const;
    [[nodiscard]] std::vector<std::vector<double>> data_points(std::size_t& held_out_from) const;
    [[nodiscard]] std::vector<std::vector<double>> layout_data(const Layout& layout,
                                                               std::size_t& held_out_from) const;
    [[nodiscard]] std::vector<std::vector<double>> data_with(const std::vector<std::vector<double>>& data,
                                                             const Layout& values,
                                                             std::size_t& held_out_from) const;
    void add_few(std::vector<PlannedPoint>& out) const;
    void add_widths(std::vector<PlannedPoint>& out) const;
    void add_points(const std::vector<std::vector<double>>& data, std::size_t held_out_from,
                    std::vector<PlannedPoint>& out) const;

    const analysis::KernelDescription& description_;
    AnnotatedPlan annotation_;
    double grid_scale_ = 1;     // of what moves a stated grid: enough for several blocks
    double thread_factor_ = 1;  // of sizes that set how many threads there are
    double bound_spread_ = 1;   // by how much lower those begin of which the threads grow faster than they do
    std::uint32_t bound_most_ = std::numeric_limits<std::uint32_t>::max();  // of those
    std::optional<std::size_t> product_bound_;                              // no row is as wide as that
    bool whole_sizes_ = false;  // the annotation allows few blocks at sizes that are no whole warps
    PlanOptions options_;
    std::vector<Role> roles_;
    std::vector<double> scales_;            // of D, for sizes, bounds and parts
    std::vector<double> units_;             // of D
    std::vector<double> most_;              // of D, for small ones
    std::map<std::size_t, double> widths_;  // by place in D
    std::map<std::size_t, double> modes_;   // by place in D
    std::vector<bool> counts_;              // of D
    std::vector<Layout> layouts_;
    std::vector<Layout> special_;
    std::array<std::optional<std::size_t>, 3> extents_;  // in D
    std::array<bool, 3> free_extent_{};                  // the extent is a size of its own
    std::array<std::optional<std::size_t>, 3> rows_;     // in D: what the extent is, in blocks
    std::size_t dimensions_ = 0;                         // that the kernel reads
};

}  // namespace trimtab::profiler
