// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer values of a kernel as polynomials mod 2^width over what they are made of: global indices, the
// launch's own registers, parameters, and values that nothing more is known of.
//
// threadIdx is written as g - ctaid * ntid. So every index that is put together from ctaid * ntid + tid, in
// whatever order and with whatever was added between, comes out as a polynomial in g alone; and one that
// cannot be made from g keeps ctaid or ntid: it is not clean.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/analysis/launches/description.h"
#include "core/analysis/launches/expression.h"
#include "core/analysis/launches/operation.h"

namespace trimtab::analysis {

using AtomIndex = std::uint32_t;

// Products of sums grow fast; no index of a real kernel comes near this.
inline constexpr std::size_t max_terms = 64;

struct Term {
    std::vector<AtomIndex> atoms;  // sorted; one atom may come more than once; empty: the constant
    std::uint64_t coefficient = 0;
    friend auto operator<=>(const Term&, const Term&) = default;
};

struct Symbolic {
    unsigned width = 0;       // bits; 1 for a predicate
    std::vector<Term> terms;  // sorted by atoms, no coefficient is zero
    friend auto operator<=>(const Symbolic&, const Symbolic&) = default;

    [[nodiscard]] bool is_constant() const {
        return terms.empty() || (terms.size() == 1 && terms[0].atoms.empty());
    }
    [[nodiscard]] std::uint64_t constant() const {
        return !terms.empty() && terms[0].atoms.empty() ? terms[0].coefficient : 0;
    }
    // The atom, where the value is one atom and no more.
    [[nodiscard]] std::optional<AtomIndex> single_atom() const {
        if (terms.size() != 1 || terms[0].atoms.size() != 1 || terms[0].coefficient != 1) return std::nullopt;
        return terms[0].atoms[0];
    }
};

// For SymbolTable::substitute(): `from`, a single atom, by `to`.
[[nodiscard]] inline std::map<AtomIndex, Symbolic> replacing(const Symbolic& from, const Symbolic& to) {
    return {{from.terms[0].atoms[0], to}};
}

struct Atom {
    enum class Kind : std::uint8_t {
        // Exact integers: they stand in polynomials of every width.
        global_index,
        total,         // nctaid * ntid
        loop_index,    // of a grid-stride loop: g, g + total, g + 2 * total ... (grid_stride.h)
        row_index,     // ctaid of a dimension whose grid stays as written; there tid is the global index
        row_count,     // nctaid of such a dimension; there ntid is the total
        warp_index,    // of blocks of whole warps: the warp's number in the dimension, g / 32
        lane,          // g % 32 there
        warp_total,    // the total / 32 there
        block_index,   // ctaid: not clean
        block_size,    // ntid: not clean
        grid_size,     // nctaid: not clean
        block_warps,   // ntid / 32, of blocks of whole warps: not clean
        thread_warp,   // tid / 32: not clean; nowhere but in range() and messages, as
        thread_index,  // tid: not clean
        // Bits of one width.
        parameter,  // of the kernel: `parameter`, `offset`
        symbol,     // the address of `text`
        operation,  // `operation` of `operands`, all clean
        opaque,     // value `value` of function `function`: a load's result, a phi, a float ...
        tainted     // as opaque, but made from the launch's registers otherwise than through g: not clean
    };
    Kind kind = Kind::opaque;
    Dimension dimension = Dimension::x;
    unsigned width = 0;
    std::uint32_t parameter = 0, offset = 0;
    std::uint32_t function = 0, value = 0;
    std::string text;
    Operation operation;
    std::vector<Symbolic> operands;
    friend auto operator<=>(const Atom&, const Atom&) = default;

    [[nodiscard]] bool is_exact() const { return kind <= Kind::thread_index; }
    [[nodiscard]] bool is_clean() const {
        return kind < Kind::block_index || (kind > Kind::thread_index && kind != Kind::tainted);
    }
};

struct AtomHash {
    [[nodiscard]] std::size_t operator()(const Atom& atom) const;
};

class SymbolTable {
  public:
    [[nodiscard]] const Atom& atom(AtomIndex index) const { return *atoms_[index]; }
    // The operation, where the value is one and no more; null otherwise. Atoms stay where they are.
    [[nodiscard]] const Atom* as_operation(const Symbolic& a) const {
        const auto index = a.single_atom();
        return index && atom(*index).kind == Atom::Kind::operation ? &atom(*index) : nullptr;
    }
    AtomIndex intern(const Atom& atom);

    [[nodiscard]] static Symbolic constant(std::uint64_t bits, unsigned width);
    Symbolic of(const Atom& atom, unsigned width);  // an exact atom, at any width
    Symbolic of(const Atom& atom) { return of(atom, atom.width); }
    // An exact integer of one dimension.
    Symbolic of(Atom::Kind kind, Dimension dimension, unsigned width) {
        return {width, {{{exact(kind, dimension)}, 1}}};
    }
    Symbolic global_index(Dimension dimension, unsigned width);
    Symbolic total(Dimension dimension, unsigned width);
    Symbolic loop_index(Dimension dimension, unsigned width);
    Symbolic row_index(Dimension dimension, unsigned width);
    Symbolic row_count(Dimension dimension, unsigned width);
    Symbolic block_index(Dimension dimension, unsigned width);
    Symbolic block_size(Dimension dimension, unsigned width);
    Symbolic grid_size(Dimension dimension, unsigned width);
    Symbolic thread_index(Dimension dimension, unsigned width);

