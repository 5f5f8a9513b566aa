// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/match.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/sass/flow_counts.h"
#include "core/sass/ptx_blocks.h"

namespace trimtab::sass {
namespace {

constexpr double little = 1e-9;

bool leaves(const Instruction& i) {
    return i.base() == "EXIT" || i.base() == "RET" || i.base() == "KILL" || i.base() == "KIL";
}

// Where the ways of a warp's lanes part and meet: ptxas puts it, and names any line near.
bool joins_ways(const Instruction& i) {
    return i.base() == "BSSY" || i.base() == "BSYNC" || i.base() == "BMOV" || i.base() == "BREAK" ||
           i.base() == "WARPSYNC" || i.pushes_target() || i.pops_target();
}

// What SASS makes of an anchor; moves, address arithmetic and conversions with its line do not count.
bool is_anchor(const Instruction& i) {
    if (i.access() != Access::none) return i.space() != Space::constant;
    switch (i.pipe()) {
        case Pipe::fp32:
        case Pipe::fp64:
        case Pipe::fp16:
        case Pipe::tensor:
            return true;
        case Pipe::special_function:
            return i.base() == "MUFU";
        default:
            return i.base() == "BAR" || i.base() == "SHFL";
    }
}

// What a block of SASS is: a block of PTX, so many times.
struct Origin {
    std::uint32_t block = no_index;
    double copies = 1;
    double anchors = 0;  // instructions that say so
    // All of them stand under guards that the PTX has not: what was a block behind a branch is a part of this one,
    // which so runs more often. They say how many copies there are, and nothing of how often.
    bool is_predicated = false;
    [[nodiscard]] bool counts() const { return block != no_index && !is_predicated; }
};

class Matcher {
  public:
    Matcher(const Function& function, const ControlFlow& flow, std::span<const PtxCounts> counts,
            double warps)
        : code_(function.instructions),
          function_(function),
          flow_(flow),
          ptx_(ptx_blocks(counts, warps)),
          warps_(warps),
          origins_(flow.blocks.size()),
          executions_(flow.blocks.size()),
          known_(flow.blocks.size()),
          by_(flow.blocks.size(), CountedBy::nothing) {}

    Match run() {
        for (BlockIndex b = 0; b < flow_.blocks.size(); ++b)
            if (flow_.reachable[b]) origins_[b] = origin_of(b);
        find_loops();
        count_loops();
        count_straight();
        follow_flow(CountedBy::flow);
        share_copies();
        follow_flow(CountedBy::flow);
        guess();
        return result();
    }

  private:
    using CopiesByLine = std::map<std::uint32_t, std::map<std::uint32_t, int>>;  // by PTX block and line

    // The block of PTX that most anchors are of.
    [[nodiscard]] Origin origin_of(BlockIndex b) const {
        CopiesByLine copies, predicated;
        for (std::uint32_t i = flow_.blocks[b].first; i < flow_.blocks[b].last; ++i) {
            const PtxLine* line = ptx_.at(code_[i].line);
            if (line == nullptr || !is_anchor(code_[i]) || !sass::is_anchor(*line->instruction)) continue;
            if (code_[i].access() != Access::none && !is_access(*line->instruction)) continue;  // a spill
            const bool was_branch = code_[i].guard.is_there && line->instruction->guard == ptx::no_index;
            ++(was_branch ? predicated : copies)[line->block][code_[i].line];
        }
        if (!copies.empty() || predicated.empty()) return most_of(copies);
        Origin origin = most_of(predicated);
        origin.is_predicated = true;
        return origin;
    }

    [[nodiscard]] static Origin most_of(const CopiesByLine& copies) {
        Origin origin;
        for (const auto& [block, lines] : copies) {
            double anchors = 0;
            std::map<int, int> frequency;
            for (const auto& [line, count] : lines) {
                anchors += count;
                ++frequency[count];
            }
            if (anchors <= origin.anchors) continue;
            const auto most = std::ranges::max_element(
                frequency, [](const auto& a, const auto& c) { return a.second < c.second; });
            origin = {.block = block, .copies = static_cast<double>(most->first), .anchors = anchors};
        }
        return origin;
    }

