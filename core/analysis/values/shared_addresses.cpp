// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/shared_addresses.h"

#include <algorithm>

#include "core/analysis/values/instruction_rules.h"

namespace trimtab::analysis {

using ptx::no_index;
using ptx::Operand;
using ptx::ValueIndex;

bool only_computes(const ptx::Instruction& instruction) {
    return is_pure(instruction) && instruction.destination_count > 0;
}

SharedAddresses::SharedAddresses(const FunctionValues& values, const ptx::Module& module)
    : values_(values), module_(module), is_address_(values.ssa().values.size()) {
    const ptx::Ssa& ssa = values.ssa();
    for (bool changed = true; changed;) {
        changed = false;
        for (ValueIndex v = 0; v < ssa.values.size(); v++) {
            if (is_address_[v]) continue;
            const ptx::Value& value = ssa.values[v];
            bool found =
                std::ranges::any_of(value.incoming, [&](ValueIndex from) { return is_address(from); });
            if (value.kind == ptx::Value::Kind::instruction)
                found |= is_address(value.previous) ||
                         (is_pure(values.function().body[value.instruction]) && mentions(value.instruction));
            if (found) is_address_[v] = changed = true;
        }
    }
}

bool SharedAddresses::names_shared(const Operand& operand) const {
    return shared_variable(values_.function(), module_, operand.text) != nullptr ||
           std::ranges::any_of(operand.elements, [&](const Operand& e) { return names_shared(e); });
}

bool SharedAddresses::mentions(std::uint32_t instruction) const {
    return std::ranges::any_of(values_.function().body[instruction].operands,
                               [&](const Operand& operand) { return names_shared(operand); }) ||
           std::ranges::any_of(values_.ssa().uses[instruction],
                               [&](const ptx::Ssa::Use& use) { return is_address(use.value); });
}

bool SharedAddresses::escape(const std::function<bool(std::uint32_t)>& is_looked_at) const {
    const auto& body = values_.function().body;
    for (std::uint32_t i = 0; i < body.size(); i++) {
        const ptx::Instruction& made = body[i];
        if (!values_.is_reachable(i) || only_computes(made)) continue;
        if (!is_looked_at(i)) {
            if (mentions(i)) return true;
            continue;
        }
        if (made.guard != no_index && is_address(values_.ssa().guard(i))) return true;
        for (std::size_t o = 0; o < made.operands.size(); o++) {
            if (made.operands[o].kind == Operand::Kind::address) continue;
            if (names_shared(made.operands[o])) return true;
            for (const ptx::Ssa::Use& use : values_.ssa().uses[i])
                if (use.operand == o && is_address(use.value)) return true;
        }
    }
    return false;
}

}  // namespace trimtab::analysis
