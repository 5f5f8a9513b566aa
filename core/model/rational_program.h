// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A rational program (papers: KLARAPTOR, section II): a piece-wise rational function of D, P, H and the
// low-level metrics, as a straight-line list of nodes. Each performance model is written once with
// RationalProgramBuilder; the program is then interpreted (evaluate) here and printed as C by driver_gen;
// both do the same operations in the same order, so they agree to the last bit.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/metrics.h"

namespace trimtab::model {

enum class Op : std::uint8_t {
    constant,  // `value`
    input,     // `input`: index in RationalProgram::inputs
    metric,    // low-level metric `metric` at D and the box (a, b, c)
    add,
    subtract,
    multiply,
    divide,
    minimum,
    maximum,
    floor,
    ceil,
    square_root,
    power,  // a op b; power: a to the b, a > 0
    less,
    less_equal,
    equal,
    logical_and,
    logical_or,
    logical_not,  // 1 or 0
    select        // a != 0 ? b : c: a decision node
};

using NodeIndex = std::uint32_t;

struct Node {
    Op op = Op::constant;
    NodeIndex a = 0, b = 0, c = 0;
    double value = 0;
    std::uint32_t input = 0;
    Metric metric = Metric::warp_instructions;
    std::string label = {};    // "AMAT": names an intermediate of the model; may be empty
    std::string unit = {};     // "cycles"
    std::string comment = {};  // its source: "GPUPerf, equation 12"; a constant's origin
};

// Where an input's value comes from: "device.<field of trimtab_device>", "image.<field of trimtab_image>",
// "block.x", "extent.x" (threads of the launch), "grid.x", "dynamic_shared_bytes".
struct RationalProgram {
    std::string name;     // "gpuperf"
    std::string version;  // changes whenever a prediction may change: a hash of what follows
    std::vector<std::string> inputs;
    std::vector<Node> nodes;  // operands come before their users
    NodeIndex time_ns = 0;    // E, the high-level metric
    // Not 0 where the block cannot be launched on the device.
    NodeIndex unlaunchable = 0;

    using MetricFunction = std::function<double(Metric metric, double x, double y, double z)>;
    struct Result {
        double time_ns = 0;
        bool launchable = true;
    };
    [[nodiscard]] Result evaluate(std::span<const double> inputs, const MetricFunction& metric) const;
    // Every node's value, in order, for explanations.
    [[nodiscard]] std::vector<double> trace(std::span<const double> inputs,
                                            const MetricFunction& metric) const;
    // Square roots and powers: with any, the program is not rational by KLARAPTOR's definition 1 and what follows it (sums,
    // products, quotients, integer parts and comparisons of rational numbers).
    [[nodiscard]] std::size_t irrational_operations() const;
    // The metrics that the program reads, in order of first use.
    [[nodiscard]] std::vector<Metric> metrics_used() const;
};

class RationalProgramBuilder;

// A node under construction, with the operators one writes formulas in.
class Value {
  public:
    friend Value operator+(Value a, Value b);
    friend Value operator-(Value a, Value b);
    friend Value operator*(Value a, Value b);
    friend Value operator/(Value a, Value b);
    friend Value operator<(Value a, Value b);
    friend Value operator<=(Value a, Value b);
    friend Value operator&&(Value a, Value b);
    friend Value operator||(Value a, Value b);
    friend Value operator!(Value a);
    friend Value min(Value a, Value b);
    friend Value max(Value a, Value b);
    friend Value floor(Value a);
    friend Value ceil(Value a);
    friend Value square_root(Value a);
    friend Value power(Value a, Value b);
    friend Value select(Value condition, Value then, Value otherwise);
    // Names this intermediate for the driver program's text, the flow chart and `trimtab inspect`.
    Value named(std::string_view label, std::string_view unit, std::string_view source) const;
    [[nodiscard]] NodeIndex index() const { return index_; }

  private:
    friend class RationalProgramBuilder;
    // Operands that `op` does not have repeat the first.
    static Value apply(Op op, Value a, Value b, Value c);
    Value(RationalProgramBuilder* builder, NodeIndex index) : builder_(builder), index_(index) {}
    RationalProgramBuilder* builder_;
    NodeIndex index_;
};

class RationalProgramBuilder {
  public:
    explicit RationalProgramBuilder(std::string name);
    Value constant(double value, std::string_view origin);
    Value input(std::string_view name);
    Value metric(Metric metric, Value x, Value y, Value z);
    // finish() leaves out what neither of its results needs, but for what was kept.
    void keep(Value value) { kept_.push_back(value.index()); }
    [[nodiscard]] RationalProgram finish(Value time_ns, Value unlaunchable) &&;

  private:
    friend class Value;
    Value emit(Node node);  // equal nodes are shared
    RationalProgram program_;
    std::vector<NodeIndex> kept_;
};

}  // namespace trimtab::model
