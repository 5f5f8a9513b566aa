// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/flowchart.h"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

namespace trimtab::tools {

namespace {

using model::Node;
using model::NodeIndex;
using model::Op;
using model::RationalProgram;

// How tightly an operator binds in text.
enum class Binding { choice, logical, comparison, sum, product, unary, primary };

struct Text {
    std::string text;
    Binding binding = Binding::primary;
};

class Formulas {
  public:
    explicit Formulas(const RationalProgram& program) : program_(program) {}

    // A node by its name where it has one, else by its formula.
    Text reference(NodeIndex index) const {
        const Node& node = program_.nodes[index];
        if (!node.label.empty()) return {node.label, Binding::primary};
        // Every decision is drawn, so it needs something to be called by.
        if (node.op == Op::select) return {decision_name(index), Binding::primary};
        return own(index);
    }

    Text own(NodeIndex index) const {
        const Node& node = program_.nodes[index];
        switch (node.op) {
            case Op::constant:
                return {fmt::format("{:.6g}", node.value), Binding::primary};
            case Op::input:
                return {program_.inputs[node.input], Binding::primary};
            case Op::metric:
                return call(name(node.metric), {node.a, node.b, node.c});
            case Op::add:
                return infix(node, "+", Binding::sum, Binding::sum);
            case Op::subtract:
                return infix(node, "-", Binding::sum, Binding::product);
            case Op::multiply:
                return infix(node, "*", Binding::product, Binding::product);
            case Op::divide:
                return infix(node, "/", Binding::product, Binding::unary);
            case Op::minimum:
                return call("min", {node.a, node.b});
            case Op::maximum:
                return call("max", {node.a, node.b});
            case Op::floor:
                return call("floor", {node.a});
            case Op::ceil:
                return call("ceil", {node.a});
            case Op::square_root:
                return call("sqrt", {node.a});
            case Op::power:
                return call("power", {node.a, node.b});
            case Op::less:
                return infix(node, "<", Binding::comparison, Binding::sum);
            case Op::less_equal:
                return infix(node, "<=", Binding::comparison, Binding::sum);
            case Op::equal:
                return infix(node, "=", Binding::comparison, Binding::sum);
            case Op::logical_and:
                return infix(node, "and", Binding::logical, Binding::logical);
            case Op::logical_or:
                return infix(node, "or", Binding::logical, Binding::logical);
            case Op::logical_not:
                return {"not " + within(node.a, Binding::unary), Binding::unary};
            case Op::select:
                return {within(node.b, Binding::logical) + " if " + within(node.a, Binding::logical) +
                            " else " + within(node.c, Binding::logical),
                        Binding::choice};
        }
        return {};
    }

    static std::string decision_name(NodeIndex index) { return fmt::format("choice_{}", index); }

  private:
    std::string within(NodeIndex index, Binding least) const {
        const Text text = reference(index);
        return text.binding < least ? "(" + text.text + ")" : text.text;
    }
    Text infix(const Node& node, std::string_view op, Binding binding, Binding right) const {
        // Two kinds of logic side by side are told apart by parentheses.
        const Binding left = binding == Binding::logical ? Binding::comparison : binding;
        if (binding == Binding::logical) right = Binding::comparison;
        return {fmt::format("{} {} {}", chained(node, node.a, left), op, chained(node, node.b, right)),
                binding};
    }
    // "a and b and c" needs none.
    std::string chained(const Node& parent, NodeIndex child, Binding least) const {
        const Node& node = program_.nodes[child];
        const bool same = node.op == parent.op && node.label.empty() &&
                          (node.op == Op::logical_and || node.op == Op::logical_or);
        return same ? own(child).text : within(child, least);
    }
    Text call(std::string_view function, const std::vector<NodeIndex>& arguments) const {
        std::string text(function);
        text += "(";
        for (std::size_t i = 0; i < arguments.size(); ++i)
            text += (i == 0 ? "" : ", ") + reference(arguments[i]).text;
        return {text + ")", Binding::primary};
    }

    const RationalProgram& program_;
};

// Graphviz breaks no lines by itself. `\l`: a line break, the line before it flush left.
std::string wrapped(std::string_view text, std::size_t width = 64) {
    std::string out;
    std::size_t column = 0;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t space = text.find(' ', i);
        const std::string_view word =
            text.substr(i, space == std::string_view::npos ? text.size() - i : space - i);
        if (column != 0 && column + 1 + word.size() > width) {
            out += "\\l";
            column = 0;
        } else if (column != 0) {
            out += " ";
            ++column;
        }
        for (const char c : word) {
            if (c == '"' || c == '\\') out += '\\';
            out += c == '\n' ? ' ' : c;
        }
        column += word.size();
        if (space == std::string_view::npos) break;
        i = space + 1;
    }
    return out + "\\l";
}

class Chart {
  public:
    Chart(const RationalProgram& program, const MetricText& metric_text)
        : program_(program), metric_text_(metric_text), formulas_(program) {}

