// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/annotations/annotated_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/analysis/launches/legal_blocks.h"
#include "core/analysis/launches/operation.h"

namespace trimtab::analysis {
namespace {

constexpr std::int64_t max_shared_bytes = std::int64_t{1} << 30;

using model::components;

// Values of the annotations' expressions for one block.
class Values {
  public:
    Values(const KernelDescription& description, ArgumentBytes arguments, const LaunchConfiguration& written,
           trimtab_dim3 block)
        : arguments_(arguments), offsets_(description.parameter_offsets()), block_(components(block)) {
        extent_ = description.counted_extent(written.grid, written.block);
    }

    [[nodiscard]] std::int64_t number(const Expression& expression) const {
        return sign_extend(evaluate(with_values(expression), arguments_, offsets_, {}), 64);
    }
    [[nodiscard]] bool holds(const Expression& expression) const {
        return evaluate(with_values(expression), arguments_, offsets_, {}) != 0;
    }

  private:
    [[nodiscard]] Expression with_values(Expression expression) const {
        const auto d = static_cast<std::size_t>(expression.dimension);
        if (expression.kind == Expression::Kind::block_size || expression.kind == Expression::Kind::extent) {
            expression.bits = expression.kind == Expression::Kind::extent ? extent_[d] : block_[d];
            expression.kind = Expression::Kind::constant;
        }
        for (Expression& argument : expression.arguments) argument = with_values(std::move(argument));
        return expression;
    }

    ArgumentBytes arguments_;
    std::vector<std::uint32_t> offsets_;
    std::array<std::uint64_t, 3> block_{}, extent_{};
};

// What the annotations state; nothing where they rule the block out.
std::optional<LaunchConfiguration> stated(const KernelDescription& description, ArgumentBytes arguments,
                                          const LaunchConfiguration& written, trimtab_dim3 block,
                                          trimtab_dim3 covering) {
    const Values values(description, arguments, written, block);
    if (description.annotated_block && !values.holds(*description.annotated_block)) return std::nullopt;
    LaunchConfiguration launch{covering, block, written.dynamic_shared_bytes};
    if (description.annotated_grid[0]) {
        std::array<std::uint32_t, 3> grid{1, 1, 1};
        for (std::size_t d = 0; d < 3; d++) {
            if (!description.annotated_grid[d]) continue;
            const std::int64_t blocks = values.number(*description.annotated_grid[d]);
            if (blocks < 1 || blocks > 0x7fffffff) return std::nullopt;
            grid[d] = static_cast<std::uint32_t>(blocks);
        }
        launch.grid = {grid[0], grid[1], grid[2]};
    }
    if (description.annotated_shared) {
        const std::int64_t bytes = values.number(*description.annotated_shared);
        if (bytes < 0 || bytes > max_shared_bytes) return std::nullopt;
        launch.dynamic_shared_bytes = static_cast<std::uint64_t>(bytes);
        // The proof knows what is needed, an annotation what there is.
        if (description.verdict != Verdict::annotated)
            launch.dynamic_shared_bytes = std::max(launch.dynamic_shared_bytes, written.dynamic_shared_bytes);
    }
    return launch;
}

std::string text(const trimtab_dim3& value) {
    return fmt::format("{} x {} x {}", value.x, value.y, value.z);
}

}  // namespace

bool has_shape_annotations(const KernelDescription& description) {
    return description.annotated_block || description.annotated_shared || description.annotated_grid[0];
}

std::optional<LaunchConfiguration> launch_with_block(const KernelDescription& description,
                                                     ArgumentBytes arguments, const trimtab_limits& limits,
                                                     const LaunchConfiguration& written, trimtab_dim3 block) {
    if (!is_legal(limits, block)) return std::nullopt;
    auto launch = stated(description, arguments, written, block, covering_grid(limits, block));
    if (!launch) return std::nullopt;
    const auto grid = components(launch->grid), max_grid = components(limits.max_grid);
    for (std::size_t d = 0; d < 3; d++)
        if (grid[d] > max_grid[d]) return std::nullopt;
    if (description.annotated_shared && launch->dynamic_shared_bytes > limits.max_dynamic_shared_bytes)
        return std::nullopt;
    return launch;
}

std::optional<LaunchConfiguration> stated_launch(const KernelDescription& description,
                                                 ArgumentBytes arguments, const LaunchConfiguration& written,
                                                 trimtab_dim3 block) {
    const auto extent = description.counted_extent(written.grid, written.block), size = components(block);
    std::array<std::uint32_t, 3> covering{};
    for (std::size_t d = 0; d < 3; d++) {
        if (size[d] == 0) return std::nullopt;
        covering[d] = static_cast<std::uint32_t>((extent[d] + size[d] - 1) / size[d]);
    }
    return stated(description, arguments, written, block, {covering[0], covering[1], covering[2]});
}

std::vector<double> data_of_launch(const KernelDescription& description, std::vector<double> data,
                                   const LaunchConfiguration& launch) {
    if (!description.annotated_grid[0]) return data;
    const auto grids = components(launch.grid), blocks = components(launch.block);
    for (std::size_t i = 0; i < data.size() && i < description.data.size(); i++) {
        if (!description.data[i].is_extent) continue;
        const auto d = static_cast<std::size_t>(description.data[i].dimension);
        data[i] = static_cast<double>(grids[d] * blocks[d]);
    }
    return data;
}

std::string annotation_mismatch(const KernelDescription& description, ArgumentBytes arguments,
                                const LaunchConfiguration& written) {
    if (!has_shape_annotations(description)) return {};
    const auto launch = stated(description, arguments, written, written.block, written.grid);
    if (!launch)
        return fmt::format("the kernel's annotation rules out the block as written ({})",
                           text(written.block));
    if (components(launch->grid) != components(written.grid))
        return fmt::format(
            "the kernel's annotation states a grid of {} for the block as written, and it is {}",
            text(launch->grid), text(written.grid));
    if (launch->dynamic_shared_bytes != written.dynamic_shared_bytes &&
        description.verdict != Verdict::annotated)
        return fmt::format("it uses {} bytes of dynamic shared memory, and is launched with {}",
                           launch->dynamic_shared_bytes, written.dynamic_shared_bytes);
    if (launch->dynamic_shared_bytes != written.dynamic_shared_bytes)
        return fmt::format(
            "the kernel's annotation states {} bytes of dynamic shared memory for the block as written, and "
            "it "
            "is launched with {}",
            launch->dynamic_shared_bytes, written.dynamic_shared_bytes);
    return {};
}

}  // namespace trimtab::analysis
