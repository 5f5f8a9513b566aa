// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel made ready to run: its ops, and those of the functions that it reaches.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/ptx/module.h"
#include "emulation/emulator/exec/counters.h"
#include "emulation/emulator/exec/launch.h"
#include "emulation/emulator/exec/memory_info.h"
#include "emulation/emulator/exec/op.h"

namespace trimtab::emulator {

struct alignas(64) LaneBytes {
    std::byte bytes[64] = {};
};

// A stretch of code that is entered at its top and left at its bottom: what is counted at once. Instructions
// under a guard are regions of their own.
struct RegionInfo {
    std::uint32_t slot = 0;   // index of its first instruction in the kernel's numbering: where it is counted
    std::uint32_t count = 0;  // instructions
    const ptx::Function* function = nullptr;
    // rounds.h
    std::uint32_t rounds = 0;
    std::vector<std::uint32_t> needed_first;  // registers from outside that its first loads' addresses need
    std::vector<std::uint32_t> read;          // registers from outside that anything in it reads
    std::vector<std::uint32_t>
        left_pending;  // registers of its last loads, where nothing in it waits for them
};

struct FunctionCode;

// One argument or result of a call: where it lies in either frame.
struct CallValue {
    std::uint32_t caller_offset = 0, callee_offset = 0;  // in the frames' parameter storage
    std::uint32_t bytes = 0;
    OperandRef caller_register = no_operand;  // instead of caller_offset
    std::uint32_t register_bytes = 0;
};

enum class HostFunction : std::uint8_t {
    none,
    vprintf,
    malloc,
    free,
    assertfail,
    // The device's runtime, from here on (device_launches.cpp).
    get_parameter_buffer,
    get_parameter_buffer_v2,
    launch_device,
    launch_device_v2,
    create_stream,
    copy,
    copy_2d,
    set,
    set_2d,
    get_device,
    get_device_count,
    get_attribute,
    runtime_version,
    allocate,
    release,
    no_effect  // what succeeds and does nothing here: destroying a stream, the last error
};

struct CallInfo {
    const FunctionCode* callee = nullptr;  // nullptr: indirect, or the host's
    HostFunction host = HostFunction::none;
    OperandRef target = no_operand;  // indirect: the function's address
    std::vector<CallValue> arguments, results;
};

struct BranchTable {
    std::vector<const Op*> targets;
    std::vector<std::uint32_t> target_instructions;
    const Op* join = nullptr;
};

// A kernel parameter that is read at a known offset: repeated for each lane when the kernel is launched.
struct ParameterSlot {
    std::uint32_t offset = 0;  // in the parameter buffer
    std::uint8_t memory_bytes = 0, register_bytes = 0;
    bool is_signed = false;
    std::uint32_t slot_offset = 0;  // of its lanes, in Base::parameters
};

struct FunctionCode {
    const ptx::Function* source = nullptr;
    std::uint32_t instruction_base = 0;  // its first instruction in the kernel's numbering
    std::uint32_t number = 0;            // its place in KernelCode::functions
    std::vector<Op> ops;
    std::vector<LaneBytes> constants;
    std::uint32_t register_bytes = 0;   // a frame's registers, all lanes
    std::uint32_t parameter_bytes = 0;  // a lane's parameter storage: its own, its results, its callees'
    std::uint32_t local_bytes = 0;      // a lane's local variables
    std::vector<std::uint32_t> formal_offsets, formal_bytes;  // parameters in order
    std::vector<std::uint32_t> result_offsets, result_bytes;
    std::string error;  // not empty: it cannot be lowered
    std::deque<MemoryInfo> memory;
    std::deque<CallInfo> calls;
    std::deque<CallValue> spills;  // parameters whose address is taken: from storage to local memory
    std::deque<BranchTable> tables;
    std::deque<RegionInfo> regions;
    std::vector<std::shared_ptr<const void>> kept;  // what rarer ops point to
    template <class Info>
    Info& keep(Info info) {
        const auto made = std::make_shared<Info>(std::move(info));
        kept.push_back(made);
        return *made;
    }
    std::vector<std::uint32_t> counted_at;  // by instruction: the slot of its region; counted code
    // What compiled code (jit/) is made from; by instruction and, last, the end: where its ops begin, behind
    // the join and the entry that may stand there (no_op: there is none).
    static constexpr std::uint32_t no_op = 0xffffffffu;
    std::vector<std::uint32_t> first_op, join_op, entry_op;
    std::vector<OperandRef> registers;  // by PTX register; no_operand: never used
    // Counted code, by instruction: which of `regions` its first op counts (no_op: none).
    std::vector<std::uint32_t> region_at;
    // Where an instruction's ops begin, behind the one that counts a region.
    [[nodiscard]] std::uint32_t work_op(std::uint32_t instruction) const {
        const bool counts = instruction < region_at.size() && region_at[instruction] != no_op;
        return first_op[instruction] + (counts ? 1 : 0);
    }
};

struct KernelCode {
    [[nodiscard]] bool is_counted() const { return !slot_instructions.empty(); }
    std::vector<std::unique_ptr<FunctionCode>> functions;  // the kernel first
    std::vector<ParameterSlot> parameter_slots;
    std::uint32_t parameter_slot_bytes = 0;
    std::map<std::uint64_t, const FunctionCode*> by_address;  // for indirect calls
    std::vector<std::uint32_t> slot_instructions;  // instructions of the region at each slot; counted code
    std::uint64_t special_registers = 0;  // bit i: ptx::SpecialRegister i lies in Base::specials and is read
};

class Program;

namespace jit {
class KernelVariants;
}

// Lowered when first asked for; the counted code when first counted.
class CompiledKernel {
  public:
    CompiledKernel(const Program& program, const ptx::Function& function);
    [[nodiscard]] const KernelInfo& info() const;
    [[nodiscard]] const KernelCode& code(bool counted, bool observed = false) const;
    [[nodiscard]] const ptx::Function& function() const { return *function_; }
    // Functions in the order of the kernel's numbering, the kernel first; and the first number of each.
    [[nodiscard]] const std::vector<const ptx::Function*>& reached() const;
    [[nodiscard]] const std::vector<std::uint32_t>& bases() const { return bases_; }
    [[nodiscard]] const ptx::Instruction& instruction(std::uint32_t index) const;
    [[nodiscard]] const ptx::Function& function_of(std::uint32_t index) const;
    [[nodiscard]] jit::KernelVariants& variants() const;  // its compiled code

  private:
    void prepare() const;
    void find_reached() const;
    void lay_out_shared() const;
    void lower(KernelCode& code, bool counted, bool observed) const;

    const Program* program_;
    const ptx::Function* function_;
    mutable std::once_flag prepared_, counted_once_, observed_once_[2];
    mutable KernelInfo info_;
    mutable std::vector<const ptx::Function*> reached_;
    mutable std::vector<std::uint32_t> bases_;
    // Offsets in shared memory by name ("function/name" for those of a function's body).
    mutable std::map<std::string, std::uint32_t, std::less<>> shared_offsets_;
    mutable std::unordered_set<const ptx::Function*> called_by_name_;
    mutable std::once_flag variants_once_;
    mutable std::shared_ptr<jit::KernelVariants> variants_;
    mutable KernelCode plain_, counted_, observed_[2];  // observed: not counted, counted
};

}  // namespace trimtab::emulator
