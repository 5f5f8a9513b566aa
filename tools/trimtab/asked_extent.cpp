// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/asked_extent.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/analysis/annotations/annotated_launch.h"
#include "profiler/active_indices.h"

namespace trimtab::tools {

namespace {

bool reads_extents(const analysis::Expression& expression) {
    return expression.kind == analysis::Expression::Kind::extent ||
           std::ranges::any_of(expression.arguments, reads_extents);
}

// The threads of a launch whose grid is stated, as some block would have been written. None: the annotation
// needs to know them.
std::optional<trimtab_dim3> stated_extent(const analysis::KernelDescription& kernel,
                                          analysis::ArgumentBytes arguments) {
    if (!kernel.annotated_grid[0]) return std::nullopt;
    for (const auto* stated : {&kernel.annotated_block, &kernel.annotated_shared, &kernel.annotated_grid[0],
                               &kernel.annotated_grid[1], &kernel.annotated_grid[2]})
        if (*stated && reads_extents(**stated)) return std::nullopt;
    constexpr std::uint32_t most = 1024, ordinary = 128;
    const auto size = [&](std::size_t d, std::uint32_t limit) { return kernel.varies(d) ? limit : 1; };
    std::optional<trimtab_dim3> found;
    for (std::uint32_t z = 1; z <= size(2, 64); ++z)
        for (std::uint32_t y = 1; y <= size(1, most) && y * z <= most; ++y)
            for (std::uint32_t x = 1; x <= size(0, most) && x * y * z <= most; ++x) {
                if (found && x * y * z < ordinary) continue;
                const auto launch = analysis::stated_launch(kernel, arguments, {}, {x, y, z});
                if (!launch) continue;
                found = {launch->grid.x * x, launch->grid.y * y, launch->grid.z * z};
                if (x * y * z >= ordinary) return found;
            }
    return found;
}

}  // namespace

WrittenLaunch written_launch(const analysis::KernelDescription& kernel, trimtab_dim3 extent,
                             const trimtab_device& device) {
    const std::uint32_t extents[3] = {extent.x, extent.y, extent.z};
    const double max_grid[3] = {device.max_grid_x, device.max_grid_y, device.max_grid_z};
    std::uint32_t grid[3], block[3];
    for (int d = 0; d < 3; ++d) {
        block[d] = 1;
        while (!kernel.grid_stays(static_cast<std::size_t>(d)) &&
               double(extents[d]) / block[d] > max_grid[d] && extents[d] % (block[d] * 2) == 0)
            block[d] *= 2;
        grid[d] = extents[d] / block[d];
    }
    return {{grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}};
}

std::expected<trimtab_dim3, Error> asked_extent(const std::string& text, const LaunchQuestion& question,
                                                std::span<const double> data) {
    if (!text.empty()) return parse_dim3(text, "--extent");
    const analysis::KernelDescription& kernel = question.description();
    if (const auto stated = stated_extent(kernel, question.arguments.bytes)) return *stated;
    std::array<std::uint32_t, 3> extent{1, 1, 1};
    std::array<bool, 3> known{};
    for (std::size_t i = 0; i < kernel.data.size(); ++i) {
        if (kernel.data[i].is_extent || !kernel.data[i].bounds || !(data[i] >= 1) || data[i] > 0x7fffffff)
            continue;
        const auto d = static_cast<std::size_t>(*kernel.data[i].bounds);
        extent[d] = std::max(extent[d], static_cast<std::uint32_t>(data[i]));
        known[d] = true;
    }
    // One value may bound several indices: i < n && j < n.
    const auto indices =
        profiler::active_indices(kernel, {.bytes = question.arguments.bytes, .pointers = {}});
    for (std::size_t d = 0; d < 3; ++d) {
        if (!kernel.reads(d) || known[d]) continue;
        if (!indices[d].end || kernel.reads_total(d))
            return std::unexpected(
                Error{.message = fmt::format("how many {} the launch has in {} is not known: give --extent",
                                             kernel.grid_stays(d) ? "blocks" : "threads", "xyz"[d])});
        extent[d] = static_cast<std::uint32_t>(*indices[d].end);
    }
    return trimtab_dim3{extent[0], extent[1], extent[2]};
}

}  // namespace trimtab::tools
