// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's fitted low-level metrics: each a piece-wise rational function of the data parameters and of the
// box of threads. This is member "fits" of a kernel's record (include/trimtab/section.h); the generated
// driver program computes the same functions with the same operations in the same order, to the last bit.
//
//     fits_from_json(record["kernels"][0]["fits"], "gemm")          -> KernelFits
//     fits.evaluate(Metric::load_sectors, data, 32, 8, 1)           sectors per active warp at D, block (32,
//     8) program.evaluate(inputs, metric_function(fits, data))         predicted time, as the driver computes
//     it to_text(fits, Metric::load_sectors)                           for people
//
// JSON: {"abi": 1, "data": ["NI", ..], "profiled": [{"name", "least", "most", "varied", "number",
// "stride"}], "ranges":
// {"x": {"first": {"constant", "terms": [["NJ", 1]]}, "end": .., "extent": "extent.x"}, ..}, "variables":
// [{"kind", "data", "unit", "offset"}], "metrics": [{"metric", "form", "least", "most", "exact",
// "data_dependent", "pieces": [{"when": {"variable", "below"} | null, "numerator": [{"coefficient",
// "exponents": [[variable, exponent]]}], "denominator": [..]}], "quality": {..}}]}. Variables are given by
// index in "variables". A metric also has "rivals": [[piece, ..], ..] where it has any. Where the kernel has strides:
// "layouts": [{"near": [index in "data", ..], "metrics": [..]}]. Where it has flags or modes: "special": [[index in
// "data", value], ..], and the layouts have these in "values" and nothing in "near".
#pragma once

#include <cstdint>
#include <expected>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/metrics.h"
#include "core/model/rational_program.h"
#include "driver_gen/variables.h"
#include "profiler/special_values.h"
#include "trimtab/error.h"

namespace trimtab::driver_gen {

inline constexpr unsigned fits_abi = 1;

// coefficient * product of variables to integer powers, negative ones included (a Laurent monomial).
struct Monomial {
    double coefficient = 0;
    std::vector<std::pair<std::uint32_t, std::int32_t>> exponents;  // variable (KernelFits::variables), power
    friend bool operator==(const Monomial&, const Monomial&) = default;
};

// A decision node: the piece holds where `variable` < `below`.
struct Condition {
    std::uint32_t variable = 0;
    double below = 0;
    friend bool operator==(const Condition&, const Condition&) = default;
};

struct Piece {
    std::optional<Condition> when;      // none: everywhere else; the last piece has none
    std::vector<Monomial> numerator;    // empty: 0
    std::vector<Monomial> denominator;  // empty: 1; else proved to have no zero where every variable is >= 0
    friend bool operator==(const Piece&, const Piece&) = default;
};

enum class Form : std::uint8_t { constant, polynomial, laurent, rational };
[[nodiscard]] std::string_view name(Form form);

// Errors are relative: 0.1 is ten per cent. "Held out" are points that the fit did not see, the largest sizes
// among them; for them the errors are of the fit before those points were added to it.
struct FitQuality {
    std::uint32_t points = 0, held_out_points = 0;
    double mean_error = 0, max_error = 0;
    double held_out_mean_error = 0, held_out_max_error = 0;
    double condition = 1;              // of the scaled columns, the worst over the pieces
    std::uint32_t columns = 0;         // monomials that were offered
    std::uint32_t rank = 0;            // kept, the least over the pieces
    std::int32_t data_degree = 0;      // bounds that were set: total degree in D,
    std::int32_t box_degree = 0;       // and in the variables of the box
    std::uint32_t forms_compared = 0;  // among how many forms this one was picked
    friend bool operator==(const FitQuality&, const FitQuality&) = default;
};

struct FittedMetric {
    model::Metric metric = model::Metric::warp_instructions;
    Form form = Form::constant;
    std::vector<Piece> pieces;  // the first whose condition holds; never empty
    // Other functions that tell the profile as well as this one does, each as `pieces`: where they part, the profile
    // does not say which of them holds.
    std::vector<std::vector<Piece>> rivals;
    double least = 0, most = std::numeric_limits<double>::max();  // evaluate() clamps to these
    bool exact = false;                                           // every profiled point is met to rounding
    bool data_dependent = false;  // it changed with the contents of the arrays
    FitQuality quality;
    friend bool operator==(const FittedMetric&, const FittedMetric&) = default;
};

// What the profile can speak for.
struct ProfiledParameter {
    double least = 0, most = 0;
    bool varied = true;  // false: the profile knows one value, which any other makes uncertain
    // A threshold or a step, which decides how much is done as the contents of arrays do: another one makes
    // the time uncertain, and the choice only where the order of blocks hangs on it.
    bool is_number = false;
    bool is_stride = false;  // profiler::Profile: below `least` only layouts hold
    friend bool operator==(const ProfiledParameter&, const ProfiledParameter&) = default;
};

// What a launch does where some arguments have values of their own: strides of 1, which lay arrays out in another way, or
// flags and modes.
struct Layout {
    std::vector<profiler::SpecialValue> values;  // ascending; the kernel's other arguments have none of these
    std::vector<FittedMetric> metrics;           // instead of those of KernelFits; of the same metrics
    [[nodiscard]] const FittedMetric* find(model::Metric metric) const;
    friend bool operator==(const Layout&, const Layout&) = default;
};

struct KernelFits {
    std::vector<std::string> data_names;      // D, in the description's order
    std::vector<ProfiledParameter> profiled;  // alongside
    IndexRanges ranges;
    std::vector<Variable> variables;  // those that some fit uses
    std::vector<FittedMetric> metrics;
    std::vector<profiler::SpecialValue> special;  // of flags and modes; ascending
    std::vector<Layout> layouts;                  // that were profiled beside the one without any such value

