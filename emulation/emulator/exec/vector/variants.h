// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files of one variant offer each other.
#pragma once

#include <iterator>

#include "emulation/emulator/exec/vector/handlers.h"

namespace trimtab::emulator::TRIMTAB_VECTOR {

Handler integer_handler(ptx::Opcode opcode, ptx::semantics::Form form, ptx::Type type);
Handler real_handler(const VectorKey& key);
Handler compare_handler(const VectorKey& key);
Handler convert_handler(const VectorKey& key);
Handler load_handler(const VectorKey& key);
Handler store_handler(const VectorKey& key);
Handler copy_handler(unsigned bytes);
Handler select_handler(unsigned bytes);
Handler pack_handler(unsigned element_bytes, unsigned elements);
Handler unpack_handler(unsigned element_bytes, unsigned elements);
Resolve global_resolver(bool wide_address);
Resolve shared_resolver(bool wide_address);

extern const VectorHandlers handlers;

// Bytes of a register of an integer or untyped type; 0 for anything else. A table: a function might be compiled out of line.
struct RegisterWidths {
    unsigned char of[std::size(ptx::type_table)] = {};
};
inline constexpr RegisterWidths register_widths = [] {
    RegisterWidths made;
    for (std::size_t i = 0; i < std::size(made.of); i++)
        made.of[i] = static_cast<unsigned char>(ptx::integer_bits(static_cast<ptx::Type>(i)) / 8);
    return made;
}();
[[nodiscard]] constexpr unsigned ptx_width(ptx::Type type) {
    return register_widths.of[static_cast<std::size_t>(type)];
}

}  // namespace trimtab::emulator::TRIMTAB_VECTOR
