// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/symbolic.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "core/analysis/launches/description.h"

namespace trimtab::analysis {
namespace {

using Kind = Atom::Kind;

constexpr std::size_t max_degree = 6;

// What legal_blocks() sees to, for every launch that it allows: indices and totals stay below 2^31.
constexpr std::int64_t max_index = 0x7fffffff;
constexpr std::int64_t max_block_extent = 1024;
constexpr std::int64_t max_grid_extent = max_blocks_in_dimension;

Operation truncation(unsigned from, unsigned to) {
    return *conversion(*integer_type(false, to), *integer_type(false, from));
}

void sort_terms(Symbolic& a) {
    std::ranges::sort(a.terms);
    std::vector<Term> merged;
    for (Term& term : a.terms) {
        if (!merged.empty() && merged.back().atoms == term.atoms)
            merged.back().coefficient += term.coefficient;
        else
            merged.push_back(std::move(term));
    }
    for (Term& term : merged) term.coefficient = truncate_bits(term.coefficient, a.width);
    std::erase_if(merged, [](const Term& term) { return term.coefficient == 0; });
    a.terms = std::move(merged);
}

// FNV-1a, of words in the place of bytes; the product's high half is what tells them apart.
class Hash {
  public:
    void add(std::uint64_t word) {
        constexpr std::uint64_t prime = 0x100000001b3;
        value_ = (value_ ^ word) * prime;
        value_ ^= value_ >> 32U;
    }
    [[nodiscard]] std::size_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace

std::size_t AtomHash::operator()(const Atom& atom) const {
    Hash hash;
    hash.add(static_cast<std::uint64_t>(atom.kind) | static_cast<std::uint64_t>(atom.dimension) << 8U |
             std::uint64_t{atom.width} << 16U);
    hash.add(std::uint64_t{atom.parameter} << 32U | atom.offset);
    hash.add(std::uint64_t{atom.function} << 32U | atom.value);
    if (!atom.text.empty()) hash.add(std::hash<std::string>()(atom.text));
    hash.add(static_cast<std::uint64_t>(atom.operation.op) |
             static_cast<std::uint64_t>(atom.operation.comparison) << 16U |
             static_cast<std::uint64_t>(atom.operation.type) << 32U |
             static_cast<std::uint64_t>(atom.operation.source) << 48U);
    for (const Symbolic& operand : atom.operands) {
        hash.add(operand.width);
        for (const Term& term : operand.terms) {
            for (const AtomIndex index : term.atoms) hash.add(index);
            hash.add(term.coefficient);
        }
    }
    return hash.value();
}

AtomIndex SymbolTable::intern(const Atom& atom) {
    const auto [at, added] = indices_.try_emplace(atom, static_cast<AtomIndex>(atoms_.size()));
    if (added) atoms_.push_back(&at->first);
    return at->second;
}

AtomIndex SymbolTable::exact(Kind kind, Dimension dimension) {
    if (kind == Kind::lane) exact(Kind::global_index, dimension);  // for with_global_index()
    Atom atom;
    atom.kind = kind;
    atom.dimension = dimension;
    return intern(atom);
}

Symbolic SymbolTable::constant(std::uint64_t bits, unsigned width) {
    Symbolic result{width, {}};
    if (truncate_bits(bits, width) != 0) result.terms.push_back({{}, truncate_bits(bits, width)});
    return result;
}

Symbolic SymbolTable::of(const Atom& atom, unsigned width) {
    return {width, {{{intern(atom)}, 1}}};
}

Symbolic SymbolTable::global_index(Dimension dimension, unsigned width) {
    return {width, {{{exact(Kind::global_index, dimension)}, 1}}};
}
Symbolic SymbolTable::total(Dimension dimension, unsigned width) {
    return {width, {{{exact(Kind::total, dimension)}, 1}}};
}
Symbolic SymbolTable::loop_index(Dimension dimension, unsigned width) {
    return {width, {{{exact(Kind::loop_index, dimension)}, 1}}};
}
Symbolic SymbolTable::row_index(Dimension dimension, unsigned width) {
    return {width, {{{exact(Kind::row_index, dimension)}, 1}}};
}
Symbolic SymbolTable::row_count(Dimension dimension, unsigned width) {
    return {width, {{{exact(Kind::row_count, dimension)}, 1}}};
}
Symbolic SymbolTable::block_index(Dimension dimension, unsigned width) {
    return {width, {{{exact(Kind::block_index, dimension)}, 1}}};
}
Symbolic SymbolTable::block_size(Dimension dimension, unsigned width) {
    return {width, {{{exact(Kind::block_size, dimension)}, 1}}};
}
Symbolic SymbolTable::grid_size(Dimension dimension, unsigned width) {
    return {width, {{{exact(Kind::grid_size, dimension)}, 1}}};
}

Symbolic SymbolTable::thread_index(Dimension dimension, unsigned width) {
    const auto first_thread = multiply(block_index(dimension, width), block_size(dimension, width));
    return subtract(global_index(dimension, width), *first_thread);
}

Symbolic SymbolTable::add(const Symbolic& a, const Symbolic& b) const {
    Symbolic sum = a;
    sum.terms.insert(sum.terms.end(), b.terms.begin(), b.terms.end());
    sort_terms(sum);
    return sum;
}

Symbolic SymbolTable::scaled(Symbolic a, std::uint64_t factor) {
    for (Term& term : a.terms) term.coefficient = truncate_bits(term.coefficient * factor, a.width);
    std::erase_if(a.terms, [](const Term& term) { return term.coefficient == 0; });
    return a;
}

Symbolic SymbolTable::subtract(const Symbolic& a, const Symbolic& b) const {
    return add(a, scaled(b, ~std::uint64_t{0}));
}

// nctaid * ntid is the total, whatever else stands in the product.
void SymbolTable::normalise(Term& term) {
    for (const Dimension dimension : {Dimension::x, Dimension::y, Dimension::z}) {
        const AtomIndex grid = exact(Kind::grid_size, dimension);
        for (const auto& [part, whole] :
             {std::pair(Kind::block_size, Kind::total), std::pair(Kind::block_warps, Kind::warp_total)}) {
            const AtomIndex block = exact(part, dimension);
            for (;;) {
                const auto at_block = std::ranges::find(term.atoms, block);
                const auto at_grid = std::ranges::find(term.atoms, grid);
                if (at_block == term.atoms.end() || at_grid == term.atoms.end()) break;
                *at_block = exact(whole, dimension);
                term.atoms.erase(at_grid);
            }
        }
    }
    std::ranges::sort(term.atoms);
}

std::optional<Symbolic> SymbolTable::multiply(const Symbolic& a, const Symbolic& b) {
    if (a.terms.size() * b.terms.size() > max_terms) return std::nullopt;
    Symbolic product{a.width, {}};
    for (const Term& left : a.terms) {
        for (const Term& right : b.terms) {
            Term term{left.atoms, left.coefficient * right.coefficient};
            term.atoms.insert(term.atoms.end(), right.atoms.begin(), right.atoms.end());
            if (term.atoms.size() > max_degree) return std::nullopt;
            normalise(term);
            product.terms.push_back(std::move(term));
        }
    }
    sort_terms(product);
    return product;
}

bool SymbolTable::is_clean(const Symbolic& a) const {
    return std::ranges::all_of(a.terms, [&](const Term& term) {
        return std::ranges::all_of(term.atoms, [&](AtomIndex index) { return atom(index).is_clean(); });
    });
}

Symbolic SymbolTable::unclean_part(const Symbolic& a) const {
    Symbolic part{a.width, {}};
    std::ranges::copy_if(a.terms, std::back_inserter(part.terms), [&](const Term& term) {
        return std::ranges::any_of(term.atoms, [&](AtomIndex index) { return !atom(index).is_clean(); });
    });
    return part;
}

// --- widths ---

std::optional<SymbolTable::Range> SymbolTable::term_range(const Term& term) const {
    Range range{1, 1};
    const auto times = [&](std::int64_t lo, std::int64_t hi) {
        range.lo *= lo;  // all factors are at least zero
        return !__builtin_mul_overflow(range.hi, static_cast<__int128>(hi), &range.hi);
    };
    std::array<unsigned, 3> block_indices{}, block_sizes{}, block_warps{};
    for (const AtomIndex index : term.atoms) {
        const Atom& factor = atom(index);
        const auto d = static_cast<std::size_t>(factor.dimension);
        bool fits = true;
        switch (factor.kind) {
            case Kind::global_index:
            case Kind::loop_index:
                fits = times(0, max_index);
                break;
            case Kind::row_index:
                fits = times(0, max_grid_extent - 1);
                break;
            case Kind::total:
                fits = times(1, max_index);
                break;
            case Kind::row_count:
            case Kind::grid_size:
                fits = times(1, max_grid_extent);
                break;
            case Kind::warp_index:
                fits = times(0, max_index / warp_size);
                break;
            case Kind::warp_total:
                fits = times(1, max_index / warp_size);
                break;
            case Kind::lane:
                fits = times(0, warp_size - 1);
                break;
            case Kind::thread_warp:
                fits = times(0, max_block_extent / warp_size - 1);
                break;
            case Kind::thread_index:
                fits = times(0, max_block_extent - 1);
                break;
            case Kind::block_index:
                block_indices[d]++;
                break;
            case Kind::block_size:
                block_sizes[d]++;
                break;
            case Kind::block_warps:
                block_warps[d]++;
                break;
            default:
                return std::nullopt;
        }
        if (!fits) return std::nullopt;
    }
    for (std::size_t d = 0; d < 3; d++) {
        // ctaid * ntid is the index of a block's first thread, and so below the total; so it is of warps.
        for (; block_indices[d] > 0; block_indices[d]--) {
            if (block_warps[d] > 0) {
                block_warps[d]--;
                if (!times(0, max_index / warp_size)) return std::nullopt;
                continue;
            }
            const bool is_first_thread = block_sizes[d] > 0;
            block_sizes[d] -= is_first_thread ? 1 : 0;
            if (!times(0, is_first_thread ? max_index : max_grid_extent - 1)) return std::nullopt;
        }
        for (; block_warps[d] > 0; block_warps[d]--)
            if (!times(1, max_block_extent / warp_size)) return std::nullopt;
        for (; block_sizes[d] > 0; block_sizes[d]--)
            if (!times(1, max_block_extent)) return std::nullopt;
    }
    const auto coefficient = static_cast<std::int64_t>(term.coefficient);
    Range scaled;
    if (__builtin_mul_overflow(range.lo, static_cast<__int128>(coefficient), &scaled.lo) ||
        __builtin_mul_overflow(range.hi, static_cast<__int128>(coefficient), &scaled.hi))
        return std::nullopt;
    if (scaled.lo > scaled.hi) std::swap(scaled.lo, scaled.hi);
    return scaled;
}

// Of the polynomial as an integer, coefficients read as signed; known for exact atoms alone.
std::optional<SymbolTable::Range> SymbolTable::range(const Symbolic& a) const {
    Range sum;
    for (Term term : a.terms) {
        term.coefficient = static_cast<std::uint64_t>(sign_extend(term.coefficient, a.width));
        const auto part = term_range(term);
        if (!part || __builtin_add_overflow(sum.lo, part->lo, &sum.lo) ||
            __builtin_add_overflow(sum.hi, part->hi, &sum.hi))
            return std::nullopt;
    }
    return sum;
}

// g - ctaid * ntid back to tid, whose range is known.
std::optional<Symbolic> SymbolTable::with_thread_index(const Symbolic& a) {
    std::map<AtomIndex, Symbolic> map;
    for (const Dimension dimension : {Dimension::x, Dimension::y, Dimension::z}) {
        Symbolic index{a.width, {{{exact(Kind::thread_index, dimension)}, 1}}};
        const auto first = multiply(block_index(dimension, a.width), block_size(dimension, a.width));
        map[exact(Kind::global_index, dimension)] = add(index, *first);
        const auto first_warp =
            multiply(block_index(dimension, a.width), of(Kind::block_warps, dimension, a.width));
        map[exact(Kind::warp_index, dimension)] = add(of(Kind::thread_warp, dimension, a.width), *first_warp);
    }
    return substitute(a, map);
}

bool SymbolTable::fits(const Symbolic& a, bool is_signed) {
    const __int128 size = static_cast<__int128>(1) << a.width;
    const __int128 end = is_signed ? size / 2 : size;
    return lies_in(a, {end - size, end - 1});
}

bool SymbolTable::lies_in(const Symbolic& a, const Range& whole) {
    const auto inside = [&](const std::optional<Range>& range) {
        return range && range->lo >= whole.lo && range->hi <= whole.hi;
    };
    if (inside(range(a))) return true;
    if (is_clean(a)) return false;
    const auto in_thread_indices = with_thread_index(a);
    return in_thread_indices && inside(range(*in_thread_indices));
}

Symbolic SymbolTable::with_global_index(const Symbolic& a) const {
    Symbolic result = a;
    for (Term& term : result.terms) {
        if (term.atoms.size() != 1 || atom(term.atoms[0]).kind != Kind::lane) continue;
        const Dimension dimension = atom(term.atoms[0]).dimension;
        for (Term& other : result.terms) {
            if (other.atoms.size() != 1 || atom(other.atoms[0]).kind != Kind::warp_index ||
                atom(other.atoms[0]).dimension != dimension ||
                other.coefficient != truncate_bits(term.coefficient * warp_size, a.width))
                continue;
            other.coefficient = 0;
            Atom index;
            index.kind = Kind::global_index;
            index.dimension = dimension;
            term.atoms[0] = indices_.at(index);
        }
    }
    sort_terms(result);
    return result;
}

// Of sums whose terms are multiples of 2^bits, and the rest.
SymbolTable::Parts SymbolTable::parts(const Symbolic& a, unsigned bits) {
    Parts result{{a.width, {}}, {a.width, {}}};
    for (const Term& term : a.terms)
        (truncate_bits(term.coefficient, bits) == 0 ? result.high : result.low).terms.push_back(term);
    return result;
}

// a / 2^bits as a polynomial: 32 * w + lane by 32. Of what is not clean the quotient of a clean rest may
// stay.
std::optional<Symbolic> SymbolTable::quotient(const Symbolic& a, unsigned bits, bool is_signed) {
    if (bits == 0 || bits >= a.width || !fits(a, is_signed)) return std::nullopt;
    auto [high, low] = parts(a, bits);
    const auto rest = range(low);
    if (!rest || rest->lo < 0) return std::nullopt;
    for (Term& term : high.terms)
        term.coefficient = truncate_bits(
            static_cast<std::uint64_t>(sign_extend(term.coefficient, a.width) >> bits), a.width);
    if (rest->hi < (static_cast<__int128>(1) << bits)) return high;
    const auto type = integer_type(false, a.width);
    if (!type || is_clean(a) || !is_clean(low)) return std::nullopt;
    return add(high, apply(*operation_of(Operator::shr, *type), {low, constant(bits, 32)}));
}

// a & mask likewise, where the mask takes all of the low bits, or all but them.
std::optional<Symbolic> SymbolTable::masked(const Symbolic& a, std::uint64_t mask) {
    const auto is_low = [](std::uint64_t bits) { return bits != 0 && (bits & (bits + 1)) == 0; };
    // As of (tid.x / 32) & 0xffff, and of blockIdx.x & 0xffffff.
    if (is_low(mask) && lies_in(a, {0, static_cast<__int128>(mask)})) return a;
    const std::uint64_t low_mask = is_low(mask) ? mask : truncate_bits(~mask, a.width);
    if (!is_low(low_mask) || low_mask == truncate_bits(~std::uint64_t{0}, a.width)) return std::nullopt;
    Symbolic low = parts(a, static_cast<unsigned>(std::popcount(low_mask))).low;
    const auto rest = range(low);
    if (!rest || rest->lo < 0) return std::nullopt;
    if (rest->hi > static_cast<__int128>(low_mask)) {
        const auto type = bits_type(a.width);
        if (!type || is_clean(a) || !is_clean(low)) return std::nullopt;
        low = apply(*operation_of(Operator::and_, *type), {low, constant(low_mask, a.width)});
    }
    return low_mask == mask ? low : subtract(a, low);
}

std::optional<Symbolic> SymbolTable::widen(const Symbolic& a, bool is_signed, unsigned width) {
    if (a.is_constant())
        return constant(
            is_signed ? static_cast<std::uint64_t>(sign_extend(a.constant(), a.width)) : a.constant(), width);
    if (!fits(a, is_signed)) return std::nullopt;
    Symbolic result{width, a.terms};
    for (Term& term : result.terms)
        term.coefficient =
            truncate_bits(static_cast<std::uint64_t>(sign_extend(term.coefficient, a.width)), width);
    return result;
}

Symbolic SymbolTable::truncate_atom(AtomIndex index, unsigned from, unsigned width) {
    const Atom& wide = atom(index);
    if (wide.is_exact()) return {width, {{{index}, 1}}};
    if (wide.kind == Kind::parameter) {
        // The first bytes of what was loaded: little-endian.
        Atom narrow = wide;
        narrow.width = width;
        return of(narrow);
    }
    if (wide.kind == Kind::operation) {
        if (wide.operation.op == Operator::cvt && wide.operands[0].width <= from) {
            Symbolic source = wide.operands[0];
            if (source.width == width) return source;
            if (source.width > width) return truncate(source, width);
        }
    }
    const Operation narrowing = truncation(from, width);
    if (auto choice = through_select(narrowing, {Symbolic{from, {{{index}, 1}}}})) return *choice;
    if (wide.kind == Kind::tainted) {
        Atom narrow = wide;
        narrow.width = width;
        return of(narrow);
    }
    return operation_atom(narrowing, {Symbolic{from, {{{index}, 1}}}});
}

// Truncation goes through sums and products.
Symbolic SymbolTable::truncate(const Symbolic& a, unsigned width) {
    if (a.width == width) return a;
    Symbolic sum{width, {}};
    for (const Term& term : a.terms) {
        Symbolic product = constant(term.coefficient, width);
        for (const AtomIndex index : term.atoms) {
            auto next = multiply(product, truncate_atom(index, a.width, width));
            if (!next) {
                // Too large to write out; it cannot be unclean then, or it stays so as an atom of its own.
                Atom whole;
                whole.kind = is_clean(a) ? Kind::operation : Kind::tainted;
                whole.width = width;
                whole.operation = truncation(a.width, width);
                whole.operands = {a};
                return of(whole);
            }
            product = std::move(*next);
        }
        sum = add(sum, product);
    }
    return sum;
}

}  // namespace trimtab::analysis
