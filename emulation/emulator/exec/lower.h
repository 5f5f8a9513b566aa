// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From PTX to ops, one function of one kernel at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ptx/control_flow.h"
#include "core/ptx/module.h"
#include "core/ptx/semantics/evaluate.h"
#include "emulation/emulator/exec/code.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/exec/vector/handlers.h"

namespace trimtab::emulator {

// libcudadevrt's functions that the emulator has (device_launches.cpp); none for any other.
[[nodiscard]] HostFunction device_runtime_function(std::string_view name);

// What the functions of one kernel's code share while they are lowered.
struct KernelLowering {
    const Program& program;
    const CompiledKernel& kernel;
    KernelCode& code;
    const std::map<std::string, std::uint32_t, std::less<>>& shared_offsets;
    bool counted = false, observed = false;
    std::map<const ptx::Function*, FunctionCode*> functions;
};

class Lowering {
  public:
    Lowering(KernelLowering& kernel, FunctionCode& out, bool is_entry);
    // The error is out.error.
    void run();

  private:
    struct Place {  // of a variable in .param or .local
        std::uint32_t offset = 0, bytes = 0;
    };
    struct Fixup {  // an op whose target is an instruction
        std::size_t op = 0;
        std::uint32_t instruction = 0;
    };

    // --- lower.cpp: the function as a whole
    void lay_out_registers();
    void lay_out_variables();
    void spill_parameters();
    void find_joins();
    void begin_instruction(std::uint32_t index);
    void lower_instruction(std::uint32_t index);
    void lower_guarded(std::uint32_t index);
    void lower_unguarded(std::uint32_t index);
    void begin_region(std::uint32_t index);
    void finish();
    void find_rounds();
    void fail(const ptx::Instruction& instruction, const std::string& why);
    [[nodiscard]] bool unsupported(const ptx::Instruction& instruction);
    [[nodiscard]] bool failed() const { return !out_.error.empty(); }
    Op& emit(Handler run);

    // --- lower_operands.cpp
    [[nodiscard]] unsigned width_of(ptx::RegisterIndex reg) const;  // 0: a predicate
    // An operand's lanes, `bytes` wide; 0: a predicate's mask.
    [[nodiscard]] OperandRef source(const ptx::Operand& operand, unsigned bytes, ptx::Type type);
    [[nodiscard]] OperandRef predicate(const ptx::Operand& operand);
    [[nodiscard]] OperandRef destination(const ptx::Operand& operand, unsigned bytes);
    [[nodiscard]] OperandRef constant(std::uint64_t bits, unsigned bytes);
    [[nodiscard]] OperandRef mask_constant(std::uint32_t mask);
    [[nodiscard]] OperandRef temporary(unsigned bytes);
    [[nodiscard]] OperandRef special(const ptx::Operand& operand, unsigned bytes);
    [[nodiscard]] OperandRef symbol(const ptx::Operand& operand, unsigned bytes);
    [[nodiscard]] OperandRef resized(OperandRef from, unsigned from_bytes, unsigned bytes, bool sign);

    // --- lower_arithmetic.cpp
    [[nodiscard]] bool lower_arithmetic(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_integer(const ptx::Instruction& instruction,
                                     const ptx::semantics::Operation& operation);
    [[nodiscard]] bool lower_compare(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_predicate_logic(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_select(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_convert(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_carry(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_directed(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_scalar(const ptx::Instruction& instruction);
    void emit_operands(Handler run, const ptx::Instruction& instruction, unsigned d_bytes,
                       const std::vector<std::pair<unsigned, ptx::Type>>& sources);

    // --- lower_move.cpp
    [[nodiscard]] bool lower_move(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_address_conversion(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_cluster_address(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_stack(const ptx::Instruction& instruction);

    // --- lower_memory.cpp
    [[nodiscard]] bool lower_load(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_store(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_atomic(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_vector_atomic(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_parameter_access(const ptx::Instruction& instruction, bool is_load);
    // The address operand: its register (or a constant) into op.a, the rest into op.imm.
    struct Address {
        OperandRef base = no_operand;
        std::uint64_t offset = 0;
        bool wide = true;
        bool valid = false;
    };
    [[nodiscard]] Address address(const ptx::Operand& operand, ptx::Space space);
    [[nodiscard]] MemoryInfo& memory_info(const ptx::Instruction& instruction, ptx::Space space,
                                          Access access, unsigned element_bytes, unsigned elements,
                                          bool wide);

    // --- lower_async.cpp
    [[nodiscard]] bool lower_copy_async(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_copy_bulk(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_mbarrier(const ptx::Instruction& instruction);
    [[nodiscard]] bool emit_mbarrier(const ptx::Instruction& instruction, const ptx::Operand& at, Handler run,
                                     MbarrierAction action, OperandRef amount, OperandRef d);

    // --- lower_texture.cpp
    [[nodiscard]] bool lower_texture(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_texture_fetch(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_surface_access(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_image_query(const ptx::Instruction& instruction);

    // --- lower_matrix.cpp
    [[nodiscard]] bool lower_matrix(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_matrix_multiply(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_matrix_transfer(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_matrix_rows(const ptx::Instruction& instruction);

    // --- lower_control.cpp
    [[nodiscard]] bool lower_branch(const ptx::Instruction& instruction, std::uint32_t index);
    [[nodiscard]] bool lower_call(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_barrier(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_collective(const ptx::Instruction& instruction);
    [[nodiscard]] bool lower_simple(const ptx::Instruction& instruction);  // fences, hints: nothing to do
    [[nodiscard]] bool may_enter(std::uint32_t instruction) const;
    [[nodiscard]] bool is_divergence_join(std::uint32_t instruction) const;
    void set_target(std::size_t op, std::uint32_t instruction);

    KernelLowering& kernel_;
    FunctionCode& out_;
    const ptx::Function& function_;
    const VectorHandlers& vector_;
    const bool is_entry_;
    ptx::ControlFlow flow_;
    std::vector<OperandRef> registers_;
    std::map<std::string, Place, std::less<>> parameters_, locals_;
    std::map<std::pair<std::uint64_t, unsigned>, OperandRef> constants_;
    std::uint32_t register_bytes_ = 0, carry_ = 0;
    std::vector<bool> joins_;              // by instruction (and the end): lanes come together before it
    std::vector<std::size_t> op_of_;       // by instruction (and the end): its first op
    std::vector<std::size_t> join_op_of_;  // by instruction: its join op
    std::vector<Fixup> fixups_, join_fixups_;
    std::vector<std::pair<BranchTable*, std::uint32_t>> table_joins_;
    std::uint32_t current_ = 0;  // the instruction being lowered
    std::uint32_t since_control_ = 0;
    bool region_open_ = false;
    RegionInfo* region_ = nullptr;
};

}  // namespace trimtab::emulator
