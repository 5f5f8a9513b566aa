// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What expressions are worth: exactly at one index, and as intervals over a box of indices.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "core/analysis/launches/expression.h"
#include "core/analysis/launches/interval.h"
#include "core/analysis/launches/operation.h"

namespace trimtab::analysis {
namespace {

using Kind = Expression::Kind;

constexpr std::size_t max_operands = 3;
// Slopes have up to 63 bits: the sum of three products with such indices stays inside 128.
constexpr std::uint64_t largest_affine_index = std::uint64_t{1} << 60;

std::optional<std::uint64_t> argument_bits(const Expression& leaf, ArgumentBytes arguments,
                                           std::span<const std::uint32_t> offsets) {
    const std::size_t size = width_bits(leaf.type) / 8;
    if (size == 0 || leaf.parameter >= offsets.size()) return std::nullopt;
    const std::size_t at = std::size_t{offsets[leaf.parameter]} + leaf.offset;
    if (at > arguments.size() || arguments.size() - at < size) return std::nullopt;
    std::uint64_t bits = 0;
    std::memcpy(&bits, arguments.data() + at, size);  // both sides are little-endian
    return bits;
}

// The operator and whether the node's operands fit it; expressions made by hand need not.
std::optional<Operation> checked_operation(const Expression& node) {
    const Operation& operation = node.operation;
    if (operation.arity == 0 || operation.arity != node.arguments.size()) return std::nullopt;
    for (unsigned i = 0; i < operation.arity; i++)
        if (width_bits(node.arguments[i].type) != width_bits(operation.operand_type(i))) return std::nullopt;
    return operation;
}

// A value over a box: an interval, and where it is known the form base + sum of slope * index (mod 2^width),
// which keeps g * n - g exact where intervals alone lose that both are one g.
struct Abstract {
    Interval interval;
    bool affine = false;
    std::uint64_t base = 0;
    std::array<std::uint64_t, 6> slope{};
};

class BoxEvaluation {
  public:
    BoxEvaluation(ArgumentBytes arguments, std::span<const std::uint32_t> offsets, const IndexBox& box)
        : arguments_(arguments), offsets_(offsets), box_(box) {}

    // Nothing: not an expression that can be evaluated.
    std::optional<Abstract> value(const Expression& node) const {
        const unsigned width = width_bits(node.type);
        if (width == 0) return std::nullopt;
        switch (node.kind) {
            case Kind::constant:
                return constant(truncate_bits(node.bits, width), width);
            case Kind::parameter: {
                const auto bits = argument_bits(node, arguments_, offsets_);
                if (!bits) return std::nullopt;
                return constant(*bits, width);
            }
            case Kind::global_index:
            case Kind::block_index: {
                const std::size_t d = static_cast<std::size_t>(node.dimension) +
                                      (node.kind == Kind::block_index ? std::size_t{3} : 0);
                Abstract index{.interval = Interval::of(box_[d].first, box_[d].last, width)};
                index.affine = box_[d].last <= largest_affine_index;
                index.slope[d] = 1;
                return index;
            }
            case Kind::block_size:
            case Kind::extent:
                return std::nullopt;
            case Kind::operation:
                return operation(node);
        }
        return std::nullopt;
    }

  private:
    static Abstract constant(std::uint64_t bits, unsigned width) {
        return {.interval = {Wide{bits}, Wide{bits}, width}, .affine = true, .base = bits};
    }

    struct Ends {
        Wide lo = 0, hi = 0;
    };
    // The least and the greatest of base + sum of slope * index, as integers: slopes and base read as signed.
    Ends ends(const Abstract& form, unsigned width) const {
        Ends result{sign_extend(form.base, width), sign_extend(form.base, width)};
        for (std::size_t d = 0; d < box_.size(); d++) {
            const Wide slope = sign_extend(form.slope[d], width);
            const Wide at_first = slope * Wide{box_[d].first}, at_last = slope * Wide{box_[d].last};
            result.lo += std::min(at_first, at_last);
            result.hi += std::max(at_first, at_last);
        }
        return result;
    }
    Interval range(const Abstract& form, unsigned width) const {
        const Ends found = ends(form, width);
        return Interval::of(found.lo, found.hi, width);
    }

