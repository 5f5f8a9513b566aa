// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/control_flow.h"

#include <algorithm>
#include <set>

namespace trimtab::sass {
namespace {

bool never_falls_through(const Instruction& i) {
    const bool always = !i.guard.is_there || (i.guard.reg.count == 0 && !i.guard.negated);
    if (!always) return false;
    const std::string_view base = i.base();
    // "BRA P1, `(.L)" and "BRA.DIV UR4, `(.L)" go on if their own condition does not hold.
    if (base == "BRA") return i.operands.size() == 1;
    if (i.pops_target()) return i.operands.empty();
    return base == "EXIT" || base == "RET" || base == "BRX" || base == "BRXU" || base == "JMX" ||
           base == "JMP" || base == "KILL" || base == "KIL";
}

bool branches(const Instruction& i) {
    return i.base() == "BRA" || i.base() == "JMP" || i.pops_target();
}

bool ends_block(const Instruction& i) {
    const std::string_view base = i.base();
    return branches(i) || base == "BRX" || base == "BRXU" || base == "JMX" || base == "EXIT" ||
           base == "RET" || base == "KILL" || base == "KIL";
}

class Builder {
  public:
    explicit Builder(const Function& function) : code_(function.instructions), function_(function) {}

    ControlFlow run() {
        if (code_.empty()) return std::move(flow_);
        cut();
        connect();
        find_reachable();
        find_loops();
        return std::move(flow_);
    }

  private:
    void cut() {
        std::set<std::uint32_t> starts{0};
        for (std::uint32_t i = 0; i < code_.size(); ++i) {
            if (ends_block(code_[i]) && i + 1 < code_.size()) starts.insert(i + 1);
            if (code_[i].target != Instruction::no_target) starts.insert(index_of(code_[i].target));
        }
        for (const std::uint32_t address : function_.subroutines) starts.insert(index_of(address));
        starts.erase(static_cast<std::uint32_t>(code_.size()));
        block_of_.resize(code_.size());
        for (auto it = starts.begin(); it != starts.end(); ++it) {
            const auto next = std::next(it);
            const auto end = next == starts.end() ? static_cast<std::uint32_t>(code_.size()) : *next;
            for (std::uint32_t i = *it; i < end; ++i)
                block_of_[i] = static_cast<BlockIndex>(flow_.blocks.size());
            flow_.blocks.push_back({.first = *it, .last = end, .successors = {}, .predecessors = {}});
        }
    }

    [[nodiscard]] std::uint32_t index_of(std::uint32_t address) const {
        return std::min(function_.index_at(address), static_cast<std::uint32_t>(code_.size()));
    }

    void join(BlockIndex from, BlockIndex to) {
        auto& out = flow_.blocks[from].successors;
        if (std::ranges::find(out, to) != out.end()) return;
        out.push_back(to);
        flow_.blocks[to].predecessors.push_back(from);
    }

    void connect() {
        for (BlockIndex b = 0; b < flow_.blocks.size(); ++b) {
            const std::uint32_t last = flow_.blocks[b].last;
            const Instruction& end = code_[last - 1];
            const std::string_view base = end.base();
            if (branches(end) && end.target != Instruction::no_target && index_of(end.target) < code_.size())
                join(b, block_of_[index_of(end.target)]);
            if (base == "BRX" || base == "BRXU" || base == "JMX") flow_.complete = false;
            if (!never_falls_through(end) && last < code_.size()) join(b, block_of_[last]);
        }
    }

    [[nodiscard]] bool is_in_code(std::uint32_t address) const { return index_of(address) < code_.size(); }

    // From the entry, and from each subroutine that is called.
    void find_reachable() {
        flow_.reachable = ptx::reached_from(flow_.blocks.size(), {0}, [&](BlockIndex b, const auto& go) {
            for (const BlockIndex next : flow_.blocks[b].successors) go(next);
            for (std::uint32_t i = flow_.blocks[b].first; i < flow_.blocks[b].last; ++i)
                if (code_[i].is_call() && code_[i].target != Instruction::no_target &&
                    is_in_code(code_[i].target))
                    go(block_of_[index_of(code_[i].target)]);
        });
        flow_.reachable[0] = true;
        for (BlockIndex b = 0; b < flow_.blocks.size(); ++b) {
            const Instruction& end = code_[flow_.blocks[b].last - 1];
            if (flow_.reachable[b] && end.pops_target() && end.target == Instruction::no_target)
                flow_.complete = false;
        }
    }

    // From a root that leads to the entry and to every subroutine that is called.
    void find_loops() {
        const auto root = static_cast<std::uint32_t>(flow_.blocks.size());
        ptx::Graph successors(root + 1), predecessors(root + 1);
        for (BlockIndex b = 0; b < root; ++b) successors[b] = flow_.blocks[b].successors;
        successors[root].push_back(0);
        for (const std::uint32_t address : function_.subroutines)
            if (is_in_code(address) && flow_.reachable[block_of_[index_of(address)]])
                successors[root].push_back(block_of_[index_of(address)]);
        for (BlockIndex b = 0; b <= root; ++b)
            for (const BlockIndex next : successors[b]) predecessors[next].push_back(b);
        ptx::NaturalLoops nest =
            ptx::natural_loops(predecessors, ptx::reverse_post_order(successors, root),
                               ptx::immediate_dominators(successors, predecessors, root));
        flow_.loops = std::move(nest.loops);
        flow_.innermost_loop = std::move(nest.innermost_loop);
        flow_.innermost_loop.pop_back();
    }

    const std::vector<Instruction>& code_;
    const Function& function_;
    ControlFlow flow_;
    std::vector<BlockIndex> block_of_;
};

}  // namespace

ControlFlow control_flow(const Function& function) {
    return Builder(function).run();
}

}  // namespace trimtab::sass
