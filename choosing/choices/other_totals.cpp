// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/choices/other_totals.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "choosing/choices/argument_key.h"
#include "choosing/choices/block_list.h"
#include "choosing/choices/order.h"
#include "core/analysis/annotations/annotated_launch.h"
#include "core/analysis/launches/free_totals.h"
#include "core/analysis/launches/legal_blocks.h"

namespace trimtab::choosing {
namespace {

// How often the device's resident threads, and at last one thread an index.
constexpr std::array<double, 5> fillings{1, 2, 4, 16, 1e18};
// Whole warps of each, so that blocks of many sizes divide them.
constexpr std::uint64_t granularity = 1024;

using Extents = std::array<std::uint64_t, 3>;

std::uint64_t divided_up(std::uint64_t value, std::uint64_t by) {
    return (value + by - 1) / by;
}

// About `threads` threads, where loops make so many turns: no more than one a turn.
Extents spread(double threads, const Extents& written, const Extents& turns) {
    Extents extent = written;
    for (std::size_t d = 0; d < 3; d++)
        if (turns[d] == 0) threads /= static_cast<double>(written[d]);
    for (std::size_t d = 0; d < 3; d++) {
        if (turns[d] == 0) continue;
        const auto wanted = static_cast<std::uint64_t>(std::clamp(threads, 1.0, 2147483647.0));
        extent[d] = std::min(wanted, turns[d]);
        if (d == 0) extent[d] = divided_up(extent[d], granularity) * granularity;
        threads /= static_cast<double>(extent[d]);
    }
    return extent;
}

bool fits_in_32_bits(const Extents& extent) {
    return std::all_of(extent.begin(), extent.end(), [](std::uint64_t size) { return size <= 0xffffffffu; });
}

trimtab_dim3 to_dim3(const Extents& extent) {
    return {static_cast<std::uint32_t>(extent[0]), static_cast<std::uint32_t>(extent[1]),
            static_cast<std::uint32_t>(extent[2])};
}

// No other than as many threads as there are turns: those past the last turn only exit.
std::optional<Extents> fewer_extents(const Extents& written, const Extents& turns) {
    const Extents all = spread(1e18, written, turns);
    if (all[0] >= written[0] && all[1] >= written[1] && all[2] >= written[2]) return std::nullopt;
    return Extents{std::min(all[0], written[0]), std::min(all[1], written[1]), std::min(all[2], written[2])};
}

Extents filling_extents(double filling, const trimtab_device& device, const Extents& written,
                        const Extents& turns) {
    return spread(filling * device.sm_count * device.max_threads_per_sm, written, turns);
}

struct Found {
    trimtab_choice choice{};
    LaunchConfiguration launch;
};

}  // namespace

Decision with_best_total(Decision decision, const PredictedKernel& kernel, const LaunchShape& shape,
                         double least_gain) {
    const auto& [description, driver, device, image] = kernel;
    if (description.strides.empty() || description.keeps_grid() || decision.by != By::driver ||
        !decision.nonsense.empty())
        return decision;
    const std::vector<std::byte> arguments = argument_bytes(description, shape.arguments);
    const Extents turns = analysis::loop_iterations(description, arguments);
    const Extents written = shape.written.extent();
    const auto shared_bytes = static_cast<double>(shape.written.dynamic_shared_bytes);
    const std::vector<double> written_data = analysis::data_values(description, arguments, written);
    const PredictedLaunch written_launch{{written_data.data(), shape.written.block, shared_bytes},
                                         decision.written_doubt};
    const auto best_of = [&](const Extents& extent) -> std::optional<Found> {
        const auto limits = analysis::legal_blocks_of_total(
            description, arguments, shape.written.grid, shape.written.block, device, image, to_dim3(extent));
        if (!limits) return std::nullopt;
        const std::vector<double> data = analysis::data_values(description, arguments, extent);
        trimtab_choice best{};
        if (driver.select(&device, &image, data.data(), &*limits, shared_bytes, 1, &best) != 1 ||
            !std::isfinite(best.predicted_ns) || best.predicted_ns <= 0 ||
            !is_surely_faster(driver, device, image,
                              {{data.data(), best.block, shared_bytes}, best.uncertain}, written_launch))
            return std::nullopt;
        const auto launch =
            analysis::launch_with_block(description, arguments, *limits, shape.written, best.block);
        return launch ? std::optional(Found{best, *launch}) : std::nullopt;
    };
    const auto take = [&decision](const Found& found) {
        decision.launch = found.launch;
        decision.chosen_ns = found.choice.predicted_ns;
        decision.has_other_total = true;
        decision.reason = "predicted fastest, with another number of threads";
    };
    const double most_ns = decision.written_ns * (1 - least_gain);
    double relative_error = 0;
    std::vector<Extents> tried{written};
    // Threads that make no turn only exit, or help their block to fill and flush what it shares. Without them a
    // launch need not be faster by more than both predictions err, but it must gain as much as any other.
    std::optional<Found> without_idle;
    if (const auto fewer = fewer_extents(written, turns)) {
        without_idle = best_of(*fewer);
        if (!without_idle) return decision;
        tried.push_back(*fewer);
    }
    if (without_idle && without_idle->choice.predicted_ns <= std::min(decision.chosen_ns, most_ns)) {
        take(*without_idle);
        relative_error = without_idle->choice.relative_error;
    } else {
        trimtab_prediction chosen{};
        if (driver.evaluate(&device, &image, written_data.data(), decision.launch.block, shared_bytes,
                            &chosen) != 0 ||
            !can_be_ordered(chosen.uncertain))
            return decision;
        relative_error = chosen.relative_error;
    }
    // The least that what is chosen so far may take.
    const double to_beat_ns = decision.chosen_ns * (1 - std::min(relative_error, 0.9));
    for (const double filling : fillings) {
        const Extents extent = filling_extents(filling, device, written, turns);
        if (std::find(tried.begin(), tried.end(), extent) != tried.end()) continue;
        tried.push_back(extent);
        const auto found = best_of(extent);
        if (!found) continue;
        const double ns = found->choice.predicted_ns;
        if (ns < decision.chosen_ns && ns <= most_ns && ns * (1 + found->choice.relative_error) < to_beat_ns)
            take(*found);
    }
    return decision;
}

std::vector<LaunchConfiguration> launches_of_other_totals(const analysis::KernelDescription& description,
                                                          analysis::ArgumentBytes arguments,
                                                          const trimtab_device& device,
                                                          const trimtab_image& image,
                                                          const LaunchShape& shape) {
    std::vector<LaunchConfiguration> launches;
    if (description.strides.empty() || description.keeps_grid() ||
        description.verdict == analysis::Verdict::annotated)
        return launches;
    const Extents turns = analysis::loop_iterations(description, arguments);
    const Extents written = shape.written.extent();
    std::vector<Extents> extents;
    if (const auto fewer = fewer_extents(written, turns)) extents.push_back(*fewer);
    for (const double filling : fillings) extents.push_back(filling_extents(filling, device, written, turns));
    std::ranges::sort(extents);
    const auto repeated = std::ranges::unique(extents);
    extents.erase(repeated.begin(), repeated.end());
    for (const Extents& extent : extents) {
        if (extent == written || !fits_in_32_bits(extent)) continue;
        const auto limits = analysis::legal_blocks_of_total(
            description, arguments, shape.written.grid, shape.written.block, device, image, to_dim3(extent));
        if (!limits) continue;
        for (const trimtab_dim3& block : legal_block_list(*limits))
            if (const auto launch =
                    analysis::launch_with_block(description, arguments, *limits, shape.written, block))
                launches.push_back(*launch);
    }
    return launches;
}

std::optional<LaunchConfiguration> launch_of_total(const analysis::KernelDescription& description,
                                                   const trimtab_device& device, const trimtab_image& image,
                                                   const LaunchShape& shape,
                                                   const LaunchConfiguration& stored) {
    if (description.strides.empty() || description.keeps_grid() ||
        description.verdict == analysis::Verdict::annotated)
        return std::nullopt;
    const Extents extent = stored.extent();
    if (!fits_in_32_bits(extent)) return std::nullopt;
    const std::vector<std::byte> arguments = argument_bytes(description, shape.arguments);
    const auto limits = analysis::legal_blocks_of_total(description, arguments, shape.written.grid,
                                                        shape.written.block, device, image, to_dim3(extent));
    if (!limits) return std::nullopt;
    auto launch = analysis::launch_with_block(description, arguments, *limits, shape.written, stored.block);
    return launch && same(launch->grid, stored.grid) ? launch : std::nullopt;
}

}  // namespace trimtab::choosing