    std::optional<Abstract> operation(const Expression& node) const {
        const auto operation = checked_operation(node);
        if (!operation) return std::nullopt;
        std::array<Abstract, max_operands> operands;
        std::array<Interval, max_operands> intervals;
        for (unsigned i = 0; i < operation->arity; i++) {
            auto operand = value(node.arguments[i]);
            if (!operand) return std::nullopt;
            operands[i] = *operand;
            intervals[i] = operand->interval;
        }
        Abstract result{.interval = apply(*operation, {intervals.data(), operation->arity})};
        combine(*operation, operands, result);
        // Whatever a number was made by, it is one.
        if (!result.affine && result.interval.is_single()) {
            result.affine = true;
            result.base = static_cast<std::uint64_t>(result.interval.lo);
        }
        if (result.affine) {
            const Interval exact = range(result, width_bits(operation->result));
            if (exact.hi - exact.lo < result.interval.hi - result.interval.lo) result.interval = exact;
        }
        return result;
    }

    static void scale(Abstract& form, std::uint64_t factor, unsigned width) {
        form.base = truncate_bits(form.base * factor, width);
        for (std::uint64_t& slope : form.slope) slope = truncate_bits(slope * factor, width);
    }
    static void add(Abstract& form, const Abstract& other, unsigned width) {
        form.base = truncate_bits(form.base + other.base, width);
        for (std::size_t d = 0; d < form.slope.size(); d++)
            form.slope[d] = truncate_bits(form.slope[d] + other.slope[d], width);
    }
    static void copy_form(Abstract& to, const Abstract& from) {
        to.affine = from.affine;
        to.base = from.base;
        to.slope = from.slope;
    }

    // A form of a narrower type in a wider one, where no value of it wraps in the narrower.
    bool widen(Abstract& form, unsigned from, bool is_signed, unsigned to) const {
        const Ends found = ends(form, from);
        const Wide size = Wide{1} << from, end = is_signed ? size / 2 : size;
        // Floor division: by how many turns of the type the least value is off.
        Wide turns = (found.lo - (end - size)) / size;
        if (found.lo - (end - size) < 0 && (found.lo - (end - size)) % size != 0) turns--;
        const Wide shift = -turns * size;
        if (found.hi + shift >= end) return false;
        form.base = truncate_bits(static_cast<std::uint64_t>(Wide{sign_extend(form.base, from)} + shift), to);
        for (std::uint64_t& slope : form.slope)
            slope = truncate_bits(static_cast<std::uint64_t>(sign_extend(slope, from)), to);
        return true;
    }

    static bool is_constant(const Abstract& value) { return value.interval.is_single(); }

    // a * b, as `width` bits; the operands already have that width.
    static bool multiply(Abstract& a, const Abstract& b, unsigned width) {
        if (is_constant(b)) {
            scale(a, static_cast<std::uint64_t>(b.interval.lo), width);
            return true;
        }
        if (!is_constant(a)) return false;
        const auto factor = static_cast<std::uint64_t>(a.interval.lo);
        a = b;
        scale(a, factor, width);
        return true;
    }