    // The PTX loop that a SASS loop is: whose branch back its own branch back was made of.
    void find_loops() {
        loop_of_.assign(flow_.loops.size(), no_index);
        for (std::uint32_t l = 0; l < flow_.loops.size(); ++l) {
            const Loop& loop = flow_.loops[l];
            for (const BlockIndex b : loop.blocks) {
                const auto& next = flow_.blocks[b].successors;
                if (std::ranges::find(next, loop.header) == next.end()) continue;
                const PtxLine* line = ptx_.at(code_[flow_.blocks[b].last - 1].line);
                if (line != nullptr && ptx_.loop_of(line->block) != no_index)
                    loop_of_[l] = ptx_.loop_of(line->block);
            }
            if (loop_of_[l] != no_index) continue;
            // ptxas may have turned it round: the loop of most of its own anchors.
            std::map<std::uint32_t, double> votes;
            for (const BlockIndex b : loop.blocks)
                if (flow_.innermost_loop[b] == l && origins_[b].block != no_index &&
                    ptx_.loop_of(origins_[b].block) != no_index)
                    votes[ptx_.loop_of(origins_[b].block)] += origins_[b].anchors;
            for (double most = 0; const auto& [candidate, weight] : votes)
                if (weight > most) {
                    most = weight;
                    loop_of_[l] = candidate;
                }
        }
    }

    // Blocks that do iterations of one PTX loop together: a SASS loop, or straight code.
    struct Group {
        std::uint32_t loop = no_index;  // of the SASS
        std::vector<BlockIndex> blocks;
        double copies = 0;      // iterations at once
        double iterations = 0;  // of it, for each entry of the PTX loop
        double ways_in = 1;     // the share of the PTX loop's entries that come to it
    };

    // The block of a PTX loop whose copies say how many iterations a group does at once.
    struct Marker {
        std::uint32_t block = no_index;
        bool is_in_every_iteration = false;
        double iterations = 0;  // of the PTX loop, in all
    };

    // A loop with one way in is entered through it.
    void know_entries(const Group& group, double entries) {
        const Loop& loop = flow_.loops[group.loop];
        std::vector<BlockIndex> outside;
        for (const BlockIndex before : flow_.blocks[loop.header].predecessors)
            if (!loop.contains(before)) outside.push_back(before);
        if (outside.size() == 1)
            entries_.push_back({.from = outside[0], .to = loop.header, .executions = entries});
    }

    // The SASS loop around the block that is this PTX loop.
    [[nodiscard]] std::uint32_t own_loop(BlockIndex b, std::uint32_t ptx_loop) const {
        for (std::uint32_t l = flow_.innermost_loop[b]; l != no_index; l = flow_.loops[l].parent)
            if (loop_of_[l] == ptx_loop) return l;
        return no_index;
    }

    void count_loops() {
        for (std::uint32_t l = 0; l < ptx_.loops.size(); ++l) count_loop(l);
    }

    void count_loop(std::uint32_t ptx_loop) {
        // Which block stands for an iteration: of those that each iteration passes, the one with most anchors.
        std::map<std::uint32_t, double> anchors;
        std::vector<BlockIndex> members;
        for (BlockIndex b = 0; b < flow_.blocks.size(); ++b) {
            const std::uint32_t block = origins_[b].block;
            if (block == no_index || ptx_.loop_of(block) != ptx_loop) continue;
            anchors[block] += origins_[b].is_predicated ? little : origins_[b].anchors;
            members.push_back(b);
        }
        if (members.empty()) return;
        const double iterations = ptx_.blocks[ptx_.loops[ptx_loop].header].executions;
        Marker marker;
        for (double most = 0; const auto& [block, weight] : anchors) {
            const bool every_iteration = ptx_.blocks[block].executions >= iterations * (1 - 1e-6);
            const double counts = every_iteration ? weight + 1e9 : weight;
            if (counts <= most) continue;
            most = counts;
            // Where no iteration must pass an anchor (those of a remainder that may be empty), iterations are the header's.
            marker = {.block = block,
                      .is_in_every_iteration = every_iteration,
                      .iterations = every_iteration ? ptx_.blocks[block].executions : iterations};
        }
        std::vector<Group> groups = groups_of(ptx_loop, marker.block, members);
        const double entries = std::max(ptx_.loops[ptx_loop].entries, little);
        share_iterations(groups, marker.iterations / entries);
        for (const Group& group : groups) settle(group, marker, entries);
        settle_rest(groups, marker, members, entries);
    }

