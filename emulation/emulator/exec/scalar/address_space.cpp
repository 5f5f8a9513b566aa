// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// isspacep: in which window an address lies.
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/exec/scalar/function.h"

namespace trimtab::emulator {
namespace {

using u64 = std::uint64_t;

u64 in_window(const Op& op, u64 a, u64, u64, u64) {
    return a - op.imm < window_bytes ? 1 : 0;
}
u64 in_global(const Op&, u64 a, u64, u64, u64) {
    return a - shared_window < windows_end - shared_window ? 0 : 1;
}
u64 never(const Op&, u64, u64, u64, u64) {
    return 0;
}

}  // namespace

ScalarChoice scalar_space_test(const ptx::Instruction& instruction) {
    if (instruction.opcode != ptx::Opcode::isspacep) return {};
    switch (instruction.modifiers.space) {
        case ptx::Space::shared:
        case ptx::Space::shared_cluster:
            return {in_window, shared_window};
        case ptx::Space::local:
            return {in_window, local_window};
        case ptx::Space::param:
            return {in_window, parameter_window};
        case ptx::Space::global:
            return {in_global, 0};
        case ptx::Space::constant:
            return {never, 0};
        default:
            return {};
    }
}

}  // namespace trimtab::emulator
