// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/issue_order.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace trimtab::schedule {

namespace {

// Which earlier instructions each one must come behind; and whether it waits for their results, too.
struct Edge {
    std::uint32_t from = 0;
    bool waits = false;
};

enum class Memory : std::uint8_t { none, global, shared, local };

Memory memory_of(const Instruction& i) {
    switch (i.kind) {
        case Kind::load:
        case Kind::store:
        case Kind::atomic:
            return Memory::global;
        case Kind::shared:
            return Memory::shared;
        case Kind::local:
            return Memory::local;
        default:
            return Memory::none;
    }
}

bool writes_memory(const Instruction& i) {
    return i.kind == Kind::atomic || i.kind == Kind::store ||
           ((i.kind == Kind::shared || i.kind == Kind::local) && i.ends_when_issued);
}

std::vector<std::vector<Edge>> edges(std::span<const Ordered> code) {
    std::vector<std::vector<Edge>> before(code.size());
    struct Use {
        std::uint32_t written = none;
        std::vector<std::uint32_t> read;  // since
    };
    std::unordered_map<std::uint32_t, Use> uses;
    struct Space {
        std::uint32_t written = none;
        std::vector<std::uint32_t> read;
    };
    std::array<Space, 4> spaces;
    std::uint32_t fence = none;
    for (std::uint32_t i = 0; i < code.size(); ++i) {
        std::vector<Edge>& own = before[i];
        if (fence != none) own.push_back({fence, false});
        for (const std::uint32_t reg : code[i].reads) {
            Use& use = uses[reg];
            if (use.written != none) own.push_back({use.written, true});
            use.read.push_back(i);
        }
        for (const std::uint32_t reg : code[i].writes) {
            Use& use = uses[reg];
            if (use.written != none) own.push_back({use.written, false});
            for (const std::uint32_t reader : use.read)
                if (reader != i) own.push_back({reader, false});
            use.written = i;
            use.read.clear();
        }
        const Memory memory = memory_of(code[i].instruction);
        if (memory != Memory::none && !code[i].reads_constant_memory) {
            Space& space = spaces[static_cast<std::size_t>(memory)];
            if (space.written != none) own.push_back({space.written, false});
            if (writes_memory(code[i].instruction)) {
                for (const std::uint32_t reader : space.read) own.push_back({reader, false});
                space.read.clear();
                space.written = i;
            } else {
                space.read.push_back(i);
            }
        }
        if (code[i].is_fence) {
            for (std::uint32_t j = fence == none ? 0 : fence; j < i; ++j) own.push_back({j, false});
            fence = i;
        }
    }
    return before;
}

double latency_of(const Instruction& i, const Machine& machine) {
    switch (i.kind) {
        case Kind::free:
            return 0;
        case Kind::load:
            return machine.of(Resource::l2).latency_cycles;
        case Kind::atomic:
            return machine.of(Resource::l2).latency_cycles;
        case Kind::shared:
            return machine.of(Resource::shared).latency_cycles;
        case Kind::local:
            return machine.of(Resource::l1).latency_cycles;
        default:
            return machine.of(i.resource).latency_cycles + i.extra_latency_cycles;
    }
}

}  // namespace

std::vector<std::uint32_t> issue_order(std::span<const Ordered> code, const Machine& machine) {
    const auto before = edges(code);
    std::vector<std::uint32_t> order, left;
    std::vector<double> there(code.size(), 0);  // its result
    std::vector<char> is_issued(code.size(), 0);
    std::uint32_t next = 0;
    double now = 0;
    while (order.size() < code.size()) {
        while (left.size() < issue_window && next < code.size()) left.push_back(next++);
        std::size_t chosen = left.size();
        double soonest = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < left.size(); ++i) {
            double ready = 0;
            bool can = true;
            for (const Edge& edge : before[left[i]]) {
                can = can && is_issued[edge.from] != 0;
                if (edge.waits) ready = std::max(ready, there[edge.from]);
            }
            if (!can || ready >= soonest) continue;
            soonest = ready;
            chosen = i;
            if (ready <= now) break;
        }
        // The first that is left depends on nothing that is left.
        const std::uint32_t issued = left[chosen];
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(chosen));
        now = std::max(now, soonest);
        is_issued[issued] = 1;
        there[issued] = now + latency_of(code[issued].instruction, machine);
        if (code[issued].instruction.kind != Kind::free) now += 1;
        order.push_back(issued);
    }
    return order;
}

}  // namespace trimtab::schedule
