// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of TRIMTAB_TUNE(...) as expressions (docs/annotations.md has the grammar).
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/launches/description.h"

namespace trimtab::analysis {

struct ParsedAnnotation {
    std::vector<Expression> block;     // predicates
    std::vector<Expression> grid;      // s64, x first
    std::array<bool, 3> grid_stays{};  // as written: what `grid` has there counts for nothing
    std::optional<Expression> dynamic_shared;
    std::vector<std::uint32_t> sizes;  // indices of parameters
    bool leave_alone = false, reassociate = false;
};

struct AnnotationFault {
    std::string message;    // one sentence
    std::size_t place = 0;  // in the text
};
[[nodiscard]] std::expected<ParsedAnnotation, AnnotationFault> parse_annotation(
    std::string_view text, const KernelDescription& kernel);

// Is `reassociate` one of the clauses?
[[nodiscard]] bool states_reassociate(std::string_view text);

}  // namespace trimtab::analysis
