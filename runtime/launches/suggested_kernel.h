// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel under `trimtab suggest`: its hypotheses, and with which blocks they have stood so far.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emulation/cuda/launch_check.h"
#include "runtime/launches/hypotheses.h"
#include "runtime/launches/verification.h"

namespace trimtab::runtime {

class SuggestedKernel {
  public:
    // `number`: of kernels launched before.
    SuggestedKernel(const LaunchToVerify& launch, std::uint64_t launches_of_a_kind, std::uint64_t number);

    [[nodiscard]] std::uint64_t number() const { return number_; }
    // Of another launch that is tried: the first seed of its orders, whatever became of other kernels.
    [[nodiscard]] std::uint64_t next_orders() {
        constexpr std::uint64_t of_a_launch = 1000;
        return (number_ << 32) + of_a_launch * tries_++;
    }

    // Why the launch is not tried, if so: the kernel then has no suggestion of it.
    [[nodiscard]] std::string why_not(const LaunchToVerify& launch) const;
    void skip(const std::string& why);
    // Is this launch one of those that are tried?
    [[nodiscard]] bool is_due(const LaunchToVerify& launch);

    // Has every hypothesis fallen?
    [[nodiscard]] bool is_hopeless() const;

    // Begins with a launch: hypotheses that do not describe it fall. 0: none is left. Else the launch's number,
    // for what follows: of another launch than the one begun last (of another thread, or of a graph that runs
    // later) nothing is taken.
    [[nodiscard]] std::uint64_t begin(const LaunchToVerify& launch, analysis::ArgumentBytes arguments);
    // The next shape to try, for what became of the one before.
    [[nodiscard]] std::optional<cuda::LaunchShapeToCheck> next(std::uint64_t number,
                                                               const cuda::ShapeOutcome* before);
    void finish(std::uint64_t number, const cuda::LaunchCheckResult& result);

    [[nodiscard]] nlohmann::ordered_json to_json() const;

  private:
    enum class Cell : std::uint8_t { same, rounded, wrong };
    struct Tried {
        Cell cell = Cell::same;
        bool is_watched = false;
        double duration_ns = 0;  // of the launch that took longest as written
        std::string why;         // it is wrong
    };
    using Block = std::array<std::uint32_t, 3>;
    struct Supposed {
        Hypothesis hypothesis;
        std::string fallen;  // not empty: it does not describe a launch, and why
        std::map<Block, Tried> tried;
        // Of kernels with several bodies: how their blocks follow, and the name and host function of each block's.
        BlockOfVariant blocks;
        std::map<Block, std::pair<std::string, const void*>> bodies;
        // In the launch under way.
        std::map<Block, model::LaunchConfiguration> launches;
        unsigned right = 0, wrong = 0;
    };
    using Shape = std::array<std::uint64_t, 8>;  // grid, block, dynamic shared bytes, host function
    [[nodiscard]] static Shape shape_of(const Supposed& supposed, const Block& block);
    // Hypotheses of the first launch.
    void suppose(const LaunchToVerify& launch, analysis::ArgumentBytes arguments);
    // The launches that it makes of the kernel's other bodies.
    void add_bodies(Supposed& supposed, const LaunchToVerify& launch, analysis::ArgumentBytes arguments,
                    std::vector<trimtab_dim3>& blocks);

    // Of the first launch, after a few blocks: the likeliest go on, and those that say the same of them.
    void keep_the_likeliest();
    void note(const Block& block, const cuda::ShapeOutcome& outcome, std::size_t index);

    std::string kernel_, object_, device_;
    std::vector<std::string> parameters_;
    std::map<std::string, analysis::Variant> variants_;  // its own, and of the bodies that were tried
    const std::uint64_t launches_of_a_kind_, number_;
    std::uint64_t tries_ = 0;
    std::string skipped_;  // a launch of it was not tried, and why
    std::string refused_;  // the kernel cannot be judged, and why
    std::vector<Supposed> supposed_;
    bool has_begun_ = false;
    std::map<std::string, std::uint64_t> kinds_;
    std::uint64_t launches_ = 0, runs_ = 0, changed_bytes_ = 0;
    trimtab_dim3 written_block_{};    // of the first launch: blocks like it are tried
    std::set<Block> written_blocks_;  // of all
    double longest_ns_ = 0;

    std::uint64_t begun_ = 0, under_way_ = 0;  // launches; the number of the one under way, 0: none
    // Of the launch under way: the order in which cells are tried, and shapes that were.
    std::vector<std::pair<Block, std::size_t>> order_;
    std::size_t at_ = 0, probes_ = 0;  // so many cells are of the first few blocks
    std::map<Shape, cuda::ShapeOutcome> outcomes_;
    std::map<std::pair<Block, std::size_t>, cuda::ShapeOutcome> noted_;
};

}  // namespace trimtab::runtime
