// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Algorithms 1 to 3 of Wang et al. 2020 as their text has them: a reference for the walk that Trimtab makes instead.
//
// What is printed differs from what is meant in five places:
// - algorithm 1, lines 7 to 9: the masked nodes are taken out once, after the search;
// - algorithm 2, lines 10 to 13: a level that is used up borrows from the next one, which is that much nearer to its end
//   (as printed no outer level is ever counted down); a node is visited over as soon as nothing is left;
// - algorithm 3, line 16: a node whose back edges are all used up goes on by its other edges;
// - algorithm 3, line 33: the other ways out of a branch are kept for later whether or not others are waiting already;
// - a path is one without back edges, and its ends do not lie on it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace trimtab::pruning::test {

struct PaperBlock {
    std::vector<std::uint32_t> bounds;  // of the loops around it, the innermost first; {1} outside loops
    std::vector<std::uint32_t> successors;
    std::set<std::uint32_t> back;  // of `successors`: by back edges
    // Visits in which it is not reached, counted from 0 over the whole trace.
    std::set<std::uint32_t> missed;
};

// Block 0 is the entry, the last one the exit.
[[nodiscard]] std::vector<std::uint32_t> paper_trace(const std::vector<PaperBlock>& blocks);

}  // namespace trimtab::pruning::test
