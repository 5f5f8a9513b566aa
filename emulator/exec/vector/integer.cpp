// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer and logic instructions (PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift
// Instructions").
#include "emulator/exec/vector/handlers.h"
#include "emulator/exec/vector/integer_ops.h"
#include "emulator/exec/vector/map.h"
#include "emulator/exec/vector/variants.h"

namespace trimtab::emulator::TRIMTAB_VECTOR {
namespace {

using ptx::Opcode;
template <class F, class T>
inline constexpr Handler same2 = &map<F, T, T, T>;
template <class F, class T>
inline constexpr Handler same3 = &map<F, T, T, T, T>;

template <class F>
Handler unary(ptx::Type type) {
    switch (ptx_width(type)) {
        case 2:
            return &map<F, u16, u16>;
        case 4:
            return &map<F, u32, u32>;
        case 8:
            return &map<F, u64, u64>;
        default:
            return nullptr;
    }
}
template <class F>
Handler count(ptx::Type type) {
    switch (ptx_width(type)) {
        case 4:
            return &map<F, u32, u32>;
        case 8:
            return &map<F, u32, u64>;
        default:
            return nullptr;
    }
}
template <class F>
Handler binary(ptx::Type type) {
    switch (ptx_width(type)) {
        case 2:
            return same2<F, u16>;
        case 4:
            return same2<F, u32>;
        case 8:
            return same2<F, u64>;
        default:
            return nullptr;
    }
}
template <class F>
Handler signed_unary(ptx::Type type) {
    switch (type) {
        case ptx::Type::s16:
            return &map<F, s16, s16>;
        case ptx::Type::s32:
            return &map<F, s32, s32>;
        case ptx::Type::s64:
            return &map<F, s64, s64>;
        default:
            return nullptr;
    }
}
template <class F>
Handler signed_binary(ptx::Type type) {
    switch (type) {
        case ptx::Type::s16:
            return same2<F, s16>;
        case ptx::Type::s32:
            return same2<F, s32>;
        case ptx::Type::s64:
            return same2<F, s64>;
        default:
            return binary<F>(type);
    }
}
template <class F>
Handler shift(ptx::Type type) {
    switch (type) {
        case ptx::Type::s16:
            return &map<F, s16, s16, u32>;
        case ptx::Type::s32:
            return &map<F, s32, s32, u32>;
        case ptx::Type::s64:
            return &map<F, s64, s64, u32>;
        default:
            break;
    }
    switch (ptx_width(type)) {
        case 2:
            return &map<F, u16, u16, u32>;
        case 4:
            return &map<F, u32, u32, u32>;
        case 8:
            return &map<F, u64, u64, u32>;
        default:
            return nullptr;
    }
}

Handler multiply(const VectorKey& key) {
    switch (key.part) {
        case ptx::MultiplyPart::hi:
            return signed_binary<MultiplyHigh>(key.type);
        case ptx::MultiplyPart::wide:
            switch (key.type) {
                case ptx::Type::u16:
                    return &map<MultiplyWide, u32, u16, u16>;
                case ptx::Type::s16:
                    return &map<MultiplyWide, s32, s16, s16>;
                case ptx::Type::u32:
                    return &map<MultiplyWide, u64, u32, u32>;
                case ptx::Type::s32:
                    return &map<MultiplyWide, s64, s32, s32>;
                default:
                    return nullptr;
            }
        default:
            return binary<Multiply>(key.type);
    }
}

Handler multiply_add(const VectorKey& key) {
    switch (key.part) {
        case ptx::MultiplyPart::hi:
            switch (key.type) {
                case ptx::Type::u16:
                    return same3<MultiplyHighAdd, u16>;
                case ptx::Type::s16:
                    return same3<MultiplyHighAdd, s16>;
                case ptx::Type::u32:
                    return same3<MultiplyHighAdd, u32>;
                case ptx::Type::s32:
                    return same3<MultiplyHighAdd, s32>;
                case ptx::Type::u64:
                    return same3<MultiplyHighAdd, u64>;
                case ptx::Type::s64:
                    return same3<MultiplyHighAdd, s64>;
                default:
                    return nullptr;
            }
        case ptx::MultiplyPart::wide:
            switch (key.type) {
                case ptx::Type::u16:
                    return &map<MultiplyWideAdd, u32, u16, u16, u32>;
                case ptx::Type::s16:
                    return &map<MultiplyWideAdd, s32, s16, s16, s32>;
                case ptx::Type::u32:
                    return &map<MultiplyWideAdd, u64, u32, u32, u64>;
                case ptx::Type::s32:
                    return &map<MultiplyWideAdd, s64, s32, s32, s64>;
                default:
                    return nullptr;
            }
        default:
            break;
    }
    switch (ptx_width(key.type)) {
        case 2:
            return same3<MultiplyAdd, u16>;
        case 4:
            return same3<MultiplyAdd, u32>;
        case 8:
            return same3<MultiplyAdd, u64>;
        default:
            return nullptr;
    }
}

Handler extract(ptx::Type type) {
    switch (type) {
        case ptx::Type::u32:
            return &map<ExtractField, u32, u32, u32, u32>;
        case ptx::Type::s32:
            return &map<ExtractField, s32, s32, u32, u32>;
        case ptx::Type::u64:
            return &map<ExtractField, u64, u64, u32, u32>;
        case ptx::Type::s64:
            return &map<ExtractField, s64, s64, u32, u32>;
        default:
            return nullptr;
    }
}

Handler absolute_difference(ptx::Type type) {
    switch (type) {
        case ptx::Type::u16:
            return same3<AbsoluteDifferenceAdd, u16>;
        case ptx::Type::s16:
            return same3<AbsoluteDifferenceAdd, s16>;
        case ptx::Type::u32:
            return same3<AbsoluteDifferenceAdd, u32>;
        case ptx::Type::s32:
            return same3<AbsoluteDifferenceAdd, s32>;
        case ptx::Type::u64:
            return same3<AbsoluteDifferenceAdd, u64>;
        case ptx::Type::s64:
            return same3<AbsoluteDifferenceAdd, s64>;
        default:
            return nullptr;
    }
}

}  // namespace

Handler integer_handler(const VectorKey& key) {
    switch (key.opcode) {
        case Opcode::add:
            return key.sat ? nullptr : binary<Add>(key.type);
        case Opcode::sub:
            return key.sat ? nullptr : binary<Subtract>(key.type);
        case Opcode::mul:
            return multiply(key);
        case Opcode::mad:
            return key.sat ? nullptr : multiply_add(key);
        case Opcode::div:
            return key.type == ptx::Type::u32 ? same2<Divide32, u32> : signed_binary<Divide>(key.type);
        case Opcode::rem:
            return key.type == ptx::Type::u32 ? same2<Remainder32, u32> : signed_binary<Remainder>(key.type);
        case Opcode::min:
            return signed_binary<Minimum>(key.type);
        case Opcode::max:
            return signed_binary<Maximum>(key.type);
        case Opcode::and_:
            return binary<And>(key.type);
        case Opcode::or_:
            return binary<Or>(key.type);
        case Opcode::xor_:
            return binary<Xor>(key.type);
        case Opcode::not_:
            return unary<Not>(key.type);
        case Opcode::cnot:
            return unary<LogicalNot>(key.type);
        case Opcode::neg:
            return unary<Negate>(key.type);
        case Opcode::abs:
            return signed_unary<Absolute>(key.type);
        case Opcode::shl:
            return shift<ShiftLeft>(key.type);
        case Opcode::shr:
            return shift<ShiftRight>(key.type);
        case Opcode::popc:
            return count<PopulationCount>(key.type);
        case Opcode::clz:
            return count<LeadingZeros>(key.type);
        case Opcode::brev:
            return ptx_width(key.type) == 8 ? Handler{&map<ReverseBits, u64, u64>}
                                            : Handler{&map<ReverseBits, u32, u32>};
        case Opcode::lop3:
            return same3<LookUp3, u32>;
        case Opcode::bfe:
            return extract(key.type);
        case Opcode::sad:
            return absolute_difference(key.type);
        case Opcode::mul24:
            if (key.part == ptx::MultiplyPart::hi) return nullptr;
            return key.type == ptx::Type::s32 ? same2<Multiply24, s32> : same2<Multiply24, u32>;
        case Opcode::mad24:
            if (key.part == ptx::MultiplyPart::hi || key.sat) return nullptr;
            return key.type == ptx::Type::s32 ? same3<Multiply24Add, s32> : same3<Multiply24Add, u32>;
        default:
            return nullptr;
    }
}

Handler funnel_handler(bool left) {
    return left ? same3<FunnelLeft, u32> : same3<FunnelRight, u32>;
}

}  // namespace trimtab::emulator::TRIMTAB_VECTOR
