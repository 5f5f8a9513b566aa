// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/launches/interval.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace trimtab::analysis {
namespace {

using ptx::Comparison;

Wide modulus(unsigned width) {
    return Wide{1} << width;
}

std::optional<Wide> checked_multiply(Wide a, Wide b) {
    Wide product = 0;
    if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
    return product;
}

// Both ends moved by a multiple of 2^width, to the side nearer zero: smaller numbers make closer products.
Interval::Range near_zero(const Interval& a) {
    const Wide shift = a.lo + a.hi >= modulus(a.width) ? modulus(a.width) : 0;
    return {a.lo - shift, a.hi - shift};
}

// Products of the corners; nothing where they do not fit 128 bits.
std::optional<Interval::Range> multiply_ranges(const Interval::Range& a, const Interval::Range& b) {
    const std::array corners{checked_multiply(a.lo, b.lo), checked_multiply(a.lo, b.hi),
                             checked_multiply(a.hi, b.lo), checked_multiply(a.hi, b.hi)};
    Interval::Range result;
    for (std::size_t i = 0; i < corners.size(); i++) {
        if (!corners[i]) return std::nullopt;
        result.lo = i == 0 ? *corners[i] : std::min(result.lo, *corners[i]);
        result.hi = i == 0 ? *corners[i] : std::max(result.hi, *corners[i]);
    }
    return result;
}

Interval multiply_low(const Interval& a, const Interval& b) {
    const auto product = multiply_ranges(near_zero(a), near_zero(b));
    return product ? Interval::of(product->lo, product->hi, a.width) : Interval::full(a.width);
}

Interval multiply_typed(const Interval& a, const Interval& b, bool is_signed, unsigned result_width) {
    const auto product = multiply_ranges(a.as_type(is_signed).hull(), b.as_type(is_signed).hull());
    return product ? Interval::of(product->lo, product->hi, result_width) : Interval::full(result_width);
}

Interval multiply_high(const Interval& a, const Interval& b, bool is_signed) {
    const auto product = multiply_ranges(a.as_type(is_signed).hull(), b.as_type(is_signed).hull());
    if (!product) return Interval::full(a.width);
    return Interval::of(product->lo >> a.width, product->hi >> a.width, a.width);
}

Interval shift_left(const Interval& a, const Interval& amount) {
    if (!amount.is_single()) return Interval::full(a.width);
    if (amount.lo >= a.width) return Interval::of(0, 0, a.width);
    const Wide factor = Wide{1} << static_cast<unsigned>(amount.lo);
    return multiply_low(a, {factor, factor, a.width});
}

Interval shift_right(const Interval& a, const Interval& amount, bool is_signed) {
    if (!amount.is_single()) return Interval::full(a.width);
    const auto range = a.as_type(is_signed).hull();
    const auto by = static_cast<unsigned>(std::min<Wide>(amount.lo, a.width));
    return Interval::of(range.lo >> by, range.hi >> by, a.width);
}

Wide low_mask(Wide value) {
    unsigned bits = 0;
    while (bits < 64 && (value >> bits) != 0) bits++;
    return (Wide{1} << bits) - 1;
}

Interval bitwise(Operator op, const Interval& a, const Interval& b) {
    if (a.is_single() && b.is_single()) {
        const auto x = static_cast<std::uint64_t>(a.lo), y = static_cast<std::uint64_t>(b.lo);
        const std::uint64_t bits = op == Operator::and_ ? x & y : op == Operator::or_ ? x | y : x ^ y;
        return {Wide{bits}, Wide{bits}, a.width};
    }
    const auto ra = a.as_type(false).hull(), rb = b.as_type(false).hull();
    switch (op) {
        case Operator::and_: {
            // A mask of low bits keeps the order of values that agree above it.
            const bool left = a.is_single();
            if (left || b.is_single()) {
                const Wide mask = left ? a.lo : b.lo;
                const auto& other = left ? rb : ra;
                const Wide period = low_mask(mask) + 1;
                if (mask == period - 1 && other.lo / period == other.hi / period)
                    return {other.lo & mask, other.hi & mask, a.width};
            }
            return {0, std::min(ra.hi, rb.hi), a.width};
        }
        case Operator::or_:
            return {std::max(ra.lo, rb.lo), low_mask(std::max(ra.hi, rb.hi)), a.width};
        default:
            return {0, low_mask(std::max(ra.hi, rb.hi)), a.width};
    }
}

Interval absolute(const Interval& a, bool is_signed) {
    if (!is_signed) return a;
    const auto range = a.as_type(true).hull();
    if (range.lo >= 0) return Interval::of(range.lo, range.hi, a.width);
    if (range.hi <= 0) return Interval::of(-range.hi, -range.lo, a.width);
    return Interval::of(0, std::max(-range.lo, range.hi), a.width);
}

Interval divide(const Interval& a, const Interval& b, bool is_signed) {
    const auto dividend = a.as_type(is_signed).hull(), divisor = b.as_type(is_signed).hull();
    if (divisor.lo <= 0 && divisor.hi >= 0) return Interval::full(a.width);
    // Monotone in each operand while the other keeps its sign; corners of the dividend's two sides of zero.
    Wide lo = 0, hi = 0;
    bool first = true;
    for (const Wide x : {dividend.lo, dividend.hi, std::clamp<Wide>(0, dividend.lo, dividend.hi)}) {
        for (const Wide y : {divisor.lo, divisor.hi}) {
            const Wide quotient = x / y;
            lo = first ? quotient : std::min(lo, quotient);
            hi = first ? quotient : std::max(hi, quotient);
            first = false;
        }
    }
    return Interval::of(lo, hi, a.width);
}

Interval remainder(const Interval& a, const Interval& b, bool is_signed) {
    const auto dividend = a.as_type(is_signed).hull(), divisor = b.as_type(is_signed).hull();
    if (divisor.lo <= 0 && divisor.hi >= 0) return Interval::full(a.width);
    const Wide least = divisor.lo > 0 ? divisor.lo : -divisor.hi;
    const Wide most = divisor.lo > 0 ? divisor.hi : -divisor.lo;
    // The result has the dividend's sign and is nearer to zero than both.
    if (dividend.lo >= 0 && dividend.hi < least) return Interval::of(dividend.lo, dividend.hi, a.width);
    const Wide hi = dividend.hi > 0 ? std::min(most - 1, dividend.hi) : 0;
    const Wide lo = dividend.lo < 0 ? std::max(1 - most, dividend.lo) : 0;
    return Interval::of(lo, hi, a.width);
}

Interval order(const Interval& a, const Interval& b, bool is_signed, bool maximum) {
    const auto x = a.as_type(is_signed).hull(), y = b.as_type(is_signed).hull();
    if (maximum) return Interval::of(std::max(x.lo, y.lo), std::max(x.hi, y.hi), a.width);
    return Interval::of(std::min(x.lo, y.lo), std::min(x.hi, y.hi), a.width);
}

// {can be false, can be true} of a < b, or of a == b.
struct Outcomes {
    bool no = false, yes = false;
};

Outcomes less(const Interval& a, const Interval& b, bool is_signed) {
    Outcomes outcomes;
    const auto left = a.as_type(is_signed), right = b.as_type(is_signed);
    for (unsigned i = 0; i < left.count; i++) {
        for (unsigned j = 0; j < right.count; j++) {
            outcomes.yes |= left.range[i].lo < right.range[j].hi;
            outcomes.no |= left.range[i].hi >= right.range[j].lo;
        }
    }
    return outcomes;
}

Outcomes equal(const Interval& a, const Interval& b) {
    Outcomes outcomes;
    const auto left = a.as_type(false), right = b.as_type(false);
    for (unsigned i = 0; i < left.count; i++)
        for (unsigned j = 0; j < right.count; j++)
            outcomes.yes |= left.range[i].lo <= right.range[j].hi && right.range[j].lo <= left.range[i].hi;
    outcomes.no = !(a.is_single() && b.is_single() && a.lo == b.lo);
    return outcomes;
}

Interval predicate(Outcomes outcomes, bool negated = false) {
    if (negated) std::swap(outcomes.no, outcomes.yes);
    return {outcomes.no ? 0 : 1, outcomes.yes ? 1 : 0, 1};
}

Interval compare(Comparison comparison, const Interval& a, const Interval& b, bool is_signed) {
    switch (comparison) {
        case Comparison::eq:
            return predicate(equal(a, b));
        case Comparison::ne:
            return predicate(equal(a, b), true);
        case Comparison::lt:
            return predicate(less(a, b, is_signed));
        case Comparison::ge:
            return predicate(less(a, b, is_signed), true);
        case Comparison::gt:
            return predicate(less(b, a, is_signed));
        default:
            return predicate(less(b, a, is_signed), true);
    }
}

}  // namespace

