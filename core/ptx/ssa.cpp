// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phis at iterated dominance frontiers of registers that are live across blocks, then renaming down the
// dominator tree (Cytron et al., "Efficiently Computing Static Single Assignment Form", 1991); phis that
// nothing reads go.
#include "core/ptx/ssa.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "core/ptx/instruction_registers.h"

namespace trimtab::ptx {
namespace {

constexpr std::array states = {State::carry, State::stack};
static_assert(states.size() == state_count);

RegisterIndex number(RegisterIndex first_state, State state) {
    return first_state + static_cast<RegisterIndex>(state);
}

template <class Visit>
void for_each_use(const Instruction& instruction, RegisterIndex first_state, Visit&& visit) {
    if (first_state != no_index) {
        for (const State state : states) {
            if (reads(instruction, state))
                visit(number(first_state, state), state_operand(state), std::uint16_t{0});
        }
    }
    if (instruction.guard != no_index) visit(instruction.guard, guard_operand, std::uint16_t{0});
    visit_read_operands(instruction, [&](const Operand& operand, std::size_t i) {
        visit_registers(operand, [&](RegisterIndex reg, std::uint16_t element) {
            visit(reg, static_cast<std::uint16_t>(i), element);
        });
    });
}

template <class Visit>
void for_each_definition(const Instruction& instruction, RegisterIndex first_state, Visit&& visit) {
    if (first_state != no_index) {
        for (const State state : states) {
            if (writes(instruction, state))
                visit(number(first_state, state), state_operand(state), std::uint16_t{0});
        }
    }
    for (std::uint16_t i = 0; i < instruction.destination_count; ++i) {
        visit_registers(instruction.operands[i],
                        [&](RegisterIndex reg, std::uint16_t element) { visit(reg, i, element); });
    }
}

// no_index for what no instruction writes.
std::tuple<std::uint32_t, std::uint16_t, std::uint16_t> place(const Value& value) {
    return {value.instruction, value.operand, value.element};
}

class SsaBuilder {
  public:
    SsaBuilder(const Function& function, const ControlFlow& flow)
        : function_(function), flow_(flow), body_(function.body) {}

    Ssa run() {
        // Few functions read one: in the others nobody follows who writes it.
        const bool has_states = std::ranges::any_of(body_, [](const Instruction& instruction) {
            return std::ranges::any_of(states, [&](State state) { return reads(instruction, state); });
        });
        if (has_states) ssa_.first_state = static_cast<RegisterIndex>(function_.registers.size());
        current_.assign(function_.registers.size() + state_count, no_index);
        undefined_.assign(current_.size(), no_index);
        ssa_.uses.resize(body_.size());
        place_phis();
        rename();
        remove_dead_phis();
        return std::move(ssa_);
    }

  private:
    using Phi = std::pair<RegisterIndex, ValueIndex>;

    [[nodiscard]] std::vector<std::vector<BlockIndex>> frontiers() const {
        std::vector<std::vector<BlockIndex>> out(flow_.blocks.size());
        for (const BlockIndex block : flow_.reverse_post_order) {
            const auto& predecessors = flow_.blocks[block].predecessors;
            if (predecessors.size() < 2) continue;
            for (BlockIndex runner : predecessors) {
                if (!is_reachable(runner)) continue;
                while (runner != no_index && runner != flow_.immediate_dominator[block]) {
                    // Marked already: so are those above it.
                    if (!out[runner].empty() && out[runner].back() == block) break;
                    out[runner].push_back(block);
                    runner = flow_.immediate_dominator[runner];
                }
            }
        }
        return out;
    }

    [[nodiscard]] bool is_reachable(BlockIndex block) const {
        return block == 0 || flow_.immediate_dominator[block] != no_index;
    }