    [[nodiscard]] const FittedMetric* find(model::Metric metric) const;
    // The same where D's strides are these.
    [[nodiscard]] const FittedMetric* find(model::Metric metric, std::span<const double> data) const;
    // Strides at 1, and `special`.
    [[nodiscard]] std::vector<profiler::SpecialValue> special_values() const;
    // Of D: 0: it has none of these; else 1 + the index in `layouts`. Nothing: it was not profiled.
    [[nodiscard]] std::optional<std::size_t> layout_of(std::span<const double> data) const;
    // Is D[i] one of the values of a stride or a mode that were profiled apart?
    [[nodiscard]] bool is_near_at(std::span<const double> data, std::size_t i) const;
    // The metric per active warp, block or launch (core/model/metrics.h) at D for a box of x * y * z threads; 0
    // for a metric without a fit. Where D lies beyond the profile it extrapolates.
    [[nodiscard]] double evaluate(model::Metric metric, std::span<const double> data, double x, double y,
                                  double z) const;
    // What pieces of these fits say there, clamped to no range.
    [[nodiscard]] double fitted(std::span<const Piece> pieces, std::span<const double> data, double x,
                                double y, double z) const;
    // Outside what the profile can speak for: a parameter that it knows at one value only has another, a stride is
    // below what it knows, flags have values that were not profiled together, or no index passes the
    // guards. 0, or TRIMTAB_DOUBT(why, place in data).
    [[nodiscard]] std::uint32_t outside(std::span<const double> data) const;
    [[nodiscard]] bool uncertain(std::span<const double> data) const { return outside(data) != 0; }
    // Numbers that reach a branch are none that were profiled: 0, or such a doubt.
    [[nodiscard]] std::uint32_t other_number(std::span<const double> data) const;
    [[nodiscard]] bool has_other_numbers(std::span<const double> data) const {
        return other_number(data) != 0;
    }
    friend bool operator==(const KernelFits&, const KernelFits&) = default;
};

// Keeps a reference to `fits` and a copy of `data`.
[[nodiscard]] model::RationalProgram::MetricFunction metric_function(const KernelFits& fits,
                                                                     std::span<const double> data);

[[nodiscard]] nlohmann::json to_json(const KernelFits& fits);
[[nodiscard]] std::expected<KernelFits, Error> fits_from_json(const nlohmann::json& json,
                                                              const std::string& origin);

// "load_sectors = 0.125 NK lanes_x + NK warp_rows    where x < 8 ..." and a line on its quality. Lines end in
// '\n'.
[[nodiscard]] std::string to_text(const KernelFits& fits, model::Metric metric);
// Every metric, the index ranges and the parameters.
[[nodiscard]] std::string to_text(const KernelFits& fits);
// "0.125 NK lanes_x + 3".
[[nodiscard]] std::string to_text(std::span<const Monomial> sum, const KernelFits& fits);

}  // namespace trimtab::driver_gen
