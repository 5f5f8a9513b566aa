// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A rational program as a flow chart: named intermediates as boxes with their formulas, decision nodes as
// diamonds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/model/rational_program.h"

namespace trimtab::tools {

// What to say about a metric in its box beside the model's own formula: its fitted function. May be empty.
using MetricText = std::function<std::string(model::Metric)>;

// Graphviz's language.
[[nodiscard]] std::string to_dot(const model::RationalProgram& program, const std::string& title,
                                 const MetricText& metric_text);

// The nodes that a node is computed from.
[[nodiscard]] std::vector<model::NodeIndex> operands(const model::Node& node);

// The formula of a node, nodes without a name folded into it: "min(ILP * N, ITILP_max)".
[[nodiscard]] std::string formula(const model::RationalProgram& program, model::NodeIndex node);

}  // namespace trimtab::tools
