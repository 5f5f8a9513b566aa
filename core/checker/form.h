// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Polynomials modulo a power of two, over the launch's registers and values.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/ptx/semantics/evaluate.h"
#include "core/ptx/ssa.h"
#include "core/ptx/types.h"

namespace trimtab::checker {

// A launch register, the index of a loop, a parameter or a value.
using Atom = std::uint32_t;
enum Register : Atom {
    tid = 0,
    ctaid = 3,
    ntid = 6,
    nctaid = 9,
    lane_atom = 12,
    warp_atom = 13,
    warps_atom = 14,
    register_count = 15
};
inline constexpr Atom first_loop = 0x0100'0000, first_value = 0x0200'0000, first_parameter = 0x8000'0000;

struct Form {
    unsigned width = 0;  // bits; 0: it is no integer that is followed
    std::map<std::vector<Atom>, std::uint64_t> terms;

    friend bool operator==(const Form&, const Form&) = default;
    [[nodiscard]] bool is_constant() const {
        return terms.empty() || (terms.size() == 1 && terms.begin()->first.empty());
    }
    [[nodiscard]] std::uint64_t constant() const {
        const auto at = terms.find({});
        return at == terms.end() ? 0 : at->second;
    }
};

using ptx::semantics::sign_extend;
using ptx::semantics::truncate_bits;
[[nodiscard]] constexpr bool is_register(Atom of) {
    return of < register_count;
}
// 0: it has none.
[[nodiscard]] inline unsigned bits_of(ptx::Type type) {
    return type == ptx::Type::pred ? 1 : 8 * ptx::size_bytes(type);
}
[[nodiscard]] Form number(std::uint64_t value, unsigned width);
[[nodiscard]] Form atom(Atom atom, unsigned width);
// a + factor * b
[[nodiscard]] Form sum(const Form& a, const Form& b, std::uint64_t factor = 1);
[[nodiscard]] Form product(const Form& a, const Form& b);
[[nodiscard]] Form with_width(const Form& form, unsigned width);
[[nodiscard]] Form with(const Form& form, Atom from, const Form& to);

}  // namespace trimtab::checker
