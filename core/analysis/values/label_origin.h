// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a value became a function of the thread or of the launch's shape: for people, who are told what to change.
#pragma once

#include <optional>
#include <string_view>

#include "core/analysis/values/labels.h"

namespace trimtab::analysis {

struct LabelOrigin {
    std::uint32_t instruction = 0;
    std::string_view what;  // "the number of threads", say
};

// Of what the instruction reads, in one dimension; nothing: it reads nothing of the kind. Where only the thread of index
// 0 comes by, its index is known, and what is asked about is the launch's shape.
[[nodiscard]] std::optional<LabelOrigin> label_origin(const FunctionValues& kernel, const Labels& labels,
                                                      std::uint32_t instruction, Dimension dimension,
                                                      bool only_shape = false);

}  // namespace trimtab::analysis
