// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/annotated_plan.h"

#include <algorithm>
#include <tuple>

#include "profiler/arguments.h"

namespace trimtab::profiler {

namespace {

using analysis::Expression;

// Opted in, on the GPUs that give most: 227 KiB.
constexpr std::uint64_t most_shared_bytes = 227 * 1024;

}  // namespace

AnnotatedPlan::AnnotatedPlan(const analysis::KernelDescription& description)
    : description_(description),
      is_annotated_(analysis::has_shape_annotations(description)),
      moves_grid_(description.data.size(), false) {
    if (description.annotated_block) note_leaves(*description.annotated_block, false);
    if (description.annotated_shared) note_leaves(*description.annotated_shared, false);
    for (const auto& grid : description.annotated_grid)
        if (grid) note_leaves(*grid, true);
}

void AnnotatedPlan::note_leaves(const Expression& expression, bool of_grid) {
    for (const Expression& argument : expression.arguments) note_leaves(argument, of_grid);
    if (expression.kind == Expression::Kind::extent)
        reads_extent_[static_cast<std::size_t>(expression.dimension)] = true;
    if (expression.kind != Expression::Kind::parameter || !of_grid) return;
    for (std::size_t i = 0; i < description_.data.size(); ++i) {
        const analysis::DataParameter& data = description_.data[i];
        if (!data.is_extent && data.parameter == expression.parameter && data.offset == expression.offset)
            moves_grid_[i] = true;
    }
}

bool AnnotatedPlan::is_promised() const {
    return description_.verdict == analysis::Verdict::annotated;
}

std::optional<analysis::LaunchConfiguration> AnnotatedPlan::launch(const std::vector<double>& data,
                                                                   const trimtab_dim3& extent,
                                                                   const trimtab_dim3& block) const {
    const Arguments arguments = make_arguments(description_, data);
    auto launch = analysis::stated_launch(description_, arguments.bytes, {.grid = extent}, block);
    if (launch && launch->dynamic_shared_bytes > most_shared_bytes) return std::nullopt;
    return launch;
}

std::vector<trimtab_dim3> AnnotatedPlan::blocks(const std::vector<double>& data, const trimtab_dim3& extent,
                                                const std::vector<std::size_t>& free,
                                                std::uint32_t most_threads, std::size_t most) const {
    constexpr std::size_t enough = 6;
    std::array<std::uint32_t, 3> largest{1, 1, 1};
    for (const std::size_t d : free) largest[d] = d == 2 ? std::min(64u, most_threads) : most_threads;
    const auto collect = [&](bool powers_of_two, std::uint32_t multiple) {
        std::vector<trimtab_dim3> found;
        const auto next = [&](std::uint32_t size) { return powers_of_two ? 2 * size : size + 1; };
        for (std::uint32_t z = 1; z <= largest[2]; z = next(z))
            for (std::uint32_t y = 1; y <= largest[1] && y * z <= most_threads; y = next(y))
                for (std::uint32_t x = 1; x <= largest[0] && x * y * z <= most_threads; x = next(x))
                    if (x * y * z % multiple == 0 && launch(data, extent, {x, y, z}))
                        found.push_back({x, y, z});
        return found;
    };
    std::vector<trimtab_dim3> found = collect(true, 32);
    if (found.size() < enough) found = collect(false, 32);
    if (found.empty()) found = collect(false, 1);
    std::ranges::sort(found, {}, [](const trimtab_dim3& b) { return std::tuple(b.x * b.y * b.z, b.z, b.y); });
    if (found.size() <= most) return found;
    std::vector<trimtab_dim3> spread;
    for (std::size_t i = 0; i < most; ++i) spread.push_back(found[i * (found.size() - 1) / (most - 1)]);
    return spread;
}

}  // namespace trimtab::profiler
