// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/c_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "driver_gen/doubts.h"

namespace trimtab::driver_gen {

namespace {

using model::Node;
using model::NodeIndex;
using model::Op;
using model::RationalProgram;

unsigned operand_count(Op op) {
    switch (op) {
        case Op::constant:
        case Op::input:
            return 0;
        case Op::floor:
        case Op::ceil:
        case Op::square_root:
        case Op::logical_not:
            return 1;
        case Op::metric:
        case Op::select:
            return 3;
        default:
            return 2;
    }
}

class ProgramPrinter {
  public:
    ProgramPrinter(const RationalProgram& program, const KernelFits& fits, bool launch_varies,
                   CMetrics& metrics)
        : program_(program), fits_(fits), launch_varies_(launch_varies), metrics_(metrics) {
        for (const char* taken : {"context",
                                  "block",
                                  "scale",
                                  "ns",
                                  "device",
                                  "image",
                                  "data",
                                  "block_x",
                                  "block_y",
                                  "block_z",
                                  "extent_x",
                                  "extent_y",
                                  "extent_z",
                                  "grid_x",
                                  "grid_y",
                                  "grid_z",
                                  "dynamic_shared_bytes",
                                  "range",
                                  "launch",
                                  "fixed"})
            names_.reserve(taken);
        find_fixed();
        find_uses();
    }
    std::string print(const std::array<std::string, 3>& extents);

  private:
    using Box = std::tuple<NodeIndex, NodeIndex, NodeIndex>;
    static constexpr Box no_box{~NodeIndex{0}, ~NodeIndex{0}, ~NodeIndex{0}};  // of metrics that are fixed

    void find_fixed();
    void find_uses();
    bool is_fixed_input(std::string_view name) const;
    bool is_fixed_fit(const FittedMetric& fit) const;
    bool is_fixed_metric(model::Metric metric) const;
    bool is_value(NodeIndex i) const {  // something to compute
        return program_.nodes[i].op != Op::constant && program_.nodes[i].op != Op::input;
    }
    bool is_named(NodeIndex i) const {
        const Node& node = program_.nodes[i];
        return is_value(i) && (node.op == Op::metric || !node.label.empty() || uses_[i] > 1 || named_[i]);
    }
    std::string reference(NodeIndex i) const {  // for use inside an expression
        if (!is_named(i)) return expression(i);
        return (fixed_[i] && !prints_fixed_ ? "fixed->" : "") + node_names_.at(i);
    }
    void print_node(NodeIndex i);
    std::string print_values(bool fixed);
    std::string beginning(const std::array<std::string, 3>& extents) const;
    std::string condition(NodeIndex i) const;
    std::string expression(NodeIndex i) const;
    std::string input(std::string_view name) const;
    std::string metric_value(const Node& node);
    std::string comment(const Node& node) const;