    Symbolic add(const Symbolic& a, const Symbolic& b) const;
    [[nodiscard]] static Symbolic scaled(Symbolic a, std::uint64_t factor);
    Symbolic subtract(const Symbolic& a, const Symbolic& b) const;
    // Nothing: the product has too many terms.
    std::optional<Symbolic> multiply(const Symbolic& a, const Symbolic& b);

    // The value in a wider type. Nothing: it may wrap in its own, or that is not known.
    std::optional<Symbolic> widen(const Symbolic& a, bool is_signed, unsigned width);
    Symbolic truncate(const Symbolic& a, unsigned width);

    [[nodiscard]] bool is_clean(const Symbolic& a) const;
    // The same value with threadIdx in place of g where that is known to be its meaning: for people.
    std::optional<Symbolic> with_thread_index(const Symbolic& a);
    // The terms with an atom that is not clean.
    [[nodiscard]] Symbolic unclean_part(const Symbolic& a) const;

    // `operation` as a polynomial, of operands that need not be clean. Nothing: it is none, or not shown to
    // be one. Operands have the widths that the operation takes.
    std::optional<Symbolic> polynomial(const Operation& operation, const std::vector<Symbolic>& operands);
    // 32 * warp_index + lane as the global index again: what a value says is the same.
    [[nodiscard]] Symbolic with_global_index(const Symbolic& a) const;
    // `operation` of clean operands: a polynomial where it is one, folded where its operands are constant,
    // else an atom.
    Symbolic apply(const Operation& operation, const std::vector<Symbolic>& operands);
    Symbolic negate(const Symbolic& predicate);  // logical not, comparisons turned round
    Symbolic logical(Operator op, const Symbolic& a, const Symbolic& b);

    // Every atom replaced as `map` says, inside operations too. `a` should not be large: see is_small().
    Symbolic substitute(const Symbolic& a, const std::map<AtomIndex, Symbolic>& map);

    // Few enough atoms to walk by recursion and to write out: guards are, hash functions need not be.
    [[nodiscard]] bool is_small(const Symbolic& a) const;

    // Every atom of `a`, those inside operations too, each once: visit(index). Unrolled integer code makes
    // operations of operations by the thousand, with shared operands: no recursion, and never twice.
    template <typename Visit>
    void for_each_atom(const Symbolic& a, Visit&& visit) const {
        std::set<AtomIndex> seen;
        std::vector<AtomIndex> work;
        const auto add = [&](const Symbolic& value) {
            for (const Term& term : value.terms)
                for (const AtomIndex index : term.atoms)
                    if (seen.insert(index).second) work.push_back(index);
        };
        add(a);
        while (!work.empty()) {
            const AtomIndex index = work.back();
            work.pop_back();
            visit(index);
            for (const Symbolic& operand : atom(index).operands) add(operand);
        }
    }

  private:
    struct Range {
        __int128 lo = 0, hi = 0;
    };
    std::optional<Range> range(const Symbolic& a) const;
    std::optional<Range> term_range(const Term& term) const;
    bool fits(const Symbolic& a, bool is_signed);
    bool lies_in(const Symbolic& a, const Range& whole);  // as an integer
    AtomIndex exact(Atom::Kind kind, Dimension dimension);
    void normalise(Term& term);
    const Atom* as_constant_choice(const Symbolic& a) const;  // p ? one constant : another
    std::optional<Symbolic> comparison(const Operation& operation, const std::vector<Symbolic>& operands);
    struct Parts {
        Symbolic high, low;  // high is a multiple of the power of two
    };
    static Parts parts(const Symbolic& a, unsigned bits);
    std::optional<Symbolic> quotient(const Symbolic& a, unsigned bits, bool is_signed);
    std::optional<Symbolic> masked(const Symbolic& a, std::uint64_t mask);
    std::optional<Symbolic> joined_parameter(const Symbolic& high, const Symbolic& low);
    std::optional<Symbolic> through_select(const Operation& operation, const std::vector<Symbolic>& operands);
    std::optional<Symbolic> logical_fold(const Operation& operation, const std::vector<Symbolic>& operands);
    Symbolic truncate_atom(AtomIndex index, unsigned from, unsigned width);
    Symbolic substituted(const Symbolic& a, const std::map<AtomIndex, Symbolic>& map,
                         std::map<AtomIndex, Symbolic>& done);
    Symbolic operation_atom(const Operation& operation, const std::vector<Symbolic>& operands);

    std::unordered_map<Atom, AtomIndex, AtomHash> indices_;
    std::vector<const Atom*> atoms_;  // keys of indices_: they stay where they are
};

}  // namespace trimtab::analysis
