// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/instruction_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ptx/special_registers.h"

namespace trimtab::analysis {
namespace {

using ptx::Opcode;
using ptx::OpcodeClass;
using ptx::Operand;
using ptx::Space;

constexpr std::string_view by_hand = "; its block is best chosen by hand";

OpcodeClass class_of(const ptx::Instruction& instruction) {
    return ptx::info(instruction.opcode).opcode_class;
}

std::string_view reads_what(ptx::SpecialRegister special) {
    switch (ptx::info(special).group) {
        case ptx::SpecialGroup::clock:
            return "reads a clock";
        case ptx::SpecialGroup::shared_size:
            return "reads the size of its shared memory";
        case ptx::SpecialGroup::lane:
        case ptx::SpecialGroup::machine:
            return "asks which lane, warp or multiprocessor it runs on";
        default:
            return "reads a register of the machine";
    }
}

std::optional<std::string> special_refusal(const ptx::Instruction& instruction) {
    const auto check = [](const Operand& operand) -> std::optional<std::string> {
        if (operand.kind != Operand::Kind::special ||
            ptx::info(operand.special).group == ptx::SpecialGroup::launch)
            return std::nullopt;
        return fmt::format("{} ({}), which re-blocking changes{}", reads_what(operand.special), operand.text,
                           by_hand);
    };
    for (const Operand& operand : instruction.operands) {
        if (auto text = check(operand)) return text;
        for (const Operand& element : operand.elements)
            if (auto text = check(element)) return text;
    }
    return std::nullopt;
}

bool is_shared(Space space) {
    return space == Space::shared || space == Space::shared_cluster;
}

bool names_shared_variable(const ptx::Instruction& instruction, const ptx::Function& function,
                           const ptx::Module& module) {
    return std::ranges::any_of(instruction.operands, [&](const Operand& operand) {
        return shared_variable(function, module, operand.text) != nullptr;
    });
}

// The one operand of a barrier that has no other and only waits: its number or, of a warp, the mask.
std::optional<std::uint64_t> only_operand(const FunctionValues& values, std::uint32_t instruction) {
    const ptx::Instruction& made = values.function().body[instruction];
    if ((made.opcode != Opcode::bar && made.opcode != Opcode::barrier) || !has(made, "sync") ||
        has(made, "red") || has(made, "cluster") || made.guard != ptx::no_index ||
        made.destination_count != 0 || made.operands.size() != 1)
        return std::nullopt;
    // A type says how wide an immediate is, and a barrier has none.
    const Symbolic number = made.operands[0].kind == Operand::Kind::immediate
                                ? SymbolTable::constant(made.operands[0].bits, 32)
                                : values.operand(instruction, 0);
    if (number.width != 32 || !number.is_constant()) return std::nullopt;
    return truncate_bits(number.constant(), 32);
}

std::optional<std::string> memory_refusal(const ptx::Instruction& instruction) {
    using enum ptx::MemorySemantics;
    const ptx::Modifiers& modifiers = instruction.modifiers;
    switch (modifiers.semantics) {
        case weak:
            break;
        case volatile_:
            return fmt::format("accesses volatile memory ({}), as threads that wait for each other do{}",
                               instruction.mnemonic, by_hand);
        default:
            return fmt::format("orders memory with other threads ({}){}", instruction.mnemonic, by_hand);
    }
    if (modifiers.cache == ptx::CacheOp::cv)
        return fmt::format("reads memory past the caches ({}), as threads that wait for each other do{}",
                           instruction.mnemonic, by_hand);
    return std::nullopt;
}

// Does anything but moves and arithmetic that nobody reads depend on the value?
bool reaches_a_use(const FunctionValues& values, ptx::ValueIndex value) {
    const ptx::Ssa& ssa = values.ssa();
    std::vector<bool> depends(ssa.values.size());
    depends[value] = true;
    const auto is_one = [&](ptx::ValueIndex v) { return v != ptx::no_index && depends[v]; };
    for (bool changed = true; changed;) {
        changed = false;
        for (ptx::ValueIndex v = 0; v < ssa.values.size(); v++) {
            const ptx::Value& made = ssa.values[v];
            if (depends[v]) continue;
            bool is_made_of_it = is_one(made.previous) || std::ranges::any_of(made.incoming, is_one);
            if (made.kind == ptx::Value::Kind::instruction)
                is_made_of_it |= std::ranges::any_of(
                    ssa.uses[made.instruction], [&](const ptx::Ssa::Use& use) { return is_one(use.value); });
            if (is_made_of_it) depends[v] = changed = true;
        }
    }
    const auto& body = values.function().body;
    for (std::uint32_t i = 0; i < body.size(); i++) {
        const bool reads =
            std::ranges::any_of(ssa.uses[i], [&](const ptx::Ssa::Use& use) { return is_one(use.value); });
        // What writes no register has an effect: a store, a branch.
        if (reads && (!ptx::is_pure(body[i].opcode) || body[i].destination_count == 0)) return true;
    }
    return false;
}

// Unordered and without a result, so that only the sum counts. inc and dec wrap at a bound that may differ
// from thread to thread; a block's scope holds for one block only.
std::optional<std::string> atomic_refusal(const FunctionValues& values, std::uint32_t instruction) {
    const ptx::Instruction& made = values.function().body[instruction];
    const ptx::Modifiers& modifiers = made.modifiers;
    using enum ptx::AtomicOp;
    switch (modifiers.atomic) {
        case add:
        case min:
        case max:
        case and_:
        case or_:
        case xor_:
            break;
        default:
            return fmt::format("has {}, whose outcome depends on the order of threads{}", made.mnemonic,
                               by_hand);
    }
    if (modifiers.semantics != ptx::MemorySemantics::relaxed)
        return fmt::format("orders memory with other threads ({}){}", made.mnemonic, by_hand);
    const bool is_in_block = values.blocks_are_units() && modifiers.space == Space::shared;
    if ((modifiers.scope == ptx::Scope::cta && !is_in_block) || modifiers.scope == ptx::Scope::cluster)
        return fmt::format("has {}, atomic within a block only, and blocks change{}", made.mnemonic, by_hand);
    if (made.opcode == Opcode::red) return std::nullopt;
    for (const Operand& destination : made.destinations())
        if (destination.kind == Operand::Kind::vector)
            return fmt::format("uses the result of {}, which depends on the order of threads{}",
                               made.mnemonic, by_hand);
    const ptx::ValueIndex result = values.ssa().definition(instruction);
    if (result != ptx::no_index && reaches_a_use(values, result))
        return fmt::format("uses the result of {}, which depends on the order of threads{}", made.mnemonic,
                           by_hand);
    return std::nullopt;
}

std::optional<std::string> call_refusal(const ptx::Instruction& instruction, const ptx::Module& module) {
    const std::size_t at = instruction.destination_count;
    const Operand* target = at < instruction.operands.size() ? &instruction.operands[at] : nullptr;
    if (target == nullptr || target->kind != Operand::Kind::symbol)
        return fmt::format("calls a function through a pointer{}", by_hand);
    const std::string& name = target->text;
    if (name == "vprintf") return "prints (printf): the order of lines would change; take the printf out";
    if (name == "malloc" || name == "free") return fmt::format("calls {} on the device{}", name, by_hand);
    if (name == "__assertfail") return "has an assert: build with -DNDEBUG";
    if (name.starts_with("cudaLaunch") || name.starts_with("cudaGetParameterBuffer") ||
        name.starts_with("__cudaCDP"))
        return "launches kernels from the device";
    const ptx::Function* function = module.function(name);
    if (function == nullptr || function->body.empty())
        return fmt::format("calls '{}', whose code is not in the image{}", name, by_hand);
    return std::nullopt;
}

}  // namespace

bool is_pure(const ptx::Instruction& instruction) {
    return ptx::is_pure(instruction.opcode) || class_of(instruction) == OpcodeClass::control;
}

bool is_reduction(const ptx::Instruction& instruction) {
    return class_of(instruction) == OpcodeClass::atomic;
}

bool is_float_reduction(const ptx::Instruction& instruction) {
    return is_reduction(instruction) && ptx::is_float(instruction.type);
}

bool is_store(const ptx::Instruction& instruction) {
    return class_of(instruction) == OpcodeClass::store || class_of(instruction) == OpcodeClass::surface_store;
}

bool is_block_barrier(const FunctionValues& values, std::uint32_t instruction) {
    constexpr std::uint64_t barriers_of_a_block = 16;  // PTX ISA, bar
    return !has(values.function().body[instruction], "warp") &&
           only_operand(values, instruction).value_or(barriers_of_a_block) < barriers_of_a_block;
}

bool is_warp_barrier(const FunctionValues& values, std::uint32_t instruction) {
    return has(values.function().body[instruction], "warp") &&
           only_operand(values, instruction) == 0xffffffff;
}

bool is_shared_access(const ptx::Instruction& instruction) {
    const OpcodeClass of = class_of(instruction);
    return instruction.modifiers.space == Space::shared &&
           (of == OpcodeClass::load || of == OpcodeClass::store || of == OpcodeClass::atomic);
}

const ptx::Variable* shared_variable(const ptx::Function& function, const ptx::Module& module,
                                     const std::string& name) {
    if (name.empty()) return nullptr;
    const ptx::Variable* variable = function.variable(name);
    if (variable == nullptr) variable = module.variable(name);
    return variable != nullptr && is_shared(variable->space) ? variable : nullptr;
}

// Of those with masks: without, which lanes take part is up to the machine, as for activemask.
bool is_warp_exchange(const ptx::Instruction& instruction) {
    const auto has = [&](std::string_view suffix) {
        return std::ranges::find(instruction.suffixes, suffix) != instruction.suffixes.end();
    };
    switch (instruction.opcode) {
        case Opcode::shfl:
        case Opcode::vote:
        case Opcode::match:
        case Opcode::redux:
            return has("sync");
        case Opcode::bar:
        case Opcode::barrier:
            return has("warp") && has("sync");
        default:
            break;
    }
    const auto asks_lane = [](const Operand& operand) {
        return operand.kind == Operand::Kind::special && is_lane_register(operand.special);
    };
    return instruction.opcode == Opcode::mov && instruction.operands.size() == 2 &&
           asks_lane(instruction.operands[1]);
}

namespace {

bool is_lane_exchange(const ptx::Instruction& instruction) {
    return (instruction.opcode == Opcode::shfl || instruction.opcode == Opcode::redux) &&
           is_warp_exchange(instruction);
}

}  // namespace

std::optional<std::string> refusal(const FunctionValues& values, const ptx::Module& module,
                                   std::uint32_t index) {
    const ptx::Function& function = values.function();
    const ptx::Instruction& instruction = function.body[index];
    if (values.warps_are_units() && is_warp_exchange(instruction)) return std::nullopt;
    if (auto text = special_refusal(instruction)) return text;
    if (values.blocks_are_units()) {
        // Shuffles are left to who looks at the whole of it; addresses must stay what they are.
        if (is_block_barrier(values, index) || is_lane_exchange(instruction)) return std::nullopt;
        if (is_shared_access(instruction))
            return is_reduction(instruction) ? atomic_refusal(values, index) : memory_refusal(instruction);
        if (instruction.opcode == Opcode::mov) return std::nullopt;
    }
    if (is_shared(instruction.modifiers.space) || is_shared(instruction.modifiers.to_space) ||
        names_shared_variable(instruction, function, module))
        return fmt::format("uses shared memory, which belongs to one block{}", by_hand);
    switch (class_of(instruction)) {
        case OpcodeClass::pure:
        case OpcodeClass::control:
        case OpcodeClass::texture:
        case OpcodeClass::image_query:
        case OpcodeClass::surface_load:
        case OpcodeClass::surface_store:
        case OpcodeClass::hint:
            return std::nullopt;
        case OpcodeClass::load:
        case OpcodeClass::store:
            return memory_refusal(instruction);
        case OpcodeClass::atomic:
            return atomic_refusal(values, index);
        case OpcodeClass::call:
            return call_refusal(instruction, module);
        case OpcodeClass::barrier:
            if (has(instruction, "warp"))
                return fmt::format("waits for the other threads of its warp ({}){}", instruction.mnemonic,
                                   by_hand);
            return fmt::format("waits for the other threads of its block ({}){}", instruction.mnemonic,
                               by_hand);
        case OpcodeClass::warp:
            return fmt::format("exchanges values within a warp ({}){}", instruction.mnemonic, by_hand);
        case OpcodeClass::fence:
            return fmt::format("has a memory fence ({}), as threads that exchange values do{}",
                               instruction.mnemonic, by_hand);
        case OpcodeClass::copy:
            return fmt::format("copies into shared memory ({}){}", instruction.mnemonic, by_hand);
        case OpcodeClass::trap:
            return fmt::format("may trap ({}): take the assertion out", instruction.mnemonic);
        case OpcodeClass::cluster:
            return fmt::format("works in clusters of blocks ({})", instruction.mnemonic);
        case OpcodeClass::other:
            break;
    }
    return fmt::format("has '{}', which is not on the list of instructions that re-blocking allows{}",
                       instruction.mnemonic, by_hand);
}

}  // namespace trimtab::analysis
