// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/choices/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "choosing/choices/argument_key.h"
#include "choosing/choices/block_list.h"
#include "choosing/choices/choose_body.h"
#include "choosing/choices/doubt_text.h"
#include "choosing/choices/order.h"
#include "choosing/choices/other_totals.h"
#include "core/analysis/launches/legal_blocks.h"

namespace trimtab::choosing {
namespace {

// A time that a driver program stands by must be one.
bool is_time(double ns) {
    return std::isfinite(ns) && ns > 0;
}

}  // namespace

std::string stands_in_the_way(const analysis::KernelDescription& description, const LaunchShape& shape) {
    if (description.verdict == analysis::Verdict::fixed) {
        return description.reasons.empty() ? "the kernel must keep its block" : description.reasons[0].text;
    }
    if (shape.written.dynamic_shared_bytes > 0 && description.verdict != analysis::Verdict::annotated &&
        !description.annotated_shared)
        return "it is launched with dynamic shared memory";
    if (shape.arguments == nullptr && !description.parameters.empty())
        return "it is launched without its arguments";
    return {};
}

std::string_view name(By by) {
    switch (by) {
        case By::driver:
            return "driver";
        case By::remembered:
            return "remembered";
        case By::annotated:
            return "annotated";
        case By::unchanged:
            return "unchanged";
        case By::crosscheck:
            return "crosscheck";
        case By::learned:
            return "learned";
    }
    return "unchanged";
}

Decision as_written(const LaunchShape& shape, std::string reason) {
    Decision decision;
    decision.launch = shape.written;
    decision.reason = std::move(reason);
    return decision;
}

std::expected<trimtab_limits, std::string> limits_of(const analysis::KernelDescription& description,
                                                     analysis::ArgumentBytes arguments,
                                                     const trimtab_device& device, const trimtab_image& image,
                                                     const LaunchShape& shape) {
    if (std::string why = analysis::annotation_mismatch(description, arguments, shape.written); !why.empty())
        return std::unexpected(std::move(why));
    auto limits = analysis::legal_blocks(description, arguments, shape.written.grid, shape.written.block,
                                         device, image);
    if (!limits) return limits;
    // What the launch as written has, or could have had.
    const std::uint64_t could = shape.max_dynamic_shared_bytes != 0 ? shape.max_dynamic_shared_bytes
                                                                    : limits->max_dynamic_shared_bytes;
    limits->max_dynamic_shared_bytes = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(std::max(could, shape.written.dynamic_shared_bytes), 0x7fffffff));
    return limits;
}

namespace {

By by_of(const analysis::KernelDescription& description) {
    return description.verdict == analysis::Verdict::annotated ? By::annotated : By::driver;
}

Decision makes_no_sense(const LaunchShape& shape, const std::string& what) {
    Decision decision = as_written(shape, what);
    decision.nonsense = what;
    return decision;
}

}  // namespace

Decision choose(const PredictedKernel& kernel, const LaunchShape& shape, double least_gain) {
    const auto& [description, driver, device, image] = kernel;
    if (std::string reason = stands_in_the_way(description, shape); !reason.empty())
        return as_written(shape, std::move(reason));

    const std::vector<std::byte> arguments = argument_bytes(description, shape.arguments);
    const auto limits = limits_of(description, arguments, device, image, shape);
    if (!limits) return as_written(shape, limits.error());
    const std::vector<double> data = analysis::data_values(
        description, arguments, description.counted_extent(shape.written.grid, shape.written.block));
    const auto shared_bytes = static_cast<double>(shape.written.dynamic_shared_bytes);

    trimtab_prediction written{};
    if (driver.evaluate(&device, &image, data.data(), shape.written.block, shared_bytes, &written) != 0)
        return as_written(shape, "the block as written cannot be predicted");
    std::array<trimtab_choice, candidate_count> candidates{};
    if (written.uncertain == 0 && !is_time(written.predicted_ns))
        return makes_no_sense(shape, "its driver program predicts an invalid time");
    const auto select = [&](std::uint32_t count) {
        return driver.select(&device, &image, data.data(), &*limits, shared_bytes, count, candidates.data());
    };
    // How far a prediction can be relied on costs as much as several predictions: first only of the best.
    int found = select(1);
    std::uint32_t asked = 1;
    if (found == 1 && candidates[0].uncertain != 0) found = select(asked = candidate_count);
    Decision decision = as_written(shape, {});
    // A time whose error is as large as itself is none.
    if (std::isfinite(written.predicted_ns) && (written.uncertain == 0 || written.relative_error < 1))
        decision.written_ns = decision.chosen_ns = written.predicted_ns;
    if (found < 0) {
        decision.reason = "its driver program found no answer";
        return decision;
    }
    if (found > static_cast<int>(asked))
        return makes_no_sense(shape, "its driver program offers more blocks than it was asked for");
    const auto keep = [&](std::string_view what, std::uint32_t doubt) {
        const std::string why = doubt_text(driver, data, doubt);
        decision.reason = why.empty() ? std::string(what) : fmt::format("{}: {}", what, why);
        decision.doubt = std::max(doubt, TRIMTAB_DOUBT_UNTOLD);
        return decision;
    };
    if (!can_be_ordered(written.uncertain) || std::isnan(decision.written_ns)) {
        return keep("the prediction of the block as written is uncertain", written.uncertain);
    }
    decision.written_doubt = written.uncertain;
    const PredictedLaunch as_written_launch{{data.data(), shape.written.block, shared_bytes},
                                            written.uncertain};
    bool any_known = false;
    std::uint32_t order_doubt = 0;  // of a block that is predicted faster
    for (int i = 0; i < found; ++i) {
        const trimtab_choice& candidate = candidates[static_cast<std::size_t>(i)];
        // The search keeps to the limits; what it says is checked all the same.
        const auto launch =
            analysis::launch_with_block(description, arguments, *limits, shape.written, candidate.block);
        if (!launch) return makes_no_sense(shape, "its driver program offers a block that is not legal");
        if (!can_be_ordered(candidate.uncertain)) continue;
        if (!is_time(candidate.predicted_ns))
            return makes_no_sense(shape, "its driver program predicts an invalid time");
        any_known = true;
        if (candidate.predicted_ns >= written.predicted_ns || same(candidate.block, shape.written.block))
            break;
        if (candidate.predicted_ns > written.predicted_ns * (1 - least_gain)) {
            if (order_doubt != 0) break;
            decision.by = by_of(description);
            decision.reason = "no other block is predicted to gain enough";
            return decision;
        }
        if (!is_surely_faster(driver, device, image,
                              {{data.data(), candidate.block, shared_bytes}, candidate.uncertain},
                              as_written_launch)) {
            if (order_doubt == 0)
                order_doubt = candidate.uncertain != 0 ? candidate.uncertain : written.uncertain;
            continue;
        }
        decision.launch = *launch;
        decision.chosen_ns = candidate.predicted_ns;
        decision.by = by_of(description);
        decision.reason = "predicted fastest";
        return decision;
    }
    if (order_doubt != 0) return keep("which block is the fastest is uncertain", order_doubt);
    if (any_known) {
        decision.by = by_of(description);
        decision.reason = "the block as written is predicted fastest";
    } else {
        if (found != 0) return keep("the predictions are uncertain", candidates[0].uncertain);
        decision.reason = "no other block is legal";
    }
    return decision;
}

