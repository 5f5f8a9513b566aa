// What the grid and the dynamic shared memory of a launch may have to do with its block: guesses, in the
// words of annotations, each of which gives the launch as written for its own block.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/annotated_launch.h"
#include "analysis/description.h"

namespace trimtab::runtime {

struct Hypothesis {
    std::string grid;            // "ceil(n / bx)", "as_written, ceil(ey / by)"
    std::string dynamic_shared;  // empty: none is used
    unsigned rank = 0;           // of two that do as well, the lower is what people mean more often

    [[nodiscard]] std::string text() const;  // clauses of an annotation
};

// Those that may describe the launch. Whether they do, analysis::annotation_mismatch() knows.
[[nodiscard]] std::vector<Hypothesis> hypotheses(const analysis::KernelDescription& description,
                                                 analysis::ArgumentBytes arguments,
                                                 const analysis::LaunchConfiguration& written);

// Blocks to try them with, those like the one written first. `varies`: dimensions in which they may differ.
[[nodiscard]] std::vector<trimtab_dim3> blocks_to_suppose(const trimtab_dim3& written,
                                                          const std::array<bool, 3>& varies,
                                                          std::uint32_t most_threads);

}  // namespace trimtab::runtime