    void place_phis() {
        phis_.resize(flow_.blocks.size());
        // Registers read in a block before it writes them; the others need no phi.
        std::vector<bool> crosses(current_.size());
        std::vector<std::vector<BlockIndex>> written_in(current_.size());
        std::vector<BlockIndex> last_writer(current_.size(), no_index);
        for (const BlockIndex block : flow_.reverse_post_order) {
            for (std::uint32_t i = flow_.blocks[block].first; i < flow_.blocks[block].last; ++i) {
                for_each_use(body_[i], ssa_.first_state,
                             [&](RegisterIndex reg, std::uint16_t, std::uint16_t) {
                                 if (last_writer[reg] != block) crosses[reg] = true;
                             });
                for_each_definition(body_[i], ssa_.first_state,
                                    [&](RegisterIndex reg, std::uint16_t, std::uint16_t) {
                                        if (last_writer[reg] == block) return;
                                        if (body_[i].guard != no_index) crosses[reg] = true;
                                        last_writer[reg] = block;
                                        written_in[reg].push_back(block);
                                    });
            }
        }
        const std::vector<std::vector<BlockIndex>> frontier = frontiers();
        std::vector<RegisterIndex> has_phi(flow_.blocks.size(), no_index);
        for (RegisterIndex reg = 0; reg < current_.size(); ++reg) {
            if (!crosses[reg]) continue;
            std::vector<BlockIndex> work = written_in[reg];
            while (!work.empty()) {
                const BlockIndex block = work.back();
                work.pop_back();
                for (const BlockIndex join : frontier[block]) {
                    if (has_phi[join] == reg) continue;
                    has_phi[join] = reg;
                    Value phi;
                    phi.kind = Value::Kind::phi;
                    phi.reg = reg;
                    phi.block = join;
                    phi.incoming.assign(flow_.blocks[join].predecessors.size(), no_index);
                    phis_[join].emplace_back(reg, add(std::move(phi)));
                    work.push_back(join);
                }
            }
        }
    }

    ValueIndex add(Value value) {
        ssa_.values.push_back(std::move(value));
        return static_cast<ValueIndex>(ssa_.values.size() - 1);
    }

    ValueIndex read(RegisterIndex reg) {
        if (current_[reg] != no_index) return current_[reg];
        if (undefined_[reg] == no_index) {
            Value value;
            value.reg = reg;
            undefined_[reg] = add(std::move(value));
        }
        return undefined_[reg];
    }

    void write(RegisterIndex reg, ValueIndex value) {
        overwritten_.emplace_back(reg, current_[reg]);
        current_[reg] = value;
    }

    void visit_block(BlockIndex block) {
        for (const auto& [reg, phi] : phis_[block]) write(reg, phi);
        for (std::uint32_t i = flow_.blocks[block].first; i < flow_.blocks[block].last; ++i) {
            const Instruction& instruction = body_[i];
            for_each_use(instruction, ssa_.first_state,
                         [&](RegisterIndex reg, std::uint16_t operand, std::uint16_t element) {
                             ssa_.uses[i].push_back({operand, element, reg, read(reg)});
                         });
            for_each_definition(instruction, ssa_.first_state,
                                [&](RegisterIndex reg, std::uint16_t operand, std::uint16_t element) {
                                    Value value;
                                    value.kind = Value::Kind::instruction;
                                    value.reg = reg;
                                    value.instruction = i;
                                    value.operand = operand;
                                    value.element = element;
                                    value.block = block;
                                    if (instruction.guard != no_index) value.previous = read(reg);
                                    const ValueIndex index = add(std::move(value));
                                    write(reg, index);
                                });
        }
        for (const BlockIndex successor : flow_.blocks[block].successors) {
            if (phis_[successor].empty()) continue;
            // Ascending, and twice where both ways of a branch go there.
            const auto& predecessors = flow_.blocks[successor].predecessors;
            const auto edges = std::equal_range(predecessors.begin(), predecessors.end(), block);
            for (const auto& [reg, phi] : phis_[successor]) {
                const ValueIndex value = read(reg);  // it may grow `values`
                for (auto edge = edges.first; edge != edges.second; ++edge) {
                    ssa_.values[phi].incoming[static_cast<std::size_t>(edge - predecessors.begin())] = value;
                }
            }
        }
    }

    void undo(std::size_t mark) {
        for (; overwritten_.size() > mark; overwritten_.pop_back()) {
            current_[overwritten_.back().first] = overwritten_.back().second;
        }
    }

