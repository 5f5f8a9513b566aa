// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/warp_values.h"

#include <algorithm>
#include <bit>

#include "core/ptx/comparison.h"

namespace trimtab::pruning {

namespace {

using analysis::Operator;
using ValueKind = WarpValue::Kind;

std::int64_t wrap_add(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrap_multiply(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

bool is_linear(ValueKind kind) {
    return kind == ValueKind::sum || kind == ValueKind::offset;
}

WarpValue add(const WarpValue& a, const WarpValue& b, std::int64_t sign) {
    const bool known = a.is_sum() && b.is_sum();
    return {.kind = known ? ValueKind::sum : ValueKind::offset,
            .base = known ? wrap_add(a.base, wrap_multiply(sign, b.base)) : 0,
            .x = wrap_add(a.x, wrap_multiply(sign, b.x)),
            .y = wrap_add(a.y, wrap_multiply(sign, b.y)),
            .z = wrap_add(a.z, wrap_multiply(sign, b.z))};
}
WarpValue scaled(const WarpValue& a, std::int64_t factor) {
    return {.kind = a.kind,
            .base = wrap_multiply(a.base, factor),
            .x = wrap_multiply(a.x, factor),
            .y = wrap_multiply(a.y, factor),
            .z = wrap_multiply(a.z, factor)};
}
// Nothing known of either, both the same in all lanes: so is what is made of them.
WarpValue unknown_uniform() {
    return {.kind = ValueKind::offset};
}

// A product of sums: nothing where both differ between lanes.
WarpValue multiply(const WarpValue& a, const WarpValue& b) {
    if (b.is_sum() && b.is_uniform()) return scaled(a, b.base);
    if (a.is_sum() && a.is_uniform()) return scaled(b, a.base);
    return a.is_uniform() && b.is_uniform() ? unknown_uniform() : WarpValue{};
}

std::int64_t canonical(std::int64_t number, ptx::Type type) {
    const unsigned width = analysis::width_bits(type);
    const std::uint64_t bits = analysis::truncate_bits(static_cast<std::uint64_t>(number), width);
    return analysis::is_signed_type(type) ? analysis::sign_extend(bits, width)
                                          : static_cast<std::int64_t>(bits);
}

// The sum over the type's bits, as `type` itself reads them: any sum congruent to it will do.
bool takes_any_bits(Operator op) {
    return op == Operator::add || op == Operator::sub || op == Operator::mul_lo || op == Operator::mad_lo ||
           op == Operator::shl || op == Operator::neg || op == Operator::not_;
}

// What can be said without a look at each lane; kind unknown: nothing, `settled` tells whether that is all.
WarpValue linear(const analysis::Operation& op, std::array<WarpValue, 3> v, const WarpLanes& lanes,
                 bool& settled) {
    settled = true;
    const auto& [a, b, c] = v;
    switch (op.op) {
        case Operator::add:
            return add(a, b, 1);
        case Operator::sub:
            return add(a, b, -1);
        case Operator::neg:
            return scaled(a, -1);
        case Operator::not_:  // -1 - a
            return add(WarpValue::number(-1), a, -1);
        case Operator::mul_lo:
        case Operator::mul_wide: {
            const WarpValue product = multiply(a, b);
            if (product.kind != ValueKind::unknown) return product;
            break;
        }
        case Operator::mad_lo:
        case Operator::mad_wide: {
            const WarpValue product = multiply(a, b);
            if (product.kind != ValueKind::unknown) return add(product, c, 1);
            break;
        }
        case Operator::shl:
            if (b.is_sum() && b.is_uniform()) {
                const auto by = static_cast<std::uint64_t>(b.base);
                return by >= analysis::width_bits(op.type)
                           ? WarpValue::number(0)
                           : scaled(a, static_cast<std::int64_t>(std::uint64_t{1} << by));
            }
            break;
        case Operator::cvt:
            return a;
        case Operator::or_:
            // Disjoint bits, which clang makes of additions.
            if (a.is_sum() && b.is_sum() && b.is_uniform() && b.base >= 0) {
                const auto above = std::bit_width(static_cast<std::uint64_t>(b.base));
                const std::uint64_t low = (std::uint64_t{1} << above) - 1;
                if (above < 63 && ((static_cast<std::uint64_t>(a.base) | static_cast<std::uint64_t>(a.x) |
                                    static_cast<std::uint64_t>(a.y) | static_cast<std::uint64_t>(a.z)) &
                                   low) == 0)
                    return add(a, b, 1);
            }
            break;
        case Operator::and_:
            // A mask that takes nothing away.
            if (a.is_sum() && b.is_sum() && b.is_uniform() && b.base >= 0 &&
                std::has_single_bit(static_cast<std::uint64_t>(b.base) + 1)) {
                const ValueRange range = range_of(a, lanes);
                if (range.least >= 0 && range.most <= b.base) return a;
            }
            break;
        case Operator::div:
        case Operator::rem:
            if (a.is_sum() && b.is_sum() && b.is_uniform() && b.base > 0) {
                const ValueRange range = range_of(a, lanes);
                if (range.least >= 0 && range.least / b.base == range.most / b.base) {
                    const std::int64_t quotient = range.least / b.base;
                    return op.op == Operator::div ? WarpValue::number(quotient)
                                                  : add(a, WarpValue::number(quotient * b.base), -1);
                }
            }
            break;
        case Operator::shr:
            if (a.is_sum() && b.is_sum() && b.is_uniform() && b.base >= 0 && b.base < 62) {
                const ValueRange range = range_of(a, lanes);
                if (range.least >> b.base == range.most >> b.base)
                    return WarpValue::number(range.least >> b.base);
            }
            break;
        default:
            break;
    }
    settled = false;
    return {};
}

WarpValue compare(const analysis::Operation& op, std::array<WarpOperand, 3> operands,
                  const WarpLanes& lanes) {
    const bool is_wide_unsigned = analysis::width_bits(op.type) == 64 && !analysis::is_signed_type(op.type);
    WarpOperand &a = operands[0], &b = operands[1];
    if (!a.value.is_known() || !b.value.is_known()) return {};
    if (a.value.is_sum() && b.value.is_sum() && make_exact(a.value, op.type, lanes) &&
        make_exact(b.value, op.type, lanes) && !is_wide_unsigned) {
        const ValueRange difference = range_of(add(a.value, b.value, -1), lanes);
        const bool least = ptx::holds(op.comparison, difference.least, std::int64_t{0}),
                   most = ptx::holds(op.comparison, difference.most, std::int64_t{0});
        const bool is_order = op.comparison != ptx::Comparison::eq && op.comparison != ptx::Comparison::ne;
        if (difference.least == difference.most || (is_order && least == most))
            return WarpValue::bits(least ? ~0u : 0u);
        if (!is_order && (difference.least > 0 || difference.most < 0))
            return WarpValue::bits(least ? ~0u : 0u);
    }
    LaneNumbers left, right;
    numbers_of(operands[0], op.type, lanes, left);
    numbers_of(operands[1], op.type, lanes, right);
    std::uint32_t mask = 0;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
        const bool result = is_wide_unsigned
                                ? ptx::holds(op.comparison, static_cast<std::uint64_t>(left[lane]),
                                             static_cast<std::uint64_t>(right[lane]))
                                : ptx::holds(op.comparison, left[lane], right[lane]);
        mask |= static_cast<std::uint32_t>(result) << lane;
    }
    return WarpValue::bits(mask);
}

WarpValue logical(const analysis::Operation& op, const std::array<WarpOperand, 3>& operands,
                  std::uint32_t present) {
    const WarpValue &a = operands[0].value, &b = operands[1].value;
    const auto all = [&](const WarpValue& v, bool value) {
        return v.kind == ValueKind::predicate && ((value ? ~v.mask() : v.mask()) & present) == 0;
    };
    if (op.op == Operator::not_)
        return a.kind == ValueKind::predicate ? WarpValue::bits(~a.mask()) : WarpValue{};
    if (op.op == Operator::and_ && (all(a, false) || all(b, false))) return WarpValue::bits(0);
    if (op.op == Operator::or_ && (all(a, true) || all(b, true))) return WarpValue::bits(~0u);
    if (a.kind != ValueKind::predicate || b.kind != ValueKind::predicate) return {};
    switch (op.op) {
        case Operator::and_:
            return WarpValue::bits(a.mask() & b.mask());
        case Operator::or_:
            return WarpValue::bits(a.mask() | b.mask());
        case Operator::xor_:
            return WarpValue::bits(a.mask() ^ b.mask());
        default:
            return {};
    }
}

}  // namespace

WarpLanes WarpLanes::of(std::array<std::uint32_t, 3> group, std::uint32_t index) {
    WarpLanes out;
    const std::uint32_t size = group[0] * group[1] * group[2], first = index * warp_lanes;
    std::uint32_t x = first % group[0], y = first / group[0] % group[1], z = first / group[0] / group[1];
    for (unsigned lane = 0; lane < warp_lanes && first + lane < size; ++lane) {
        out.x[lane] = static_cast<std::int32_t>(x);
        out.y[lane] = static_cast<std::int32_t>(y);
        out.z[lane] = static_cast<std::int32_t>(z);
        out.present |= 1u << lane;
        if (lane == 0) {
            out.least_x = out.most_x = out.x[0];
            out.least_y = out.most_y = out.y[0];
            out.least_z = out.most_z = out.z[0];
        }
        out.least_x = std::min(out.least_x, out.x[lane]), out.most_x = std::max(out.most_x, out.x[lane]);
        out.least_y = std::min(out.least_y, out.y[lane]), out.most_y = std::max(out.most_y, out.y[lane]);
        out.least_z = std::min(out.least_z, out.z[lane]), out.most_z = std::max(out.most_z, out.z[lane]);
        if (++x == group[0]) {
            x = 0;
            if (++y == group[1]) y = 0, ++z;
        }
    }
    return out;
}

ValueRange range_of(const WarpValue& sum, const WarpLanes& lanes) {
    ValueRange out{.least = sum.base, .most = sum.base};
    const auto widen = [&](std::int64_t factor, std::int64_t least, std::int64_t most) {
        if (factor == 0) return;
        out.least = wrap_add(out.least, wrap_multiply(factor, factor > 0 ? least : most));
        out.most = wrap_add(out.most, wrap_multiply(factor, factor > 0 ? most : least));
    };
    widen(sum.x, lanes.least_x, lanes.most_x);
    widen(sum.y, lanes.least_y, lanes.most_y);
    widen(sum.z, lanes.least_z, lanes.most_z);
    return out;
}

void numbers_of(const WarpOperand& operand, ptx::Type type, const WarpLanes& lanes, LaneNumbers& out) {
    const WarpValue& v = operand.value;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
        std::int64_t number = 0;
        if (v.kind == ValueKind::lanes) {
            number = (*operand.lanes)[lane];
        } else if (v.kind == ValueKind::predicate) {
            out[lane] = v.mask() >> lane & 1;
            continue;
        } else {
            number = wrap_add(wrap_add(v.base, wrap_multiply(v.x, lanes.x[lane])),
                              wrap_add(wrap_multiply(v.y, lanes.y[lane]), wrap_multiply(v.z, lanes.z[lane])));
        }
        out[lane] = canonical(number, type);
    }
}

bool make_exact(WarpValue& sum, ptx::Type type, const WarpLanes& lanes) {
    const unsigned width = analysis::width_bits(type);
    if (width >= 64) return true;
    if (width == 0) return false;
    const std::int64_t modulus = std::int64_t{1} << width;
    const std::int64_t least = analysis::is_signed_type(type) ? -(modulus / 2) : 0,
                       most = least + modulus - 1;
    ValueRange range = range_of(sum, lanes);
    if (range.least >= least && range.most <= most) return true;
    std::int64_t turns = wrap_add(range.least, -least) / modulus;
    if (wrap_add(range.least, -least) < 0 && wrap_add(range.least, -least) % modulus != 0) --turns;
    sum.base = wrap_add(sum.base, -wrap_multiply(turns, modulus));
    range = range_of(sum, lanes);
    return range.least >= least && range.most <= most;
}

WarpValue compressed(const LaneNumbers& numbers, const WarpLanes& lanes) {
    if (lanes.present == 0) return WarpValue::number(0);
    const auto first = static_cast<unsigned>(std::countr_zero(lanes.present));
    std::int64_t step = 0;
    const unsigned second = first + 1;
    if (lanes.is_row() && second < warp_lanes && (lanes.present >> second & 1) != 0)
        step = wrap_add(numbers[second], -numbers[first]);
    for (unsigned lane = first; lane < warp_lanes; ++lane) {
        if ((lanes.present >> lane & 1) == 0) continue;
        const std::int64_t from_first = lanes.x[lane] - lanes.x[first];
        if (numbers[lane] != wrap_add(numbers[first], wrap_multiply(step, from_first)))
            return {.kind = ValueKind::lanes};
    }
    return {.kind = ValueKind::sum,
            .base = wrap_add(numbers[first], -wrap_multiply(step, lanes.x[first])),
            .x = step,
            .y = 0,
            .z = 0};
}

WarpValue merged(const WarpOperand& a, const WarpOperand& b, std::uint32_t mask, ptx::Type type,
                 const WarpLanes& lanes, LaneNumbers& lanes_out) {
    if ((mask & lanes.present) == 0 || (~mask & lanes.present) == 0 ||
        (a.value == b.value && a.value.kind != ValueKind::lanes && a.value.kind != ValueKind::offset)) {
        const WarpOperand& only = (mask & lanes.present) == 0 ? b : a;
        if (only.value.kind == ValueKind::lanes && only.lanes != &lanes_out) lanes_out = *only.lanes;
        return only.value;
    }
    if (!a.value.is_known() || !b.value.is_known()) return {};
    if (a.value.kind == ValueKind::predicate && b.value.kind == ValueKind::predicate)
        return WarpValue::bits((a.value.mask() & mask) | (b.value.mask() & ~mask));
    if (analysis::width_bits(type) == 0) return {};
    LaneNumbers left, right;
    numbers_of(a, type, lanes, left);
    numbers_of(b, type, lanes, right);
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
        lanes_out[lane] = (mask >> lane & 1) != 0 ? left[lane] : right[lane];
    return compressed(lanes_out, lanes);
}

WarpValue apply(const analysis::Operation& op, const std::array<WarpOperand, 3>& operands,
                const WarpLanes& lanes, LaneNumbers& lanes_out) {
    // Most of all that is done, said without the rest.
    if (operands[0].value.is_sum() && operands[1].value.is_sum()) {
        if (op.op == Operator::add) return add(operands[0].value, operands[1].value, 1);
        if (op.op == Operator::sub) return add(operands[0].value, operands[1].value, -1);
    }
    if (op.op == Operator::setp) return compare(op, operands, lanes);
    if (op.op == Operator::selp) {
        if (operands[2].value.kind == ValueKind::predicate)
            return merged(operands[0], operands[1], operands[2].value.mask(), op.type, lanes, lanes_out);
        return operands[0].value == operands[1].value && operands[0].value.is_sum() ? operands[0].value
                                                                                    : WarpValue{};
    }
    if (op.type == ptx::Type::pred) return logical(op, operands, lanes.present);

    bool all_known = true, all_linear = true;
    std::array<WarpValue, 3> values{};
    for (unsigned i = 0; i < op.arity; ++i) {
        values[i] = operands[i].value;
        all_known = all_known && values[i].is_known();
        all_linear = all_linear && is_linear(values[i].kind);
    }
    if (all_linear) {
        bool exact = true;
        for (unsigned i = 0; i < op.arity; ++i)
            if (!takes_any_bits(op.op) || op.operand_type(i) == ptx::Type::none)
                exact = exact && (values[i].kind == ValueKind::offset ||
                                  make_exact(values[i], op.operand_type(i), lanes));
        if (exact) {
            bool settled = false;
            const WarpValue result = linear(op, values, lanes, settled);
            if (settled) return result;
        }
        if (!all_known) {
            bool uniform = true;
            for (unsigned i = 0; i < op.arity; ++i) uniform = uniform && values[i].is_uniform();
            return uniform ? unknown_uniform() : WarpValue{};
        }
    }
    if (!all_known) return {};
    std::array<LaneNumbers, 3> numbers;
    bool uniform = true;
    for (unsigned i = 0; i < op.arity; ++i) {
        uniform = uniform && operands[i].value.is_sum() && operands[i].value.is_uniform();
        numbers_of(operands[i], op.operand_type(i), lanes, numbers[i]);
    }
    const auto of_lane = [&](unsigned lane) {
        std::array<std::uint64_t, 3> bits{};
        for (unsigned i = 0; i < op.arity; ++i)
            bits[i] = analysis::truncate_bits(static_cast<std::uint64_t>(numbers[i][lane]),
                                              analysis::width_bits(op.operand_type(i)));
        return canonical(static_cast<std::int64_t>(analysis::apply(op, {bits.data(), op.arity})), op.result);
    };
    if (uniform) return WarpValue::number(of_lane(0));
    for (unsigned lane = 0; lane < warp_lanes; ++lane) lanes_out[lane] = of_lane(lane);
    return compressed(lanes_out, lanes);
}

}  // namespace trimtab::pruning
