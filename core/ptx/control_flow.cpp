// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/control_flow.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "core/ptx/opcodes.h"

namespace trimtab::ptx {
namespace {

class FlowBuilder {
  public:
    explicit FlowBuilder(const Function& function) : function_(function), body_(function.body) {}

    std::expected<ControlFlow, Error> run() {
        if (auto error = find_targets()) return std::unexpected(std::move(*error));
        cut_blocks();
        connect();
        const auto count = static_cast<BlockIndex>(flow_.blocks.size());
        Graph successors(count), predecessors(count);
        for (BlockIndex b = 0; b < count; ++b) {
            successors[b] = flow_.blocks[b].successors;
            predecessors[b] = flow_.blocks[b].predecessors;
        }
        flow_.reverse_post_order = reverse_post_order(successors, 0);
        flow_.immediate_dominator = immediate_dominators(successors, predecessors, 0);
        NaturalLoops nest = natural_loops(predecessors, flow_.reverse_post_order, flow_.immediate_dominator);
        flow_.loops = std::move(nest.loops);
        flow_.innermost_loop = std::move(nest.innermost_loop);
        flow_.reducible = nest.reducible;
        find_post_dominators(std::move(successors), std::move(predecessors));
        return std::move(flow_);
    }

  private:
    // Targets of every branch, by instruction.
    std::optional<Error> find_targets() {
        targets_.resize(body_.size());
        for (std::uint32_t i = 0; i < body_.size(); ++i) {
            const Instruction& instruction = body_[i];
            if (instruction.opcode == Opcode::bra) {
                if (instruction.operands.size() != 1) return error(instruction, "a branch without a target");
                targets_[i].push_back(instruction.operands[0].target);
            } else if (instruction.opcode == Opcode::brx) {
                const auto table = instruction.operands.size() < 2
                                       ? function_.branch_targets.end()
                                       : function_.branch_targets.find(instruction.operands[1].text);
                if (table == function_.branch_targets.end() || table->second.empty()) {
                    return error(instruction, "an indirect branch whose targets are unknown");
                }
                std::unordered_set<std::uint32_t> seen;
                for (const std::uint32_t target : table->second) {
                    if (seen.insert(target).second) targets_[i].push_back(target);
                }
            }
            for (const std::uint32_t target : targets_[i]) {
                if (target > body_.size()) return error(instruction, "a branch out of the function");
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] Error error(const Instruction& instruction, const std::string& what) const {
        return {"function '" + function_.name + "': " + what, {}, instruction.line, 0};
    }

    void cut_blocks() {
        const auto size = static_cast<std::uint32_t>(body_.size());
        std::vector<bool> starts(size + 1);
        starts[0] = true;
        for (std::uint32_t i = 0; i < size; ++i) {
            if (ends_block(body_[i].opcode) && i + 1 < size) starts[i + 1] = true;
            for (const std::uint32_t target : targets_[i]) {
                starts[target] = true;
                // A loop may go back to the first instruction: the entry then is an empty block before it, so
                // that nothing precedes the entry.
                if (target == 0 && flow_.blocks.empty()) flow_.blocks.emplace_back();
            }
        }
        flow_.block_of.resize(size);
        at_end_ = no_index;
        for (std::uint32_t i = 0; i <= size; ++i) {
            if (starts[i]) {
                // A branch to the function's end needs a block there, if an empty one.
                if (i == size) at_end_ = static_cast<BlockIndex>(flow_.blocks.size());
                flow_.blocks.push_back({i, i, {}, {}});
            }
            if (i == size) break;
            flow_.block_of[i] = static_cast<BlockIndex>(flow_.blocks.size() - 1);
            flow_.blocks.back().last = i + 1;
        }
    }

    [[nodiscard]] BlockIndex block_at(std::uint32_t instruction) const {
        return instruction < body_.size() ? flow_.block_of[instruction] : at_end_;
    }

    void connect() {
        leaves_.resize(flow_.blocks.size());
        for (BlockIndex b = 0; b < flow_.blocks.size(); ++b) {
            BasicBlock& block = flow_.blocks[b];
            const bool is_last = b + 1 == flow_.blocks.size();
            const Instruction* last = block.first == block.last ? nullptr : &body_[block.last - 1];
            bool falls_through = true;
            if (last != nullptr && ends_block(last->opcode)) {
                falls_through = last->guard != no_index;
                leaves_[b] = info(last->opcode).has(leaves);
                for (const std::uint32_t target : targets_[block.last - 1]) {
                    block.successors.push_back(block_at(target));
                }
            }
            if (!falls_through) continue;
            if (is_last)
                leaves_[b] = true;
            else
                block.successors.push_back(b + 1);
        }
        for (BlockIndex b = 0; b < flow_.blocks.size(); ++b) {
            for (const BlockIndex successor : flow_.blocks[b].successors) {
                flow_.blocks[successor].predecessors.push_back(b);
            }
        }
    }

    // On the reversed graph, from a virtual exit. A loop without an exit gets an edge to it from the block
    // that a depth-first walk leaves first, so that every reachable block has a post-dominator.
    void find_post_dominators(Graph successors, Graph predecessors) {
        const auto count = static_cast<BlockIndex>(flow_.blocks.size());
        const BlockIndex exit = count;
        successors.emplace_back();
        predecessors.emplace_back();
        std::vector<bool> reaches_exit(count);
        std::vector<BlockIndex> work;
        const auto add_exit = [&](BlockIndex from) {
            successors[from].push_back(exit);
            predecessors[exit].push_back(from);
            if (!reaches_exit[from]) work.push_back(from);
            reaches_exit[from] = true;
            while (!work.empty()) {
                const BlockIndex block = work.back();
                work.pop_back();
                for (const BlockIndex predecessor : flow_.blocks[block].predecessors) {
                    if (reaches_exit[predecessor]) continue;
                    reaches_exit[predecessor] = true;
                    work.push_back(predecessor);
                }
            }
        };
        for (BlockIndex b = 0; b < count; ++b) {
            if (leaves_[b]) add_exit(b);
        }
        const std::vector<BlockIndex>& order = flow_.reverse_post_order;
        for (auto block = order.rbegin(); block != order.rend(); ++block) {
            if (!reaches_exit[*block]) add_exit(*block);
        }
        flow_.immediate_post_dominator = immediate_dominators(predecessors, successors, exit);
        flow_.immediate_post_dominator.pop_back();
        for (BlockIndex& block : flow_.immediate_post_dominator) {
            if (block == exit) block = no_index;
        }
    }

    const Function& function_;
    const std::vector<Instruction>& body_;
    std::vector<std::vector<std::uint32_t>> targets_;
    std::vector<bool> leaves_;  // by block: control may leave the function at its end
    BlockIndex at_end_ = no_index;
    ControlFlow flow_;
};

}  // namespace

bool ControlFlow::dominates(BlockIndex a, BlockIndex b) const {
    return ptx::dominates(immediate_dominator, a, b);
}

bool ControlFlow::post_dominates(BlockIndex a, BlockIndex b) const {
    return ptx::dominates(immediate_post_dominator, a, b);
}

std::vector<bool> ControlFlow::reached_from(BlockIndex from) const {
    return ptx::reached_from(blocks.size(), {from}, [&](BlockIndex at, const auto& go) {
        for (const BlockIndex next : blocks[at].successors) go(next);
    });
}

bool ControlFlow::leads(std::uint32_t from, std::uint32_t to) const {
    return (block_of[from] == block_of[to] && from < to) || reached_from(block_of[from])[block_of[to]];
}

std::expected<ControlFlow, Error> control_flow(const Function& function) {
    return FlowBuilder(function).run();
}

}  // namespace trimtab::ptx
