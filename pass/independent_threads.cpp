// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/independent_threads.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace trimtab::pass {
namespace {

constexpr std::array<DimensionRegisters, 3> registers{{
    {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x,
     llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x},
    {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y, llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
     llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y, llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_y},
    {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z, llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_z,
     llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z, llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_z},
}};
constexpr unsigned generic_space = 0, global_space = 1, constant_space = 4, local_space = 5,
                   parameter_space = 101;

bool is_own_or_common(unsigned space) {
    return space == generic_space || space == global_space || space == constant_space ||
           space == local_space || space == parameter_space;
}

// Does a constant lead to memory of blocks?
bool is_of_blocks(const llvm::Value* value) {
    if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(value))
        return !is_own_or_common(variable->getAddressSpace());
    const auto* constant = llvm::dyn_cast<llvm::ConstantExpr>(value);
    return constant != nullptr &&
           llvm::any_of(constant->operands(), [](const llvm::Use& use) { return is_of_blocks(use); });
}

// Any order of them leaves the same; of floating-point sums as far as they ever do.
bool is_reduction(const llvm::AtomicRMWInst& atomic) {
    if (!atomic.use_empty() || atomic.isVolatile()) return false;
    switch (atomic.getOperation()) {
        case llvm::AtomicRMWInst::Add:
        case llvm::AtomicRMWInst::And:
        case llvm::AtomicRMWInst::Or:
        case llvm::AtomicRMWInst::Xor:
        case llvm::AtomicRMWInst::Max:
        case llvm::AtomicRMWInst::Min:
        case llvm::AtomicRMWInst::UMax:
        case llvm::AtomicRMWInst::UMin:
        case llvm::AtomicRMWInst::FAdd:
            return true;
        default:
            return false;
    }
}

bool is_harmless(const llvm::IntrinsicInst& call, IndexReads& reads) {
    const llvm::Intrinsic::ID id = call.getIntrinsicID();
    for (std::size_t d = 0; d < registers.size(); d++) {
        reads.block_index[d] |= id == registers[d].block_index;
        reads.thread_index[d] |= id == registers[d].thread_index;
        reads.block_size[d] |= id == registers[d].block_size;
        if (id == registers[d].block_index || id == registers[d].thread_index ||
            id == registers[d].block_size)
            return true;
    }
    if (llvm::Intrinsic::getBaseName(id).starts_with("llvm.nvvm.read.")) return false;
    if (const auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&call)) {
        const auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(memory);
        return !memory->isVolatile() && is_own_or_common(memory->getDestAddressSpace()) &&
               (transfer == nullptr || is_own_or_common(transfer->getSourceAddressSpace()));
    }
    if (call.isLifetimeStartOrEnd() || call.isAssumeLikeIntrinsic()) return true;
    const bool only_reads =
        call.doesNotAccessMemory() || (call.onlyReadsMemory() && call.onlyAccessesArgMemory());
    return only_reads && !call.isConvergent() && call.willReturn() && call.doesNotThrow();
}

bool is_harmless(const llvm::Instruction& instruction, IndexReads& reads) {
    if (llvm::any_of(instruction.operands(), [](const llvm::Use& use) { return is_of_blocks(use); }))
        return false;
    switch (instruction.getOpcode()) {
        case llvm::Instruction::Load: {
            const auto& load = llvm::cast<llvm::LoadInst>(instruction);
            return load.isSimple() && is_own_or_common(load.getPointerAddressSpace());
        }
        case llvm::Instruction::Store: {
            const auto& store = llvm::cast<llvm::StoreInst>(instruction);
            return store.isSimple() && is_own_or_common(store.getPointerAddressSpace());
        }
        case llvm::Instruction::AtomicRMW: {
            const auto& atomic = llvm::cast<llvm::AtomicRMWInst>(instruction);
            return is_reduction(atomic) && is_own_or_common(atomic.getPointerAddressSpace());
        }
        case llvm::Instruction::Call: {
            const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
            return call != nullptr && is_harmless(*call, reads);
        }
        case llvm::Instruction::Alloca:
            return llvm::cast<llvm::AllocaInst>(instruction).isStaticAlloca();
        case llvm::Instruction::Br:
        case llvm::Instruction::Switch:
        case llvm::Instruction::Ret:
            return true;
        default:
            return !instruction.isTerminator() && !instruction.mayReadOrWriteMemory() &&
                   !instruction.mayThrow();
    }
}

}  // namespace

const std::array<DimensionRegisters, 3>& dimension_registers() {
    return registers;
}

bool has_independent_threads(const llvm::Function& kernel, IndexReads& reads) {
    return llvm::all_of(llvm::instructions(kernel), [&](const llvm::Instruction& instruction) {
        return is_harmless(instruction, reads);
    });
}

}  // namespace trimtab::pass
