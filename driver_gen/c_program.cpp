#include "driver_gen/c_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

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
    ProgramPrinter(const RationalProgram& program, const KernelFits& fits, CMetrics& metrics)
        : program_(program), fits_(fits), metrics_(metrics) {
        for (const char* taken : {"context", "block", "scale", "ns", "device", "image", "data", "block_x",
                                  "block_y", "block_z", "extent_x", "extent_y", "extent_z", "grid_x",
                                  "grid_y", "grid_z", "dynamic_shared_bytes", "range", "launch"})
            names_.reserve(taken);
        find_uses();
    }
    std::string print(const std::array<std::string, 3>& extents);

  private:
    using Box = std::tuple<NodeIndex, NodeIndex, NodeIndex>;

    void find_uses();
    bool is_named(NodeIndex i) const {
        const Node& node = program_.nodes[i];
        return node.op != Op::constant && node.op != Op::input &&
               (node.op == Op::metric || !node.label.empty() || uses_[i] > 1 || named_[i]);
    }
    std::string reference(NodeIndex i) const {  // for use inside an expression
        if (is_named(i)) return node_names_.at(i);
        return expression(i);
    }
    std::string condition(NodeIndex i) const;
    std::string expression(NodeIndex i) const;
    std::string input(std::string_view name) const;
    std::string metric_value(const Node& node);
    std::string comment(const Node& node) const;

    const RationalProgram& program_;
    const KernelFits& fits_;
    CMetrics& metrics_;
    CNames names_;
    std::vector<unsigned> uses_;  // by nodes that the results need
    std::vector<bool> named_;
    std::map<NodeIndex, std::string> node_names_;
    std::map<Box, std::vector<model::Metric>> boxes_;
    std::map<Box, std::string> box_names_;
    std::string text_;
};

void ProgramPrinter::find_uses() {
    const std::size_t count = program_.nodes.size();
    uses_.assign(count, 0);
    named_.assign(count, false);
    uses_[program_.time_ns] = uses_[program_.unlaunchable] = 1;
    named_[program_.time_ns] = named_[program_.unlaunchable] = true;
    for (std::size_t i = count; i-- > 0;) {
        if (uses_[i] == 0) continue;
        const Node& node = program_.nodes[i];
        const std::array<NodeIndex, 3> operands{node.a, node.b, node.c};
        for (unsigned n = 0; n < operand_count(node.op); ++n) {
            ++uses_[operands[n]];
            if (node.op == Op::metric) named_[operands[n]] = true;
        }
        if (node.op == Op::metric) {
            auto& list = boxes_[{node.a, node.b, node.c}];
            if (std::ranges::find(list, node.metric) == list.end()) list.push_back(node.metric);
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
            return call("__builtin_floor");
        case Op::ceil:
            return call("__builtin_ceil");
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
    const Box box{node.a, node.b, node.c};
    auto known = box_names_.find(box);
    if (known == box_names_.end()) {
        const std::string name = names_.unique("box");
        known = box_names_.emplace(box, name).first;
        text_ += c_wrapped(fmt::format("const trimtab_variables* {} = {}(context, {}, {}, {}, {});", name,
                                       metrics_.fill_function(boxes_.at(box)), box_names_.size() - 1,
                                       reference(node.a), reference(node.b), reference(node.c)),
                           "    ") +
                 "\n";
    }
    const auto index = fits_.find(node.metric) - fits_.metrics.data();
    return fmt::format("scale[{}] * {}({})", index, function, known->second);
}

std::string ProgramPrinter::print(const std::array<std::string, 3>& extents) {
    text_ = fmt::format(
        "/* The performance model {}, version {}, as a flow chart: each line is a node, in the order of\n"
        "   computation; ?: is a decision. */\n"
        "static int trimtab_predict(const trimtab_context* context, trimtab_dim3 block, const double* "
        "scale,\n"
        "                           double* ns) {{\n"
        "    const trimtab_device* device = context->device;\n"
        "    const trimtab_image* image = context->image;\n"
        "    const double* data = context->data;\n"
        "    const double dynamic_shared_bytes = context->dynamic_shared_bytes;\n",
        c_comment_text(program_.name), c_comment_text(program_.version));
    for (std::size_t d = 0; d < 3; ++d) {
        const char axis = "xyz"[d];
        text_ += fmt::format("    const double block_{0} = block.{0}, extent_{0} = {1};\n", axis, extents[d]);
        text_ += fmt::format("    const double grid_{0} = __builtin_ceil(extent_{0} / block_{0});\n", axis);
    }
    for (NodeIndex i = 0; i < program_.nodes.size(); ++i) {
        if (uses_[i] == 0 || !is_named(i)) continue;
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
    text_ += fmt::format(
        "    (void)device, (void)image, (void)data, (void)scale, (void)dynamic_shared_bytes;\n"
        "    (void)grid_x, (void)grid_y, (void)grid_z;\n"
        "    *ns = {0};\n"
        "    return {1} == 0 && {0} - {0} == 0; /* a time that is no number is no prediction */\n}}\n"
        "enum {{ trimtab_box_count = {2} }}; /* that the model asks for metrics of */\n",
        reference(program_.time_ns), reference(program_.unlaunchable), box_names_.size());
    return text_;
}

}  // namespace

std::string print_program(const RationalProgram& program, const KernelFits& fits,
                          const std::array<std::string, 3>& extent_expressions, CMetrics& metrics) {
    return ProgramPrinter(program, fits, metrics).print(extent_expressions);
}

}  // namespace trimtab::driver_gen