Interval Interval::full(unsigned width) {
    return {0, modulus(width) - 1, width};
}

Interval Interval::of(Wide lo, Wide hi, unsigned width) {
    const Wide size = modulus(width);
    if (hi - lo >= size - 1) return full(width);
    Wide base = lo % size;
    if (base < 0) base += size;
    return {base, base + (hi - lo), width};
}

bool Interval::is_full() const {
    return hi - lo >= modulus(width) - 1;
}

bool Interval::contains(std::uint64_t bits) const {
    const Wide value = bits;
    return (value >= lo && value <= hi) || value + modulus(width) <= hi;
}

Interval::Range Interval::Ranges::hull() const {
    Range hull = range[0];
    for (unsigned i = 1; i < count; i++) {
        hull.lo = std::min(hull.lo, range[i].lo);
        hull.hi = std::max(hull.hi, range[i].hi);
    }
    return hull;
}

Interval::Ranges Interval::as_type(bool is_signed) const {
    const Wide size = modulus(width);
    // The integers lo to hi, cut at the type's end: 2^width, or 2^(width-1) where it is signed.
    const Wide end = is_signed ? size / 2 : size;
    Ranges ranges;
    if (is_full()) {
        ranges.range[0] = {end - size, end - 1};
        ranges.count = 1;
        return ranges;
    }
    // lo lies below 2^width: shift so that it lies in the type.
    const Wide shift = lo >= end ? size : 0;
    const Wide first = lo - shift, last = hi - shift;
    if (last < end) {
        ranges.range[0] = {first, last};
        ranges.count = 1;
    } else {
        ranges.range[0] = {first, end - 1};
        ranges.range[1] = {end - size, last - size};
        ranges.count = 2;
    }
    return ranges;
}

