// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/sharing/left_out.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "core/analysis/sharing/strided_accesses.h"
#include "core/analysis/values/instruction_rules.h"
#include "core/analysis/values/no_instruction.h"
#include "core/analysis/values/shared_addresses.h"

namespace trimtab::analysis {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::ValueIndex;

bool LeftOut::is_clean(const std::set<std::uint32_t>& gone, const std::set<std::uint32_t>& may_go,
                       const std::vector<ValueIndex>& used) {
    return !both_ways_ && find_left() && find_needed(gone, may_go, used);
}

bool LeftOut::find_left() {
    const ptx::ControlFlow& flow = values_.flow();
    is_left_ = ptx::reached_from(flow.blocks.size(), {0}, [&](BlockIndex at, const auto& go) {
        for (const BlockIndex to : flow.blocks[at].successors)
            if (!is_left_out(at, to)) go(to);
    });
    is_left_[0] = true;
    return std::ranges::all_of(ways_, [&](const auto& branch) {
        const auto& successors = flow.blocks[branch.first].successors;
        return successors.size() == 2 && successors[0] != successors[1];
    });
}
bool LeftOut::is_left_out(BlockIndex from, BlockIndex to) const {
    const auto skipped = ways_.find(from);
    return skipped != ways_.end() &&
           values_.flow().blocks[from].successors[skipped->second == ptx::taken ? 0 : 1] == to;
}

bool LeftOut::find_needed(const std::set<std::uint32_t>& gone, const std::set<std::uint32_t>& may_go,
                          const std::vector<ValueIndex>& used_anyway) {
    const ptx::Ssa& ssa = values_.ssa();
    std::vector<bool> is_used(ssa.values.size());
    needed_.assign(values_.function().body.size(), false);
    std::vector<ValueIndex> work;
    const auto use = [&](ValueIndex value) {
        if (value == no_index || is_used[value]) return;
        is_used[value] = true;
        work.push_back(value);
    };
    for (const ValueIndex value : used_anyway) use(value);
    const auto need = [&](std::uint32_t i) {
        if (needed_[i]) return;
        needed_[i] = true;
        for (const ptx::Ssa::Use& used : ssa.uses[i]) use(used.value);
    };
    for (std::uint32_t i = 0; i < values_.function().body.size(); i++) {
        const ptx::Instruction& made = values_.function().body[i];
        if (!values_.is_reachable(i) || gone.contains(i)) continue;
        if (!has_instruction(i)) {
            if (!is_pure(made) && !values_.parameter_load(i) && !may_go.contains(i)) return false;
            continue;
        }
        const bool is_skipped_branch = ways_.contains(values_.flow().block_of[i]) &&
                                       i + 1 == values_.flow().blocks[values_.flow().block_of[i]].last;
        if (!is_skipped_branch && (!is_pure(made) || made.destination_count == 0)) need(i);
    }
    while (!work.empty()) {
        const ptx::Value& value = ssa.values[work.back()];
        work.pop_back();
        use(value.previous);
        if (value.kind == ptx::Value::Kind::instruction) {
            if (!has_instruction(value.instruction)) return false;
            need(value.instruction);
        }
        if (value.kind != ptx::Value::Kind::phi) continue;
        if (!is_left_[value.block]) return false;
        for (const BlockIndex from : values_.flow().blocks[value.block].predecessors)
            if (!is_left_[from] || is_left_out(from, value.block)) return false;
        for (const ValueIndex from : value.incoming) use(from);
    }
    return true;
}

bool LeftOut::has_order(const Phases& phases, const std::set<std::uint32_t>& but) const {
    std::optional<std::uint64_t> phase;
    bool several = false, writes = false;
    const auto& body = values_.function().body;
    for (std::uint32_t i = 0; i < body.size(); i++) {
        if (!values_.is_reachable(i) || !has_instruction(i) || but.contains(i) || !has_effect(values_, i) ||
            body[i].modifiers.space == ptx::Space::constant)
            continue;
        writes |= !ptx::is_load(body[i]);
        several |= (phase && *phase != phases.of(i)) || !std::has_single_bit(phases.of(i));
        phase = phases.of(i);
    }
    return several && writes;
}

void LeftOut::take_out(ptx::Function& function, std::set<std::uint32_t> gone) const {
    for (const auto& [block, ways] : ways_) {
        const std::uint32_t last = values_.flow().blocks[block].last - 1;
        // The other way is gone by every thread.
        if (ways == ptx::taken) {
            gone.insert(last);
        } else if (is_left_[block]) {
            function.body[last].guard = no_index;
            function.body[last].guard_negated = false;
        }
    }
    const ptx::RegisterIndex unused = add_unused_register(function);
    for (std::uint32_t i = 0; i < function.body.size(); i++)
        if (gone.contains(i) || (!needed_[i] && only_computes(function.body[i])))
            become_nothing(function.body[i], unused);
}

}  // namespace trimtab::analysis
