// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/rational_program.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trimtab::model {

namespace {

// What C does with the same operands: comparisons with NaN are false, so minimum and maximum give the right
// operand where the left is NaN, which lets a program wash NaN out of a metric.
double computed(const Node& node, std::span<const double> values) {
    const double a = values[node.a], b = values[node.b];
    switch (node.op) {
        case Op::constant:
        case Op::input:
        case Op::metric:
            break;
        case Op::add:
            return a + b;
        case Op::subtract:
            return a - b;
        case Op::multiply:
            return a * b;
        case Op::divide:
            return a / b;
        case Op::minimum:
            return a < b ? a : b;
        case Op::maximum:
            return a > b ? a : b;
        case Op::floor:
            return std::floor(a);
        case Op::ceil:
            return std::ceil(a);
        case Op::square_root:
            return std::sqrt(a);
        case Op::power:
            return std::pow(a, b);
        case Op::less:
            return a < b ? 1.0 : 0.0;
        case Op::less_equal:
            return a <= b ? 1.0 : 0.0;
        case Op::equal:
            return a == b ? 1.0 : 0.0;
        case Op::logical_and:
            return a != 0 && b != 0 ? 1.0 : 0.0;
        case Op::logical_or:
            return a != 0 || b != 0 ? 1.0 : 0.0;
        case Op::logical_not:
            return a == 0 ? 1.0 : 0.0;
        case Op::select:
            return a != 0 ? b : values[node.c];
    }
    return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::vector<double> RationalProgram::trace(std::span<const double> inputs,
                                           const MetricFunction& metric) const {
    std::vector<double> values(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Node& node = nodes[i];
        switch (node.op) {
            case Op::constant:
                values[i] = node.value;
                break;
            case Op::input:
                values[i] = inputs[node.input];
                break;
            case Op::metric:
                values[i] = metric(node.metric, values[node.a], values[node.b], values[node.c]);
                break;
            default:
                values[i] = computed(node, values);
                break;
        }
    }
    return values;
}

RationalProgram::Result RationalProgram::evaluate(std::span<const double> inputs,
                                                  const MetricFunction& metric) const {
    const std::vector<double> values = trace(inputs, metric);
    return {.time_ns = values[time_ns], .launchable = values[unlaunchable] == 0};
}

std::size_t RationalProgram::irrational_operations() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        nodes, [](const Node& node) { return node.op == Op::square_root || node.op == Op::power; }));
}

std::vector<Metric> RationalProgram::metrics_used() const {
    std::vector<Metric> used;
    for (const Node& node : nodes)
        if (node.op == Op::metric && std::ranges::find(used, node.metric) == used.end())
            used.push_back(node.metric);
    return used;
}

}  // namespace trimtab::model