std::optional<Decision> as_stored(const analysis::KernelDescription& description,
                                  const trimtab_device& device, const trimtab_image& image,
                                  const LaunchShape& shape, const StoredChoice& stored,
                                  std::span<const OtherBody> bodies) {
    if (!stands_in_the_way(description, shape).empty()) return std::nullopt;
    const std::vector<std::byte> arguments = argument_bytes(description, shape.arguments);
    const auto limits = limits_of(description, arguments, device, image, shape);
    if (!limits) return std::nullopt;
    Decision decision = as_written(shape, "chosen by an earlier process");
    decision.by = By::remembered;
    decision.remembered = true;
    decision.written_ns = stored.written_ns;
    decision.chosen_ns = stored.chosen_ns;
    if (!stored.body.empty()) {
        const auto body = std::ranges::find_if(bodies, [&](const OtherBody& other) {
            return other.driver != nullptr && other.description->id == stored.body;
        });
        if (body == bodies.end()) return std::nullopt;
        const auto launch = launch_of_body(description, *body, device, shape, stored.block);
        if (!launch) return std::nullopt;
        decision.launch = *launch;
        decision.body = static_cast<std::uint32_t>(body - bodies.begin()) + 1;
        return decision;
    }
    if (!same(stored.grid, {0, 0, 0})) {
        const auto launch =
            launch_of_total(description, device, image, shape, {.grid = stored.grid, .block = stored.block});
        if (!launch) return std::nullopt;
        decision.launch = *launch;
        decision.has_other_total = true;
        return decision;
    }
    if (same(stored.block, shape.written.block)) return decision;
    const auto launch =
        analysis::launch_with_block(description, arguments, *limits, shape.written, stored.block);
    if (!launch) return std::nullopt;
    decision.launch = *launch;
    return decision;
}

std::vector<PredictedBlock> predict_all(const PredictedKernel& kernel, const LaunchShape& shape) {
    const auto& [description, driver, device, image] = kernel;
    constexpr std::size_t most = 32768;  // more than any kernel has on a GPU of 1024 threads a block
    if (!stands_in_the_way(description, shape).empty()) return {};
    const std::vector<std::byte> arguments = argument_bytes(description, shape.arguments);
    const auto limits = limits_of(description, arguments, device, image, shape);
    if (!limits) return {};
    const std::vector<double> data = analysis::data_values(
        description, arguments, description.counted_extent(shape.written.grid, shape.written.block));
    const std::vector<trimtab_dim3> blocks = legal_block_list(*limits);
    const std::size_t step = blocks.size() / most + 1;
    std::vector<PredictedBlock> predicted;
    for (std::size_t i = 0; i < blocks.size(); i += step) {
        trimtab_prediction prediction{};
        const auto launch =
            analysis::launch_with_block(description, arguments, *limits, shape.written, blocks[i]);
        if (launch && driver.evaluate(&device, &image, data.data(), blocks[i],
                                      static_cast<double>(launch->dynamic_shared_bytes), &prediction) == 0)
            predicted.push_back({.block = blocks[i], .ns = prediction.predicted_ns});
    }
    return predicted;
}

}  // namespace trimtab::choosing
