// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/metrics/launch_profile.h"

#include <algorithm>
#include <functional>
#include <set>

#include "core/ptx/instruction_registers.h"
#include "emulation/emulator/exec/counting.h"
#include "emulation/emulator/exec/describe.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/metrics/metrics.h"

namespace trimtab::emulator {
namespace {

// Where the registers of one function come from.
class Origins {
  public:
    explicit Origins(const ptx::Function& function)
        : function_(function), writers_(function.registers.size()) {
        for (std::uint32_t i = 0; i < function.body.size(); ++i)
            ptx::visit_writes(function.body[i], [&](std::uint32_t reg) {
                if (writers_[reg].empty() || writers_[reg].back() != i) writers_[reg].push_back(i);
            });
    }
    [[nodiscard]] const std::vector<std::uint32_t>& writers(std::uint32_t reg) const { return writers_[reg]; }

    // The pointer parameters that a value of 64 bits is made from by additions, copies and choices; false
    // where something else has a part in it that may be a pointer.
    bool roots(std::uint32_t reg, std::set<std::int32_t>& found) const {
        std::set<std::uint32_t> seen;
        return roots(reg, found, seen);
    }

  private:
    [[nodiscard]] static bool is_wide(ptx::Type type) { return ptx::size_bytes(type) == 8; }

    [[nodiscard]] std::int32_t parameter_named(const std::string& name) const {
        for (std::size_t i = 0; i < function_.parameters.size(); ++i)
            if (function_.parameters[i].name == name) return static_cast<std::int32_t>(i);
        return -1;
    }

    bool roots(std::uint32_t reg, std::set<std::int32_t>& found, std::set<std::uint32_t>& seen) const {
        if (!seen.insert(reg).second) return true;
        bool is_known = true;
        for (const std::uint32_t i : writers_[reg]) {
            const ptx::Instruction& made = function_.body[i];
            switch (made.opcode) {
                case ptx::Opcode::ld: {
                    if (made.modifiers.space != ptx::Space::param) return false;
                    const std::int32_t index =
                        made.operands.size() < 2 ? -1 : parameter_named(made.operands[1].text);
                    if (index < 0) return false;
                    found.insert(index);
                    break;
                }
                case ptx::Opcode::add:
                case ptx::Opcode::sub:
                case ptx::Opcode::mov:
                case ptx::Opcode::cvta:
                case ptx::Opcode::selp:
                    ptx::visit_reads(made, [&](std::uint32_t read) {
                        if (is_wide(function_.registers[read].type))
                            is_known = roots(read, found, seen) && is_known;
                    });
                    break;
                case ptx::Opcode::mad:  // of an index; the sum's other half is the pointer
                    if (made.operands.size() == 4 && made.operands[3].reg != ptx::no_index)
                        is_known = roots(made.operands[3].reg, found, seen) && is_known;
                    break;
                default:  // products, shifts and conversions make offsets, not pointers
                    break;
            }
        }
        return is_known;
    }

    const ptx::Function& function_;
    std::vector<std::vector<std::uint32_t>> writers_;
};

const ptx::Operand* address_of(const ptx::Instruction& instruction) {
    for (const ptx::Operand& operand : instruction.operands)
        if (operand.kind == ptx::Operand::Kind::address) return &operand;
    return nullptr;
}

bool is_global(InstructionClass kind) {
    return kind == InstructionClass::global_load || kind == InstructionClass::global_store ||
           kind == InstructionClass::global_atomic;
}

}  // namespace

LaunchProfile launch_profile(const Program& program, std::string_view kernel_name,
                             const LaunchCounters& counters, std::uint64_t total_blocks) {
    LaunchProfile profile;
    profile.kernel = kernel_name;
    profile.counted_blocks = static_cast<double>(counters.blocks);
    profile.counted_active_blocks = static_cast<double>(counters.active_blocks);
    profile.counted_active_warps = static_cast<double>(counters.active_warps);
    profile.branches = static_cast<double>(counters.branches);
    profile.divergent_branches = static_cast<double>(counters.divergent_branches);
    profile.values = metrics(program, kernel_name, counters, total_blocks);
    const CompiledKernel* kernel = program.kernel(kernel_name);
    if (kernel == nullptr) return profile;
    profile.written.assign(kernel->reached().empty() ? 0 : kernel->reached()[0]->parameters.size(), false);
    for (std::size_t f = 0; f < kernel->reached().size(); ++f) {
        const ptx::Function& function = *kernel->reached()[f];
        const std::uint32_t base = kernel->bases()[f];
        if (base + function.body.size() > counters.instructions.size()) break;
        const Origins origins(function);
        for (std::uint32_t i = 0; i < function.body.size(); ++i) {
            const InstructionCount& count = counters.instructions[base + i];
            const ptx::Instruction& instruction = function.body[i];
            const InstructionClass kind = class_of(instruction);
            const bool writes =
                kind == InstructionClass::global_store || kind == InstructionClass::global_atomic;
            if (count.warp == 0 && !writes) continue;
            InstructionProfile made{.source = program.module().source_text(instruction.location),
                                    .column = instruction.location.column,
                                    .text = instruction_text(function, instruction),
                                    .index = base + i,
                                    .kind = kind,
                                    .count = count,
                                    .parameter = -1,
                                    .repeats_address = false,
                                    .address_computed = 0};
            const ptx::Operand* address = is_global(kind) ? address_of(instruction) : nullptr;
            if (address != nullptr && address->reg != ptx::no_index) {
                std::set<std::int32_t> roots;
                // Only the kernel's own parameters have an index that a caller knows.
                const bool is_known = f == 0 && origins.roots(address->reg, roots);
                if (is_known && roots.size() == 1) made.parameter = *roots.begin();
                double computed = 0;
                for (const std::uint32_t writer : origins.writers(address->reg))
                    computed += static_cast<double>(counters.instructions[base + writer].warp);
                made.address_computed = computed;
                made.repeats_address = computed > 0 && computed < 0.75 * static_cast<double>(count.warp);
                if (writes && is_known)
                    for (const std::int32_t root : roots)
                        profile.written[static_cast<std::size_t>(root)] = true;
                profile.writes_unknown |= writes && (!is_known || roots.empty());
            }
            if (count.warp > 0) profile.instructions.push_back(std::move(made));
        }
    }
    return profile;
}

}  // namespace trimtab::emulator
