// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/emulation/opencl/pruning/paper_trace.h"

#include <algorithm>

namespace trimtab::pruning::test {

namespace {

using Node = std::uint32_t;

class Search {
  public:
    explicit Search(const std::vector<PaperBlock>& blocks) : blocks_(blocks), states_(blocks.size()) {
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            states_[b].unvisited = blocks[b].bounds;
            for (std::size_t level = 1; level < blocks[b].bounds.size(); ++level)
                --states_[b].unvisited[level];
        }
    }

    // Algorithm 1.
    std::vector<Node> run() {
        const Node exit = static_cast<Node>(blocks_.size() - 1);
        Node node = 0;
        update(node);
        while (node != exit && candidates_.size() < 10'000) {
            node = successor(node);
            update(node);
        }
        std::vector<Node> trace;
        for (std::size_t i = 0; i < candidates_.size(); ++i)
            if (mask_[i]) trace.push_back(candidates_[i]);
        return trace;
    }

  private:
    struct State {
        std::vector<std::uint32_t> unvisited;
        std::uint32_t visits = 0;
    };

    // Algorithm 2.
    void update(Node node) {
        State& state = states_[node];
        const auto& bounds = blocks_[node].bounds;
        std::size_t level = 0;
        while (level < bounds.size() && state.unvisited[level] == 0) ++level;
        if (level != bounds.size() && level != 0) {
            --state.unvisited[level];
            for (std::size_t below = 0; below < level; ++below)
                state.unvisited[below] = below == 0 ? bounds[0] : bounds[below] - 1;
        }
        if (state.unvisited[0] != 0) --state.unvisited[0];
        mask_.push_back(!blocks_[node].missed.contains(state.visits++));
        candidates_.push_back(node);
    }

    // Between two nodes, by edges that do not go back; the ends apart.
    [[nodiscard]] std::set<Node> between(Node from, Node to) const {
        std::set<Node> found;
        for (Node middle = 0; middle < blocks_.size(); ++middle)
            if (middle != from && middle != to && reaches(from, middle) && reaches(middle, to))
                found.insert(middle);
        return found;
    }
    [[nodiscard]] bool reaches(Node from, Node to) const {
        std::set<Node> seen{from};
        std::vector<Node> work{from};
        while (!work.empty()) {
            const Node at = work.back();
            work.pop_back();
            if (at == to) return true;
            for (const Node next : blocks_[at].successors)
                if (!blocks_[at].back.contains(next) && seen.insert(next).second) work.push_back(next);
        }
        return false;
    }

    // Algorithm 3.
    Node successor(Node node) {
        for (const Node header : blocks_[node].back)
            if (states_[header].unvisited[0] % blocks_[header].bounds[0] != 0) return header;
        std::vector<Node> ahead, closest;
        for (const Node next : blocks_[node].successors)
            if (!blocks_[node].back.contains(next)) ahead.push_back(next);
        for (const Node next : ahead) {
            const std::set<Node> path = between(node, next);
            if (std::ranges::none_of(ahead, [&](Node other) { return path.contains(other); }))
                closest.push_back(next);
        }
        if (closest.empty()) {
            const Node waiting = waiting_.back();
            waiting_.pop_back();
            return waiting;
        }
        const auto goes_back =
            std::ranges::find_if(closest, [&](Node next) { return !blocks_[next].back.empty(); });
        const Node chosen = goes_back == closest.end() ? closest.front() : *goes_back;
        if (!waiting_.empty() && reaches(waiting_.back(), chosen) && waiting_.back() != chosen) {
            const Node waiting = waiting_.back();
            waiting_.pop_back();
            return waiting;
        }
        for (const Node next : closest)
            if (next != chosen && std::ranges::find(waiting_, next) == waiting_.end())
                waiting_.push_back(next);
        if (!waiting_.empty() && waiting_.back() == chosen) waiting_.pop_back();
        return chosen;
    }

    const std::vector<PaperBlock>& blocks_;
    std::vector<State> states_;
    std::vector<Node> candidates_, waiting_;
    std::vector<bool> mask_;
};

}  // namespace

std::vector<std::uint32_t> paper_trace(const std::vector<PaperBlock>& blocks) {
    return Search(blocks).run();
}

}  // namespace trimtab::pruning::test