Interval join(const Interval& a, const Interval& b) {
    const auto x = a.as_type(false).hull(), y = b.as_type(false).hull();
    const auto unsigned_hull = Interval::of(std::min(x.lo, y.lo), std::max(x.hi, y.hi), a.width);
    const auto p = a.as_type(true).hull(), q = b.as_type(true).hull();
    const auto signed_hull = Interval::of(std::min(p.lo, q.lo), std::max(p.hi, q.hi), a.width);
    return signed_hull.hi - signed_hull.lo < unsigned_hull.hi - unsigned_hull.lo ? signed_hull
                                                                                 : unsigned_hull;
}

Interval apply(const Operation& operation, std::span<const Interval> operands) {
    const Interval& a = operands[0];
    const Interval& b = operands[operands.size() > 1 ? 1 : 0];
    const Interval& c = operands[operands.size() > 2 ? 2 : 0];
    const bool is_signed = is_signed_type(operation.type);
    const unsigned width = width_bits(operation.result);
    const auto add = [width](const Interval& x, const Interval& y) {
        return Interval::of(x.lo + y.lo, x.hi + y.hi, width);
    };
    switch (operation.op) {
        case Operator::add:
            return add(a, b);
        case Operator::sub:
            return Interval::of(a.lo - b.hi, a.hi - b.lo, width);
        case Operator::mul_lo:
            return multiply_low(a, b);
        case Operator::mul_hi:
            return multiply_high(a, b, is_signed);
        case Operator::mul_wide:
            return multiply_typed(a, b, is_signed, width);
        case Operator::mad_lo:
            return add(multiply_low(a, b), c);
        case Operator::mad_hi:
            return add(multiply_high(a, b, is_signed), c);
        case Operator::mad_wide:
            return add(multiply_typed(a, b, is_signed, width), c);
        case Operator::mul24_lo: {
            // Exact where both operands keep their value in 24 bits, else anything.
            const Wide end = Wide{1} << (is_signed ? 23 : 24), begin = is_signed ? -end : 0;
            const auto x = a.as_type(is_signed).hull(), y = b.as_type(is_signed).hull();
            if (x.lo < begin || x.hi >= end || y.lo < begin || y.hi >= end) return Interval::full(width);
            return multiply_typed(a, b, is_signed, width);
        }
        case Operator::shl:
            return shift_left(a, b);
        case Operator::shr:
            return shift_right(a, b, is_signed);
        case Operator::and_:
        case Operator::or_:
        case Operator::xor_:
            return bitwise(operation.op, a, b);
        case Operator::not_:
            return Interval::of(-1 - a.hi, -1 - a.lo, width);
        case Operator::neg:
            return Interval::of(-a.hi, -a.lo, width);
        case Operator::abs:
            return absolute(a, is_signed);
        case Operator::min:
            return order(a, b, is_signed, false);
        case Operator::max:
            return order(a, b, is_signed, true);
        case Operator::div:
            return divide(a, b, is_signed);
        case Operator::rem:
            return remainder(a, b, is_signed);
        case Operator::cvt: {
            const bool from_signed = is_signed_type(operation.source);
            if (width <= a.width) return Interval::of(a.lo, a.hi, width);
            const auto range = a.as_type(from_signed).hull();
            return Interval::of(range.lo, range.hi, width);
        }
        case Operator::setp:
            return compare(operation.comparison, a, b, is_signed);
        case Operator::selp:
            if (!c.is_single()) return join(a, b);
            return c.lo != 0 ? a : b;
    }
    return Interval::full(width);
}

}  // namespace trimtab::analysis