    void rename() {
        std::vector<std::vector<BlockIndex>> children(flow_.blocks.size());
        for (const BlockIndex block : flow_.reverse_post_order) {
            if (flow_.immediate_dominator[block] != no_index) {
                children[flow_.immediate_dominator[block]].push_back(block);
            }
        }
        struct Visit {
            BlockIndex block;
            std::size_t mark, next_child;
        };
        std::vector<Visit> path;
        const auto enter = [&](BlockIndex block) {
            path.push_back({block, overwritten_.size(), 0});
            visit_block(block);
        };
        enter(0);
        while (!path.empty()) {
            Visit& top = path.back();
            if (top.next_child < children[top.block].size()) {
                enter(children[top.block][top.next_child++]);
                continue;
            }
            undo(top.mark);
            path.pop_back();
        }
        for (BlockIndex block = 0; block < flow_.blocks.size(); ++block) {
            if (is_reachable(block)) continue;
            visit_block(block);
            undo(0);
        }
    }

    // Keeps what an instruction reads, or what a kept value rests on, and renumbers.
    void remove_dead_phis() {
        std::vector<bool> is_live(ssa_.values.size());
        std::vector<ValueIndex> work;
        const auto keep = [&](ValueIndex value) {
            if (value == no_index || is_live[value]) return;
            is_live[value] = true;
            work.push_back(value);
        };
        for (ValueIndex value = 0; value < ssa_.values.size(); ++value) {
            if (ssa_.values[value].kind == Value::Kind::instruction) keep(value);
        }
        for (const auto& uses : ssa_.uses) {
            for (const Ssa::Use& use : uses) keep(use.value);
        }
        while (!work.empty()) {
            const Value& value = ssa_.values[work.back()];
            work.pop_back();
            keep(value.previous);
            for (const ValueIndex incoming : value.incoming) keep(incoming);
        }
        // What instructions write comes first, in their order: definition() searches it.
        std::vector<ValueIndex> order;
        for (ValueIndex value = 0; value < ssa_.values.size(); ++value) {
            if (is_live[value]) order.push_back(value);
        }
        std::sort(order.begin(), order.end(), [&](ValueIndex a, ValueIndex b) {
            return std::pair(place(ssa_.values[a]), a) < std::pair(place(ssa_.values[b]), b);
        });
        std::vector<ValueIndex> renumbered(ssa_.values.size(), no_index);
        std::vector<Value> kept;
        kept.reserve(order.size());
        for (const ValueIndex value : order) {
            renumbered[value] = static_cast<ValueIndex>(kept.size());
            kept.push_back(std::move(ssa_.values[value]));
        }
        for (Value& value : kept) {
            if (value.previous != no_index) value.previous = renumbered[value.previous];
            for (ValueIndex& incoming : value.incoming) incoming = renumbered[incoming];
        }
        for (auto& uses : ssa_.uses) {
            for (Ssa::Use& use : uses) use.value = renumbered[use.value];
        }
        ssa_.values = std::move(kept);
    }

    const Function& function_;
    const ControlFlow& flow_;
    const std::vector<Instruction>& body_;
    Ssa ssa_;
    std::vector<std::vector<Phi>> phis_;                             // by block
    std::vector<ValueIndex> current_, undefined_;                    // by register
    std::vector<std::pair<RegisterIndex, ValueIndex>> overwritten_;  // to be restored
};

}  // namespace

ValueIndex Ssa::use(std::uint32_t instruction, std::uint16_t operand, std::uint16_t element) const {
    for (const Use& use : uses[instruction]) {
        if (use.operand == operand && use.element == element) return use.value;
    }
    return no_index;
}

ValueIndex Ssa::definition(std::uint32_t instruction, std::uint16_t operand, std::uint16_t element) const {
    const std::tuple wanted(instruction, operand, element);
    const auto at = std::lower_bound(values.begin(), values.end(), wanted,
                                     [](const Value& value, const auto& key) { return place(value) < key; });
    if (at == values.end() || at->kind != Value::Kind::instruction || place(*at) != wanted) return no_index;
    return static_cast<ValueIndex>(at - values.begin());
}

ValueIndex Ssa::guard(std::uint32_t instruction) const {
    return use(instruction, guard_operand);
}

Ssa build_ssa(const Function& function, const ControlFlow& flow) {
    return SsaBuilder(function, flow).run();
}

}  // namespace trimtab::ptx
