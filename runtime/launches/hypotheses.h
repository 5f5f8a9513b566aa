// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the grid and the dynamic shared memory of a launch may have to do with its block: guesses, in the
// words of annotations, each of which gives the launch as written for its own block.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/annotations/annotated_launch.h"
#include "core/analysis/launches/description.h"

namespace trimtab::runtime {

struct Hypothesis {
    std::string block;           // of kernels with several bodies: "bx == variant"; else empty
    std::string grid;            // "ceil(n / bx)", "as_written, ceil(ey / by)"
    std::string dynamic_shared;  // empty: none is used
    unsigned rank = 0;           // of two that do as well, the lower is what people mean more often

    [[nodiscard]] std::string text() const;  // clauses of an annotation
};

// Those that may describe the launch. Whether they do, analysis::annotation_mismatch() knows.
[[nodiscard]] std::vector<Hypothesis> hypotheses(const analysis::KernelDescription& description,
                                                 analysis::ArgumentBytes arguments,
                                                 const model::LaunchConfiguration& written);

// How the block of a body may follow from its value, the one written from its own: in each dimension the value, an
// even part of it, or a constant.
struct BlockOfVariant {
    std::string text;  // "bx == variant, by == 8"
    struct Size {
        bool follows = false;
        std::uint32_t number = 1;  // the divisor, or the constant
    };
    std::array<Size, 3> sizes{};

    // Zeros: the value is no multiple.
    [[nodiscard]] trimtab_dim3 block(std::int32_t value) const;
};
[[nodiscard]] std::vector<BlockOfVariant> blocks_of_variants(const trimtab_dim3& written,
                                                             const std::array<bool, 3>& varies,
                                                             std::int32_t own_value);

// Blocks to try them with, those like the one written first. `varies`: dimensions in which they may differ.
[[nodiscard]] std::vector<trimtab_dim3> blocks_to_suppose(const trimtab_dim3& written,
                                                          const std::array<bool, 3>& varies,
                                                          std::uint32_t most_threads);

}  // namespace trimtab::runtime
