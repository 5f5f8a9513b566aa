// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A rational program's flow chart that is too large for one sheet: folded into subjects, each with a chart of its own,
// and a section for each metric, with links between them.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "core/model/rational_program.h"
#include "tools/trimtab/flowchart.h"
#include "trimtab/error.h"

namespace trimtab::tools {

// What leads to one intermediate and to nothing else is its subject, where that is enough for a chart of its own.
struct Subject {
    model::NodeIndex head = 0;             // its result
    std::vector<model::NodeIndex> nodes;   // with the head, operands first
    std::vector<model::NodeIndex> inputs;  // of other subjects
};
// Every box that a result needs is in one of them; that of the time comes first.
[[nodiscard]] std::vector<Subject> subjects_of(const model::RationalProgram& program);

// Graphviz's language in, SVG out.
using Draw = std::function<std::expected<std::string, Error>(const std::string& dot)>;
// A page of HTML that needs nothing beside it.
[[nodiscard]] std::expected<std::string, Error> flowchart_pages(const model::RationalProgram& program,
                                                                const std::string& title,
                                                                const MetricText& metric_text,
                                                                const Draw& draw);

}  // namespace trimtab::tools
