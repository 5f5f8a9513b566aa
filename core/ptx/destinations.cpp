// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operands an instruction writes (PTX ISA, "Instruction Set").
#include <algorithm>

#include "core/ptx/mnemonic.h"
#include "core/ptx/opcodes.h"

namespace trimtab::ptx {
namespace {

bool is_register_like(const Operand& operand) {
    switch (operand.kind) {
        case Operand::Kind::reg:
        case Operand::Kind::sink:
            return true;
        case Operand::Kind::vector:
            return std::all_of(operand.elements.begin(), operand.elements.end(), [](const Operand& element) {
                return element.kind == Operand::Kind::reg || element.kind == Operand::Kind::sink;
            });
        default:
            return false;
    }
}

bool writes_nothing(const Mnemonic& mnemonic) {
    const OpcodeInfo& known = info(mnemonic.opcode);
    if (known.has(no_result)) return true;
    if (!known.has(result_by_form)) return false;
    switch (mnemonic.opcode) {
        case Opcode::bar:
        case Opcode::barrier:
            return !mnemonic.has("red");
        case Opcode::multimem:
            return !mnemonic.has("ld_reduce");
        case Opcode::wmma:
            return mnemonic.has("store");
        case Opcode::wgmma:
            return !mnemonic.has("mma_async");
        case Opcode::mbarrier:
            return mnemonic.has("init") || mnemonic.has("inval") ||
                   (mnemonic.has("expect_tx") && !mnemonic.has("arrive") && !mnemonic.has("arrive_drop")) ||
                   mnemonic.has("complete_tx");
        default:
            return false;
    }
}

}  // namespace

std::uint8_t count_destinations(const Mnemonic& mnemonic, const std::vector<Operand>& operands, bool paired) {
    if (operands.empty() || writes_nothing(mnemonic)) return 0;
    if (paired) return 2;
    return is_register_like(operands.front()) ? 1 : 0;
}

}  // namespace trimtab::ptx
