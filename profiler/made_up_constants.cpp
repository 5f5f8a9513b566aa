// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/made_up_constants.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/ptx/instruction_registers.h"
#include "core/ptx/module.h"

namespace trimtab::profiler {

namespace {

using ptx::Opcode;
using ptx::Operand;
using ptx::RegisterIndex;

enum Use : unsigned { as_integer = 1, as_float = 2, as_pointer = 4 };

// What one function does with what it loads from constant memory.
class ConstantLoads {
  public:
    struct Load {
        std::string variable;
        std::int64_t offset = 0;
        bool is_anywhere = false;  // in the variable, by an index
        unsigned bytes = 0;
        unsigned uses = 0;
    };

    explicit ConstantLoads(const ptx::Function& function) : function_(function) {
        for (const ptx::Instruction& instruction : function.body) note_uses(instruction);
        follow_pointers();
        follow_addresses();
        for (const ptx::Instruction& instruction : function.body)
            if (instruction.opcode == Opcode::ld && instruction.modifiers.space == ptx::Space::constant)
                add(instruction);
    }
    [[nodiscard]] const std::vector<Load>& loads() const { return loads_; }

  private:
    void note_uses(const ptx::Instruction& instruction) {
        const bool moves = instruction.opcode == Opcode::mov || instruction.opcode == Opcode::st;
        const ptx::Type type =
            instruction.source_type != ptx::Type::none ? instruction.source_type : instruction.type;
        ptx::visit_read_operands(instruction, [&](const Operand& operand, std::size_t) {
            const bool is_address =
                operand.kind == Operand::Kind::address || instruction.opcode == Opcode::cvta;
            const unsigned use = is_address            ? as_pointer
                                 : moves               ? 0u
                                 : ptx::is_float(type) ? as_float
                                                       : as_integer;
            ptx::visit_registers(operand, [&](RegisterIndex reg) { uses_[reg] |= use; });
        });
    }
    // What is added to makes an address: the sum of a pointer and an offset, of which parameters are the pointer where there
    // is one.
    void follow_pointers() {
        std::set<RegisterIndex> parameters;
        for (const ptx::Instruction& instruction : function_.body)
            if (instruction.opcode == Opcode::ld && instruction.modifiers.space == ptx::Space::param)
                ptx::visit_writes(instruction, [&](RegisterIndex reg) { parameters.insert(reg); });
        const auto is_pointer = [&](const Operand& operand) {
            const auto found = operand.kind == Operand::Kind::reg ? uses_.find(operand.reg) : uses_.end();
            return found != uses_.end() && (found->second & as_pointer) != 0;
        };
        for (bool grows = true; std::exchange(grows, false);)
            for (const ptx::Instruction& instruction : function_.body) {
                if (instruction.opcode != Opcode::add || ptx::size_bytes(instruction.type) != 8 ||
                    !is_pointer(instruction.operands[0]))
                    continue;
                const bool has_parameter =
                    std::ranges::any_of(instruction.sources(), [&](const Operand& source) {
                        return source.kind == Operand::Kind::reg && parameters.contains(source.reg);
                    });
                for (const Operand& source : instruction.sources())
                    if (!has_parameter && source.kind == Operand::Kind::reg && !is_pointer(source)) {
                        uses_[source.reg] |= as_pointer;
                        grows = true;
                    }
            }
    }
    // Registers that are made of a variable's address.
    void follow_addresses() {
        for (bool grows = true; std::exchange(grows, false);)
            for (const ptx::Instruction& instruction : function_.body) {
                if (instruction.opcode == Opcode::ld || instruction.destination_count != 1 ||
                    instruction.operands[0].kind != Operand::Kind::reg)
                    continue;
                for (const Operand& source : instruction.sources()) {
                    const auto known =
                        source.kind == Operand::Kind::reg ? address_of_.find(source.reg) : address_of_.end();
                    const std::string name = source.kind == Operand::Kind::symbol ? source.text
                                             : known != address_of_.end()         ? known->second
                                                                                  : std::string();
                    if (!name.empty()) grows |= address_of_.emplace(instruction.operands[0].reg, name).second;
                }
            }
    }
    void add(const ptx::Instruction& instruction) {
        const Operand& address = instruction.operands.back();
        Load load;
        load.bytes = ptx::size_bytes(instruction.type);
        if (address.reg == ptx::no_index) {
            load.variable = address.text;
            load.offset = address.offset;
        } else if (const auto found = address_of_.find(address.reg); found != address_of_.end()) {
            load.variable = found->second;
            load.is_anywhere = true;
        }
        if (load.variable.empty()) return;
        ptx::visit_registers(instruction.operands[0], [&](RegisterIndex reg) {
            load.uses = uses_[reg];
            loads_.push_back(load);
            load.offset += load.bytes;
        });
    }

