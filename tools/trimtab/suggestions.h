// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What TRIMTAB_SUGGEST's lines (runtime/launches/suggestion.h) add up to: an annotation for each kernel, as
// far as the evidence goes.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/launches/description.h"
#include "tools/trimtab/block_condition.h"

namespace trimtab::tools {

struct SuggestedAnnotation {
    std::string text;                 // what stands in TRIMTAB_TUNE(...)
    std::vector<Block> blocks;        // that stood, beside those as written
    std::vector<std::string> bodies;  // mangled: of kernels with several bodies, those that stood
    bool reassociates = false;        // some results differ as rounding does
    Block best{};                     // of the least modelled time
    double best_ns = 0;               // of the longest launch
};

struct SuggestedFor {
    std::string kernel, demangled, object;
    std::vector<std::string> parameters;
    std::map<std::string, analysis::Variant> variants;  // by kernel: its own, and of its other bodies
    std::vector<Block> written;
    std::uint64_t launches = 0, kinds = 0, runs = 0, changed_bytes = 0, hypotheses = 0;
    double written_ns = 0;
    std::optional<SuggestedAnnotation> exact;   // the same bytes
    std::optional<SuggestedAnnotation> summed;  // with more blocks, but for rounding
    std::string why_none;
};

struct Suggestions {
    std::vector<SuggestedFor> kernels;  // as they came
    [[nodiscard]] std::size_t count() const;
};

// The last line of each kernel and process holds: what one of them refuses is refused.
[[nodiscard]] Suggestions read_suggestions(std::string_view json_lines);
[[nodiscard]] std::string to_text(const Suggestions& suggestions);
[[nodiscard]] nlohmann::ordered_json to_json(const Suggestions& suggestions);
// The file that trimtab++ --trimtab-annotations and TRIMTAB_ANNOTATIONS take (core/analysis/annotations/annotation_file.h).
// Annotations that hold but for rounding are among the others where that is asked for; else they lie beside.
[[nodiscard]] nlohmann::ordered_json annotation_file(const Suggestions& suggestions, bool with_rounding);

}  // namespace trimtab::tools
