// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/choices/choose_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "choosing/choices/argument_key.h"
#include "choosing/choices/block_list.h"
#include "choosing/choices/order.h"
#include "core/analysis/launches/coarsened.h"
#include "core/analysis/launches/legal_blocks.h"

namespace trimtab::choosing {
namespace {

using analysis::KernelDescription;

// A body's launches in the place of the one written.
struct BodyLaunches {
    trimtab_limits limits{};
    std::array<std::uint64_t, 3> extent{};
};

// What bounds them; else why there are none.
std::expected<BodyLaunches, std::string> limits_of_body(const KernelDescription& own, const OtherBody& body,
                                                        analysis::ArgumentBytes arguments,
                                                        const trimtab_device& device,
                                                        const LaunchShape& shape) {
    const auto& [grid, block, shared_bytes] = shape.written;
    if (analysis::coarsening(*body.description)) {
        if (shared_bytes > 0) return std::unexpected("it is launched with dynamic shared memory");
        const auto launch =
            analysis::coarsened_launch(own, *body.description, arguments, grid, block, device, body.image);
        if (!launch) return std::unexpected(launch.error());
        return BodyLaunches{launch->limits, launch->extent};
    }
    // The body's annotation is believed of a launch that the kernel's own describes.
    if (std::string why = analysis::annotation_mismatch(own, arguments, shape.written); !why.empty())
        return std::unexpected(std::move(why));
    if (shared_bytes > 0 && !body.description->annotated_shared)
        return std::unexpected("no annotation states the dynamic shared memory of the other body");
    auto limits =
        analysis::legal_blocks_of_body(*body.description, arguments, grid, block, device, body.image);
    if (!limits) return std::unexpected(limits.error());
    if (body.max_dynamic_shared_bytes != 0)
        limits->max_dynamic_shared_bytes =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(body.max_dynamic_shared_bytes, 0x7fffffff));
    return BodyLaunches{*limits, body.description->counted_extent(grid, block)};
}

}  // namespace

std::vector<LaunchConfiguration> launches_of_body(const KernelDescription& own, const OtherBody& body,
                                                  const trimtab_device& device, const LaunchShape& shape,
                                                  std::size_t most) {
    const std::vector<std::byte> arguments = argument_bytes(own, shape.arguments);
    const auto of_body = limits_of_body(own, body, arguments, device, shape);
    if (!of_body) return {};
    std::vector<LaunchConfiguration> launches;
    for (const trimtab_dim3& block : legal_block_list(of_body->limits)) {
        if (launches.size() == most) break;
        if (const auto launch = analysis::launch_with_block(*body.description, arguments, of_body->limits,
                                                            shape.written, block))
            launches.push_back(*launch);
    }
    return launches;
}

std::optional<LaunchConfiguration> launch_of_body(const KernelDescription& own, const OtherBody& body,
                                                  const trimtab_device& device, const LaunchShape& shape,
                                                  trimtab_dim3 block) {
    const std::vector<std::byte> arguments = argument_bytes(own, shape.arguments);
    const auto of_body = limits_of_body(own, body, arguments, device, shape);
    if (!of_body) return std::nullopt;
    return analysis::launch_with_block(*body.description, arguments, of_body->limits, shape.written, block);
}

Decision with_best_body(Decision decision, const KernelDescription& own, std::span<const OtherBody> bodies,
                        const trimtab_device& device, const LaunchShape& shape, double least_gain) {
    // The time as written is what gains are counted from.
    if (!is_new_choice(decision.by) || !decision.nonsense.empty()) return decision;
    const std::vector<std::byte> arguments = argument_bytes(own, shape.arguments);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const OtherBody& body = bodies[i];
        if (body.driver == nullptr) continue;
        const auto of_body = limits_of_body(own, body, arguments, device, shape);
        if (!of_body) continue;
        const trimtab_limits& limits = of_body->limits;
        const KernelDescription& description = *body.description;
        const auto coarsening = analysis::coarsening(description);
        const std::vector<double> data = analysis::data_values(description, arguments, of_body->extent);
        std::array<trimtab_choice, candidate_count> candidates{};
        const auto shared_bytes = static_cast<double>(shape.written.dynamic_shared_bytes);
        const int found = body.driver->select(&device, &body.image, data.data(), &limits, shared_bytes,
                                              candidate_count, candidates.data());
        const auto is_sure = [&](const trimtab_choice& candidate) {
            // Other code than the kernel's: its error does not cancel.
            if (coarsening)
                return candidate.uncertain == 0 && decision.written_doubt == 0 &&
                       candidate.predicted_ns * (1 + candidate.relative_error) < decision.chosen_ns;
            // The body in the block as written does what the kernel does.
            trimtab_prediction written{};
            return candidate.uncertain == 0 ||
                   (body.driver->evaluate(&device, &body.image, data.data(), shape.written.block,
                                          shared_bytes, &written) == 0 &&
                    is_surely_faster(*body.driver, device, body.image,
                                     {{data.data(), candidate.block, shared_bytes}, candidate.uncertain},
                                     {{data.data(), shape.written.block, shared_bytes}, written.uncertain}));
        };
        for (int k = 0; k < std::min<int>(found, candidate_count); ++k) {
            const trimtab_choice& candidate = candidates[static_cast<std::size_t>(k)];
            const double ns = candidate.predicted_ns;
            if (!std::isfinite(ns) || ns <= 0) continue;
            if (ns >= decision.chosen_ns || ns > decision.written_ns * (1 - least_gain)) break;
            if (!is_sure(candidate)) continue;
            // What the search says is checked: a driver program that offers nonsense is not asked further.
            const auto launch =
                analysis::launch_with_block(description, arguments, limits, shape.written, candidate.block);
            if (!launch) break;
            decision.launch = *launch;
            decision.body = static_cast<std::uint32_t>(i + 1);
            decision.has_other_total = false;
            decision.chosen_ns = ns;
            decision.by = coarsening ? By::driver : By::annotated;
            decision.reason =
                coarsening ? fmt::format("{} elements a thread are predicted fastest", coarsening->elements)
                           : "another variant is predicted fastest";
            break;
        }
    }
    return decision;
}

}  // namespace trimtab::choosing
