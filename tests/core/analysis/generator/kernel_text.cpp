// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/kernel_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <span>

namespace trimtab::analysis::test {
namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

struct Piece {
    std::size_t first = 0, size = 0;
};

// The registers of an instruction that are not special: %r3, %rd7.
std::vector<Piece> registers_of(std::string_view line) {
    std::vector<Piece> found;
    for (std::size_t at = line.find('%'); at != std::string_view::npos; at = line.find('%', at + 1)) {
        std::size_t end = at + 1;
        while (end < line.size() && is_word(line[end])) end++;
        if (end - at > 2 && std::isdigit(static_cast<unsigned char>(line[end - 1])) != 0 &&
            (end == line.size() || line[end] != '.'))
            found.push_back({at, end - at});
    }
    return found;
}

std::string_view kind_of(std::string_view name) {
    while (std::isdigit(static_cast<unsigned char>(name.back())) != 0) name.remove_suffix(1);
    return name;
}

bool is_instruction(std::string_view line) {
    const std::size_t first = line.find_first_not_of(" \t");
    return first != std::string_view::npos && line[first] != '.' && line[first] != '{' &&
           line[first] != '}' && !line.contains(':') && line.contains(';');
}

bool writes_first(std::string_view line) {
    for (const char* without : {"st.", "bra", "bar.", "red.", "ret", "exit", "call", "barrier"})
        if (const std::size_t at = line.find_first_not_of(" \t"); line.substr(at).starts_with(without))
            return false;
    return true;
}

class Mutation {
  public:
    Mutation(KernelText& kernel, Draw& draw) : kernel_(kernel), draw_(draw) {
        for (std::size_t i = kernel.body_first; i < kernel.body_end; i++) {
            // What a call passes is there whenever it is called.
            if (!is_instruction(kernel.lines[i]) || kernel.lines[i].contains("st.param.")) continue;
            instructions_.push_back(i);
            for (const Piece& piece : registers_of(kernel.lines[i]))
                registers_.insert(kernel.lines[i].substr(piece.first, piece.size));
        }
    }

    void make() {
        if (instructions_.empty() || registers_.empty()) return;
        for (unsigned attempt = 0; attempt < 8; attempt++)
            if (one()) return;
    }

  private:
    bool one() {
        switch (draw_.below(12)) {
            case 0:
            case 1:
            case 2:
                return other_operand();
            case 3:
            case 4:
                return other_word();
            case 5:
                return truncate();
            case 6:
                return carry();
            case 7:
                return other_number();
            case 8:
                return guard();
            case 9:
                return special();
            case 10:
                return move();
            default:
                return leave_out();
        }
    }
    std::string& line() { return kernel_.lines[draw_.of(instructions_)]; }
    void insert(std::size_t at, std::string text) {
        kernel_.lines.insert(kernel_.lines.begin() + static_cast<std::ptrdiff_t>(at), std::move(text));
        kernel_.body_end++;
    }
    std::string any(std::string_view kind) {
        std::vector<std::string> alike;
        for (const std::string& name : registers_)
            if (kind_of(name) == kind) alike.push_back(name);
        return alike.empty() ? std::string() : draw_.of(alike);
    }

    // Another register of its kind, in the place of one that is read.
    bool other_operand() {
        std::string& text = line();
        const std::vector<Piece> pieces = registers_of(text);
        const std::size_t first = writes_first(text) && !text.contains('@') ? 1 : 0;
        if (pieces.size() <= first) return false;
        const Piece piece = pieces[first + draw_.below(pieces.size() - first)];
        const std::string old = text.substr(piece.first, piece.size), name = any(kind_of(old));
        if (name.empty() || name == old) return false;
        text.replace(piece.first, piece.size, name);
        return true;
    }