    void combine(const Operation& operation, std::array<Abstract, max_operands> operands,
                 Abstract& result) const {
        const unsigned width = width_bits(operation.result);
        Abstract& a = operands[0];
        Abstract& b = operands[1];
        const Abstract& c = operands[2];
        if (operation.op == Operator::selp) {
            if (c.interval.is_single()) copy_form(result, c.interval.lo != 0 ? a : b);
            return;
        }
        for (unsigned i = 0; i < operation.arity; i++)
            if (!operands[i].affine) return;
        switch (operation.op) {
            case Operator::add:
                add(a, b, width);
                break;
            case Operator::sub:
                scale(b, ~std::uint64_t{0}, width);
                add(a, b, width);
                break;
            case Operator::neg:
                scale(a, ~std::uint64_t{0}, width);
                break;
            case Operator::not_:
                scale(a, ~std::uint64_t{0}, width);
                a.base = truncate_bits(a.base - 1, width);
                break;
            case Operator::mul_lo:
                if (!multiply(a, b, width)) return;
                break;
            case Operator::mad_lo:
                if (!multiply(a, b, width)) return;
                add(a, c, width);
                break;
            case Operator::mul_wide:
            case Operator::mad_wide: {
                const unsigned narrow = width_bits(operation.type);
                const bool is_signed = is_signed_type(operation.type);
                if (!widen(a, narrow, is_signed, width) || !widen(b, narrow, is_signed, width)) return;
                a.interval = range(a, width);
                b.interval = range(b, width);
                if (!multiply(a, b, width)) return;
                if (operation.op == Operator::mad_wide) add(a, c, width);
                break;
            }
            case Operator::shl:
                if (!is_constant(b)) return;
                scale(a,
                      b.interval.lo >= width ? 0 : std::uint64_t{1} << static_cast<unsigned>(b.interval.lo),
                      width);
                break;
            case Operator::cvt:
                if (width <= a.interval.width)
                    scale(a, 1, width);
                else if (!widen(a, a.interval.width, is_signed_type(operation.source), width))
                    return;
                break;
            default:
                return;
        }
        copy_form(result, a);
        result.affine = true;
    }

    ArgumentBytes arguments_;
    std::span<const std::uint32_t> offsets_;
    const IndexBox& box_;
};

}  // namespace

Truth truth(const Expression& expression, ArgumentBytes arguments,
            std::span<const std::uint32_t> parameter_offsets, const IndexBox& box) {
    if (expression.type != ptx::Type::pred) return Truth::unknown;
    for (const IndexRange& range : box)
        if (range.first > range.last) return Truth::unknown;
    const auto value = BoxEvaluation(arguments, parameter_offsets, box).value(expression);
    if (!value || !value->interval.is_single()) return Truth::unknown;
    return value->interval.lo != 0 ? Truth::always : Truth::never;
}

std::optional<AffineForm> affine_form(const Expression& expression, ArgumentBytes arguments,
                                      std::span<const std::uint32_t> parameter_offsets, const IndexBox& box) {
    for (const IndexRange& range : box)
        if (range.first > range.last) return std::nullopt;
    const auto value = BoxEvaluation(arguments, parameter_offsets, box).value(expression);
    if (!value || !value->affine) return std::nullopt;
    return AffineForm{value->base, value->slope};
}

std::uint64_t evaluate(const Expression& expression, ArgumentBytes arguments,
                       std::span<const std::uint32_t> parameter_offsets,
                       const std::array<std::uint64_t, 3>& index) {
    const unsigned width = width_bits(expression.type);
    switch (expression.kind) {
        case Kind::constant:
            return truncate_bits(expression.bits, width);
        case Kind::parameter:
            return argument_bits(expression, arguments, parameter_offsets).value_or(0);
        case Kind::global_index:
            return truncate_bits(index[static_cast<std::size_t>(expression.dimension)], width);
        case Kind::block_index:  // in addresses alone, which no single index is asked of
        case Kind::block_size:
        case Kind::extent:
            return 0;
        case Kind::operation:
            break;
    }
    const auto operation = checked_operation(expression);
    if (!operation) return 0;
    std::array<std::uint64_t, max_operands> operands{};
    for (unsigned i = 0; i < operation->arity; i++)
        operands[i] = evaluate(expression.arguments[i], arguments, parameter_offsets, index);
    return apply(*operation, {operands.data(), operation->arity});
}

}  // namespace trimtab::analysis
