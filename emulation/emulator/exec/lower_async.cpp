// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies that the ISA lets run by themselves, and the barriers that wait for them.
#include <algorithm>

#include "core/ptx/opcodes.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/lower.h"

namespace trimtab::emulator {
// A barrier's address: of shared memory, or generic.
bool Lowering::emit_mbarrier(const ptx::Instruction& instruction, const ptx::Operand& at, Handler run,
                             MbarrierAction action, OperandRef amount, OperandRef d) {
    const ptx::Space space = instruction.modifiers.space;
    const Address where = address(at, space);
    if (!where.valid || failed()) return false;
    MemoryInfo& info = memory_info(instruction, space, Access::read_write, 8, 1, where.wide);
    Op& op = emit(run);
    op.a = where.base;
    op.imm = where.offset;
    op.b = amount;
    op.d = d;
    op.d_bytes = static_cast<std::uint8_t>(action);
    op.info = &info;
    return true;
}

bool Lowering::lower_mbarrier(const ptx::Instruction& instruction) {
    const auto& operands = instruction.operands;
    const auto sources = instruction.sources();
    if (has(instruction, "inval")) return true;
    if (has(instruction, "pending_count")) {
        if (operands.size() != 2) return false;
        const OperandRef a = source(operands[1], 8, ptx::Type::b64), d = destination(operands[0], 4);
        Op& op = emit(run::mbarrier_pending);
        op.a = a;
        op.d = d;
        return true;
    }
    if (has(instruction, "test_wait") || has(instruction, "try_wait")) {
        if (instruction.destination_count != 1 || sources.size() < 2) return false;
        const bool parity = has(instruction, "parity");
        const OperandRef waited = source(sources[1], parity ? 4 : 8, ptx::Type::none);
        const OperandRef d = destination(operands[0], 0);
        if (!emit_mbarrier(instruction, sources[0], run::mbarrier_wait, {}, waited, d)) return false;
        out_.ops.back().a_bytes = parity ? 1 : 0;
        return true;
    }
    MbarrierAction action = MbarrierAction::arrive;
    const bool drops = has(instruction, "arrive_drop"), expects = has(instruction, "expect_tx");
    if (has(instruction, "init"))
        action = MbarrierAction::init;
    else if (has(instruction, "complete_tx"))
        action = MbarrierAction::complete;
    else if (has(instruction, "arrive"))
        action = expects ? MbarrierAction::arrive_expecting : MbarrierAction::arrive;
    else if (drops && !expects)
        action = MbarrierAction::drop;
    else if (expects && !drops)
        action = MbarrierAction::expect;
    else
        return false;
    if (sources.empty() || sources.size() > 2) return false;
    if (sources.size() == 1 && action != MbarrierAction::arrive && action != MbarrierAction::drop)
        return false;
    OperandRef amount = no_operand, d = no_operand;
    if (sources.size() == 2) amount = source(sources[1], 4, ptx::Type::u32);
    if (instruction.destination_count == 1 && operands[0].kind != ptx::Operand::Kind::sink)
        d = destination(operands[0], 8);
    return emit_mbarrier(instruction, sources[0], run::mbarrier, action, amount, d);
}

// cp.async.bulk.to.from.completion [to], [from], bytes{, [barrier]};
bool Lowering::lower_copy_bulk(const ptx::Instruction& instruction) {
    if (has(instruction, "commit_group") || has(instruction, "wait_group") || has(instruction, "prefetch"))
        return true;
    const bool by_barrier = has(instruction, "mbarrier::complete_tx::bytes");
    if (has(instruction, "tensor") || has(instruction, "multicast::cluster") || has(instruction, "cp_mask") ||
        (!by_barrier && !has(instruction, "bulk_group")) ||
        instruction.operands.size() < (by_barrier ? 4u : 3u)) {
        return false;
    }
    const auto place = [&](const ptx::Operand& operand, ptx::Space space) {
        const Address made = address(operand, space);
        return BulkCopy::Place{made.valid ? made.base : no_operand, made.offset, made.wide,
                               space != ptx::Space::global};
    };
    BulkCopy info;
    info.to = place(instruction.operands[0], instruction.modifiers.to_space);
    info.from = place(instruction.operands[1], instruction.modifiers.space);
    if (by_barrier) info.barrier = place(instruction.operands[3], ptx::Space::shared);
    const OperandRef bytes = source(instruction.operands[2], 4, ptx::Type::u32);
    if (info.to.base == no_operand || info.from.base == no_operand ||
        (by_barrier && info.barrier.base == no_operand)) {
        return false;
    }
    Op& op = emit(run::copy_bulk);
    op.b = bytes;
    op.info = &out_.keep(info);
    return true;
}

// cp.async.ca.shared.global [to], [from], bytes{, source bytes | ignore}{, policy};  the groups need nothing:
// copies are done at once.
bool Lowering::lower_copy_async(const ptx::Instruction& instruction) {
    const auto& operands = instruction.operands;
    if (!has(instruction, "async") || has(instruction, "reduce")) return false;
    if (has(instruction, "bulk")) return lower_copy_bulk(instruction);
    if (has(instruction, "mbarrier")) {
        // Without .noinc the arrival has been added to those awaited: nothing changes.
        if (!has(instruction, "noinc")) return true;
        return operands.size() == 1 && emit_mbarrier(instruction, operands[0], run::mbarrier,
                                                     MbarrierAction::arrive, no_operand, no_operand);
    }
    if (has(instruction, "commit_group") || has(instruction, "wait_group") || has(instruction, "wait_all"))
        return true;
    if (operands.size() < 3 || operands.size() > 5 || operands[2].kind != ptx::Operand::Kind::immediate)
        return false;
    const auto bytes = static_cast<unsigned>(operands[2].bits);
    if (bytes != 4 && bytes != 8 && bytes != 16) return false;
    const Address to = address(operands[0], ptx::Space::shared);
    const Address from = address(operands[1], ptx::Space::global);
    if (!to.valid || !from.valid) return false;
    OperandRef taken = constant(bytes, 4);
    const std::size_t policies = has(instruction, "L2::cache_hint") ? 1 : 0;
    if (operands.size() - policies > 3) {
        const ptx::Operand& given = operands[3];
        if (given.kind == ptx::Operand::Kind::reg && width_of(given.reg) == 0) {
            const OperandRef ignores = predicate(given), none = constant(0, 4), kept = temporary(4);
            Op& op = emit(vector_.select(4));
            op.d = kept;
            op.a = none;
            op.b = taken;
            op.c = ignores;
            taken = kept;
        } else {
            taken = source(given, 4, ptx::Type::u32);
        }
    }
    // Two instructions in one: the load's addresses are resolved first, then the store's.
    MemoryInfo& load = memory_info(instruction, ptx::Space::global, Access::read, bytes, 1, from.wide);
    MemoryInfo& store = memory_info(instruction, ptx::Space::shared, Access::write, bytes, 1, to.wide);
    Op& first = emit(run::copy_async);
    first.a = from.base;
    first.imm = from.offset;
    first.b = taken;
    first.info = &load;
    Op& second = emit(run::copy_async);  // never run by itself
    second.a = to.base;
    second.imm = to.offset;
    second.info = &store;
    return true;
}

}  // namespace trimtab::emulator