    const ptx::Function& function_;
    std::map<RegisterIndex, unsigned> uses_;
    std::map<RegisterIndex, std::string> address_of_;
    std::vector<Load> loads_;
};

// Of a variable that nothing initialises.
struct Place {
    std::string variable;
    std::uint64_t offset = 0;
    unsigned bytes = 0;
    auto operator<=>(const Place&) const = default;
};
using Uses = std::map<Place, unsigned>;

void add_uses(const ptx::Module& module, const ptx::Function& function, Uses& uses) {
    const ConstantLoads found(function);
    for (const ConstantLoads::Load& load : found.loads()) {
        const auto variable = std::ranges::find(module.variables, load.variable, &ptx::Variable::name);
        if (variable == module.variables.end() || variable->space != ptx::Space::constant ||
            !variable->initial.empty() || !variable->relocations.empty() || load.bytes == 0)
            continue;
        const std::uint64_t first = load.is_anywhere ? 0 : static_cast<std::uint64_t>(load.offset),
                            end = std::min(load.is_anywhere ? variable->size_bytes : first + load.bytes,
                                           variable->size_bytes);
        for (std::uint64_t at = first; at + load.bytes <= end; at += load.bytes)
            uses[{load.variable, at, load.bytes}] |= load.uses;
    }
}

bool is_pointer(const Place& place, unsigned used) {
    return (used & as_pointer) != 0 && place.bytes == sizeof(std::uint64_t);
}
bool is_integer(const Place& place, unsigned used) {
    return used == as_integer && place.bytes >= sizeof(std::uint32_t);
}

}  // namespace

bool reads_made_up_integers(const emulator::Program& program, std::string_view kernel) {
    const ptx::Module& module = emulator::module_of(program);
    const auto function = std::ranges::find(module.functions, kernel, &ptx::Function::name);
    if (function == module.functions.end()) return false;
    Uses uses;
    add_uses(module, *function, uses);
    return std::ranges::any_of(uses, [](const auto& use) { return is_integer(use.first, use.second); });
}

MadeUpConstants::MadeUpConstants(emulator::Program& program) {
    const ptx::Module& module = emulator::module_of(program);
    Uses uses;
    for (const ptx::Function& function : module.functions) add_uses(module, function, uses);
    for (const auto& [place, used] : uses) {
        if (!is_pointer(place, used) && !is_integer(place, used)) continue;
        const auto storage = emulator::variable_storage(program, place.variable);
        if (!storage || storage->host == nullptr) continue;
        words_.push_back({.place = storage->host + place.offset,
                          .bytes = place.bytes,
                          .kind = is_pointer(place, used) ? Kind::pointer : Kind::integer});
    }
}

void MadeUpConstants::write(emulator::SparseMemory& memory, std::uint32_t first_region, unsigned seed) const {
    std::uint32_t pointers = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
        const Word& word = words_[i];
        // 1 to 8, in turn: neighbours have different ones, and so have seeds.
        std::uint64_t value = 1 + (3 + 5 * i + 3 * seed) % 8;
        if (word.kind == Kind::pointer) {
            const std::uint32_t region = first_region + pointers++;
            memory.set_fill(region, emulator::SparseMemory::Fill::f32);
            value = emulator::SparseMemory::region_base(region);
        }
        std::memcpy(word.place, &value, word.bytes);
    }
}

}  // namespace trimtab::profiler
