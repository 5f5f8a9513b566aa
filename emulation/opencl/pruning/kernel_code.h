// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel as the walk over it wants it: its blocks in the order in which a trace lists them, and of each the regions that
// abstract emulation counts, what its branches and addresses hang on, and its accesses (sections 4.1.1 to 4.1.3).
//
// The IR is PTX in single static assignment, the code that the rest of Trimtab reads: it is there for OpenCL C, CUDA C++ and
// binaries alike, and its loops are those that run.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "core/analysis/launches/operation.h"
#include "core/ptx/control_flow.h"
#include "core/ptx/module.h"
#include "core/ptx/ssa.h"
#include "emulation/emulator/exec/launch.h"
#include "trimtab/error.h"

namespace trimtab::pruning {

struct ValueOperand {
    ptx::ValueIndex value = ptx::no_index;  // no_index: `bits`
    std::uint64_t bits = 0;
};

struct MemoryAccess {
    std::uint32_t instruction = 0;  // in the kernel's numbering
    bool is_atomic = false, is_shared = false;
    ValueOperand base;
    std::int64_t offset = 0;
    bool has_address = true;               // else nothing is known of it: textures, asynchronous copies
    std::uint32_t bytes = 4;               // of a lane
    std::vector<ptx::ValueIndex> results;  // those that anything hangs on
    ptx::SourceLocation location;
};

struct Step {
    enum class Kind : std::uint8_t {
        copy,       // of operands[0]
        special,    // the register `special`
        argument,   // `argument_bytes` at `argument_offset` of the parameter buffer
        operation,  // `operation`
        unknown,    // nothing is known of the result
        access,     // accesses[`access`]
        region      // a region of code begins, whose slot is `slot`
    };
    Kind kind = Kind::unknown;
    bool guard_negated = false;
    ptx::ValueIndex guard = ptx::no_index, previous = ptx::no_index;  // of what writes or touches
    ptx::ValueIndex result = ptx::no_index;
    std::array<ValueOperand, 3> operands{};
    analysis::Operation operation{};
    ptx::BooleanOp combined = ptx::BooleanOp::none;  // setp's: with operands[2]
    bool combined_negated = false;
    ptx::SpecialRegister special = ptx::SpecialRegister::other;
    std::uint32_t argument_offset = 0, argument_bytes = 0;
    bool argument_signed = false;
    std::uint32_t access = 0, slot = 0;
};

struct CodeBlock {
    std::vector<ptx::ValueIndex> phis;  // those that anything hangs on
    std::vector<Step> steps;
    enum class End : std::uint8_t { falls, branches, jumps_to_any, returns, may_return } end = End::falls;
    ptx::ValueIndex condition = ptx::no_index;
    bool condition_negated = false;
    std::uint32_t loop = ptx::no_index;  // innermost
    // Position of this block among the predecessors of each successor, by successor.
    std::vector<std::uint32_t> slots;
    // By successor: the outermost loop that the edge leaves; no_index: none.
    std::vector<std::uint32_t> leaves;
    std::vector<bool> goes_back;
};

// A block or a loop, in the order of the trace; a loop's own list begins with its header.
struct CodeItem {
    bool is_loop = false;
    std::uint32_t index = 0;
};

struct KernelCode {
    // With what the kernel calls written out in its place; nothing of it is run.
    std::shared_ptr<emulator::Program> program;
    std::string name;
    ptx::Function function;
    ptx::ControlFlow flow;
    ptx::Ssa ssa;
    std::vector<CodeBlock> blocks;
    std::vector<CodeItem> items;                            // outside loops
    std::vector<std::vector<CodeItem>> loop_items;          // by loop
    std::vector<std::vector<ptx::ValueIndex>> kept_values;  // by loop: defined there and needed behind it
    std::vector<MemoryAccess> accesses;
    std::vector<bool> is_innermost;  // by loop
    // One past the local memory that the kernel declares, where a launch gives it no more; 0: it may.
    std::uint64_t local_end = 0;

    // Irreducible control flow and unknown jumps are errors.
    [[nodiscard]] static std::expected<KernelCode, Error> make(const ptx::Module& module,
                                                               const ptx::Function& kernel);
};

}  // namespace trimtab::pruning