    bool other_word() {
        static constexpr std::array<std::array<const char*, 4>, 20> families = {{
            {".lt.", ".le.", ".gt.", ".ge."},
            {".eq.", ".ne.", ".lt.", ".ge."},
            {".s32 ", ".u32 ", ".s32 ", ".u32 "},
            {".s64 ", ".u64 ", ".s64 ", ".u64 "},
            {".lo.", ".lo.", ".hi.", ".lo."},
            {"add.", "sub.", "min.", "max."},
            {"and.b32", "or.b32", "xor.b32", "and.b32"},
            {"and.pred", "or.pred", "xor.pred", "and.pred"},
            {"@%p", "@!%p", "@!%p", "@!%p"},
            {"@!%p", "@%p", "@%p", "@%p"},
            {"shl.", "shr.", "shl.", "shr."},
            {"mul.wide.s32", "mul.wide.u32", "mul.wide.s32", "mul.wide.u32"},
            {"cvt.s64.s32", "cvt.u64.u32", "cvt.s64.s32", "cvt.u64.u32"},
            {"add.s32", "sub.s32", "mul.lo.s32", "min.u32"},
            {"add.s64", "sub.s64", "mul.lo.s64", "max.u64"},
            {"red.global.add", "red.global.max", "red.global.or", "red.global.min"},
            {"%tid.x", "%tid.y", "%ctaid.x", "%tid.x"},
            {"%ntid.x", "%nctaid.x", "%ntid.y", "%ntid.x"},
            {"%ctaid.x", "%ctaid.y", "%nctaid.x", "%ctaid.x"},
            {"ld.global.nc.", "ld.global.", "ld.global.nc.", "ld.global."},
        }};
        std::string& text = line();
        const auto& family = draw_.of(families);
        const std::size_t at = text.find(family[0]);
        const std::string to = family[1 + draw_.below(3)];
        if (at == std::string::npos || to == family[0]) return false;
        text.replace(at, std::string_view(family[0]).size(), to);
        return true;
    }

    std::pair<std::size_t, std::string> written(std::string_view kind) {
        const std::size_t at = draw_.of(instructions_);
        const std::string& text = kernel_.lines[at];
        const std::vector<Piece> pieces = registers_of(text);
        if (pieces.empty() || text.contains('@') || !writes_first(text)) return {0, {}};
        std::string name = text.substr(pieces[0].first, pieces[0].size);
        if (kind_of(name) != kind) return {0, {}};
        return {at, std::move(name)};
    }

    bool truncate() {
        const auto [at, name] = written(draw_.chance(60) ? "%r" : "%rd");
        if (at == 0) return false;
        const bool wide = kind_of(name) == "%rd";
        static constexpr std::array narrow = {"u8", "s8", "u16", "s16", "u32", "s32"};
        const unsigned bits = draw_.below(wide ? 6 : 4);
        switch (draw_.below(3)) {
            case 0:
                insert(at + 1, std::string("\tcvt.") + (wide ? "u64." : "u32.") + narrow[bits] + " " + name +
                                   ", " + name + ";");
                break;
            case 1:
                insert(at + 1, std::string("\tand.") + (wide ? "b64 " : "b32 ") + name + ", " + name + ", " +
                                   std::to_string((1u << (1 + draw_.below(8))) - 1) + ";");
                break;
            default:
                insert(at + 1, std::string("\tbfe.") + (wide ? "s64 " : "s32 ") + name + ", " + name +
                                   ", 0, " + std::to_string(4 + draw_.below(wide ? 40 : 28)) + ";");
        }
        return true;
    }

    // The carry of one register is added to another.
    bool carry() {
        const auto [at, name] = written("%r");
        const std::string other = any("%r");
        if (at == 0 || other.empty()) return false;
        static constexpr std::array limits = {"-1",         "0xfffffff0", "0xffffffc0", "0xffffff00",
                                              "0x80000000", "1",          "0xfffffffb", "0xffffffe0"};
        const std::string to = draw_.chance(50) ? draw_.of(limits) : "-" + std::to_string(draw_.below(300));
        switch (draw_.below(4)) {
            case 0:
                insert(at + 1, "\tadd.cc.u32 " + other + ", " + name + ", " + to + ";");
                insert(at + 2, "\taddc.u32 " + name + ", " + name + ", 0;");
                break;
            case 1:
                insert(at + 1, "\tsub.cc.u32 " + other + ", " + other + ", " + name + ";");
                insert(at + 2, "\tsubc.u32 " + name + ", " + name + ", 0;");
                break;
            case 2: {
                const std::string third = any("%r");
                insert(at + 1, "\tmad.lo.cc.u32 " + other + ", " + name + ", " + name + ", " + to + ";");
                insert(at + 2, "\tmadc.hi.u32 " + third + ", " + third + ", 1, " + third + ";");
                break;
            }
            default: {
                // Here, and used somewhere below.
                insert(at + 1, "\tadd.cc.u32 " + other + ", " + name + ", " + to + ";");
                const auto [later, target] = written("%r");
                if (later > at) insert(later + 1, "\taddc.u32 " + target + ", " + target + ", 0;");
            }
        }
        return true;
    }

    bool other_number() {
        std::string& text = line();
        std::vector<Piece> numbers;
        for (std::size_t at = 1; at < text.size(); at++) {
            if (std::isdigit(static_cast<unsigned char>(text[at])) == 0 || is_word(text[at - 1]) ||
                text[at - 1] == '%' || text[at - 1] == '.')
                continue;
            std::size_t end = at;
            while (end < text.size() && is_word(text[end])) end++;
            numbers.push_back({at, end - at});
            at = end;
        }
        if (numbers.empty()) return false;
        static constexpr std::array others = {"0", "1", "2", "3", "4", "5", "8", "16", "31", "32", "64"};
        const Piece piece = draw_.of(numbers);
        text.replace(piece.first, piece.size, draw_.of(others));
        return true;
    }

