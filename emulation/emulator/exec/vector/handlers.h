// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vectorised handlers, built once for every x86-64 and once for AVX2 with FMA (TRIMTAB_VECTOR names the
// variant's namespace). Nothing of the standard library's may be compiled into a variant out of line, lest
// the linker keep the copy that an older processor cannot run.
#pragma once

#include "core/ptx/semantics/forms.h"
#include "core/ptx/types.h"
#include "emulation/emulator/exec/memory_info.h"
#include "emulation/emulator/exec/op.h"

namespace trimtab::emulator {

// What selects a handler.
struct VectorKey {
    ptx::Opcode opcode = ptx::Opcode::unknown;
    ptx::Type type = ptx::Type::none;
    ptx::Type source_type = ptx::Type::none;
    ptx::Comparison comparison = ptx::Comparison::none;
    ptx::Rounding rounding = ptx::Rounding::none;
    bool ftz = false, sat = false, propagate_nan = false;
    std::uint8_t d_bytes = 0, a_bytes = 0;  // register widths, for conversions and memory
    std::uint8_t memory_bytes = 0;          // loads and stores
};

// Each returns nullptr where it has nothing for the key.
struct VectorHandlers {
    Handler (*integer)(ptx::Opcode opcode, ptx::semantics::Form form,
                       ptx::Type type);  // of integer.def; Op::imm: its Control
    Handler (*real)(const VectorKey& key);
    Handler (*compare)(const VectorKey& key);  // setp (with Op::c a predicate and Op::imm a BooleanOp)
    Handler (*convert)(const VectorKey& key);
    Handler (*load)(const VectorKey& key);  // Op::info is a MemoryInfo
    Handler (*store)(const VectorKey& key);
    Handler (*copy)(unsigned bytes);                               // d = a
    Handler (*pack)(unsigned element_bytes, unsigned elements);    // d = {a, b, c, e}
    Handler (*unpack)(unsigned element_bytes, unsigned elements);  // {d, b, c, e} = a; no_operand: a sink
    Handler (*select)(unsigned bytes);                             // d = predicate c ? a : b
    // Addresses [a + imm]. Global ones are checked against the range that the instruction met last.
    Resolve (*global)(bool wide_address);
    Resolve (*shared)(bool wide_address);
};

[[nodiscard]] const VectorHandlers& vector_handlers();  // the best that this processor runs

}  // namespace trimtab::emulator
