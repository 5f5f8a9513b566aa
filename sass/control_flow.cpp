// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sass/control_flow.h"

#include <algorithm>
#include <map>
#include <set>

#include "ptx/dominators.h"

namespace trimtab::sass {
namespace {

bool never_falls_through(const Instruction& i) {
    const bool always = !i.guard.is_there || (i.guard.reg.count == 0 && !i.guard.negated);
    if (!always) return false;
    const std::string_view base = i.base();
    // "BRA P1, `(.L)" and "BRA.DIV UR4, `(.L)" go on if their own condition does not hold.
    if (base == "BRA") return i.operands.size() == 1;
    return base == "EXIT" || base == "RET" || base == "BRX" || base == "BRXU" || base == "JMX" ||
           base == "JMP" || base == "KILL";
}

bool ends_block(const Instruction& i) {
    const std::string_view base = i.base();
    return base == "BRA" || base == "JMP" || base == "BRX" || base == "BRXU" || base == "JMX" ||
           base == "EXIT" || base == "RET" || base == "KILL";
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
        return std::min(address / instruction_bytes, static_cast<std::uint32_t>(code_.size()));
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
            if ((base == "BRA" || base == "JMP") && end.target != Instruction::no_target &&
                index_of(end.target) < code_.size())
                join(b, block_of_[index_of(end.target)]);
            if (base == "BRX" || base == "BRXU" || base == "JMX") flow_.complete = false;
            if (!never_falls_through(end) && last < code_.size()) join(b, block_of_[last]);
        }
    }

    // From the entry, and from each subroutine that is called.
    void find_reachable() {
        flow_.reachable.assign(flow_.blocks.size(), false);
        std::vector<BlockIndex> todo{0};
        while (!todo.empty()) {
            const BlockIndex b = todo.back();
            todo.pop_back();
            if (flow_.reachable[b]) continue;
            flow_.reachable[b] = true;
            for (const BlockIndex next : flow_.blocks[b].successors) todo.push_back(next);
            for (std::uint32_t i = flow_.blocks[b].first; i < flow_.blocks[b].last; ++i)
                if (code_[i].base() == "CALL" && code_[i].target != Instruction::no_target &&
                    index_of(code_[i].target) < code_.size())
                    todo.push_back(block_of_[index_of(code_[i].target)]);
        }
    }

    // Back edges to dominators, from a root that leads to the entry and to every subroutine.
    void find_loops() {
        const auto count = static_cast<std::uint32_t>(flow_.blocks.size());
        ptx::Graph successors(count + 1), predecessors(count + 1);
        const auto add = [&](std::uint32_t from, std::uint32_t to) {
            successors[from].push_back(to);
            predecessors[to].push_back(from);
        };
        add(count, 0);
        for (const std::uint32_t address : function_.subroutines)
            if (index_of(address) < code_.size()) add(count, block_of_[index_of(address)]);
        for (BlockIndex b = 0; b < count; ++b)
            for (const BlockIndex next : flow_.blocks[b].successors) add(b, next);
        const auto dominator = ptx::immediate_dominators(successors, predecessors, count);
        const auto dominates = [&](std::uint32_t above, std::uint32_t below) {
            for (std::uint32_t at = below; at != no_index; at = dominator[at])
                if (at == above) return true;
            return false;
        };
        std::map<BlockIndex, std::set<BlockIndex>> by_header;
        for (BlockIndex b = 0; b < count; ++b) {
            if (!flow_.reachable[b]) continue;
            for (const BlockIndex header : flow_.blocks[b].successors)
                if (dominates(header, b)) collect(header, b, by_header[header]);
        }
        std::vector<Loop> loops;
        for (auto& [header, blocks] : by_header)
            loops.push_back({.header = header, .blocks = {blocks.begin(), blocks.end()}});
        std::ranges::sort(loops, [](const Loop& a, const Loop& b) {
            return a.blocks.size() != b.blocks.size() ? a.blocks.size() > b.blocks.size()
                                                      : a.header < b.header;
        });
        flow_.innermost_loop.assign(count, no_index);
        for (std::uint32_t l = 0; l < loops.size(); ++l) {
            loops[l].parent = flow_.innermost_loop[loops[l].header];
            if (loops[l].parent != no_index) loops[l].depth = loops[loops[l].parent].depth + 1;
            for (const BlockIndex b : loops[l].blocks) flow_.innermost_loop[b] = l;
        }
        flow_.loops = std::move(loops);
    }

    void collect(BlockIndex header, BlockIndex latch, std::set<BlockIndex>& blocks) const {
        blocks.insert(header);
        std::vector<BlockIndex> todo{latch};
        while (!todo.empty()) {
            const BlockIndex b = todo.back();
            todo.pop_back();
            if (!flow_.reachable[b] || !blocks.insert(b).second) continue;
            for (const BlockIndex before : flow_.blocks[b].predecessors) todo.push_back(before);
        }
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
