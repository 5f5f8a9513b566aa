// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "core/model/rational_program.h"

namespace trimtab::model {

namespace {

bool commutes(Op op) {
    using enum Op;
    return op == add || op == multiply || op == equal || op == logical_and || op == logical_or;
}

bool has_operands(Op op) {
    return op != Op::constant && op != Op::input;
}

bool same_computation(const Node& l, const Node& r) {
    if (l.op != r.op) return false;
    switch (l.op) {
        // Two constants of equal value and different origin are two facts.
        case Op::constant:
            return std::bit_cast<std::uint64_t>(l.value) == std::bit_cast<std::uint64_t>(r.value) &&
                   l.comment == r.comment;
        case Op::input:
            return l.input == r.input;
        case Op::metric:
            return l.metric == r.metric && l.a == r.a && l.b == r.b && l.c == r.c;
        default:
            return l.a == r.a && l.b == r.b && l.c == r.c;
    }
}

// Of what it computes, whatever its parts are called.
std::string version_of(const RationalProgram& program) {
    std::string text = fmt::format("{} {}", program.time_ns, program.unlaunchable);
    for (const std::string& input : program.inputs) text += " " + input;
    for (const Node& node : program.nodes)
        text += fmt::format("\n{} {} {} {} {:a} {} {}", static_cast<int>(node.op), node.a, node.b, node.c,
                            node.value, node.input, name(node.metric));
    return fmt::format("{:08x}", static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size())));
}

}  // namespace

RationalProgramBuilder::RationalProgramBuilder(std::string name) {
    program_.name = std::move(name);
}

Value RationalProgramBuilder::emit(Node node) {
    const auto found = std::ranges::find_if(program_.nodes,
                                            [&](const Node& known) { return same_computation(known, node); });
    if (found != program_.nodes.end()) return {this, static_cast<NodeIndex>(found - program_.nodes.begin())};
    program_.nodes.push_back(std::move(node));
    return {this, static_cast<NodeIndex>(program_.nodes.size() - 1)};
}

Value RationalProgramBuilder::constant(double value, std::string_view origin) {
    return emit({.op = Op::constant, .value = value, .comment = std::string(origin)});
}

Value RationalProgramBuilder::input(std::string_view name) {
    auto found = std::ranges::find(program_.inputs, name);
    if (found == program_.inputs.end()) found = program_.inputs.emplace(found, name);
    return emit({.op = Op::input, .input = static_cast<std::uint32_t>(found - program_.inputs.begin())});
}

Value RationalProgramBuilder::metric(Metric metric, Value x, Value y, Value z) {
    return emit({.op = Op::metric, .a = x.index(), .b = y.index(), .c = z.index(), .metric = metric});
}

RationalProgram RationalProgramBuilder::finish(Value time_ns, Value unlaunchable) && {
    // What neither result needs goes: the terms that models share are more than each reads.
    std::vector<Node>& nodes = program_.nodes;
    std::vector<bool> wanted(nodes.size());
    wanted[time_ns.index()] = wanted[unlaunchable.index()] = true;
    for (const NodeIndex index : kept_) wanted[index] = true;
    for (std::size_t i = nodes.size(); i-- > 0;)
        if (wanted[i] && has_operands(nodes[i].op))
            wanted[nodes[i].a] = wanted[nodes[i].b] = wanted[nodes[i].c] = true;
    std::vector<NodeIndex> place(nodes.size());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!wanted[i]) continue;
        Node node = std::move(nodes[i]);
        if (has_operands(node.op)) {
            node.a = place[node.a];
            node.b = place[node.b];
            node.c = place[node.c];
        }
        place[i] = static_cast<NodeIndex>(kept);
        nodes[kept++] = std::move(node);
    }
    nodes.resize(kept);
    program_.time_ns = place[time_ns.index()];
    program_.unlaunchable = place[unlaunchable.index()];
    program_.version = version_of(program_);
    return std::move(program_);
}

// A name goes to the node it is given to first; a second, different name for the same computation gets a node
// of its own, so that neither vanishes from explanations.
Value Value::named(std::string_view label, std::string_view unit, std::string_view source) const {
    std::vector<Node>& nodes = builder_->program_.nodes;
    Value result = *this;
    if (!nodes[index_].label.empty() && nodes[index_].label != label) {
        const Node copy = nodes[index_];
        nodes.push_back(copy);
        result = Value(builder_, static_cast<NodeIndex>(nodes.size() - 1));
    }
    Node& node = nodes[result.index_];
    node.label = label;
    node.unit = unit;
    if (!source.empty()) node.comment = source;
    return result;
}

Value Value::apply(Op op, Value a, Value b, Value c) {
    Node node{.op = op, .a = a.index_, .b = b.index_, .c = c.index_};
    if (commutes(op) && node.a > node.b) std::swap(node.a, node.b);
    if (op != Op::select) node.c = node.a;
    return a.builder_->emit(std::move(node));
}

Value operator+(Value a, Value b) {
    return Value::apply(Op::add, a, b, a);
}
Value operator-(Value a, Value b) {
    return Value::apply(Op::subtract, a, b, a);
}
Value operator*(Value a, Value b) {
    return Value::apply(Op::multiply, a, b, a);
}
Value operator/(Value a, Value b) {
    return Value::apply(Op::divide, a, b, a);
}
Value operator<(Value a, Value b) {
    return Value::apply(Op::less, a, b, a);
}
Value operator<=(Value a, Value b) {
    return Value::apply(Op::less_equal, a, b, a);
}
Value operator&&(Value a, Value b) {
    return Value::apply(Op::logical_and, a, b, a);
}
Value operator||(Value a, Value b) {
    return Value::apply(Op::logical_or, a, b, a);
}
Value min(Value a, Value b) {
    return Value::apply(Op::minimum, a, b, a);
}
Value max(Value a, Value b) {
    return Value::apply(Op::maximum, a, b, a);
}
Value power(Value a, Value b) {
    return Value::apply(Op::power, a, b, a);
}
Value operator!(Value a) {
    return Value::apply(Op::logical_not, a, a, a);
}
Value floor(Value a) {
    return Value::apply(Op::floor, a, a, a);
}
Value ceil(Value a) {
    return Value::apply(Op::ceil, a, a, a);
}
Value square_root(Value a) {
    return Value::apply(Op::square_root, a, a, a);
}
Value select(Value condition, Value then, Value otherwise) {
    return Value::apply(Op::select, condition, then, otherwise);
}

}  // namespace trimtab::model
