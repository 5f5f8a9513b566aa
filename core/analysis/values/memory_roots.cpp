// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/memory_roots.h"

#include <algorithm>

namespace trimtab::analysis {
namespace {

using ptx::no_index;
using ptx::Opcode;

class Search {
  public:
    Search(const SymbolTable& table, const FunctionValues& values) : table_(table), values_(values) {}

    MemoryRoots of(const Symbolic& address) {
        MemoryRoots roots;
        bool found = false;
        // A pointer is added once: what is scaled, or multiplied, or narrower, is an index.
        for (const Term& term : address.terms) {
            if (term.atoms.size() != 1 || term.coefficient != 1) continue;
            const MemoryRoots part = of_atom(term.atoms[0]);
            if (part.bases.empty() && !part.is_private) continue;
            roots.join(part);
            found = true;
        }
        if (!found) roots.is_unknown = true;
        return roots;
    }

  private:
    MemoryRoots of_atom(AtomIndex index) {
        const Atom& atom = table_.atom(index);
        MemoryRoots roots;
        switch (atom.kind) {
            case Atom::Kind::parameter:
                if (atom.width == 64) roots.bases.insert(index);
                break;
            case Atom::Kind::symbol:
                if (const ptx::Variable* variable = values_.function().variable(atom.text);
                    variable != nullptr && variable->space == ptx::Space::local)
                    roots.is_private = true;
                else
                    roots.bases.insert(index);
                break;
            case Atom::Kind::operation: {
                if (atom.width != 64 || atom.operation.op != Operator::selp || !seen_.insert(index).second)
                    break;
                roots = of(atom.operands[0]);
                roots.join(of(atom.operands[1]));
                break;
            }
            case Atom::Kind::opaque:
                return of_value(atom);
            default:
                break;
        }
        return roots;
    }

    MemoryRoots of_value(const Atom& atom) {
        MemoryRoots roots;
        if (atom.width != 64 || atom.function != values_.index()) return roots;
        const ptx::Value& value = values_.ssa().values[atom.value];
        if (value.kind == ptx::Value::Kind::instruction) {
            const ptx::Instruction& made = values_.function().body[value.instruction];
            roots.is_private =
                made.opcode == Opcode::alloca_ || (made.opcode == Opcode::cvta && !made.modifiers.to &&
                                                   made.modifiers.space == ptx::Space::local);
        }
        if (value.kind != ptx::Value::Kind::phi || !visited_.insert(atom.value).second) return roots;
        for (const ptx::ValueIndex incoming : value.incoming) {
            if (incoming == no_index || incoming == atom.value) continue;
            const MemoryRoots part = of(values_.value(incoming));
            // Around the loop comes the phi itself, moved on.
            roots.bases.insert(part.bases.begin(), part.bases.end());
            roots.is_private |= part.is_private;
        }
        return roots;
    }

    const SymbolTable& table_;
    const FunctionValues& values_;
    std::set<ptx::ValueIndex> visited_;
    std::set<AtomIndex> seen_;
};

}  // namespace

void MemoryRoots::join(const MemoryRoots& other) {
    bases.insert(other.bases.begin(), other.bases.end());
    is_unknown |= other.is_unknown;
    is_private |= other.is_private;
}

MemoryRoots memory_roots(const SymbolTable& table, const FunctionValues& values, const Symbolic& address) {
    return Search(table, values).of(address);
}

MemoryRoots memory_roots(const SymbolTable& table, const FunctionValues& values, std::uint32_t instruction) {
    const ptx::Instruction& made = values.function().body[instruction];
    MemoryRoots roots;
    if (made.modifiers.space == ptx::Space::local) {
        roots.is_private = true;
        return roots;
    }
    const Symbolic address = values.address(instruction);
    if (address.width == 0) {
        roots.is_unknown = true;
        return roots;
    }
    return memory_roots(table, values, address);
}

bool reads_constant_memory(const FunctionValues& values, std::uint32_t instruction) {
    const ptx::Instruction& made = values.function().body[instruction];
    const ptx::Space space = made.modifiers.space;
    return made.modifiers.nc || made.opcode == Opcode::ldu || space == ptx::Space::constant ||
           space == ptx::Space::param || values.parameter_load(instruction).has_value();
}

}  // namespace trimtab::analysis
