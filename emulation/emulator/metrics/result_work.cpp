// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/metrics/result_work.h"

#include <cstdint>

#include "core/ptx/instruction_registers.h"
#include "emulation/emulator/exec/program.h"

namespace trimtab::emulator {
namespace {

using ptx::OpcodeClass;

bool is_access(const ptx::Instruction& instruction) {
    switch (ptx::info(instruction.opcode).opcode_class) {
        case OpcodeClass::load:
        case OpcodeClass::store:
        case OpcodeClass::atomic:
        case OpcodeClass::copy:
            return true;
        default:
            return false;
    }
}

// Other threads, or the host, see what it is given.
bool gives_away(const ptx::Instruction& instruction) {
    switch (ptx::info(instruction.opcode).opcode_class) {
        case OpcodeClass::store:
        case OpcodeClass::atomic:
        case OpcodeClass::surface_store:
        case OpcodeClass::call:
        case OpcodeClass::other:
            return true;
        default:
            return false;
    }
}

bool loads_data(const ptx::Instruction& instruction) {
    const OpcodeClass kind = ptx::info(instruction.opcode).opcode_class;
    return kind == OpcodeClass::texture || kind == OpcodeClass::surface_load || kind == OpcodeClass::atomic ||
           (kind == OpcodeClass::load && instruction.modifiers.space != ptx::Space::param);
}

class Slices {
  public:
    explicit Slices(const ptx::Function& function)
        : function_(function), writers_(function.registers.size()) {
        for (std::uint32_t i = 0; i < function.body.size(); ++i)
            ptx::visit_writes(function.body[i], [&](std::uint32_t reg) { writers_[reg].push_back(i); });
    }

    // The instructions that the operands' values are made by, back to what is loaded. Addresses are another matter.
    void of_operands(const ptx::Instruction& instruction, std::vector<bool>& made_by) const {
        std::vector<std::uint32_t> open;
        add_operands(instruction, open);
        close(open, made_by);
    }
    void of_register(std::uint32_t reg, std::vector<bool>& made_by) const {
        std::vector<std::uint32_t> open{reg};
        close(open, made_by);
    }

  private:
    static void add_operands(const ptx::Instruction& instruction, std::vector<std::uint32_t>& open) {
        ptx::visit_read_operands(instruction, [&](const ptx::Operand& operand, std::size_t) {
            if (is_access(instruction) && operand.kind == ptx::Operand::Kind::address) return;
            ptx::visit_registers(operand, [&](std::uint32_t reg) { open.push_back(reg); });
        });
    }
    void close(std::vector<std::uint32_t>& open, std::vector<bool>& made_by) const {
        while (!open.empty()) {
            const std::uint32_t reg = open.back();
            open.pop_back();
            for (const std::uint32_t i : writers_[reg]) {
                if (made_by[i]) continue;
                made_by[i] = true;
                add_operands(function_.body[i], open);
            }
        }
    }

    const ptx::Function& function_;
    std::vector<std::vector<std::uint32_t>> writers_;
};

void add_work(const ptx::Function& function, std::vector<bool>& work) {
    const Slices slices(function);
    const std::size_t count = function.body.size();
    for (std::size_t i = 0; i < count; ++i) {
        const ptx::Instruction& instruction = function.body[i];
        if (gives_away(instruction)) {
            work[i] = true;
            slices.of_operands(instruction, work);
        }
        if (instruction.guard == ptx::no_index) continue;
        std::vector<bool> decided_by(count, false);
        slices.of_register(instruction.guard, decided_by);
        bool is_by_data = false;
        for (std::size_t j = 0; j < count; ++j) is_by_data |= decided_by[j] && loads_data(function.body[j]);
        if (!is_by_data) continue;
        work[i] = true;
        for (std::size_t j = 0; j < count; ++j) work[j] = work[j] || decided_by[j];
    }
}

}  // namespace

std::vector<bool> result_work(const Program& program, std::string_view kernel_name) {
    const CompiledKernel* const kernel = program.kernel(kernel_name);
    if (kernel == nullptr) return {};
    std::vector<bool> all;
    for (std::size_t f = 0; f < kernel->reached().size(); ++f) {
        const ptx::Function& function = *kernel->reached()[f];
        std::vector<bool> work(function.body.size(), f != 0);
        if (f == 0) add_work(function, work);
        const std::size_t base = kernel->bases()[f];
        if (all.size() < base + work.size()) all.resize(base + work.size());
        for (std::size_t i = 0; i < work.size(); ++i) all[base + i] = work[i];
    }
    return all;
}

}  // namespace trimtab::emulator
