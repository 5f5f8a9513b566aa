// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/analysis/launches/legal_blocks.h"
#include "core/model/performance_model.h"

namespace trimtab::tools {

namespace {

std::uint64_t threads_of(trimtab_dim3 block) {
    return std::uint64_t{block.x} * block.y * block.z;
}

bool is_before(const RankedBlock& l, const RankedBlock& r) {
    const auto key = [](const RankedBlock& b) {
        return std::tuple(b.ns, threads_of(b.block), -std::int64_t{b.block.x}, -std::int64_t{b.block.y});
    };
    return key(l) < key(r);
}

// driver_gen/block_search.inc says why.
bool is_preferred(const RankedBlock& l, const RankedBlock& r) {
    const auto key = [](const RankedBlock& b) {
        const bool whole = b.block.x % 32 == 0;
        const auto threads = static_cast<double>(threads_of(b.block));
        return std::tuple(!whole, whole ? std::int64_t{b.block.x} : -std::int64_t{b.block.x},
                          threads < 128 ? 128 / threads : threads / 128);
    };
    return key(l) != key(r) ? key(l) < key(r) : is_before(l, r);
}

}  // namespace

void decide_ties(std::span<RankedBlock> ranking) {
    // Widths that break rows into ragged pieces are not in the profiles: the search does not try them either.
    const auto ragged = [](const RankedBlock& b) { return b.block.x > 2 && b.block.x % 4 != 0; };
    const auto first = std::ranges::find_if_not(ranking, ragged);
    if (first == ranking.end()) return;
    auto chosen = first;
    for (auto b = first; b != ranking.end() && b->ns <= 1.01 * first->ns; ++b)
        if (!ragged(*b) && is_preferred(*b, *chosen)) chosen = b;
    std::rotate(ranking.begin(), chosen, chosen + 1);
}

std::vector<trimtab_dim3> legal_candidates(const trimtab_limits& limits,
                                           std::span<const trimtab_dim3> candidates) {
    std::vector<trimtab_dim3> legal;
    const auto keep = [&](trimtab_dim3 block) {
        if (analysis::is_legal(limits, block)) legal.push_back(block);
    };
    if (!candidates.empty()) {
        std::ranges::for_each(candidates, keep);
        return legal;
    }
    const std::uint32_t most = limits.max_threads;
    for (std::uint32_t z = 1; z <= limits.max_block.z && z <= most; ++z)
        for (std::uint32_t y = 1; y <= limits.max_block.y && y * z <= most; ++y)
            for (std::uint32_t x = 1; x <= limits.max_block.x && x * y * z <= most; ++x) keep({x, y, z});
    return legal;
}

namespace {

// The launch of one block, as the model is asked about it.
struct BlockLaunch {
    model::Launch shape;
    std::vector<double> data;
};
std::optional<BlockLaunch> launch_of(const RankedLaunch& launch, trimtab_dim3 block) {
    BlockLaunch out{.shape = {.extent = launch.limits.extent,
                              .block = block,
                              .dynamic_shared_bytes = launch.dynamic_shared_bytes},
                    .data = {launch.data.begin(), launch.data.end()}};
    if (launch.annotated == nullptr) return out;
    const auto stated = analysis::launch_with_block(
        *launch.annotated, launch.arguments, launch.limits,
        {.grid = launch.extent,
         .block = {1, 1, 1},
         .dynamic_shared_bytes = static_cast<std::uint64_t>(launch.dynamic_shared_bytes)},
        block);
    if (!stated) return std::nullopt;
    out.shape.dynamic_shared_bytes = static_cast<double>(stated->dynamic_shared_bytes);
    if (launch.annotated->annotated_grid[0])
        out.shape.extent = {stated->grid.x * block.x, stated->grid.y * block.y, stated->grid.z * block.z};
    out.data = analysis::data_of_launch(*launch.annotated, std::move(out.data), *stated);
    return out;
}

}  // namespace

bool is_stated(const RankedLaunch& launch, trimtab_dim3 block) {
    return launch_of(launch, block).has_value();
}

std::optional<std::vector<double>> data_of(const RankedLaunch& launch, trimtab_dim3 block) {
    auto of_block = launch_of(launch, block);
    if (!of_block) return std::nullopt;
    return std::move(of_block->data);
}

std::optional<double> predicted_ns(const RankedLaunch& launch, trimtab_dim3 block,
                                   std::span<const ScaledMetric> scaled) {
    const auto of_block = launch_of(launch, block);
    if (!of_block) return std::nullopt;
    model::RationalProgram::MetricFunction metric = driver_gen::metric_function(*launch.fits, of_block->data);
    if (!scaled.empty())
        metric = [fitted = std::move(metric), scaled](model::Metric asked, double x, double y, double z) {
            const auto own = std::ranges::find(scaled, asked, &ScaledMetric::metric);
            return fitted(asked, x, y, z) * (own != scaled.end() ? own->factor : 1);
        };
    const auto inputs =
        model::input_values(*launch.program, launch.device->values, launch.image, of_block->shape);
    const auto result = launch.program->evaluate(inputs, metric);
    if (!result.launchable) return std::nullopt;
    // As trimtab_predict: no number has no place in an order.
    return std::isnan(result.time_ns) ? std::numeric_limits<double>::infinity() : result.time_ns;
}

std::vector<RankedBlock> rank(const RankedLaunch& launch, std::span<const trimtab_dim3> blocks) {
    std::vector<RankedBlock> ranking;
    for (const trimtab_dim3 block : blocks)
        if (const auto ns = predicted_ns(launch, block)) ranking.push_back({.block = block, .ns = *ns});
    std::ranges::sort(ranking, is_before);
    return ranking;
}

std::vector<std::pair<model::Metric, double>> metrics_of(const RankedLaunch& launch, trimtab_dim3 block) {
    std::vector<std::pair<model::Metric, double>> values;
    const auto of_block = launch_of(launch, block);
    if (!of_block) return values;
    for (const model::Metric metric : launch.program->metrics_used())
        values.emplace_back(metric, launch.fits->evaluate(metric, of_block->data, block.x, block.y, block.z));
    return values;
}

}  // namespace trimtab::tools
