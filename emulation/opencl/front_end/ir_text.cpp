// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/front_end/ir_text.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <regex>

namespace trimtab::opencl {
namespace {

constexpr std::string_view twin_mark = "@__clang_ocl_kern_imp_";
// What the device has (the emulator's functions of the host).
constexpr std::array<std::string_view, 4> of_the_device{"vprintf", "malloc", "free", "__assertfail"};

// !8 = !{!"in", i32 3, null}: strings decoded, of all else the last word.
std::optional<std::vector<std::string>> elements(std::string_view node) {
    const std::size_t begin = node.find("!{");
    if (begin == std::string_view::npos || !node.ends_with('}')) return std::nullopt;
    std::string_view rest = node.substr(begin + 2, node.size() - begin - 3);
    std::vector<std::string> out;
    while (!rest.empty()) {
        std::string text;
        if (rest.starts_with("!\"")) {
            std::size_t at = 2;
            for (; at < rest.size() && rest[at] != '"'; ++at) {
                unsigned code = 0;
                if (rest[at] != '\\') {
                    text += rest[at];
                } else if (at + 2 < rest.size() &&
                           std::from_chars(&rest[at] + 1, &rest[at] + 3, code, 16).ec == std::errc()) {
                    text += static_cast<char>(code);
                    at += 2;
                }
            }
            if (at == rest.size()) return std::nullopt;
            rest.remove_prefix(at + 1);
        } else {
            const std::string_view item = rest.substr(0, rest.find(','));
            text = item.substr(item.find_last_of(' ') + 1);
            rest.remove_prefix(item.size());
        }
        out.push_back(std::move(text));
        if (rest.starts_with(", "))
            rest.remove_prefix(2);
        else if (!rest.empty())
            return std::nullopt;
    }
    return out;
}

using Nodes = std::map<std::string_view, std::string_view>;  // "!8" to its text

template <class Use>
void each_line(std::string_view text, Use&& use) {
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        use(line);
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
}

Nodes read_nodes(std::string_view ir) {
    Nodes nodes;
    each_line(ir, [&](std::string_view line) {
        const std::size_t equals = line.find(" = ");
        if (line.size() > 1 && line[0] == '!' && line[1] >= '0' && line[1] <= '9' &&
            equals != std::string_view::npos)
            nodes.emplace(line.substr(0, equals), line.substr(equals + 3));
    });
    return nodes;
}

std::string_view function_name(std::string_view definition) {
    const std::size_t at = definition.find('@');
    if (at == std::string_view::npos) return {};
    const bool is_quoted = definition.substr(at + 1).starts_with('"');
    const std::string_view name = definition.substr(at + 1 + (is_quoted ? 1 : 0));
    return name.substr(0, name.find(is_quoted ? '"' : '('));
}

class Definition {
  public:
    Definition(std::string_view line, const Nodes& nodes) : line_(line), nodes_(&nodes) {}

    // Empty where the function has no such metadata; nullopt where it cannot be read.
    [[nodiscard]] std::optional<std::vector<std::string>> metadata(std::string_view kind) const {
        const auto node = text(kind);
        if (!node) return std::nullopt;
        return node->empty() ? std::vector<std::string>{} : elements(*node);
    }
    // As it stands in the IR: "!{i32 8, i32 4, i32 1}".
    [[nodiscard]] std::optional<std::string_view> text(std::string_view kind) const {
        const std::string mark = fmt::format(" !{} !", kind);
        const std::size_t at = line_.find(mark);
        if (at == std::string_view::npos) return "";
        const std::string_view number = line_.substr(at + mark.size() - 1);
        const auto node = nodes_->find(number.substr(0, number.find(' ')));
        return node == nodes_->end() ? std::nullopt : std::optional(node->second);
    }

