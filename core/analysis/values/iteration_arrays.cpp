// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/iteration_arrays.h"

#include <algorithm>

namespace trimtab::analysis {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;

bool is_stack_access(const FunctionValues& kernel, std::uint32_t instruction) {
    const ptx::Instruction& made = kernel.function().body[instruction];
    return (made.opcode == Opcode::ld || made.opcode == Opcode::st) &&
           made.modifiers.space == ptx::Space::local;
}

// The innermost strided loop that the block is in: its iterations are within those of the others.
std::uint32_t IterationArrays::innermost_loop(BlockIndex block) const {
    std::uint32_t innermost = no_index;
    std::size_t least = SIZE_MAX;
    for (const LoopIndices::Strided& strided : indices_.loops()) {
        const ptx::Loop& loop = kernel_.flow().loops[strided.loop];
        if (!loop.contains(block) || loop.blocks.size() >= least) continue;
        least = loop.blocks.size();
        innermost = strided.loop;
    }
    return innermost;
}

// Where the place in it is not known, all of the variable; null: neither is.
IterationArrays::Bytes IterationArrays::bytes_of(std::uint32_t instruction) const {
    Bytes result;
    const Symbolic address = kernel_.address(instruction);
    for (const Term& term : address.terms) {
        if (term.atoms.empty()) result.first = term.coefficient;
        if (term.atoms.size() != 1 || term.coefficient != 1) continue;
        const Atom& atom = table_.atom(term.atoms[0]);
        if (atom.kind != Atom::Kind::symbol) continue;
        if (result.variable != nullptr) return {};
        result.variable = kernel_.function().variable(atom.text);
    }
    if (result.variable == nullptr || result.variable->space != ptx::Space::local) return {};
    if (!kernel_.is_frame_access(instruction)) return {result.variable, 0, result.variable->size_bytes};
    const ptx::Instruction& made = kernel_.function().body[instruction];
    result.end = result.first + std::uint64_t{ptx::size_bytes(made.type)} *
                                    std::max<unsigned>(1, made.modifiers.vector_width);
    return result;
}

// Every way to the load leads by the store, and both are in the loop: a way from the loop's header to the load
// that leaves the store out would be one from the kernel's entry too, for the loop is entered at its header
// alone. So it is the same iteration's.
bool IterationArrays::comes_before(std::uint32_t store, std::uint32_t load, std::uint32_t loop) const {
    return kernel_.function().body[store].guard == no_index &&
           innermost_loop(kernel_.flow().block_of[store]) == loop && kernel_.flow().precedes(store, load);
}

bool IterationArrays::are_stored(const Bytes& wanted, const std::vector<Bytes>& stored) const {
    std::uint64_t reached = wanted.first;
    for (bool grows = true; grows && reached < wanted.end;) {
        grows = false;
        for (const Bytes& bytes : stored) {
            if (bytes.variable != wanted.variable || bytes.first > reached || bytes.end <= reached) continue;
            reached = bytes.end;
            grows = true;
        }
    }
    return reached >= wanted.end;
}

bool IterationArrays::loads_what_the_iteration_stored(std::uint32_t load) const {
    const std::uint32_t loop = innermost_loop(kernel_.flow().block_of[load]);
    if (loop == no_index) return false;
    std::vector<Bytes> stored;
    const auto& body = kernel_.function().body;
    for (std::uint32_t i = 0; i < body.size(); i++)
        if (kernel_.is_reachable(i) && body[i].opcode == Opcode::st && kernel_.is_frame_access(i) &&
            comes_before(i, load, loop))
            stored.push_back(bytes_of(i));
    const Bytes wanted = bytes_of(load);
    return wanted.variable != nullptr && are_stored(wanted, stored);
}

}  // namespace trimtab::analysis
