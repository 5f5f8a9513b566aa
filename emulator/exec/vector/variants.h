// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files of one variant offer each other.
#pragma once

#include "emulator/exec/vector/handlers.h"

namespace trimtab::emulator::TRIMTAB_VECTOR {

Handler integer_handler(const VectorKey& key);
Handler real_handler(const VectorKey& key);
Handler compare_handler(const VectorKey& key);
Handler convert_handler(const VectorKey& key);
Handler load_handler(const VectorKey& key);
Handler store_handler(const VectorKey& key);
Handler copy_handler(unsigned bytes);
Handler select_handler(unsigned bytes);
Handler pack_handler(unsigned element_bytes, unsigned elements);
Handler unpack_handler(unsigned element_bytes, unsigned elements);
Handler funnel_handler(bool left);
Resolve global_resolver(bool wide_address);
Resolve shared_resolver(bool wide_address);

extern const VectorHandlers handlers;

// Bytes of a register of an integer or untyped type; 0 for anything else (ptx::size_bytes would pull in
// more).
[[nodiscard]] constexpr unsigned ptx_width(ptx::Type type) {
    switch (type) {
        case ptx::Type::b8:
        case ptx::Type::u8:
        case ptx::Type::s8:
            return 1;
        case ptx::Type::b16:
        case ptx::Type::u16:
        case ptx::Type::s16:
            return 2;
        case ptx::Type::b32:
        case ptx::Type::u32:
        case ptx::Type::s32:
            return 4;
        case ptx::Type::b64:
        case ptx::Type::u64:
        case ptx::Type::s64:
            return 8;
        default:
            return 0;
    }
}

}  // namespace trimtab::emulator::TRIMTAB_VECTOR
