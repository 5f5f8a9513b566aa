// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/disassembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace trimtab::sass {
namespace {

std::string_view without_blanks(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

template <class Number>
std::optional<Number> number(std::string_view text, int base) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end == text.data()) return std::nullopt;
    return value;
}

// 0x00000a00ff017624 of "/* 0x00000a00ff017624 */" at the end of a line.
std::optional<std::uint64_t> encoding_word(std::string_view line) {
    const std::size_t at = line.rfind("/* 0x");
    if (at == std::string_view::npos) return std::nullopt;
    return number<std::uint64_t>(line.substr(at + 5), 16);
}

class Reader {
  public:
    Reader(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {}

    std::expected<Disassembly, Error> run() {
        while (!text_.empty()) {
            const std::size_t end = text_.find('\n');
            const std::string_view line = text_.substr(0, end);
            text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
            ++line_;
            if (auto error = read_line(without_blanks(line))) return std::unexpected(std::move(*error));
        }
        if (needs_encoding_) return std::unexpected(bad("ends within an instruction"));
        if (out_.architecture == 0) return std::unexpected(bad("is no disassembly: it has no .target"));
        for (Function& function : out_.functions)
            if (auto error = find_targets(function)) return std::unexpected(std::move(*error));
        return std::move(out_);
    }

  private:
    [[nodiscard]] Error bad(std::string message) const {
        return {.message = std::move(message), .file = origin_, .line = line_};
    }

    std::optional<Error> read_line(std::string_view line) {
        if (line.empty()) return std::nullopt;
        const bool is_grouped = layout_of(out_.architecture) == Layout::grouped;
        if (needs_encoding_ && !is_grouped) return second_word(line);
        if (line.starts_with("//## File")) return ptx_line(line);
        if (line.starts_with("/* 0x") && is_grouped) return word(line);
        if (line.starts_with("/*")) return instruction(line, is_grouped);
        if (line.starts_with("//")) return std::nullopt;
        if (line.starts_with(".target")) return target(line, "sm_");
        // nvdisasm of CUDA 12: .headerflags @"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM61 ..."
        if (line.starts_with(".headerflags")) return target(line, "EF_CUDA_SM");
        if (line.starts_with(".section")) return section(line);
        if (!line.starts_with('.') || line.ends_with(':')) return label(line);
        return std::nullopt;
    }

    std::optional<Error> target(std::string_view line, std::string_view before) {
        const std::size_t at = line.find(before);
        const auto architecture = at == std::string_view::npos
                                      ? std::nullopt
                                      : number<unsigned>(line.substr(at + before.size()), 10);
        if (!architecture) return bad("an architecture that cannot be read");
        out_.architecture = *architecture;
        if (*architecture < first_grouped_architecture)
            return bad(fmt::format("sm_{} has another encoding; sm_{} and later are read", *architecture,
                                   first_grouped_architecture));
        return std::nullopt;
    }

    std::optional<Error> section(std::string_view line) {
        // .sectioninfo @"SHI_REGISTERS=40"
        if (constexpr std::string_view key = "SHI_REGISTERS="; line.contains(key)) {
            const auto registers = number<std::uint32_t>(line.substr(line.find(key) + key.size()), 10);
            if (!out_.functions.empty() && registers) out_.functions.back().registers = *registers;
            return std::nullopt;
        }
        constexpr std::string_view text = ".text.";
        if (!line.starts_with(".section") || line.starts_with(".sectioninfo") ||
            line.starts_with(".sectionflags"))
            return std::nullopt;
        const std::string_view rest = without_blanks(line.substr(std::string_view(".section").size()));
        in_code_ = rest.starts_with(text);
        if (!in_code_) return std::nullopt;
        const std::string_view name = rest.substr(text.size());
        out_.functions.push_back({.name = std::string(name.substr(0, name.find_first_of(",\" \t"))),
                                  .layout = layout_of(out_.architecture),
                                  .instructions = {},
                                  .labels = {},
                                  .subroutines = {}});
        ptx_line_ = 0;
        controlled_ = 0;
        return std::nullopt;
    }

    std::optional<Error> ptx_line(std::string_view line) {
        constexpr std::string_view key = "\", line ";
        const std::size_t at = line.find(key);
        const auto found = at == std::string_view::npos
                               ? std::nullopt
                               : number<std::uint32_t>(line.substr(at + key.size()), 10);
        if (!found) return bad("a line of the PTX that cannot be read");
        ptx_line_ = *found;
        return std::nullopt;
    }

    std::optional<Error> label(std::string_view line) {
        if (!in_code_ || out_.functions.empty() || !line.ends_with(':')) return std::nullopt;
        line.remove_suffix(1);
        Function& function = out_.functions.back();
        const std::uint32_t address = function.end_address();
        function.labels.emplace(line, address);
        // Symbols of functions, behind the first one; ".L_x_3" and ".text.name" are none.
        if (!line.starts_with('.') && !function.instructions.empty() &&
            (function.subroutines.empty() || function.subroutines.back() != address))
            function.subroutines.push_back(address);
        return std::nullopt;
    }

    // "/*0028*/ ISETP.GE.AND P0, PT, R7, 0x1, PT ; /* 0x366d038000170707 */". Of a pair that issues at once, "{ MOV R3, RZ ;
    // /* 0x5c... */" is the first and "@!P0 BRA `(.L_x_0) }" the second, whose encoding comes in a later line.
    std::optional<Error> instruction(std::string_view line, bool is_grouped) {
        if (!in_code_) return std::nullopt;
        Function& function = out_.functions.back();
        const std::size_t address_end = line.find("*/");
        const auto address = address_end == std::string_view::npos
                                 ? std::nullopt
                                 : number<std::uint32_t>(line.substr(2, address_end - 2), 16);
        const std::size_t encoding_begin = std::min(line.rfind("/* 0x"), line.size());
        const auto low = encoding_word(line);
        const bool ends_pair = is_grouped && !low && line.ends_with('}');
        if (!address || (!low && !ends_pair) || encoding_begin < address_end || needs_encoding_)
            return bad("an instruction without an address or encoding");
        if (is_grouped && function.instructions.size() >= controlled_)
            return bad("an instruction without a control word");
        std::string_view text =
            without_blanks(line.substr(address_end + 2, encoding_begin - address_end - 2));
        if (is_grouped && text.starts_with('{')) text = without_blanks(text.substr(1));
        if (is_grouped && text.ends_with('}')) text = without_blanks(text.substr(0, text.size() - 1));
        if (text.ends_with(';')) text = without_blanks(text.substr(0, text.size() - 1));
        auto read = read_instruction(text);
        if (!read) return bad(read.error().message);
        if (*address != function.end_address())
            return bad(fmt::format("an instruction at {:#x} where {:#x} comes next", *address,
                                   function.end_address()));
        read->address = *address;
        read->line = ptx_line_;
        read->encoding.low = low.value_or(0);
        if (is_grouped)
            read->control = control_fields(
                control_word_, static_cast<std::uint32_t>(function.instructions.size() % group_size));
        function.instructions.push_back(std::move(*read));
        needs_encoding_ = !is_grouped || !low;
        return std::nullopt;
    }

    std::optional<Error> second_word(std::string_view line) {
        const auto high = encoding_word(line);
        if (!high || !line.starts_with("/* 0x"))
            return bad("an instruction without the rest of its encoding");
        Instruction& last = out_.functions.back().instructions.back();
        last.encoding.high = *high;
        last.control = control_fields(last.encoding);
        needs_encoding_ = false;
        return std::nullopt;
    }

    // By itself in its line: the encoding of the last instruction, or the control word of the next three.
    std::optional<Error> word(std::string_view line) {
        if (!in_code_) return std::nullopt;
        const auto read = encoding_word(line);
        if (!read) return bad("an encoding that cannot be read");
        std::vector<Instruction>& code = out_.functions.back().instructions;
        if (needs_encoding_) {
            code.back().encoding.low = *read;
            needs_encoding_ = false;
            return std::nullopt;
        }
        if (code.size() != controlled_) return bad("a control word where an instruction comes next");
        control_word_ = *read;
        controlled_ += group_size;
        return std::nullopt;
    }

    // "`(.L_x_3)" of a branch, "`($__internal_0_...)" of a call: an address of this function.
    std::optional<Error> find_targets(Function& function) const {
        for (Instruction& i : function.instructions) {
            const std::string_view base = i.base();
            if (i.pops_target()) find_popped_target(i, function);
            if (base != "BRA" && base != "JMP" && base != "BSSY" && !i.is_call() && !i.pushes_target())
                continue;
            for (const std::string& operand : i.operands) {
                if (!operand.starts_with("`(")) continue;
                const std::string_view name = std::string_view(operand).substr(2, operand.size() - 3);
                const auto found = function.labels.find(name);
                if (found != function.labels.end())
                    i.target = found->second;
                else if (base == "BRA")
                    return Error{
                        .message = fmt::format("a branch to {}, which {} has not", name, function.name),
                        .file = origin_};
            }
        }
        return std::nullopt;
    }

    // nvdisasm finds it: "SYNC (*"BRANCH_TARGETS .L_x_3"*)".
    static void find_popped_target(Instruction& i, const Function& function) {
        constexpr std::string_view before = "(*\"BRANCH_TARGETS ", behind = "\"*)";
        if (i.operands.empty() || !i.operands.back().starts_with(before)) return;
        std::string_view name = i.operands.back();
        name.remove_prefix(before.size());
        const auto found = function.labels.find(name.substr(0, name.find(behind)));
        if (found != function.labels.end()) i.target = found->second;
        i.operands.pop_back();
    }

    std::string_view text_;
    const std::string& origin_;
    Disassembly out_;
    std::uint32_t line_ = 0, ptx_line_ = 0;
    bool in_code_ = false;
    bool needs_encoding_ = false;     // the last instruction does: all of it, or the rest
    std::uint64_t control_word_ = 0;  // of grouped instructions
    std::size_t controlled_ = 0;      // instructions of the function whose control word was read
};

}  // namespace

std::uint32_t Function::code_bytes() const {
    if (layout == Layout::whole) return end_address();
    constexpr std::uint32_t group_bytes = 32;
    return (static_cast<std::uint32_t>(instructions.size()) + group_size - 1) / group_size * group_bytes;
}

const Function* Disassembly::function(std::string_view name) const {
    const auto found = std::ranges::find(functions, name, &Function::name);
    return found == functions.end() ? nullptr : &*found;
}

std::expected<Disassembly, Error> read_disassembly(std::string_view text, const std::string& origin) {
    return Reader(text, origin).run();
}

}  // namespace trimtab::sass
