// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/types.h"

namespace trimtab::ptx {

unsigned size_bytes(Type type) {
    switch (type) {
        case Type::none:
        case Type::pred:
            return 0;
        case Type::b8:
        case Type::u8:
        case Type::s8:
        case Type::e4m3:
        case Type::e5m2:
            return 1;
        case Type::b16:
        case Type::u16:
        case Type::s16:
        case Type::f16:
        case Type::bf16:
        case Type::e4m3x2:
        case Type::e5m2x2:
            return 2;
        case Type::b32:
        case Type::u32:
        case Type::s32:
        case Type::f16x2:
        case Type::bf16x2:
        case Type::tf32:
        case Type::f32:
        case Type::u16x2:
        case Type::s16x2:
            return 4;
        case Type::b64:
        case Type::u64:
        case Type::s64:
        case Type::f32x2:
        case Type::f64:
        case Type::texref:
        case Type::samplerref:
        case Type::surfref:
            return 8;  // the opaque ones are handles of 64 bits
        case Type::b128:
            return 16;
    }
    return 0;
}

bool is_signed(Type type) {
    switch (type) {
        case Type::s8:
        case Type::s16:
        case Type::s32:
        case Type::s64:
        case Type::s16x2:
            return true;
        default:
            return false;
    }
}

bool is_float(Type type) {
    switch (type) {
        case Type::f16:
        case Type::f16x2:
        case Type::bf16:
        case Type::bf16x2:
        case Type::tf32:
        case Type::e4m3:
        case Type::e5m2:
        case Type::e4m3x2:
        case Type::e5m2x2:
        case Type::f32:
        case Type::f32x2:
        case Type::f64:
            return true;
        default:
            return false;
    }
}

}  // namespace trimtab::ptx
