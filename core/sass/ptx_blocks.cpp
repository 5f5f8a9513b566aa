// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/ptx_blocks.h"

#include <algorithm>
#include <cmath>

#include "core/ptx/control_flow.h"
#include "core/sass/flow_counts.h"

namespace trimtab::sass {
namespace {

void add_function(PtxBlocks& out, const PtxCounts& counts, double entries) {
    const ptx::Function& function = *counts.function;
    const auto flow = ptx::control_flow(function);
    if (!flow || counts.executions.size() < function.body.size()) return;
    const auto first_block = static_cast<std::uint32_t>(out.blocks.size());
    const auto first_loop = static_cast<std::uint32_t>(out.loops.size());
    std::vector<double> blocks(flow->blocks.size());
    std::vector<bool> known(flow->blocks.size()), leaks(flow->blocks.size());
    ptx::Graph successors(flow->blocks.size());
    for (std::uint32_t b = 0; b < flow->blocks.size(); ++b) {
        const ptx::BasicBlock& block = flow->blocks[b];
        successors[b] = block.successors;
        known[b] = block.first < block.last;
        for (std::uint32_t i = block.first; i < block.last; ++i)
            blocks[b] = std::max(blocks[b], counts.executions[i]);
        if (block.first == block.last) continue;
        const ptx::Opcode end = function.body[block.last - 1].opcode;
        leaks[b] = end == ptx::Opcode::exit || end == ptx::Opcode::ret || end == ptx::Opcode::trap;
    }
    const FlowCounts solved = conserve_flow(successors, leaks, entries, blocks, known);
    for (std::uint32_t b = 0; b < flow->blocks.size(); ++b) {
        const std::uint32_t loop = flow->innermost_loop[b];
        out.blocks.push_back(
            {.executions = solved.blocks[b], .loop = loop == ptx::no_index ? no_index : first_loop + loop});
        for (std::uint32_t i = flow->blocks[b].first; i < flow->blocks[b].last; ++i)
            out.lines[function.body[i].line] = {.instruction = &function.body[i],
                                                .block = first_block + b,
                                                .executions = counts.executions[i]};
    }
    for (const ptx::Loop& loop : flow->loops) {
        PtxLoop made{.header = first_block + loop.header};
        if (const ptx::BasicBlock& header = flow->blocks[loop.header]; header.first < header.last)
            made.line = function.body[header.first].line;
        double outside = 0, again = 0;
        bool outside_known = true, again_known = true;
        for (const ptx::BlockIndex before : flow->blocks[loop.header].predecessors) {
            const auto& out_edges = flow->blocks[before].successors;
            const auto at = std::ranges::find(out_edges, loop.header) - out_edges.begin();
            const double edge = solved.edges[before][static_cast<std::size_t>(at)];
            const bool inside = loop.contains(before);
            (inside ? again : outside) += std::isnan(edge) ? 0 : edge;
            (inside ? again_known : outside_known) &= !std::isnan(edge);
        }
        const double executions = solved.blocks[loop.header];
        made.entries = outside_known ? outside : again_known ? executions - again : 0;
        if (made.entries <= 0) made.entries = std::min(executions, entries);
        out.loops.push_back(made);
    }
}

}  // namespace

const PtxLine* PtxBlocks::at(std::uint32_t line) const {
    const auto found = lines.find(line);
    return found == lines.end() ? nullptr : &found->second;
}

PtxBlocks ptx_blocks(std::span<const PtxCounts> counts, double warps) {
    PtxBlocks out;
    for (const PtxCounts& one : counts) {
        if (one.function == nullptr || one.function->body.empty()) continue;
        // A function that is called is entered as often as its first instruction runs.
        const bool kernel = &one == counts.data();
        const double first = one.executions.empty() ? 0 : one.executions.front();
        add_function(out, one, kernel ? warps : first);
    }
    return out;
}

bool is_access(const ptx::Instruction& i) {
    using ptx::Opcode;
    switch (i.opcode) {
        case Opcode::ld:
        case Opcode::ldu:
        case Opcode::st:
        case Opcode::atom:
        case Opcode::red:
        case Opcode::ldmatrix:
            return i.modifiers.space != ptx::Space::param && i.modifiers.space != ptx::Space::constant;
        default:
            return false;
    }
}

double access_bytes(const ptx::Instruction& i) {
    // ldmatrix: .x1, .x2 or .x4 registers.
    if (i.opcode == ptx::Opcode::ldmatrix) {
        const auto has = [&](const char* suffix) {
            return std::ranges::find(i.suffixes, suffix) != i.suffixes.end();
        };
        return has("x4") ? 16 : has("x2") ? 8 : 4;
    }
    return std::max(1u, ptx::size_bytes(i.type)) * std::max<double>(1, i.modifiers.vector_width);
}

bool is_anchor(const ptx::Instruction& i) {
    using ptx::Opcode;
    if (is_access(i)) return true;
    switch (i.opcode) {
        case Opcode::bar:
        case Opcode::barrier:
        case Opcode::mma:
        case Opcode::shfl:
        case Opcode::ex2:
        case Opcode::lg2:
        case Opcode::tex:
            return true;
        case Opcode::fma:
        case Opcode::add:
        case Opcode::sub:
        case Opcode::mul:
        case Opcode::mad:
            return ptx::is_float(i.type);
        default:
            return false;
    }
}

}  // namespace trimtab::sass
