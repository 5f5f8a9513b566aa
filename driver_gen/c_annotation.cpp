// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/c_annotation.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/analysis/annotations/annotated_launch.h"
#include "core/analysis/launches/operation.h"
#include "core/model/launch_configuration.h"
#include "driver_gen/c_text.h"
#include "driver_gen/embedded_texts.h"

namespace trimtab::driver_gen {

namespace {

using analysis::Expression;
using analysis::KernelDescription;

// Operators of annotations, all on 64-bit signed numbers, in C's precedence-free form: {0} and {1} are the
// operands. Their arithmetic is core/analysis/launches/operation.h's, wrap-around included.
constexpr std::array<std::pair<std::string_view, std::string_view>, 24> operators{{
    {"add.s64", "(int64_t)((uint64_t){0} + (uint64_t){1})"},
    {"sub.s64", "(int64_t)((uint64_t){0} - (uint64_t){1})"},
    {"mul.lo.s64", "(int64_t)((uint64_t){0} * (uint64_t){1})"},
    {"neg.s64", "(int64_t)(0 - (uint64_t){0})"},
    {"div.s64", "trimtab_quotient({0}, {1})"},
    {"rem.s64", "trimtab_rest({0}, {1})"},
    {"min.s64", "trimtab_smaller({0}, {1})"},
    {"max.s64", "trimtab_larger({0}, {1})"},
    {"shl.b64", "trimtab_shift_left({0}, {1})"},
    {"shr.s64", "trimtab_shift_right({0}, {1})"},
    {"and.b64", "({0} & {1})"},
    {"or.b64", "({0} | {1})"},
    {"xor.b64", "({0} ^ {1})"},
    {"not.b64", "(~{0})"},
    {"setp.eq.s64", "({0} == {1})"},
    {"setp.ne.s64", "({0} != {1})"},
    {"setp.lt.s64", "({0} < {1})"},
    {"setp.le.s64", "({0} <= {1})"},
    {"setp.gt.s64", "({0} > {1})"},
    {"setp.ge.s64", "({0} >= {1})"},
    {"and.pred", "({0} && {1})"},
    {"or.pred", "({0} || {1})"},
    {"not.pred", "(!{0})"},
    {"selp.b64", "({2} ? {0} : {1})"},
}};

class Printer {
  public:
    explicit Printer(const KernelDescription& description) : description_(description) {}

    std::string print(const Expression& expression) {
        switch (expression.kind) {
            case Expression::Kind::constant:
                return fmt::format("INT64_C({})", static_cast<std::int64_t>(expression.bits));
            case Expression::Kind::block_size:
                return fmt::format("b{}", model::axis_names[static_cast<std::size_t>(expression.dimension)]);
            case Expression::Kind::extent:
                return fmt::format("e{}", model::axis_names[static_cast<std::size_t>(expression.dimension)]);
            case Expression::Kind::parameter:
                return argument(expression);
            default:
                return operation(expression);
        }
    }
    [[nodiscard]] const std::string& error() const { return error_; }

  private:
    static std::string c_type(ptx::Type type) {
        const std::string_view name = analysis::type_name(type);
        return fmt::format("{}int{}_t", name.starts_with('u') ? "u" : "", analysis::width_bits(type));
    }
    std::string argument(const Expression& expression) {
        for (std::size_t i = 0; i < description_.data.size(); ++i) {
            const analysis::DataParameter& data = description_.data[i];
            const auto type = analysis::type_from_name(data.type);
            if (data.is_extent || data.parameter != expression.parameter ||
                data.offset != expression.offset || !type ||
                analysis::width_bits(*type) != analysis::width_bits(expression.type))
                continue;
            return fmt::format("(int64_t)({})trimtab_number(data[{}] /* {} */)", c_type(expression.type), i,
                               c_comment_text(data.name));
        }
        error_ = fmt::format("the annotation of kernel {} reads an argument that is no data parameter",
                             description_.name);
        return "0";
    }
    std::string operation(const Expression& expression) {
        std::array<std::string, 3> operands;
        for (std::size_t i = 0; i < expression.arguments.size() && i < 3; ++i)
            operands[i] = print(expression.arguments[i]);
        const std::string operation = analysis::mnemonic(expression.operation);
        if (operation == "cvt.u32.s64") return in_32_bits(operands[0], true);
        if (operation.starts_with("cvt.s64.") || operation.starts_with("cvt.u64."))
            return operation.ends_with("32") ? in_32_bits(operands[0], operation.ends_with("u32"))
                                             : operands[0];
        if (auto wide = of_64_bits(operation, operands)) return *wide;
        if (operation.ends_with("32"))
            if (auto narrow = of_32_bits(operation, operands)) return *narrow;
        error_ =
            fmt::format("the annotation of kernel {} has an operator {}, which driver programs do not know",
                        description_.name, operation);
        return "0";
    }
    static std::string in_32_bits(const std::string& number, bool is_unsigned) {
        return fmt::format("(int64_t)({}int32_t)({})", is_unsigned ? "u" : "", number);
    }
    static std::optional<std::string> of_64_bits(std::string_view operation,
                                                 const std::array<std::string, 3>& operands) {
        for (const auto& [name, text] : operators)
            if (name == operation)
                return fmt::format(fmt::runtime(text), operands[0], operands[1], operands[2]);
        return std::nullopt;
    }
    // Numbers of 32 bits, of either sign, are numbers of 64 that go on being cut off.
    static std::optional<std::string> of_32_bits(const std::string& operation,
                                                 std::array<std::string, 3> operands) {
        const bool is_unsigned = operation.ends_with("u32"), is_choice = operation.starts_with("selp.");
        for (std::size_t i = 0; i < operands.size(); ++i)
            if (!operands[i].empty() && !(is_choice && i == 2))
                operands[i] = in_32_bits(operands[i], is_unsigned);
        if (operation.starts_with("mul.wide.")) return of_64_bits("mul.lo.s64", operands);
        const std::string name = operation.substr(0, operation.size() - 3);
        auto found = of_64_bits(name + "s64", operands);
        if (!found) found = of_64_bits(name + "b64", operands);
        if (!found || operation.starts_with("setp.")) return found;
        return in_32_bits(*found, is_unsigned);
    }

