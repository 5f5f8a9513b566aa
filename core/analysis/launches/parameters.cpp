// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/launches/parameters.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/analysis/launches/demangle.h"
#include "core/analysis/launches/operation.h"

namespace trimtab::analysis {
namespace {

std::string trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return std::string(text);
}

bool take_suffix(std::string& text, std::string_view suffix) {
    if (!text.ends_with(suffix)) return false;
    text = trimmed(std::string_view(text).substr(0, text.size() - suffix.size()));
    return true;
}

// "float const*" as people write it: "const float *".
std::string readable(std::string type) {
    std::string stars;
    for (;;) {
        if (take_suffix(type, "*")) {
            stars += "*";
        } else if (!take_suffix(type, "__restrict__") && !take_suffix(type, "__restrict")) {
            break;
        }
    }
    if (take_suffix(type, " const")) type = "const " + type;
    return stars.empty() ? type : type + " " + stars;
}

// "const float *" -> "float"; empty for what is no pointer.
std::string pointee_of(std::string type) {
    while (take_suffix(type, "__restrict__") || take_suffix(type, "__restrict") ||
           take_suffix(type, "const")) {
    }
    if (!take_suffix(type, "*")) return {};
    for (const std::string_view qualifier : {"const ", "volatile "})
        while (type.starts_with(qualifier)) type.erase(0, qualifier.size());
    while (take_suffix(type, " const") || take_suffix(type, " volatile")) {
    }
    return type;
}

bool is_pointer_type(std::string type) {
    while (take_suffix(type, "__restrict__") || take_suffix(type, "__restrict") ||
           take_suffix(type, "const")) {
    }
    return type.ends_with('*');
}

std::string ptx_type(const ptx::Variable& variable) {
    if (!variable.is_array) return std::string(type_name(variable.type));
    return fmt::format("{}[{}]", type_name(variable.type), variable.size_bytes);
}

// Where the parameter list of a signature opens: the parenthesis that its last one closes.
std::size_t list_start(std::string_view text, std::size_t close) {
    int depth = 0;
    for (std::size_t at = close + 1; at-- > 0;) {
        if (text[at] == ')') depth++;
        if (text[at] == '(' && --depth == 0) return at;
    }
    return std::string_view::npos;
}

}  // namespace

std::optional<std::vector<std::string>> signature_types(const std::string& demangled) {
    const std::size_t close = demangled.rfind(')');
    if (close == std::string::npos) return std::nullopt;
    const std::size_t open = list_start(demangled, close);
    if (open == std::string::npos) return std::nullopt;
    std::vector<std::string> types;
    std::string current;
    int depth = 0;
    for (std::size_t at = open + 1; at < close; at++) {
        const char c = demangled[at];
        if (c == '(' || c == '<' || c == '[' || c == '{') depth++;
        if (c == ')' || c == '>' || c == ']' || c == '}') depth--;
        if (c == ',' && depth == 0) {
            types.push_back(readable(trimmed(current)));
            current.clear();
        } else {
            current += c;
        }
    }
    if (const std::string last = trimmed(current); !last.empty() && (last != "void" || !types.empty()))
        types.push_back(readable(last));
    return types;
}

std::vector<KernelParameter> kernel_parameters(const ptx::Function& kernel, const KernelSource* source) {
    std::vector<std::string> types;
    if (auto found = signature_types(demangle(kernel.name));
        found && found->size() == kernel.parameters.size())
        types = std::move(*found);
    const bool has_source = source != nullptr && source->parameters.size() == kernel.parameters.size();
    std::vector<KernelParameter> parameters;
    for (std::uint32_t i = 0; i < kernel.parameters.size(); i++) {
        const ptx::Variable& variable = kernel.parameters[i];
        KernelParameter parameter;
        parameter.index = i;
        parameter.offset = variable.offset_bytes;
        parameter.size = static_cast<std::uint32_t>(variable.size_bytes);
        parameter.ptx_type = type_name(variable.type);
        parameter.name = fmt::format("param_{}", i);
        // "kernel_param_2" is clang's name for it; "kernel_param_2_n" is one that says the source's, too.
        const std::string before = fmt::format("{}_{}_", kernel.name, parameter.name);
        if (variable.name.size() > before.size() && variable.name.starts_with(before))
            parameter.name = variable.name.substr(before.size());
        parameter.type = types.empty() ? ptx_type(variable) : types[i];
        if (has_source) {
            if (!source->parameters[i].name.empty()) parameter.name = source->parameters[i].name;
            if (!source->parameters[i].type.empty()) parameter.type = source->parameters[i].type;
        }
        // A typedef hides the star; the mangled name does not.
        const std::string& canonical = types.empty() ? parameter.type : types[i];
        parameter.is_pointer =
            parameter.size == 8 && !variable.is_array && (variable.is_pointer || is_pointer_type(canonical));
        if (parameter.is_pointer) parameter.pointee = pointee_of(canonical);
        parameters.push_back(std::move(parameter));
    }
    return parameters;
}

std::optional<ptx::Type> scalar_type(const std::string& type) {
    using ptx::Type;
    constexpr std::array<std::pair<std::string_view, Type>, 20> types{{
        {"bool", Type::u8},
        {"char", Type::s8},
        {"signed char", Type::s8},
        {"unsigned char", Type::u8},
        {"short", Type::s16},
        {"unsigned short", Type::u16},
        {"int", Type::s32},
        {"unsigned int", Type::u32},
        {"unsigned", Type::u32},
        {"long", Type::s64},
        {"unsigned long", Type::u64},
        {"long long", Type::s64},
        {"unsigned long long", Type::u64},
        {"size_t", Type::u64},
        {"int32_t", Type::s32},
        {"uint32_t", Type::u32},
        {"int64_t", Type::s64},
        {"uint64_t", Type::u64},
        {"float", Type::f32},
        {"double", Type::f64},
    }};
    std::string_view plain = type;
    if (plain.starts_with("const ")) plain.remove_prefix(6);
    for (const auto& [name, machine] : types)
        if (name == plain) return machine;
    return std::nullopt;
}

}  // namespace trimtab::analysis