    std::string draw(const std::string& title) {
        // From the results down, so that nothing is drawn that no result needs.
        visit(program_.unlaunchable);
        visit(program_.time_ns);
        return fmt::format(
            "digraph \"{}\" {{\n  label=\"{}\"; labelloc=t; fontname=\"Helvetica\";\n"
            "  node [fontname=\"Helvetica\", fontsize=10, shape=box];\n"
            "  edge [fontname=\"Helvetica\", fontsize=9];\n{}{}}}\n",
            escaped(program_.name), escaped(title), boxes_, edges_);
    }

  private:
    static std::string escaped(std::string_view text) {
        std::string out;
        for (const char c : text) {
            if (c == '"' || c == '\\') out += '\\';
            out += c == '\n' ? ' ' : c;
        }
        return out;
    }

    bool is_drawn(NodeIndex index) const {
        return !program_.nodes[index].label.empty() || program_.nodes[index].op == Op::select ||
               index == program_.time_ns || index == program_.unlaunchable;
    }

    // The drawn nodes that a formula refers to, and the metrics inside it.
    void collect(NodeIndex index, std::set<NodeIndex>& drawn, std::set<model::Metric>& metrics) const {
        for (const NodeIndex operand : operands(program_.nodes[index])) {
            if (is_drawn(operand))
                drawn.insert(operand);
            else
                collect(operand, drawn, metrics);
        }
        if (program_.nodes[index].op == Op::metric) metrics.insert(program_.nodes[index].metric);
    }

    void visit(NodeIndex index) {
        if (!visited_.insert(index).second) return;
        const Node& node = program_.nodes[index];
        std::set<NodeIndex> from;
        std::set<model::Metric> metrics;
        collect(index, from, metrics);
        const std::string called = !node.label.empty()     ? node.label
                                   : node.op == Op::select ? Formulas::decision_name(index)
                                                           : "result";
        std::string text = wrapped(called + (node.unit.empty() ? "" : " [" + node.unit + "]"));
        if (node.op == Op::select) {
            draw_decision(index);
        } else {
            text += wrapped("= " + formulas_.own(index).text);
            for (const NodeIndex operand : from) edge(operand, index);
        }
        for (const model::Metric metric : metrics)
            if (metric_text_)
                if (const std::string fitted = metric_text_(metric); !fitted.empty()) text += wrapped(fitted);
        if (!node.comment.empty()) text += wrapped(node.comment);
        const bool result = index == program_.time_ns || index == program_.unlaunchable;
        boxes_ += fmt::format("  n{} [label=\"{}\"{}];\n", index, text,
                              result            ? ", style=\"filled,bold\", fillcolor=\"#d9ead3\""
                              : metrics.empty() ? ""
                                                : ", style=filled, fillcolor=\"#fff2cc\"");
        for (const NodeIndex operand : from) visit(operand);
    }

    void draw_decision(NodeIndex index) {
        const Node& node = program_.nodes[index];
        const Text condition = formulas_.reference(node.a);
        boxes_ += fmt::format("  d{} [shape=diamond, style=filled, fillcolor=\"#cfe2f3\", label=\"{}\"];\n",
                              index, wrapped(condition.text + " ?", 40));
        std::set<NodeIndex> drawn;
        std::set<model::Metric> metrics;
        if (is_drawn(node.a))
            drawn.insert(node.a);
        else
            collect(node.a, drawn, metrics);
        for (const NodeIndex operand : drawn) edges_ += fmt::format("  {} -> d{};\n", id(operand), index);
        draw_branch(index, node.b, "yes");
        draw_branch(index, node.c, "no");
    }

    void draw_branch(NodeIndex decision, NodeIndex value, std::string_view answer) {
        const Text text = formulas_.reference(value);
        const std::string branch = fmt::format("b{}{}", decision, answer);
        boxes_ += fmt::format("  {} [shape=box, style=rounded, label=\"{}\"];\n", branch, wrapped(text.text));
        edges_ += fmt::format("  d{} -> {} [label=\"{}\"];\n  {} -> {};\n", decision, branch, answer, branch,
                              id(decision));
        std::set<NodeIndex> drawn;
        std::set<model::Metric> metrics;
        if (is_drawn(value))
            drawn.insert(value);
        else
            collect(value, drawn, metrics);
        for (const NodeIndex operand : drawn) edges_ += fmt::format("  {} -> {};\n", id(operand), branch);
    }

    static std::string id(NodeIndex index) { return fmt::format("n{}", index); }
    void edge(NodeIndex from, NodeIndex to) { edges_ += fmt::format("  {} -> {};\n", id(from), id(to)); }

    const RationalProgram& program_;
    const MetricText& metric_text_;
    Formulas formulas_;
    std::set<NodeIndex> visited_;
    std::string boxes_, edges_;
};

}  // namespace

std::vector<NodeIndex> operands(const Node& node) {
    switch (node.op) {
        case Op::constant:
        case Op::input:
            return {};
        case Op::metric:
        case Op::select:
            return {node.a, node.b, node.c};
        case Op::floor:
        case Op::ceil:
        case Op::square_root:
        case Op::logical_not:
            return {node.a};
        default:
            return {node.a, node.b};
    }
}

std::string to_dot(const RationalProgram& program, const std::string& title, const MetricText& metric_text) {
    return Chart(program, metric_text).draw(title);
}

std::string formula(const RationalProgram& program, NodeIndex node) {
    return Formulas(program).own(node).text;
}

}  // namespace trimtab::tools