    bool guard() {
        std::string& text = line();
        const std::string name = any("%p");
        if (name.empty() || text.contains('@') || text.contains("setp") || text.contains("call") ||
            text.contains("param"))
            return false;
        const std::size_t at = text.find_first_not_of(" \t");
        text.insert(at, (draw_.chance(50) ? "@" : "@!") + name + " ");
        return true;
    }

    // What stands for a thread's place, where a value was.
    bool special() {
        static constexpr std::array names = {"%tid.x",  "%ntid.x",   "%ctaid.x", "%nctaid.x",
                                             "%laneid", "%nctaid.x", "%warpid",  "%tid.x"};
        const auto [at, name] = written("%r");
        const std::string other = any("%r");
        if (at == 0 || other.empty()) return false;
        insert(at + 1, std::string("\tmov.u32 ") + other + ", " + draw_.of(names) + ";");
        if (draw_.chance(60))
            insert(at + 2, std::string("\t") + (draw_.chance(50) ? "xor.b32 " : "max.u32 ") + name + ", " +
                               name + ", " + other + ";");
        return true;
    }

    bool move() {
        const std::size_t from = draw_.of(instructions_);
        const std::string text = kernel_.lines[from];
        if (text.contains("bra") || text.contains("ret") || text.contains("call")) return false;
        kernel_.lines.erase(kernel_.lines.begin() + static_cast<std::ptrdiff_t>(from));
        kernel_.body_end--;
        insert(kernel_.body_first + draw_.below(kernel_.body_end - kernel_.body_first), text);
        return true;
    }

    bool leave_out() {
        const std::size_t at = draw_.of(instructions_);
        if (kernel_.lines[at].contains("call")) return false;
        kernel_.lines.erase(kernel_.lines.begin() + static_cast<std::ptrdiff_t>(at));
        kernel_.body_end--;
        return true;
    }

    KernelText& kernel_;
    Draw& draw_;
    std::vector<std::size_t> instructions_;
    std::set<std::string> registers_;
};

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string line(text.substr(at, end - at));
        at = end + 1;
        const std::size_t first = line.find_first_not_of(" \t");
        if (first == std::string::npos) continue;
        const std::string_view rest = std::string_view(line).substr(first);
        if (!rest.starts_with("//") && !rest.starts_with(".loc ") && !rest.starts_with(".loc\t") &&
            !rest.starts_with(".file"))
            lines.push_back(std::move(line));
    }
    return lines;
}

// Ends behind the brace that closes what begins at `first`.
std::size_t end_of_function(std::span<const std::string> lines, std::size_t first) {
    int depth = 0;
    for (std::size_t i = first; i < lines.size(); i++) {
        depth += static_cast<int>(std::ranges::count(lines[i], '{'));
        const auto closed = static_cast<int>(std::ranges::count(lines[i], '}'));
        depth -= closed;
        if (closed > 0 && depth == 0) return i + 1;
    }
    return lines.size();
}

}  // namespace

std::string KernelText::text() const {
    std::string result;
    for (const std::string& line : lines) result += line + "\n";
    return result;
}

std::vector<KernelText> kernels_of(std::string_view module) {
    const std::vector<std::string> lines = lines_of(module);
    std::vector<std::string> directives, rest;
    std::vector<std::vector<std::string>> kernels;
    std::set<std::string> symbols;
    for (std::size_t i = 0; i < lines.size();) {
        if (lines[i].contains(".entry")) {
            const std::size_t end = end_of_function(lines, i);
            kernels.emplace_back(lines.begin() + static_cast<std::ptrdiff_t>(i),
                                 lines.begin() + static_cast<std::ptrdiff_t>(end));
            i = end;
            continue;
        }
        const bool is_directive = lines[i].starts_with(".version") || lines[i].starts_with(".target") ||
                                  lines[i].starts_with(".address_size");
        (is_directive ? directives : rest).push_back(lines[i]);
        // At module scope names stand before an array's size, an initialiser or the end.
        if (const bool declares = !is_directive && lines[i].starts_with("."); declares) {
            std::string_view line = lines[i];
            line = line.substr(0, line.find_first_of("[=;"));
            while (!line.empty() && !is_word(line.back())) line.remove_suffix(1);
            const std::size_t first = line.find_last_of(" \t");
            symbols.insert(std::string(line.substr(first + 1)));
        }
        i++;
    }
    std::vector<KernelText> result;
    for (const std::vector<std::string>& kernel : kernels) {
        KernelText text{.lines = directives};
        const bool names_rest = std::ranges::any_of(kernel, [&](const std::string& line) {
            return line.contains("call") || std::ranges::any_of(symbols, [&](const std::string& symbol) {
                       return !symbol.empty() && line.contains(symbol);
                   });
        });
        if (names_rest) text.lines.insert(text.lines.end(), rest.begin(), rest.end());
        const auto brace =
            std::ranges::find_if(kernel, [](const std::string& line) { return line.contains('{'); });
        text.body_first = text.lines.size() + static_cast<std::size_t>(brace - kernel.begin()) + 1;
        text.lines.insert(text.lines.end(), kernel.begin(), kernel.end());
        text.body_end = text.lines.size() - 1;
        result.push_back(std::move(text));
    }
    return result;
}