    [[nodiscard]] std::vector<Group> groups_of(std::uint32_t ptx_loop, std::uint32_t marker,
                                               const std::vector<BlockIndex>& members) const {
        std::vector<Group> groups;
        for (const BlockIndex b : members) {
            const std::uint32_t loop = own_loop(b, ptx_loop);
            const bool marks = origins_[b].block == marker;
            auto found = groups.end();
            if (loop != no_index) found = std::ranges::find(groups, loop, &Group::loop);
            if (found == groups.end()) {
                // Straight copies come one at a time.
                if (loop == no_index && !marks) continue;
                found = groups.insert(groups.end(), Group{.loop = loop, .blocks = {}});
            }
            found->blocks.push_back(b);
            if (marks) found->copies += origins_[b].copies;
        }
        for (Group& group : groups) group.copies = std::max(group.copies, 1.0);
        return groups;
    }

    // `iterations` of the PTX loop for each entry: the largest copies take what they can, straight ones once.
    static void share_iterations(std::vector<Group>& groups, double iterations) {
        std::ranges::sort(groups, [](const Group& a, const Group& b) {
            if (a.copies != b.copies) return a.copies > b.copies;
            const bool straight = a.loop == no_index;
            return straight != (b.loop == no_index) ? straight : a.blocks[0] < b.blocks[0];
        });
        double left = iterations;
        for (std::size_t g = 0; g < groups.size();) {
            const bool straight = groups[g].loop == no_index;
            std::size_t end = g + 1;  // loops alike are the same loop at several places
            while (!straight && end < groups.size() && groups[end].loop != no_index &&
                   groups[end].copies == groups[g].copies)
                ++end;
            const double places = static_cast<double>(end - g);
            double taken = std::floor(left / groups[g].copies + little);
            if (straight) taken = std::min(taken, 1.0);
            for (std::size_t i = g; i < end; ++i) {
                groups[i].iterations = taken / places;
                groups[i].ways_in = 1 / places;
            }
            left -= taken * groups[g].copies;
            g = end;
        }
        if (left <= little * iterations || groups.empty()) return;
        // A mean of iterations that is no whole number, or copies of which only some run.
        Group* rest = &groups.back();
        for (Group& group : groups)
            if (group.loop != no_index) rest = &group;
        rest->iterations += left / rest->copies;
    }

    void set(BlockIndex b, double executions) {
        executions_[b] = executions;
        known_[b] = true;
        by_[b] = CountedBy::lines;
    }

    void settle(const Group& group, const Marker& marker, double entries) {
        std::map<std::uint32_t, double> copies;  // by PTX block, in this group
        for (const BlockIndex b : group.blocks) copies[origins_[b].block] += origins_[b].copies;
        const double share = group.iterations * group.copies * entries / std::max(marker.iterations, little);
        if (group.loop != no_index) know_entries(group, std::min(group.iterations, group.ways_in) * entries);
        for (const BlockIndex b : group.blocks) {
            if (!origins_[b].counts()) {
                // Guards in the place of the branch: each iteration passes.
                if (group.loop == no_index) set(b, group.iterations * entries);
                continue;
            }
            const std::uint32_t block = origins_[b].block;
            set(b, block == marker.block && marker.is_in_every_iteration
                       ? group.iterations * entries
                       : share * ptx_.blocks[block].executions / copies[block]);
        }
        if (group.loop == no_index) return;
        const Loop& loop = flow_.loops[group.loop];
        if (!origins_[loop.header].counts())
            set(loop.header, (group.iterations + (is_tested_first(loop) ? group.ways_in : 0)) * entries);
    }

    // It is left at its header alone: that runs once more than the rest.
    [[nodiscard]] bool is_tested_first(const Loop& loop) const {
        const auto leaves_from = [&](BlockIndex b) {
            return std::ranges::any_of(flow_.blocks[b].successors,
                                       [&](BlockIndex next) { return !loop.contains(next); });
        };
        return std::ranges::all_of(loop.blocks,
                                   [&](BlockIndex b) { return leaves_from(b) == (b == loop.header); }) &&
               loop.blocks.size() > 1;
    }

    // Straight blocks of an iteration that do not mark it.
    void settle_rest(const std::vector<Group>& groups, const Marker& marker,
                     const std::vector<BlockIndex>& members, double entries) {
        double straight = 0;
        for (const Group& group : groups)
            if (group.loop == no_index) straight += group.iterations * group.copies * entries;
        const double share = straight / std::max(marker.iterations, little);
        std::map<std::uint32_t, double> copies;
        for (const BlockIndex b : members)
            if (!known_[b]) copies[origins_[b].block] += origins_[b].copies;
        for (const BlockIndex b : members)
            if (!known_[b] && origins_[b].counts())
                set(b, share * ptx_.blocks[origins_[b].block].executions / copies[origins_[b].block]);
    }