  private:
    std::string_view line_;
    const Nodes* nodes_;
};

bool read_size(const std::optional<std::vector<std::string>>& words, std::array<std::uint32_t, 3>& size) {
    if (!words || (!words->empty() && words->size() != size.size())) return false;
    for (std::size_t d = 0; d < words->size(); ++d) {
        const std::string& word = (*words)[d];
        if (std::from_chars(word.data(), word.data() + word.size(), size[d]).ec != std::errc()) return false;
    }
    return true;
}

// "!{<4 x float> poison, i32 0}", whose second number tells int from uint: "float4". Empty where it is nothing of the kind.
std::string vector_type(std::string_view node) {
    if (!node.starts_with("!{")) return {};
    node.remove_prefix(2);
    std::string_view count;
    if (node.starts_with("<")) {
        const std::size_t by = node.find(" x ");
        if (by == std::string_view::npos) return {};
        count = node.substr(1, by - 1);
        node.remove_prefix(by + 3);
    }
    const std::string_view element = node.substr(0, node.find_first_of(" >"));
    constexpr std::array<std::array<std::string_view, 2>, 4> integers{
        {{"i8", "char"}, {"i16", "short"}, {"i32", "int"}, {"i64", "long"}}};
    for (const auto& [ir, name] : integers)
        if (element == ir) return fmt::format("{}{}{}", node.ends_with("i32 1}") ? "" : "u", name, count);
    const bool is_real = element == "float" || element == "double" || element == "half";
    return is_real ? fmt::format("{}{}", element, count) : std::string();
}

// clang numbers them as SPIR does.
AddressSpace address_space(const std::string& number) {
    if (number == "1") return AddressSpace::global;
    if (number == "2") return AddressSpace::constant;
    if (number == "3") return AddressSpace::local;
    if (number == "4") return AddressSpace::generic;
    return AddressSpace::none;
}

std::optional<KernelInfo> read_kernel(std::string_view line, const Nodes& nodes) {
    const Definition definition(line, nodes);
    KernelInfo kernel{.name = std::string(function_name(line)), .parameters = {}};
    const auto names = definition.metadata("kernel_arg_name");
    const auto types = definition.metadata("kernel_arg_type");
    const auto qualifiers = definition.metadata("kernel_arg_type_qual");
    const auto access = definition.metadata("kernel_arg_access_qual");
    const auto spaces = definition.metadata("kernel_arg_addr_space");
    if (!names || !types || !qualifiers || !access || !spaces) return std::nullopt;
    const std::size_t count = names->size();
    if (types->size() != count || qualifiers->size() != count || access->size() != count ||
        spaces->size() != count)
        return std::nullopt;
    for (std::size_t i = 0; i < count; ++i)
        kernel.parameters.push_back({.name = (*names)[i],
                                     .type = (*types)[i],
                                     .qualifiers = (*qualifiers)[i],
                                     .access = (*access)[i],
                                     .space = address_space((*spaces)[i])});
    if (!read_size(definition.metadata("reqd_work_group_size"), kernel.required_size) ||
        !read_size(definition.metadata("work_group_size_hint"), kernel.size_hint))
        return std::nullopt;
    kernel.vector_hint = vector_type(definition.text("vec_type_hint").value_or(""));
    return kernel;
}

std::string demangled(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 ? text.get() : name;
}

}  // namespace

std::expected<std::vector<KernelInfo>, std::string> read_kernels(std::string_view ir) {
    const Nodes nodes = read_nodes(ir);
    std::vector<KernelInfo> kernels;
    std::string unread;
    each_line(ir, [&](std::string_view line) {
        if (!line.starts_with("define ") || line.find(" ptx_kernel ") > line.find('@')) return;
        if (auto kernel = read_kernel(line, nodes))
            kernels.push_back(std::move(*kernel));
        else
            unread = function_name(line);
    });
    if (!unread.empty())
        return std::unexpected(fmt::format("the metadata of kernel {} cannot be read", unread));
    return kernels;
}

void remove_uncalled_twins(std::string& ir) {
    constexpr std::string_view end_mark = "\n}\n";
    for (std::size_t at = ir.find("\ndefine "); at != std::string::npos;) {
        const std::size_t line_end = ir.find('\n', at + 1), end = ir.find(end_mark, at);
        if (line_end == std::string::npos || end == std::string::npos) return;
        const std::string_view line = std::string_view(ir).substr(at + 1, line_end - at - 1);
        const std::size_t name = line.find('@');
        const std::size_t open = line.find('(', name);
        std::size_t next = end + 1;
        if (name != std::string_view::npos && line.substr(name).starts_with(twin_mark)) {
            const std::string called(line.substr(name, open + 1 - name));
            const std::size_t first = ir.find(called);
            if (ir.find(called, first + 1) == std::string::npos) {
                ir.erase(at, end + end_mark.size() - 1 - at);
                next = at;
            }
        }
        at = ir.find("\ndefine ", next);
    }
}

bool keep_accesses(std::string& ir) {
    std::string out;
    bool is_told = true;
    each_line(ir, [&](std::string_view line) {
        // As clang numbers them for NVIDIA's targets: 1 global, 4 constant; what is private or local is the work-group's own.
        const auto names = [&](const std::string& before) {
            return line.contains(before + "ptr addrspace(1)") || line.contains(before + "ptr addrspace(4)");
        };
        constexpr std::string_view load = " = load ", store = "  store ", copy = "@llvm.mem",
                                   plain = "i1 false)";
        std::size_t access = std::string_view::npos;  // behind the word, of an access to such memory
        // Where it goes is their second operand: a pointer may also be what is stored.
        if (line.starts_with(store) && names(", "))
            access = store.size();
        else if (const std::size_t at = line.find(load); at != std::string_view::npos && names(", "))
            access = at + load.size();
        const bool is_access = access != std::string_view::npos;
        if (line.contains("addrspacecast ptr addrspace(1)")) is_told = false;
        if (is_access && line.substr(access).starts_with("volatile ")) is_told = false;
        // The PTX's own volatile accesses could not be told from those that are made so here.
        if (line.contains(" asm ") && line.contains(".volatile")) is_told = false;
        // Assembly without `volatile` may be dropped, and with it what it loads and stores.
        if (line.contains(" asm ") && !line.contains(" asm sideeffect ")) is_told = false;
        // Atomic ones are kept anyway.
        if (is_access && !line.substr(access).starts_with("atomic ")) {
            out.append(line.substr(0, access)).append("volatile ").append(line.substr(access));
        } else if (const std::size_t at = line.find(plain);
                   line.contains(copy) && names("") && at != std::string_view::npos) {
            out.append(line.substr(0, at)).append("i1 true").append(line.substr(at + 8));
        } else {
            out.append(line);
        }
        out += '\n';
    });
    ir = std::move(out);
    return is_told;
}

void make_accesses_plain(std::string& ptx) {
    constexpr std::string_view mark = ".volatile";
    for (std::size_t at = ptx.find(mark); at != std::string::npos; at = ptx.find(mark, at))
        if (const std::string_view opcode(ptx.data() + at - 2, 2); opcode == "ld" || opcode == "st")
            ptx.erase(at, mark.size());
        else
            at += mark.size();
}

void name_parameters(std::string& ptx, const std::vector<KernelInfo>& kernels) {
    std::map<std::string, std::string, std::less<>> names;  // of words
    for (const KernelInfo& kernel : kernels)
        for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
            if (const std::string& name = kernel.parameters[i].name; !name.empty())
                names[fmt::format("{}_param_{}", kernel.name, i)] = name;
    const auto is_of_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' ||
               c == '.';
    };
    std::string out;
    for (std::size_t at = 0; at < ptx.size();) {
        std::size_t end = at;
        while (end < ptx.size() && is_of_word(ptx[end])) ++end;
        const std::string_view word = std::string_view(ptx).substr(at, end - at);
        out.append(word);
        if (const auto known = names.find(word); known != names.end()) out.append("_").append(known->second);
        if (end < ptx.size()) out += ptx[end++];
        at = end;
    }
    ptx = std::move(out);
}

std::vector<std::string> undefined_functions(const std::string& ptx) {
    static const std::regex declaration(R"(\.extern \.func\s+(?:\([^)]*\)\s*)?([\w$.]+))");
    std::vector<std::string> out;
    for (std::sregex_iterator found(ptx.begin(), ptx.end(), declaration), end; found != end; ++found) {
        const std::string name = (*found)[1];
        if (std::ranges::find(of_the_device, name) == of_the_device.end()) out.push_back(demangled(name));
    }
    return out;
}

}  // namespace trimtab::opencl