void mutate(KernelText& kernel, Draw& draw) {
    for (unsigned attempt = 0; attempt < 8; attempt++) {
        KernelText changed = kernel;
        Mutation(changed, draw).make();
        if (!is_complete(changed)) continue;
        kernel = std::move(changed);
        return;
    }
}

KernelText with_initial_values(const KernelText& kernel) {
    std::map<std::string, std::string> types;  // of registers, by kind: %r -> b32
    std::set<std::string> names;
    std::vector<std::string> begin;
    KernelText result = kernel;
    std::size_t first = kernel.body_end;
    for (std::size_t i = kernel.body_first; i < kernel.body_end; i++) {
        const std::string& line = kernel.lines[i];
        if (const std::size_t at = line.find(".reg .");
            at != std::string::npos && line.find('%', at) != std::string::npos) {
            const std::size_t type = at + 6, name = line.find('%', at), end = line.find_first_of("<;", name);
            types[std::string(kind_of(line.substr(name, end - name)))] =
                line.substr(type, line.find_first_of(" \t", type) - type);
        } else if (const std::size_t local = line.find(".local "); local != std::string::npos) {
            const std::size_t size = line.find('[', local), name = line.find_last_of(" \t", size) + 1;
            if (size == std::string::npos) continue;
            // As large as the emulator's smallest frame: what a mutated index reads past the array must not be what another
            // thread left there.
            const unsigned long bytes = std::max(std::stoul(line.substr(size + 1)), 32ul);
            result.lines[i] =
                line.substr(0, size + 1) + std::to_string(bytes) + line.substr(line.find(']', size));
            for (unsigned long at = 0; at + 4 <= bytes; at += 4)
                begin.push_back("\tst.local.u32 [" + line.substr(name, size - name) + "+" +
                                std::to_string(at) + "], 0;");
        } else {
            if (is_instruction(line)) first = std::min(first, i);
            for (const Piece& piece : registers_of(line)) names.insert(line.substr(piece.first, piece.size));
        }
    }
    for (const std::string& name : names) {
        const std::string type = types[std::string(kind_of(name))];
        if (type == "pred")
            begin.push_back("\tsetp.ne.u32 " + name + ", 0, 0;");
        else
            begin.push_back("\tmov." + type + " " + name +
                            (type == "f32"   ? ", 0f00000000;"
                             : type == "f64" ? ", 0d0000000000000000;"
                                             : ", 0;"));
    }
    result.lines.insert(result.lines.begin() + static_cast<std::ptrdiff_t>(first), begin.begin(),
                        begin.end());
    result.body_end += begin.size();
    return result;
}

bool is_complete(const KernelText& kernel) {
    std::set<std::string> written, read;
    for (std::size_t i = kernel.body_first; i < kernel.body_end; i++) {
        const std::string& line = kernel.lines[i];
        if (line.contains(".reg")) continue;
        const std::vector<Piece> pieces = registers_of(line);
        std::size_t results = writes_first(line) && !pieces.empty() ? 1 : 0;
        std::size_t skipped = 0;
        if (line.contains('@')) skipped = 1;
        // setp.lt.s32 %p1|%p2, and vectors: {%r1, %r2}
        if (line.contains('{') && results == 1 && line.find('{') < line.find(','))
            results = static_cast<std::size_t>(std::ranges::count_if(
                pieces, [&](const Piece& piece) { return piece.first < line.find('}'); }));
        for (std::size_t p = 0; p < pieces.size(); p++) {
            const std::string name = line.substr(pieces[p].first, pieces[p].size);
            (p >= skipped && p < skipped + results ? written : read).insert(name);
        }
    }
    return std::ranges::includes(written, read);
}

}  // namespace trimtab::analysis::test
