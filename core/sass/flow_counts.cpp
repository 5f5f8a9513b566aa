// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/flow_counts.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trimtab::sass {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct Edge {
    std::uint32_t from = 0, to = 0;
    double count = unknown;
};

// The edges at one side of a block.
struct Side {
    double sum = 0;
    int missing = 0;
    Edge* last_missing = nullptr;
    void add(Edge& edge) {
        if (std::isnan(edge.count)) {
            ++missing;
            last_missing = &edge;
        } else {
            sum += edge.count;
        }
    }
};

}  // namespace

FlowCounts conserve_flow(const ptx::Graph& successors, const std::vector<bool>& leaks, double entries,
                         std::vector<double> blocks, std::vector<bool> known,
                         std::span<const KnownEdge> known_edges) {
    const auto count = static_cast<std::uint32_t>(successors.size());
    std::vector<std::vector<Edge>> edges(count);
    std::vector<std::vector<Edge*>> into(count);
    for (std::uint32_t b = 0; b < count; ++b)
        for (const std::uint32_t next : successors[b]) edges[b].push_back({.from = b, .to = next});
    for (auto& out : edges)
        for (Edge& edge : out) into[edge.to].push_back(&edge);
    for (const KnownEdge& one : known_edges)
        for (Edge& edge : edges[one.from])
            if (edge.to == one.to) edge.count = one.executions;
    for (bool changed = true; changed;) {
        changed = false;
        for (std::uint32_t b = 0; b < count; ++b) {
            Side in, out;
            for (Edge* edge : into[b]) in.add(*edge);
            for (Edge& edge : edges[b]) out.add(edge);
            if (b == 0) in.sum += entries;
            const bool ends_here = edges[b].empty() || leaks[b];
            if (!known[b]) {
                if (in.missing == 0)
                    blocks[b] = in.sum;
                else if (out.missing == 0 && !ends_here)
                    blocks[b] = out.sum;
                else
                    continue;
                known[b] = changed = true;
            }
            const auto settle = [&](const Side& side) {
                side.last_missing->count = std::max(0.0, blocks[b] - side.sum);
                changed = true;
            };
            if (in.missing == 1) {
                settle(in);
                continue;  // the same edge may be at the other side
            }
            if (out.missing == 1 && !ends_here) settle(out);
        }
    }
    FlowCounts result{.blocks = std::move(blocks), .known = std::move(known), .edges = {}};
    for (auto& out : edges) {
        result.edges.emplace_back();
        for (const Edge& edge : out) result.edges.back().push_back(edge.count);
    }
    return result;
}

}  // namespace trimtab::sass
