// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer and logic instructions: the functions of core/ptx/semantics/integer.h and bits.h over a warp's lanes.
#include <iterator>
#include <utility>

#include "core/ptx/semantics/forms.h"
#include "emulation/emulator/exec/vector/handlers.h"
#include "emulation/emulator/exec/vector/map.h"
#include "emulation/emulator/exec/vector/variants.h"

namespace trimtab::emulator::TRIMTAB_VECTOR {
namespace {

using namespace ptx::semantics;

// One of the functions as map() wants it; Op::imm is its Control.
template <class F, class T>
struct Lane {
    explicit Lane(const Op& op) : control{op.imm} {}
    Control control;
    template <class... A>
    [[gnu::always_inline]] auto operator()(A... a) const {
        return call<F, T>(control, a...);
    }
};

template <class F, class T, class D, class... A>
constexpr Handler handler(List<A...>) {
    // Registers hold neither predicates nor bytes.
    if constexpr (std::is_same_v<D, bool> || (std::is_same_v<A, bool> || ...) || sizeof(T) == 1)
        return nullptr;
    else if constexpr (requires { F::is_lane_by_lane; })
        return &map_lane_by_lane<Lane<F, T>, D, A...>;
    else
        return &map<Lane<F, T>, D, A...>;
}

template <class F, class Set, std::size_t... types>
Handler pick(ptx::Type type, std::index_sequence<types...>) {
    Handler made = nullptr;
    const auto try_type = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
        using T = typename Set::template Of<static_cast<ptx::Type>(i)>;
        if constexpr (!std::is_void_v<T>) {
            using Of = Signature<F, T>;
            if (type == static_cast<ptx::Type>(i))
                made = handler<F, T, typename Of::Result>(typename Of::Operands{});
        }
    };
    (try_type(std::integral_constant<std::size_t, types>{}), ...);
    return made;
}

// Quotients of 32-bit integers are exact after a division in binary64: they lie at least 1/b from the next
// integer, far more than a rounding error.
struct Divide32 {
    u32 operator()(u32 a, u32 b) const {
        const double q = static_cast<double>(a) / static_cast<double>(b == 0 ? 1 : b);
        return b == 0 ? ~u32{0} : static_cast<u32>(static_cast<s64>(q));
    }
};
struct Remainder32 {
    u32 operator()(u32 a, u32 b) const {
        const double q = static_cast<double>(a) / static_cast<double>(b == 0 ? 1 : b);
        return b == 0 ? ~u32{0} : a - b * static_cast<u32>(static_cast<s64>(q));
    }
};

}  // namespace

Handler integer_handler(ptx::Opcode opcode, Form form, ptx::Type type) {
    if (type == ptx::Type::u32 && opcode == ptx::Opcode::div) return &map<Divide32, u32, u32, u32>;
    if (type == ptx::Type::u32 && opcode == ptx::Opcode::rem) return &map<Remainder32, u32, u32, u32>;
#define INTEGER(of_opcode, of_form, types, ...)                    \
    if (opcode == ptx::Opcode::of_opcode && form == Form::of_form) \
        return pick<__VA_ARGS__, types>(type, std::make_index_sequence<std::size(ptx::type_table)>{});
#include "core/ptx/semantics/integer.def"
    return nullptr;
}

}  // namespace trimtab::emulator::TRIMTAB_VECTOR
