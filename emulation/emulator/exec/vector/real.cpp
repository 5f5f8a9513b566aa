// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point arithmetic rounded to nearest, and the approximate functions that vectorise.
#include "emulation/emulator/exec/vector/approximations.h"
#include "emulation/emulator/exec/vector/handlers.h"
#include "emulation/emulator/exec/vector/map.h"
#include "emulation/emulator/exec/vector/real_ops.h"
#include "emulation/emulator/exec/vector/variants.h"

namespace trimtab::emulator::TRIMTAB_VECTOR {
namespace {

using ptx::Opcode;

template <template <bool, bool> class F, class... Operands>
Handler flushing_saturating(const VectorKey& key) {
    if (key.type == ptx::Type::f64)
        return &map<F<false, false>, double, std::conditional_t<true, double, Operands>...>;
    if (key.type != ptx::Type::f32) return nullptr;
    if (key.ftz) {
        return key.sat ? Handler{&map<F<true, true>, float, Operands...>}
                       : Handler{&map<F<true, false>, float, Operands...>};
    }
    return key.sat ? Handler{&map<F<false, true>, float, Operands...>}
                   : Handler{&map<F<false, false>, float, Operands...>};
}

// Two numbers in one register, each for itself.
template <class F>
struct OfBoth {
    template <class... Pairs>
    [[gnu::always_inline]] std::uint64_t operator()(Pairs... pairs) const {
        return half<0>(pairs...) | half<32>(pairs...) << 32;
    }

  private:
    template <unsigned from, class... Pairs>
    [[gnu::always_inline]] static std::uint64_t half(Pairs... pairs) {
        return std::bit_cast<std::uint32_t>(
            F{}(std::bit_cast<float>(static_cast<std::uint32_t>(pairs >> from))...));
    }
};

// Of what there is for pairs as well.
template <template <bool, bool> class F, class... Operands>
Handler also_paired(const VectorKey& key) {
    if (key.type != ptx::Type::f32x2) return flushing_saturating<F, Operands...>(key);
    if (key.sat) return nullptr;
    using Pair = std::uint64_t;
    return key.ftz
               ? Handler{&map<OfBoth<F<true, false>>, Pair, std::conditional_t<true, Pair, Operands>...>}
               : Handler{&map<OfBoth<F<false, false>>, Pair, std::conditional_t<true, Pair, Operands>...>};
}

template <template <bool> class F>
Handler flushing(const VectorKey& key) {
    if (key.type == ptx::Type::f64) return &map<F<false>, double, double>;
    if (key.type != ptx::Type::f32) return nullptr;
    return key.ftz ? Handler{&map<F<true>, float, float>} : Handler{&map<F<false>, float, float>};
}

template <template <bool> class F>
Handler flushing_f32(const VectorKey& key) {
    return key.type == ptx::Type::f32 ? flushing<F>(key) : nullptr;
}

template <template <bool, bool> class F>
Handler extremum(const VectorKey& key) {
    if (key.type == ptx::Type::f64) return &map<F<false, false>, double, double, double>;
    if (key.type != ptx::Type::f32) return nullptr;
    if (key.propagate_nan) {
        return key.ftz ? Handler{&map<F<true, true>, float, float, float>}
                       : Handler{&map<F<false, true>, float, float, float>};
    }
    return key.ftz ? Handler{&map<F<true, false>, float, float, float>}
                   : Handler{&map<F<false, false>, float, float, float>};
}

bool to_nearest(const VectorKey& key) {
    return key.rounding == ptx::Rounding::none || key.rounding == ptx::Rounding::rn;
}
bool approximate(const VectorKey& key) {
    return key.rounding == ptx::Rounding::approx || key.rounding == ptx::Rounding::full;
}

Handler divide(const VectorKey& key) {
    if (key.rounding == ptx::Rounding::approx && key.type == ptx::Type::f32) {
        return key.ftz ? Handler{&map<DivideApproximately<true, false>, float, float, float>}
                       : Handler{&map<DivideApproximately<false, false>, float, float, float>};
    }
    if (!to_nearest(key) && !approximate(key)) return nullptr;
    return flushing_saturating<DivideReal, float, float>(key);
}

Handler reciprocal(const VectorKey& key) {
    if (key.type == ptx::Type::f64 && approximate(key))
        return &map<ReciprocalApproximately64, double, double>;
    if (!to_nearest(key) && !approximate(key)) return nullptr;
    return flushing<ReciprocalReal>(key);
}

Handler reciprocal_square_root(const VectorKey& key) {
    if (key.type == ptx::Type::f64 && key.ftz)
        return &map<ReciprocalSquareRootApproximately64, double, double>;
    return flushing<ReciprocalSquareRoot>(key);
}

}  // namespace

Handler real_handler(const VectorKey& key) {
    switch (key.opcode) {
        case Opcode::add:
            return to_nearest(key) ? also_paired<AddReal, float, float>(key) : nullptr;
        case Opcode::sub:
            return to_nearest(key) ? also_paired<SubtractReal, float, float>(key) : nullptr;
        case Opcode::mul:
            return to_nearest(key) ? also_paired<MultiplyReal, float, float>(key) : nullptr;
        case Opcode::fma:
            return to_nearest(key) ? also_paired<FusedMultiplyAdd, float, float, float>(key) : nullptr;
        case Opcode::mad:
            return to_nearest(key) ? flushing_saturating<FusedMultiplyAdd, float, float, float>(key)
                                   : nullptr;
        case Opcode::div:
            return divide(key);
        case Opcode::rcp:
            return reciprocal(key);
        case Opcode::sqrt:
            return to_nearest(key) || approximate(key) ? flushing<SquareRoot>(key) : nullptr;
        case Opcode::rsqrt:
            return reciprocal_square_root(key);
        case Opcode::neg:
            return flushing<NegateReal>(key);
        case Opcode::abs:
            return flushing<AbsoluteReal>(key);
        case Opcode::min:
            return extremum<MinimumReal>(key);
        case Opcode::max:
            return extremum<MaximumReal>(key);
        case Opcode::copysign:
            if (key.type == ptx::Type::f64) return &map<CopySign, double, double, double>;
            return key.type == ptx::Type::f32 ? &map<CopySign, float, float, float> : nullptr;
        case Opcode::ex2:
            return flushing_f32<ExponentialBase2>(key);
        case Opcode::lg2:
            return flushing_f32<LogarithmBase2>(key);
        case Opcode::sin:
            return flushing_f32<Sine>(key);
        case Opcode::cos:
            return flushing_f32<Cosine>(key);
        case Opcode::tanh:
            return flushing_f32<HyperbolicTangent>(key);
        default:
            return nullptr;
    }
}

}  // namespace trimtab::emulator::TRIMTAB_VECTOR
