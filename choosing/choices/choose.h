// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The decision for one launch: which block and grid, on whose word, and why.
#pragma once

#include <cmath>
#include <cstdint>
#include <expected>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "choosing/choices/choice_store.h"
#include "choosing/crosscheck/verdict.h"
#include "choosing/launch_shape.h"
#include "choosing/learning/turn.h"
#include "core/analysis/annotations/annotated_launch.h"
#include "core/analysis/launches/description.h"
#include "trimtab/driver.h"

namespace trimtab::choosing {

// As TRIMTAB_REPORT prints them.
enum class By : std::uint8_t { driver, remembered, annotated, unchanged, crosscheck, learned };
[[nodiscard]] std::string_view name(By by);
// A choice of this launch's own, made by a driver program, or by a cross-check or times of what that had chosen.
[[nodiscard]] inline bool is_new_choice(By by) {
    return by == By::driver || by == By::annotated || by == By::crosscheck || by == By::learned;
}

// How many of the best blocks are asked for: the first whose prediction can be relied on is taken.
inline constexpr std::uint32_t candidate_count = 4;

struct Decision {
    LaunchConfiguration launch;
    std::uint32_t body = 0;  // 0: the kernel's own; else, from 1, the place in KernelPlan::bodies()
    By by = By::unchanged;
    std::string reason;
    // NaN where nothing was predicted.
    double written_ns = std::numeric_limits<double>::quiet_NaN();
    double chosen_ns = std::numeric_limits<double>::quiet_NaN();
    bool remembered = false;       // from an earlier launch
    bool has_other_total = false;  // the grid has not the threads of the launch as written
    bool awaits_check = false;     // RememberedChoice::awaits_check
    // Its launch may be timed; and, of the launch at which that is over, what was learnt.
    std::optional<LearningTurn> turn{};
    // Of the launch at which a cross-check takes effect, or is found not to be ready.
    std::shared_ptr<const CheckOutcome> check{};
    std::uint32_t written_doubt = 0;  // of the prediction of the block as written; TRIMTAB_DOUBT_...
    std::uint32_t doubt = 0;  // not 0: it is kept because the prediction is uncertain; TRIMTAB_DOUBT_...
    // Not empty: what the driver program answered makes no sense, and nothing it says is to be trusted.
    std::string nonsense = {};
};

struct PredictedBlock {
    trimtab_dim3 block{};
    double ns = 0;
};

[[nodiscard]] Decision as_written(const LaunchShape& shape, std::string reason);

// Empty if a launch of the kernel may be changed at all, whatever is predicted; else why not.
[[nodiscard]] std::string stands_in_the_way(const analysis::KernelDescription& description,
                                            const LaunchShape& shape);

// The blocks that the launch may have, as proof, annotations and limits say; else why it keeps its own.
[[nodiscard]] std::expected<trimtab_limits, std::string> limits_of(
    const analysis::KernelDescription& description, analysis::ArgumentBytes arguments,
    const trimtab_device& device, const trimtab_image& image, const LaunchShape& shape);

// Another body of the kernel, that the launch may become (analysis::variant_mismatch() has nothing against it).
struct OtherBody {
    const analysis::KernelDescription* description = nullptr;
    const trimtab_driver* driver = nullptr;
    trimtab_image image{};
    std::uint64_t max_dynamic_shared_bytes = 0;  // as LaunchShape::max_dynamic_shared_bytes, of this body
};

// A choice of an earlier process, if it is legal for this launch still.
[[nodiscard]] std::optional<Decision> as_stored(const analysis::KernelDescription& description,
                                                const trimtab_device& device, const trimtab_image& image,
                                                const LaunchShape& shape, const StoredChoice& stored,
                                                std::span<const OtherBody> bodies = {});

// A kernel as a device runs it, and the driver program that predicts its times.
struct PredictedKernel {
    const analysis::KernelDescription& description;
    const trimtab_driver& driver;
    const trimtab_device& device;
    const trimtab_image& image;
};

// The predicted time of every block that the launch may have, for a report; empty where it may have no other.
// Of very many, evenly spread ones.
[[nodiscard]] std::vector<PredictedBlock> predict_all(const PredictedKernel& kernel,
                                                      const LaunchShape& shape);

// Another block only where it is legal for these arguments, its prediction can be relied on, and it is
// predicted to take less of the time of the block as written than 1 - `least_gain`.
[[nodiscard]] Decision choose(const PredictedKernel& kernel, const LaunchShape& shape, double least_gain);

}  // namespace trimtab::choosing