    const KernelDescription& description_;
    std::string error_;
};

std::string statement(const std::string& text) {
    return c_wrapped(text, "    ") + "\n";
}

// Extents of the launch as written, and where they stand in D.
std::array<std::optional<std::size_t>, 3> extents_of(const KernelDescription& description) {
    std::array<std::optional<std::size_t>, 3> places;
    for (std::size_t i = 0; i < description.data.size(); ++i)
        if (description.data[i].is_extent)
            places[static_cast<std::size_t>(description.data[i].dimension)] = i;
    return places;
}

std::string state_function(const KernelDescription& description, Printer& printer) {
    const auto places = extents_of(description);
    std::string text =
        "/* The launch that goes with a block; 0 where the annotation rules it out. */\n"
        "static int trimtab_state(const trimtab_context* context, trimtab_dim3 block, trimtab_launch* "
        "launch) "
        "{\n"
        "    const double* data = context->data;\n"
        "    const int64_t bx = block.x, by = block.y, bz = block.z;\n";
    for (std::size_t d = 0; d < 3; ++d)
        text += fmt::format("    const int64_t e{} = {};\n", model::axis_names[d],
                            places[d] ? fmt::format("trimtab_number(data[{}])", *places[d]) : "1");
    text += "    int64_t value;\n    if (bx == 0 || by == 0 || bz == 0) return 0;\n";
    if (description.annotated_block)
        text += statement(fmt::format("if (!{}) return 0;", printer.print(*description.annotated_block)));
    for (std::size_t d = 0; d < 3; ++d) {
        const char axis = model::axis_names[d];
        std::string value = "INT64_C(1)";
        if (description.annotated_grid[d])
            value = printer.print(*description.annotated_grid[d]);
        else if (!description.annotated_grid[0])
            value = fmt::format("(e{0} + b{0} - 1) / b{0}", axis);
        text += statement(fmt::format("value = {};", value));
        text += fmt::format(
            "    if (value < 1 || value > 2147483647) return 0;\n    launch->grid.{} = (uint32_t)value;\n",
            axis);
    }
    text += "    launch->dynamic_shared_bytes = context->dynamic_shared_bytes;\n";
    if (description.annotated_shared) {
        text += statement(fmt::format("value = {};", printer.print(*description.annotated_shared)));
        text +=
            "    if (value < 0 || value > 1073741824) return 0;\n"
            "    launch->dynamic_shared_bytes = (double)value;\n";
    }
    return text + "    (void)data, (void)ex, (void)ey, (void)ez;\n    return 1;\n}\n\n";
}

}  // namespace

std::expected<std::string, Error> print_annotation(const KernelDescription& description) {
    if (!analysis::has_shape_annotations(description)) return std::string(no_annotation_inc);
    Printer printer(description);
    std::string text = fmt::format(
        "enum {{ trimtab_annotated_grid = {}, trimtab_annotated_shared = {}, trimtab_data_size = {} }};\n\n",
        description.annotated_grid[0] ? 1 : 0, description.annotated_shared ? 1 : 0, description.data.size());
    text += std::string(annotation_begin_inc) + "\n" + state_function(description, printer);
    // Where the grid is stated, the launch has other threads than the one as written.
    text +=
        "static void trimtab_set_extents(trimtab_dim3 block, const trimtab_launch* launch, double* data) {\n";
    const auto places = extents_of(description);
    for (std::size_t d = 0; d < 3; ++d)
        if (places[d] && description.annotated_grid[0])
            text += fmt::format("    data[{0}] = (double)launch->grid.{1} * block.{1};\n", *places[d],
                                model::axis_names[d]);
    text += "    (void)block, (void)launch, (void)data;\n}\n\n" + std::string(annotation_end_inc);
    if (!printer.error().empty()) return std::unexpected(Error{.message = printer.error()});
    return text;
}

}  // namespace trimtab::driver_gen
