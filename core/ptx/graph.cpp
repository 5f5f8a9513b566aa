// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/graph.h"

#include <algorithm>
#include <utility>

namespace trimtab::ptx {

std::vector<std::uint32_t> reverse_post_order(const Graph& successors, std::uint32_t root) {
    std::vector<std::uint32_t> order;
    std::vector<bool> seen(successors.size());
    std::vector<std::pair<std::uint32_t, std::size_t>> path = {{root, 0}};  // node, next successor
    seen[root] = true;
    while (!path.empty()) {
        auto& [node, next] = path.back();
        if (next == successors[node].size()) {
            order.push_back(node);
            path.pop_back();
            continue;
        }
        const std::uint32_t successor = successors[node][next++];
        if (seen[successor]) continue;
        seen[successor] = true;
        path.emplace_back(successor, 0);
    }
    std::reverse(order.begin(), order.end());
    return order;
}

namespace {

class SemiNca {
  public:
    std::vector<std::uint32_t> run(const Graph& successors, const Graph& predecessors, std::uint32_t root) {
        number(successors, root);
        const auto count = static_cast<std::uint32_t>(nodes_.size());
        ancestor_.assign(count, no_index);
        best_.resize(count);
        semi_.resize(count);
        for (std::uint32_t v = 0; v < count; ++v) semi_[v] = best_[v] = v;
        for (std::uint32_t v = count; v-- > 1;) {
            for (const std::uint32_t predecessor : predecessors[nodes_[v]]) {
                const std::uint32_t u = place_[predecessor];
                if (u != no_index) semi_[v] = std::min(semi_[v], semi_[lowest(u)]);
            }
            ancestor_[v] = parent_[v];
        }
        // A node's immediate dominator is the nearest ancestor of its parent that is no later than its
        // semidominator.
        std::vector<std::uint32_t> dominator = parent_;
        for (std::uint32_t v = 1; v < count; ++v) {
            while (dominator[v] > semi_[v]) dominator[v] = dominator[dominator[v]];
        }
        std::vector<std::uint32_t> out(predecessors.size(), no_index);
        for (std::uint32_t v = 1; v < count; ++v) out[nodes_[v]] = nodes_[dominator[v]];
        return out;
    }

  private:
    // Depth-first numbers: everything else is by number.
    void number(const Graph& successors, std::uint32_t root) {
        place_.assign(successors.size(), no_index);
        std::vector<std::pair<std::uint32_t, std::size_t>> path;  // node, next successor
        const auto enter = [&](std::uint32_t node, std::uint32_t parent) {
            place_[node] = static_cast<std::uint32_t>(nodes_.size());
            nodes_.push_back(node);
            parent_.push_back(parent);
            path.emplace_back(node, 0);
        };
        enter(root, 0);
        while (!path.empty()) {
            auto& [node, next] = path.back();
            if (next == successors[node].size()) {
                path.pop_back();
                continue;
            }
            const std::uint32_t from = node, to = successors[node][next++];
            if (place_[to] == no_index) enter(to, place_[from]);
        }
    }

    // The node of least semidominator on the linked path above v; the path is compressed.
    std::uint32_t lowest(std::uint32_t v) {
        if (ancestor_[v] == no_index) return v;
        std::vector<std::uint32_t>& path = path_;
        path.clear();
        for (std::uint32_t u = v; ancestor_[ancestor_[u]] != no_index; u = ancestor_[u]) path.push_back(u);
        for (; !path.empty(); path.pop_back()) {
            const std::uint32_t u = path.back(), above = ancestor_[u];
            if (semi_[best_[above]] < semi_[best_[u]]) best_[u] = best_[above];
            ancestor_[u] = ancestor_[above];
        }
        return best_[v];
    }

    std::vector<std::uint32_t> place_;  // number of a node
    std::vector<std::uint32_t> nodes_, parent_, ancestor_, best_, semi_, path_;
};

}  // namespace

std::vector<std::uint32_t> immediate_dominators(const Graph& successors, const Graph& predecessors,
                                                std::uint32_t root) {
    return SemiNca().run(successors, predecessors, root);
}

bool dominates(const std::vector<std::uint32_t>& immediate, std::uint32_t a, std::uint32_t b) {
    for (; b != no_index; b = immediate[b]) {
        if (a == b) return true;
    }
    return false;
}

NaturalLoops natural_loops(const Graph& predecessors, const std::vector<std::uint32_t>& order,
                           const std::vector<std::uint32_t>& immediate_dominator) {
    NaturalLoops out;
    std::vector<std::uint32_t> place(predecessors.size(), no_index);
    for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    out.innermost_loop.assign(predecessors.size(), no_index);
    std::vector<std::uint32_t> member_of(predecessors.size(), no_index);
    // Headers in this order: an outer loop's comes before its inner loops'.
    for (const BlockIndex header : order) {
        Loop loop;
        loop.header = header;
        for (const BlockIndex latch : predecessors[header]) {
            if (place[latch] == no_index || place[latch] < place[header]) continue;
            if (!dominates(immediate_dominator, header, latch)) {
                out.reducible = false;
            } else if (loop.latches.empty() || loop.latches.back() != latch) {
                loop.latches.push_back(latch);  // predecessors ascend: the same one twice comes in a row
            }
        }
        if (loop.latches.empty()) continue;
        const auto index = static_cast<std::uint32_t>(out.loops.size());
        loop.parent = out.innermost_loop[header];
        if (loop.parent != no_index) loop.depth = out.loops[loop.parent].depth + 1;
        std::vector<BlockIndex> work = loop.latches;
        member_of[header] = index;
        loop.blocks.push_back(header);
        while (!work.empty()) {
            const BlockIndex block = work.back();
            work.pop_back();
            if (member_of[block] == index || place[block] == no_index) continue;
            member_of[block] = index;
            loop.blocks.push_back(block);
            work.insert(work.end(), predecessors[block].begin(), predecessors[block].end());
        }
        std::sort(loop.blocks.begin() + 1, loop.blocks.end());
        for (const BlockIndex block : loop.blocks) out.innermost_loop[block] = index;
        out.loops.push_back(std::move(loop));
    }
    return out;
}

}  // namespace trimtab::ptx
