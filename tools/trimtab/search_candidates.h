// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launches that `trimtab search` may choose among.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "emulation/schedule/search.h"
#include "tools/trimtab/launch_options.h"
#include "tools/trimtab/search_bodies.h"
#include "trimtab/error.h"

namespace trimtab::tools {

// A macro, and the values that it may have.
struct VariantParameter {
    std::string name;
    std::vector<std::int64_t> values;
};
// "BLOCK=64,128,256".
[[nodiscard]] std::expected<std::vector<VariantParameter>, Error> parse_variants(
    const std::vector<std::string>& texts);

struct LaunchCandidate {
    std::vector<std::int64_t> values;  // by dimension of the space
    std::size_t variant = 0;
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
};

struct CandidateSpace {
    std::vector<std::string> dimensions;                 // "block_size_x", or the macros' names
    std::vector<std::vector<std::string>> variants{{}};  // compiler flags of each
    std::vector<LaunchCandidate> candidates;

    // `image`: of the one kernel that all candidates are of; null where each has code of its own.
    [[nodiscard]] schedule::SearchSpace to_search(const model::Device& device,
                                                  const trimtab_image* image) const;
};

// What a launch is, in the annotations' expressions (docs/annotations.md) over the macros' names.
struct LaunchTexts {
    std::string grid, block, dynamic_shared;
    std::vector<std::string> conditions;
};

// Every combination of the macros' values for which the conditions hold and the expressions state a launch.
[[nodiscard]] std::expected<CandidateSpace, Error> variant_launches(
    const std::vector<VariantParameter>& parameters, const LaunchTexts& texts);

// Blocks of whole warps, or those of `blocks`, that may take the place of the one written: without `blocks`, widths
// are 1, 2 and multiples of 4. The error says why the launch must stay as it is, or that it cannot be made.
struct WrittenBlocks {
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    double dynamic_shared_bytes = 0;
    std::vector<trimtab_dim3> blocks;
};
// Of each of `bodies`, which are the variants of the space: the kernel of the question, or bodies of it that do the work of
// several threads in one ("elements" is then a dimension).
[[nodiscard]] std::expected<CandidateSpace, std::string> legal_launches(
    const LaunchQuestion& question, const WrittenBlocks& written, const std::vector<SearchedBody>& bodies);

// Expressions over no name at all: the launch as written.
[[nodiscard]] std::expected<LaunchCandidate, Error> plain_launch(const LaunchTexts& texts);

}  // namespace trimtab::tools
