#include "ptx/dominators.h"

#include <algorithm>
#include <utility>

namespace trimtab::ptx {
namespace {

constexpr std::uint32_t none = 0xffffffffu;

}  // namespace

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

std::vector<std::uint32_t> immediate_dominators(const Graph& predecessors,
                                                const std::vector<std::uint32_t>& order) {
    // By place in the order, where a dominator always comes first.
    std::vector<std::uint32_t> place(predecessors.size(), none);
    for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    std::vector<std::uint32_t> dominator(order.size(), none);
    if (!order.empty()) dominator[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (std::uint32_t i = 1; i < order.size(); ++i) {
            std::uint32_t meet = none;
            for (const std::uint32_t predecessor : predecessors[order[i]]) {
                std::uint32_t other = place[predecessor];
                if (other == none || dominator[other] == none) continue;
                if (meet == none) meet = other;
                while (meet != other) {
                    if (meet > other)
                        meet = dominator[meet];
                    else
                        other = dominator[other];
                }
            }
            if (dominator[i] == meet) continue;
            dominator[i] = meet;
            changed = true;
        }
    }
    std::vector<std::uint32_t> out(predecessors.size(), none);
    for (std::uint32_t i = 1; i < order.size(); ++i) out[order[i]] = order[dominator[i]];
    return out;
}

}  // namespace trimtab::ptx
