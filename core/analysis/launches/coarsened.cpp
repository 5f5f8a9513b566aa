// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/launches/coarsened.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/analysis/launches/legal_blocks.h"
#include "core/analysis/launches/variants.h"
#include "core/model/launch_configuration.h"
#include "trimtab/body_name.h"

namespace trimtab::analysis {
namespace {

// Below it an index that constants are added to is the same number in 32 and 64 bits, signed and unsigned.
constexpr std::uint64_t most_threads = 0x7fffffff - (1u << 20), most_constant = 1u << 20;

// Each of its threads works for itself, whatever block it is in.
bool is_proved_by_thread(const KernelDescription& kernel) {
    return (kernel.verdict == Verdict::covering || kernel.verdict == Verdict::dividing) &&
           kernel.strides.empty() && kernel.apart.empty() && !kernel.keeps_grid() &&
           kernel.least_threads == 0 && !kernel.may_reassociate && !kernel.annotated_shared &&
           !kernel.is_of_warps(0) && !kernel.is_of_warps(1) && !kernel.is_of_warps(2);
}

bool reads_index(const Expression& value) {
    return value.kind == Expression::Kind::global_index || std::ranges::any_of(value.arguments, reads_index);
}
// The index itself, give or take a constant: arithmetic that cannot overflow, whatever a compiler makes of it.
bool is_plain_index(const Expression& value) {
    if (value.kind == Expression::Kind::global_index) return true;
    if (value.kind != Expression::Kind::operation) return false;
    const auto is_small = [](const Expression& number) {
        const auto number_of = sign_extend(number.bits, width_bits(number.type));
        return number.kind == Expression::Kind::constant &&
               number_of >= -static_cast<std::int64_t>(most_constant) &&
               number_of <= static_cast<std::int64_t>(most_constant);
    };
    switch (value.operation.op) {
        case Operator::cvt:
            return width_bits(value.operation.result) >= 32 && is_plain_index(value.arguments[0]);
        case Operator::add:
            return (is_plain_index(value.arguments[0]) && is_small(value.arguments[1])) ||
                   (is_plain_index(value.arguments[1]) && is_small(value.arguments[0]));
        case Operator::sub:
            return is_plain_index(value.arguments[0]) && is_small(value.arguments[1]);
        default:
            return false;
    }
}
// Comparisons of plain indices with what has none.
bool is_plain_test(const Expression& test) {
    if (test.kind != Expression::Kind::operation) return false;
    if (test.operation.op == Operator::setp)
        return std::ranges::all_of(test.arguments, [](const Expression& side) {
            return is_plain_index(side) || !reads_index(side);
        });
    const bool is_logical = test.operation.op == Operator::and_ || test.operation.op == Operator::or_ ||
                            test.operation.op == Operator::not_;
    return is_logical && test.operation.type == ptx::Type::pred &&
           std::ranges::all_of(test.arguments, is_plain_test);
}

// Does a plain test that is true of an index stay so as it grows, or not ask for it? Then what is true of the first of
// several neighbours is true of all.
bool rises(const Expression& test, Dimension dimension) {
    const auto reads = [&](const auto& self, const Expression& value) -> bool {
        return (value.kind == Expression::Kind::global_index && value.dimension == dimension) ||
               std::ranges::any_of(value.arguments, [&](const Expression& part) { return self(self, part); });
    };
    if (!reads(reads, test)) return true;
    if (test.operation.op == Operator::and_ || test.operation.op == Operator::or_)
        return std::ranges::all_of(test.arguments,
                                   [&](const Expression& part) { return rises(part, dimension); });
    if (test.operation.op != Operator::setp) return false;
    using enum ptx::Comparison;
    const bool is_left = reads(reads, test.arguments[0]), is_right = reads(reads, test.arguments[1]);
    const ptx::Comparison how = test.operation.comparison;
    return is_left != is_right && (is_left ? how == ge || how == gt : how == le || how == lt);
}

// The index of the first of the kernel's threads that one of the body's stands for, in the place of each index.
bool put_first_index(Expression& test, const Coarsening& made) {
    if (test.kind != Expression::Kind::global_index)
        return std::ranges::all_of(test.arguments,
                                   [&](Expression& part) { return put_first_index(part, made); });
    if (static_cast<std::size_t>(test.dimension) != made.dimension) return true;
    if (width_bits(test.type) != 32) return false;
    const auto by = [&](Operator op, Expression value, std::uint32_t number) {
        Expression constant;
        constant.kind = Expression::Kind::constant;
        constant.type = value.type;
        constant.bits = number;
        const auto type = *integer_type(false, 32);
        return applied(*operation_of(op, type), {std::move(value), std::move(constant)});
    };
    Expression first = made.group() == 1 ? test : by(Operator::div, test, made.group());
    test = by(Operator::mul_lo, std::move(first), made.group() * made.elements);
    return true;
}

// What turns the kernel's threads away turns the body's away: those whose first index it is true of.
std::vector<Guard> guards_of_body(const KernelDescription& kernel, const Coarsening& made) {
    std::vector<Guard> guards;
    for (Guard guard : kernel.guards)
        if (is_plain_test(guard.exits) && rises(guard.exits, static_cast<Dimension>(made.dimension)) &&
            put_first_index(guard.exits, made))
            guards.push_back(std::move(guard));
    return guards;
}

// Do the kernel's threads of these indices end at once?
bool end_at_once(const KernelDescription& kernel, ArgumentBytes arguments,
                 const std::array<std::uint64_t, 3>& extent, std::size_t dimension, std::uint64_t end) {
    IndexBox box{};
    for (std::size_t d = 0; d < 3; d++) box[d] = {0, extent[d] - 1};
    box[dimension] = {extent[dimension], end - 1};
    const std::vector<std::uint32_t> offsets = kernel.parameter_offsets();
    return std::ranges::any_of(kernel.guards, [&](const Guard& guard) {
        return static_cast<std::size_t>(guard.dimension) == dimension && is_plain_test(guard.exits) &&
               truth(guard.exits, arguments, offsets, box) == Truth::always;
    });
}

const KernelDescription* kernel_of(const KernelDescription& body,
                                   const std::vector<KernelDescription>& kernels) {
    const auto found = std::ranges::find_if(
        kernels, [&](const KernelDescription& kernel) { return is_coarsened_from(body, kernel); });
    return found == kernels.end() ? nullptr : &*found;
}

}  // namespace

std::optional<Coarsening> coarsening(const KernelDescription& body) {
    // The plugin says so, too: a program may name its kernels as it likes.
    if (!body.variant) return std::nullopt;
    const auto read = read_coarsened_body(body.name);
    if (!read || body.variant->of != threads_of(read->kernel)) return std::nullopt;
    return Coarsening{.dimension = read->dimension, .elements = read->elements};
}

bool is_coarsened_from(const KernelDescription& body, const KernelDescription& kernel) {
    const auto made = coarsening(body);
    if (!made || body.variant->of != threads_of(kernel.name) || !take_the_same(body, kernel) ||
        !is_proved_by_thread(body) || !is_proved_by_thread(kernel))
        return false;
    const DimensionUse &mine = body.dimensions[made->dimension], &its = kernel.dimensions[made->dimension];
    return mine.index == Index::global && its.index == Index::global &&
           (its.block == BlockWidth::any || (its.block == BlockWidth::one && made->group() == 1));
}

std::expected<CoarsenedLaunch, std::string> coarsened_launch(const KernelDescription& kernel,
                                                             const KernelDescription& body,
                                                             ArgumentBytes arguments, trimtab_dim3 grid,
                                                             trimtab_dim3 block, const trimtab_device& device,
                                                             const trimtab_image& image) {
    if (!is_coarsened_from(body, kernel)) return std::unexpected("it is no body of this kernel");
    // What the kernel's own launches must keep to, so that its blocks may be those that the body goes over.
    if (const auto own = legal_blocks(kernel, arguments, grid, block, device, image); !own)
        return std::unexpected(own.error());
    const auto [dimension, elements] = *coarsening(body);
    const std::uint64_t group = coarsening(body)->group();
    CoarsenedLaunch launch{.extent = kernel.counted_extent(grid, block)};
    const std::array<std::uint64_t, 3> written = launch.extent;
    std::uint64_t& threads = launch.extent[dimension];
    threads = (threads + group * elements - 1) / (group * elements) * group;
    const std::uint64_t end = threads * elements;
    if (end > most_threads)
        return std::unexpected(
            fmt::format("{} threads in {} are more than 2^31 - 2^20", end, model::axis_names[dimension]));
    if (end > written[dimension] && !end_at_once(kernel, arguments, written, dimension, end))
        return std::unexpected(fmt::format(
            "{} threads in {} are no multiple of {}, and no plain test of the index turns others away",
            written[dimension], model::axis_names[dimension], group * elements));
    // As the body would be launched in the kernel's own words: its threads in blocks of one group.
    std::array<std::uint64_t, 3> blocks = model::components(block), grids = model::components(grid);
    blocks[dimension] = group;
    grids[dimension] = threads / group;
    const auto dim3_of = [](const std::array<std::uint64_t, 3>& value) {
        return trimtab_dim3{static_cast<std::uint32_t>(value[0]), static_cast<std::uint32_t>(value[1]),
                            static_cast<std::uint32_t>(value[2])};
    };
    auto limits = legal_blocks_of_body(body, arguments, dim3_of(grids), dim3_of(blocks), device, image);
    if (!limits) return std::unexpected(limits.error());
    launch.limits = *limits;
    return launch;
}

void complete_coarsened(std::vector<KernelDescription>& kernels) {
    std::set<std::string> useless;
    for (const KernelDescription& body : kernels)
        if (coarsening(body) && kernel_of(body, kernels) == nullptr) useless.insert(body.name);
    std::erase_if(kernels, [&](const KernelDescription& body) { return useless.contains(body.name); });
    for (KernelDescription& body : kernels) {
        const auto made = coarsening(body);
        const KernelDescription* kernel = made ? kernel_of(body, kernels) : nullptr;
        if (kernel == nullptr) continue;
        body.guards = guards_of_body(*kernel, *made);
        bool is_covering = true;
        for (std::size_t d = 0; d < 3; d++)
            is_covering &= !body.varies(d) || std::ranges::any_of(body.guards, [&](const Guard& guard) {
                return static_cast<std::size_t>(guard.dimension) == d;
            });
        if (is_covering) {
            body.verdict = Verdict::covering;
            body.reasons.clear();
        } else if (body.verdict == Verdict::covering) {
            body.verdict = Verdict::dividing;
            body.reasons = {
                {3, body.source, "the kernel's tests of the index are none that tell of several threads"}};
        }
        for (DataParameter& mine : body.data)
            for (const DataParameter& its : kernel->data) {
                if (mine.is_extent || its.is_extent || mine.parameter != its.parameter ||
                    mine.offset != its.offset)
                    continue;
                mine.bounds = its.bounds;
                mine.in_memo = its.in_memo;
                mine.coarse_in_memo = its.coarse_in_memo;
            }
    }
}

}  // namespace trimtab::analysis
