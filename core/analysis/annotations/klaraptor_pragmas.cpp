// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/annotations/klaraptor_pragmas.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <set>

#include "core/base/read_text.h"

namespace trimtab::analysis {
namespace {

constexpr std::string_view word = "kernel_info_size_param_idx_", blanks = " \t\r;";

struct Pragma {
    std::string_view kernel;
    std::uint32_t line = 0;
    std::vector<std::size_t> indices;
    bool is_readable = true;
};

std::string_view without_blanks(std::string_view text) {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

// "1" or "1, 2".
bool read_indices(std::string_view text, std::vector<std::size_t>& indices) {
    for (;;) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::string_view one = without_blanks(text.substr(0, comma));
        std::size_t index = 0;
        const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), index);
        if (error != std::errc{} || end != one.data() + one.size()) return false;
        indices.push_back(index);
        if (comma == text.size()) return true;
        text.remove_prefix(comma + 1);
    }
}

std::optional<Pragma> pragma_in(std::string_view row, std::uint32_t line) {
    row = without_blanks(row);
    if (!row.starts_with('#')) return std::nullopt;
    row = without_blanks(row.substr(1));
    if (!row.starts_with("pragma")) return std::nullopt;
    row = without_blanks(row.substr(std::string_view("pragma").size()));
    if (!row.starts_with(word)) return std::nullopt;
    row.remove_prefix(word.size());
    const std::size_t equals = row.find('=');
    Pragma pragma{.kernel = without_blanks(row.substr(0, equals)), .line = line, .indices = {}};
    pragma.is_readable =
        equals != std::string_view::npos && read_indices(row.substr(equals + 1), pragma.indices);
    return pragma;
}

// "scale" of "void app::scale<int>(float*, int)".
std::string_view plain_name(std::string_view demangled) {
    std::string_view name = demangled.substr(0, demangled.find_first_of("(<"));
    if (const std::size_t colon = name.find_last_of(": "); colon != std::string_view::npos)
        name.remove_prefix(colon + 1);
    return name;
}

// None, and a fault, where the kernel has no such parameter.
std::optional<std::string> annotation_of(const Pragma& pragma, const KernelSource& source) {
    std::string names;
    for (const std::size_t index : pragma.indices) {
        if (index >= source.parameters.size() || source.parameters[index].name.empty()) return std::nullopt;
        names += (names.empty() ? "" : ", ") + source.parameters[index].name;
    }
    return fmt::format("sizes({})", names);
}

}  // namespace

std::vector<std::string> add_klaraptor_pragmas(KernelSources& sources, const std::string& file,
                                               std::string_view text) {
    std::vector<std::string> faults;
    if (!text.contains(word)) return faults;
    std::uint32_t line = 0;
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t length = std::min(rest.find('\n'), rest.size());
        const auto pragma = pragma_in(rest.substr(0, length), ++line);
        rest.remove_prefix(std::min(length + 1, rest.size()));
        if (!pragma) continue;
        if (!pragma->is_readable) {
            faults.push_back(fmt::format("{}:{}: {}{} wants the index of an argument, as in \"= 1\"", file,
                                         line, word, pragma->kernel));
            continue;
        }
        bool is_met = false;
        for (auto& [mangled, source] : sources) {
            if (source.file != file || plain_name(source.demangled) != pragma->kernel) continue;
            is_met = true;
            if (!source.annotations.empty()) continue;
            if (auto annotation = annotation_of(*pragma, source))
                source.annotations.push_back({.text = std::move(*annotation), .file = file, .line = line});
            else
                faults.push_back(fmt::format("{}:{}: {} has {} arguments: their indices begin at 0", file,
                                             line, source.demangled, source.parameters.size()));
        }
        if (!is_met)
            faults.push_back(fmt::format("{}:{}: no kernel here is called {}", file, line, pragma->kernel));
    }
    return faults;
}

std::vector<std::string> add_klaraptor_pragmas(KernelSources& sources) {
    std::set<std::string> files;
    for (const auto& [mangled, source] : sources)
        if (!source.file.empty()) files.insert(source.file);
    std::vector<std::string> faults;
    for (const std::string& file : files)
        if (const auto text = base::read_text(file))
            for (std::string& fault : add_klaraptor_pragmas(sources, file, *text))
                faults.push_back(std::move(fault));
    return faults;
}

}  // namespace trimtab::analysis
