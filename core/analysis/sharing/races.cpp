// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/sharing/races.h"

#include <algorithm>
#include <optional>

#include "core/analysis/values/instruction_rules.h"
#include "core/analysis/values/memory_roots.h"

namespace trimtab::analysis {
namespace {

// base + stride * g + [first, first + bytes)
struct Access {
    AtomIndex base = 0;
    Dimension dimension = Dimension::x;
    std::int64_t stride = 0, first = 0, bytes = 0;
};

std::optional<Access> affine_access(const SymbolTable& table, const FunctionValues& values,
                                    std::uint32_t instruction) {
    const ptx::Instruction& made = values.function().body[instruction];
    const Symbolic address = values.address(instruction);
    if (address.width != 64) return std::nullopt;
    Access access;
    std::optional<AtomIndex> base;
    for (const Term& term : address.terms) {
        const auto coefficient = static_cast<std::int64_t>(term.coefficient);
        if (term.atoms.empty()) {
            access.first = coefficient;
            continue;
        }
        if (term.atoms.size() != 1) return std::nullopt;
        const Atom& atom = table.atom(term.atoms[0]);
        if (atom.kind == Atom::Kind::global_index && access.stride == 0) {
            access.stride = coefficient;
            access.dimension = atom.dimension;
        } else if ((atom.kind == Atom::Kind::parameter || atom.kind == Atom::Kind::symbol) &&
                   coefficient == 1 && !base) {
            base = term.atoms[0];
        } else {
            return std::nullopt;
        }
    }
    access.bytes = static_cast<std::int64_t>(ptx::size_bytes(made.type)) *
                   std::max<std::int64_t>(1, made.modifiers.vector_width);
    constexpr std::int64_t limit = std::int64_t{1} << 31;
    // Strides of less than 2^31 bytes times indices of less than 2^31 do not wrap.
    if (!base || access.bytes == 0 || access.stride <= 0 || access.stride >= limit ||
        access.first <= -limit || access.first >= limit)
        return std::nullopt;
    access.base = *base;
    return access;
}

}  // namespace

bool is_race_free(const SymbolTable& table, const std::vector<FunctionValues>& functions,
                  const std::array<DimensionUse, 3>& dimensions) {
    if (functions.size() != 1 || std::ranges::count(dimensions, Index::none, &DimensionUse::index) != 2)
        return false;
    const FunctionValues& values = functions.front();
    const auto& body = values.function().body;
    std::vector<Access> accesses;
    bool writes = false;
    for (std::uint32_t i = 0; i < body.size(); i++) {
        if (!values.is_reachable(i) || is_pure(body[i])) continue;
        const bool stores = body[i].opcode == ptx::Opcode::st;
        const bool loads = is_load(body[i]);
        if (!stores && !loads) return false;
        if (loads && reads_constant_memory(values, i)) continue;
        const MemoryRoots roots = memory_roots(table, values, i);
        if (roots.is_private && roots.bases.empty() && !roots.is_unknown) continue;
        const auto access = affine_access(table, values, i);
        if (!access) return false;
        writes |= stores;
        accesses.push_back(*access);
    }
    if (!writes) return true;
    std::int64_t first = accesses.front().first, end = first;
    for (const Access& access : accesses) {
        const Access& other = accesses.front();
        if (access.base != other.base || access.stride != other.stride ||
            access.dimension != other.dimension ||
            dimensions[static_cast<std::size_t>(access.dimension)].index == Index::none)
            return false;
        first = std::min(first, access.first);
        end = std::max(end, access.first + access.bytes);
    }
    return end - first <= accesses.front().stride;
}

}  // namespace trimtab::analysis