    // Blocks of no loop, of which there is one copy.
    void count_straight() {
        std::map<std::uint32_t, std::vector<BlockIndex>> copies;
        for (BlockIndex b = 0; b < flow_.blocks.size(); ++b)
            if (origins_[b].counts() && !known_[b]) copies[origins_[b].block].push_back(b);
        for (const auto& [block, list] : copies)
            if (list.size() == 1)
                set(list[0], ptx_.blocks[block].executions / std::max(1.0, origins_[list[0]].copies));
    }

    // Several copies, of which the flow does not tell: alike.
    void share_copies() {
        std::map<std::uint32_t, std::pair<double, double>> left;  // executions known, copies unknown
        for (BlockIndex b = 0; b < flow_.blocks.size(); ++b) {
            if (!origins_[b].counts()) continue;
            auto& [known, copies] = left[origins_[b].block];
            (known_[b] ? known : copies) += known_[b] ? executions_[b] : origins_[b].copies;
        }
        for (BlockIndex b = 0; b < flow_.blocks.size(); ++b) {
            if (!origins_[b].counts() || known_[b]) continue;
            const auto& [known, copies] = left[origins_[b].block];
            set(b, std::max(0.0, ptx_.blocks[origins_[b].block].executions - known) / copies);
            by_[b] = CountedBy::guess;
        }
    }

    void follow_flow(CountedBy how) {
        ptx::Graph successors(flow_.blocks.size());
        std::vector<bool> leaks(flow_.blocks.size());
        for (BlockIndex b = 0; b < flow_.blocks.size(); ++b) {
            successors[b] = flow_.blocks[b].successors;
            leaks[b] = leaves(code_[flow_.blocks[b].last - 1]);
        }
        // Nothing runs into a subroutine: it is known once its calls are.
        std::vector<BlockIndex> subroutines;
        for (const std::uint32_t address : function_.subroutines)
            for (BlockIndex b = 0; b < flow_.blocks.size(); ++b)
                if (flow_.blocks[b].first == function_.index_at(address)) subroutines.push_back(b);
        std::vector<double> blocks = executions_;
        std::vector<bool> known = known_;
        for (const BlockIndex b : subroutines) known[b] = true;
        FlowCounts solved = conserve_flow(successors, leaks, warps_, blocks, known, entries_);
        if (!subroutines.empty()) {
            for (const BlockIndex b : subroutines)
                blocks[b] = calls_of(function_.address_of(flow_.blocks[b].first), solved.blocks);
            solved = conserve_flow(successors, leaks, warps_, std::move(blocks), std::move(known), entries_);
        }
        edges_ = std::move(solved.edges);
        for (BlockIndex b = 0; b < flow_.blocks.size(); ++b) {
            if (known_[b] || !solved.known[b]) continue;
            executions_[b] = solved.blocks[b];
            known_[b] = true;
            by_[b] = how;
        }
    }

    [[nodiscard]] double calls_of(std::uint32_t address, const std::vector<double>& blocks) const {
        double calls = 0;
        for (BlockIndex b = 0; b < flow_.blocks.size(); ++b)
            for (std::uint32_t i = flow_.blocks[b].first; i < flow_.blocks[b].last; ++i)
                if (code_[i].is_call() && code_[i].target == address) calls += blocks[b];
        return calls;
    }

    // What the flow leaves open, the least first: ptxas moves what it may to where it runs less, so a block runs
    // no more than any of its lines, nor than what leads to it.
    void guess() {
        for (;;) {
            double least = INFINITY;
            std::vector<std::pair<BlockIndex, double>> open;
            for (BlockIndex b = 0; b < flow_.blocks.size(); ++b) {
                if (known_[b] || !flow_.reachable[b]) continue;
                const double by_edges = least_by_edges(b);
                const double by_lines = std::max(most_by_lines(b), by_edges);
                const double most = std::min(by_lines, most_by_flow(b));
                if (!std::isfinite(most)) continue;
                open.emplace_back(b, most);
                least = std::min(least, most);
            }
            if (open.empty()) return;
            for (const auto& [b, most] : open) {
                if (most > least) continue;
                executions_[b] = most;
                known_[b] = true;
                by_[b] = CountedBy::guess;
            }
            follow_flow(CountedBy::guess);
        }
    }