    const RationalProgram& program_;
    const KernelFits& fits_;
    const bool launch_varies_;  // with the block: D's extents and the dynamic shared memory
    CMetrics& metrics_;
    CNames names_;
    std::vector<bool> fixed_;     // no block of a launch changes it
    std::vector<bool> exported_;  // fixed, and read where blocks are predicted
    bool prints_fixed_ = false;
    std::vector<unsigned> uses_;  // by nodes that the results need
    std::vector<bool> named_;
    std::map<NodeIndex, std::string> node_names_;
    std::map<Box, std::vector<model::Metric>> boxes_;
    std::map<Box, std::string> box_names_;
    std::string text_;
};

bool ProgramPrinter::is_fixed_input(std::string_view name) const {
    if (name.starts_with("device.") || name.starts_with("image.")) return true;
    return !launch_varies_ && (name.starts_with("extent.") || name == "dynamic_shared_bytes");
}

// A function of D alone, whose error trimtab_judge() does not try.
bool ProgramPrinter::is_fixed_fit(const FittedMetric& fit) const {
    if (fit.data_dependent || (!fit.exact && fit.quality.held_out_max_error != 0)) return false;
    // Numbers that were not profiled may decide any of them.
    if (std::ranges::any_of(fits_.profiled, [](const ProfiledParameter& parameter) {
            return parameter.is_number && !parameter.varied;
        }))
        return false;
    const auto is_fixed = [&](std::uint32_t index) {
        const Variable& variable = fits_.variables[index];
        if (variable.kind != VariableKind::data && variable.kind != VariableKind::remainder &&
            variable.kind != VariableKind::has_remainder)
            return false;
        return !launch_varies_ || !fits_.data_names[variable.data].starts_with("extent.");
    };
    const auto all_fixed = [&](const std::vector<Monomial>& sum) {
        return std::ranges::all_of(sum, [&](const Monomial& monomial) {
            return std::ranges::all_of(monomial.exponents, is_fixed,
                                       &std::pair<std::uint32_t, std::int32_t>::first);
        });
    };
    // What comes out below 0 is judged; as none, it is as few as others allow, which a block may change.
    if (const auto range = none_of(fits_, fit)) {
        const auto is_negative = [](const Monomial& monomial) { return monomial.coefficient < 0; };
        if (std::ranges::any_of(fit.pieces, [&](const Piece& piece) {
                return std::ranges::any_of(piece.numerator, is_negative);
            }))
            return false;
        if (!std::ranges::all_of(range->others, [&](model::Metric other) { return is_fixed_metric(other); }))
            return false;
    }
    return std::ranges::all_of(fit.pieces, [&](const Piece& piece) {
        return (!piece.when || is_fixed(piece.when->variable)) && all_fixed(piece.numerator) &&
               all_fixed(piece.denominator);
    });
}

// In every layout.
bool ProgramPrinter::is_fixed_metric(model::Metric metric) const {
    const FittedMetric* fit = fits_.find(metric);
    return fit == nullptr ||
           (is_fixed_fit(*fit) && std::ranges::all_of(fits_.layouts, [&](const Layout& layout) {
                const FittedMetric* const own = layout.find(metric);
                return own == nullptr || is_fixed_fit(*own);
            }));
}

void ProgramPrinter::find_fixed() {
    fixed_.assign(program_.nodes.size(), false);
    exported_ = fixed_;
    for (NodeIndex i = 0; i < program_.nodes.size(); ++i) {
        const Node& node = program_.nodes[i];
        if (node.op == Op::input) {
            fixed_[i] = is_fixed_input(program_.inputs[node.input]);
        } else if (node.op == Op::metric) {
            fixed_[i] = is_fixed_metric(node.metric);
        } else {
            const std::array<NodeIndex, 3> operands{node.a, node.b, node.c};
            bool all = true;
            for (unsigned n = 0; n < operand_count(node.op); ++n) all = all && fixed_[operands[n]];
            fixed_[i] = all;
        }
    }
}

void ProgramPrinter::find_uses() {
    const std::size_t count = program_.nodes.size();
    uses_.assign(count, 0);
    named_.assign(count, false);
    uses_[program_.time_ns] = uses_[program_.unlaunchable] = 1;
    named_[program_.time_ns] = named_[program_.unlaunchable] = true;
    exported_[program_.time_ns] = exported_[program_.unlaunchable] = true;
    for (std::size_t i = count; i-- > 0;) {
        if (uses_[i] == 0) continue;
        const Node& node = program_.nodes[i];
        const std::array<NodeIndex, 3> operands{node.a, node.b, node.c};
        if (node.op == Op::metric) {
            auto& list = boxes_[fixed_[i] ? no_box : Box{node.a, node.b, node.c}];
            if (std::ranges::find(list, node.metric) == list.end()) list.push_back(node.metric);
            if (fixed_[i]) continue;  // whatever its box is
        }
        for (unsigned n = 0; n < operand_count(node.op); ++n) {
            const NodeIndex operand = operands[n];
            ++uses_[operand];
            if (node.op == Op::metric) named_[operand] = true;
            if (!fixed_[operand] || fixed_[i] || !is_value(operand)) continue;
            named_[operand] = exported_[operand] = true;
        }
    }
}

std::string ProgramPrinter::input(std::string_view name) const {
    const std::size_t dot = name.find('.');
    const std::string_view group = name.substr(0, dot);
    const std::string_view field = dot == std::string_view::npos ? "" : name.substr(dot + 1);
    if (name == "device.compute_capability") return "(double)device->compute_capability";
    if (group == "device" || group == "image") return fmt::format("{}->{}", group, field);
    if (dot == std::string_view::npos) return std::string(name);
    return fmt::format("{}_{}", group, field);
}

std::string ProgramPrinter::condition(NodeIndex i) const {
    const Node& node = program_.nodes[i];
    if (is_named(i)) return reference(i) + " != 0";
    switch (node.op) {
        case Op::less:
            return fmt::format("{} < {}", reference(node.a), reference(node.b));
        case Op::less_equal:
            return fmt::format("{} <= {}", reference(node.a), reference(node.b));
        case Op::equal:
            return fmt::format("{} == {}", reference(node.a), reference(node.b));
        case Op::logical_and:
            return fmt::format("({}) && ({})", condition(node.a), condition(node.b));
        case Op::logical_or:
            return fmt::format("({}) || ({})", condition(node.a), condition(node.b));
        case Op::logical_not:
            return fmt::format("!({})", condition(node.a));
        default:
            return reference(i) + " != 0";
    }
}

std::string ProgramPrinter::expression(NodeIndex i) const {
    const Node& node = program_.nodes[i];
    const auto binary = [&](const char* sign) {
        return fmt::format("({} {} {})", reference(node.a), sign, reference(node.b));
    };
    const auto call = [&](const char* function) {
        return fmt::format("{}({})", function, reference(node.a));
    };
    switch (node.op) {
        case Op::constant: {
            std::string text = c_literal(node.value);
            if (!node.comment.empty()) text += fmt::format(" /* {} */", c_comment_text(node.comment));
            return text;
        }
        case Op::input:
            return input(program_.inputs[node.input]);
        case Op::metric:
            return node_names_.at(i);
        case Op::add:
            return binary("+");
        case Op::subtract:
            return binary("-");
        case Op::multiply:
            return binary("*");
        case Op::divide:
            return binary("/");
        case Op::minimum:
            return fmt::format("trimtab_min({}, {})", reference(node.a), reference(node.b));
        case Op::maximum:
            return fmt::format("trimtab_max({}, {})", reference(node.a), reference(node.b));
        case Op::floor:
            return call("trimtab_floor");
        case Op::ceil:
            return call("trimtab_ceil");
        case Op::square_root:
            return call("__builtin_sqrt");
        case Op::power:
            return fmt::format("__builtin_pow({}, {})", reference(node.a), reference(node.b));
        case Op::select:
            return fmt::format("(({}) ? {} : {})", condition(node.a), reference(node.b), reference(node.c));
        default:
            break;
    }
    // A truth value that is used as a number.
    const Node& n = program_.nodes[i];
    switch (n.op) {
        case Op::less:
            return fmt::format("({} < {} ? 1.0 : 0.0)", reference(n.a), reference(n.b));
        case Op::less_equal:
            return fmt::format("({} <= {} ? 1.0 : 0.0)", reference(n.a), reference(n.b));
        case Op::equal:
            return fmt::format("({} == {} ? 1.0 : 0.0)", reference(n.a), reference(n.b));
        case Op::logical_and:
            return fmt::format("(({}) && ({}) ? 1.0 : 0.0)", condition(n.a), condition(n.b));
        case Op::logical_or:
            return fmt::format("(({}) || ({}) ? 1.0 : 0.0)", condition(n.a), condition(n.b));
        default:
            return fmt::format("({} ? 0.0 : 1.0)", condition(n.a));
    }
}

std::string ProgramPrinter::comment(const Node& node) const {
    std::string text;
    if (!node.unit.empty()) text += "[" + node.unit + "]";
    if (!node.comment.empty()) text += (text.empty() ? "" : " ") + node.comment;
    return text;
}

std::string ProgramPrinter::metric_value(const Node& node) {
    const std::string function = metrics_.metric_function(node.metric);
    if (function.empty()) return "0.0 /* not profiled */";
    const Box box = prints_fixed_ ? no_box : Box{node.a, node.b, node.c};
    auto known = box_names_.find(box);
    if (known == box_names_.end()) {
        const std::string name = names_.unique(prints_fixed_ ? "any_box" : "box");
        known = box_names_.emplace(box, name).first;
        const std::string size = prints_fixed_ ? "1.0, 1.0, 1.0"
                                               : fmt::format("{}, {}, {}", reference(node.a),
                                                             reference(node.b), reference(node.c));
        text_ += c_wrapped(fmt::format("const trimtab_variables* {} = {}(context, {}, {});", name,
                                       metrics_.fill_function(boxes_.at(box)), box_names_.size() - 1, size),
                           "    ") +
                 "\n";
    }
    if (prints_fixed_) return fmt::format("{}({})", function, known->second);
    const auto index = fits_.find(node.metric) - fits_.metrics.data();
    return fmt::format("scale[{}] * {}({})", index, function, known->second);
}

void ProgramPrinter::print_node(NodeIndex i) {
    const Node& node = program_.nodes[i];
    const std::string value = node.op == Op::metric ? metric_value(node) : expression(i);
    const std::string name = names_.unique(node.label.empty() ? fmt::format("t{}", i) : node.label);
    node_names_[i] = name;
    if (const std::string note = comment(node); !note.empty()) text_ += c_comment(note, "    ") + "\n";
    std::string_view body = value;
    if (body.starts_with('(') && body.ends_with(')') && node.op != Op::metric)
        body = body.substr(1, body.size() - 2);
    text_ += c_wrapped(fmt::format("const double {} = {};", name, body), "    ") + "\n";
}

std::string ProgramPrinter::print_values(bool fixed) {
    prints_fixed_ = fixed;
    text_.clear();
    for (NodeIndex i = 0; i < program_.nodes.size(); ++i)
        if (uses_[i] != 0 && is_named(i) && fixed_[i] == fixed) print_node(i);
    return std::move(text_);
}

// What both functions read.
std::string ProgramPrinter::beginning(const std::array<std::string, 3>& extents) const {
    std::string text =
        "    const trimtab_device* device = context->device;\n"
        "    const trimtab_image* image = context->image;\n"
        "    const double* data = context->data;\n"
        "    const double dynamic_shared_bytes = context->dynamic_shared_bytes;\n";
    for (std::size_t d = 0; d < 3; ++d)
        text += fmt::format("    const double extent_{} = {};\n", "xyz"[d], extents[d]);
    return text;
}

std::string ProgramPrinter::print(const std::array<std::string, 3>& extents) {
    constexpr std::string_view unused =
        "    (void)device, (void)image, (void)data, (void)dynamic_shared_bytes;\n"
        "    (void)extent_x, (void)extent_y, (void)extent_z;\n";
    const std::string fixed = print_values(true), of_block = print_values(false);
    std::string members, stores;
    for (NodeIndex i = 0; i < program_.nodes.size(); ++i) {
        if (!fixed_[i] || !exported_[i] || !is_value(i) || uses_[i] == 0) continue;
        members += fmt::format("    double {};\n", node_names_.at(i));
        stores += fmt::format("    fixed->{0} = {0};\n", node_names_.at(i));
    }
    if (members.empty()) members = "    double none;\n";
    std::string text = fmt::format(
        "/* The performance model {}, version {}, as a flow chart: each line is a node, in the order of\n"
        "   computation; ?: is a decision. First what no block of a launch changes: computed once. */\n"
        "typedef struct trimtab_fixed {{\n{}}} trimtab_fixed;\n\n"
        "static void trimtab_fix(const trimtab_context* context, trimtab_fixed* fixed) {{\n",
        c_comment_text(program_.name), c_comment_text(program_.version), members);
    text += beginning(extents) + fixed + stores + std::string(unused) + "    (void)fixed;\n}\n\n";
    text +=
        "/* Then what depends on the block. */\n"
        "static int trimtab_kernel_predict(const trimtab_context* context, trimtab_dim3 block, const double* "
        "scale,\n"
        "                                  double* ns) {\n"
        "    const trimtab_fixed* fixed = context->fixed;\n" +
        beginning(extents);
    for (const char axis : {'x', 'y', 'z'})
        text += fmt::format(
            "    const double block_{0} = block.{0}, grid_{0} = trimtab_ceil(extent_{0} / block_{0});\n",
            axis);
    text += of_block;
    prints_fixed_ = false;
    text += std::string(unused) +
            fmt::format(
                "    (void)fixed, (void)scale, (void)grid_x, (void)grid_y, (void)grid_z;\n"
                "    *ns = {0};\n"
                "    return {1} == 0 && {0} - {0} == 0; /* a time that is no number is no prediction */\n}}\n"
                "enum {{ trimtab_box_count = {2} }}; /* that the model asks for metrics of */\n",
                reference(program_.time_ns), reference(program_.unlaunchable), box_names_.size());
    return text;
}

}  // namespace

std::string print_program(const RationalProgram& program, const KernelFits& fits,
                          const std::array<std::string, 3>& extent_expressions, bool launch_varies,
                          CMetrics& metrics) {
    return ProgramPrinter(program, fits, launch_varies, metrics).print(extent_expressions);
}

}  // namespace trimtab::driver_gen