    [[nodiscard]] double most_by_lines(BlockIndex b) const {
        double least = INFINITY;
        for (std::uint32_t i = flow_.blocks[b].first; i < flow_.blocks[b].last; ++i)
            if (const PtxLine* line = ptx_.at(code_[i].line); line != nullptr && !joins_ways(code_[i]))
                least = std::min(least, ptx_.blocks[line->block].executions);
        return least;
    }

    // What is known to come in, or to go out.
    [[nodiscard]] double least_by_edges(BlockIndex b) const {
        double in = 0, out = 0;
        const auto known = [](double executions) { return std::isnan(executions) ? 0 : executions; };
        for (const double edge : edges_[b]) out += known(edge);
        for (const BlockIndex before : flow_.blocks[b].predecessors) {
            const auto& next = flow_.blocks[before].successors;
            in += known(edges_[before][static_cast<std::size_t>(std::ranges::find(next, b) - next.begin())]);
        }
        return std::max(in, out);
    }

    [[nodiscard]] double most_by_flow(BlockIndex b) const {
        double sum = 0;
        for (const BlockIndex before : flow_.blocks[b].predecessors) {
            if (!known_[before]) return INFINITY;
            sum += executions_[before];
        }
        return sum;
    }

    Match result() {
        Match out{.executions = executions_, .by = by_, .loops = {}};
        double all = 0, counted = 0;
        for (BlockIndex b = 0; b < flow_.blocks.size(); ++b) {
            const Block& block = flow_.blocks[b];
            const double executed = executions_[b] * (block.last - block.first);
            all += executed;
            if (by_[b] == CountedBy::lines || by_[b] == CountedBy::flow) counted += executed;
            for (std::uint32_t i = block.first; i < block.last; ++i) {
                const PtxLine* line = ptx_.at(code_[i].line);
                if (line == nullptr || !is_access(*line->instruction) || code_[i].access() == Access::none)
                    continue;
                const bool guarded = code_[i].guard.is_there && code_[i].guard.reg.count > 0;
                out.sass_bytes += code_[i].access_bytes *
                                  (guarded ? std::min(executions_[b], line->executions) : executions_[b]);
            }
        }
        for (const auto& [number, line] : ptx_.lines)
            if (is_access(*line.instruction))
                out.ptx_bytes += line.executions * access_bytes(*line.instruction);
        out.counted_share = all > 0 ? counted / all : 0;
        for (std::uint32_t l = 0; l < flow_.loops.size(); ++l) out.loops.push_back(loop_match(l));
        return out;
    }

    [[nodiscard]] LoopMatch loop_match(std::uint32_t l) const {
        const Loop& loop = flow_.loops[l];
        LoopMatch out{.loop = l};
        out.iterations = executions_[loop.header];
        for (const BlockIndex before : flow_.blocks[loop.header].predecessors)
            if (!loop.contains(before)) out.entries += std::min(executions_[before], out.iterations);
        out.entries = std::min(out.entries, out.iterations);
        if (loop_of_[l] == no_index) return out;
        out.line = ptx_.loops[loop_of_[l]].line;
        std::map<std::uint32_t, double> copies;
        for (const BlockIndex b : loop.blocks)
            if (origins_[b].block != no_index && ptx_.loop_of(origins_[b].block) == loop_of_[l])
                copies[origins_[b].block] += origins_[b].copies;
        for (const auto& [block, count] : copies) out.copies = std::max(out.copies, count);
        return out;
    }

    const std::vector<Instruction>& code_;
    const Function& function_;
    const ControlFlow& flow_;
    PtxBlocks ptx_;
    double warps_;
    std::vector<Origin> origins_;
    std::vector<std::uint32_t> loop_of_;  // by SASS loop: the PTX loop
    std::vector<double> executions_;
    std::vector<bool> known_;
    std::vector<KnownEdge> entries_;
    std::vector<std::vector<double>> edges_;  // as last solved
    std::vector<CountedBy> by_;
};

}  // namespace

Match match(const Function& function, const ControlFlow& flow, std::span<const PtxCounts> counts,
            double warps) {
    return Matcher(function, flow, counts, warps).run();
}

}  // namespace trimtab::sass
