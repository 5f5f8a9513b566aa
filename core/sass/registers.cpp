// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which registers an instruction reads and writes: from its operands, and from what its opcode and modifiers
// say of their widths.
#include <algorithm>
#include <charconv>
#include <optional>

#include "core/sass/instruction.h"

namespace trimtab::sass {
namespace {

// What is left of an operand behind signs and bars: "R4" of "-|R4|".
std::string_view bare(std::string_view operand) {
    while (!operand.empty() && std::string_view("-+!~|").contains(operand.front())) operand.remove_prefix(1);
    return operand;
}

struct Named {
    RegisterRange range;
    bool is_null = false;    // RZ, PT ...
    std::size_t length = 0;  // of its name
};

// A register's name at the text's start.
std::optional<Named> register_at(std::string_view text) {
    Named out;
    std::size_t at = 0;
    const bool uniform = text.starts_with('U');
    if (uniform) at = 1;
    if (at >= text.size() || (text[at] != 'R' && text[at] != 'P')) return std::nullopt;
    const bool predicate = text[at] == 'P';
    ++at;
    out.range.file = predicate ? (uniform ? RegisterFile::uniform_predicate : RegisterFile::predicate)
                               : (uniform ? RegisterFile::uniform : RegisterFile::general);
    if (at < text.size() && text[at] == (predicate ? 'T' : 'Z')) {
        out.is_null = true;
        ++at;
    } else {
        const auto [end, error] =
            std::from_chars(text.data() + at, text.data() + text.size(), out.range.first);
        if (error != std::errc{}) return std::nullopt;
        at = static_cast<std::size_t>(end - text.data());
    }
    // "RET" or "P0X" is no register.
    if (at < text.size()) {
        const char next = text[at];
        if ((next >= 'A' && next <= 'Z') || (next >= '0' && next <= '9') || next == '_') return std::nullopt;
    }
    out.length = at;
    return out;
}

std::optional<Named> plain_register(std::string_view operand) {
    return register_at(bare(operand));
}

bool is_predicate(const Named& reg) {
    return reg.range.file == RegisterFile::predicate || reg.range.file == RegisterFile::uniform_predicate;
}

bool is_address(std::string_view operand) {
    return operand.starts_with('[') || operand.starts_with("desc[");
}

// 8 for "64", 4 for "32" ...; 0: no width.
std::uint32_t bytes_of(std::string_view modifier) {
    if (modifier == "U8" || modifier == "S8") return 1;
    if (modifier == "U16" || modifier == "S16") return 2;
    if (modifier == "32") return 4;
    if (modifier == "64" || modifier == "U64" || modifier == "S64") return 8;
    if (modifier == "128") return 16;
    if (modifier == "256") return 32;
    return 0;
}

std::uint32_t access_bytes(const Instruction& i) {
    if (i.access() == Access::none || i.space() == Space::none) return 0;
    if (i.access() == Access::load_pack) return 4 * (i.has_modifier("4") ? 4 : i.has_modifier("2") ? 2 : 1);
    for (const char* width : {"U8", "S8", "U16", "S16", "64", "U64", "S64", "128", "256"})
        if (i.has_modifier(width)) return bytes_of(width);
    if (i.has_modifier("F64")) return 8;
    if (i.has_modifier("F16x2") || i.has_modifier("BF16x2")) return 4;
    return 4;
}

class RegisterFinder {
  public:
    explicit RegisterFinder(Instruction& instruction) : i_(instruction) {}

    void run() {
        i_.access_bytes = access_bytes(i_);
        if (i_.guard.is_there && i_.guard.reg.count > 0) add(i_.reads, i_.guard.reg);
        special_cases();
        const std::size_t results = count_results();
        for (std::size_t o = 0; o < i_.operands.size(); ++o)
            if (o < results)
                written(i_.operands[o]);
            else
                read(i_.operands[o], o - results);
    }

  private:
    static void add(std::vector<RegisterRange>& list, RegisterRange range) {
        if (range.count > 0 && std::ranges::find(list, range) == list.end()) list.push_back(range);
    }

    // R2P and P2R name all predicates as PR, and which of them by a mask.
    void special_cases() {
        const bool to_predicates = i_.base() == "R2P";
        if (!to_predicates && i_.base() != "P2R") return;
        std::uint32_t mask = 0x7f;
        if (!i_.operands.empty() && i_.operands.back().starts_with("0x")) {
            const std::string& text = i_.operands.back();
            std::from_chars(text.data() + 2, text.data() + text.size(), mask, 16);
        }
        for (std::uint16_t p = 0; p < 7; ++p)
            if ((mask >> p & 1) != 0)
                add(to_predicates ? i_.writes : i_.reads, {.file = RegisterFile::predicate, .first = p});
    }

    // Results come first: a predicate before or behind the register, or two predicates.
    std::size_t count_results() const {
        if (i_.info == nullptr) return i_.operands.empty() || is_address(i_.operands[0]) ? 0 : 1;
        std::size_t registers = i_.info->register_results, predicates = i_.info->predicate_results, at = 0;
        while (at < i_.operands.size()) {
            const auto reg = register_at(i_.operands[at]);  // a sign makes it a source
            if (!reg) break;
            std::size_t& left = is_predicate(*reg) ? predicates : registers;
            // A predicate in the place of the register is VOTE's; all that follows is read.
            if (left == 0) break;
            --left;
            ++at;
            const bool predicate_alone = is_predicate(*reg) && registers > 0 && at == 1;
            if (predicate_alone && !takes_predicate_first()) return at;
        }
        return at;
    }
    // "ATOMG PT, R7, [R2]" and "SHFL PT, R0, R3", but "VOTE.ALL P0, P1".
    [[nodiscard]] bool takes_predicate_first() const {
        return i_.base() != "VOTE" && i_.base() != "VOTEU" && i_.base() != "R2UR";
    }

    void written(std::string_view operand) {
        const auto reg = plain_register(operand);
        if (!reg || reg->is_null) return;
        RegisterRange range = reg->range;
        if (!is_predicate(*reg)) range.count = result_registers();
        add(i_.writes, range);
    }

    [[nodiscard]] std::uint16_t result_registers() const {
        const std::string_view base = i_.base();
        if (i_.info != nullptr && i_.info->space == Space::texture) return 2;
        if (i_.access_bytes > 0) return registers_of(i_.access_bytes);
        if (i_.pipe() == Pipe::fp64) return 2;
        if (i_.pipe() == Pipe::tensor) return matrix_registers(3);
        if (base == "CS2R") return i_.has_modifier("32") ? 1 : 2;
        if (base == "IMAD" || base == "UIMAD") return i_.has_modifier("WIDE") ? 2 : 1;
        if (base == "FFMA2" || base == "FADD2" || base == "FMUL2") return 2;
        if (base == "LEPC" || base == "ULEPC") return 2;
        if (base == "I2F" || base == "FRND") return i_.has_modifier("F64") ? 2 : 1;
        // F2F.F64.F32 R10, R8: the result's type stands first.
        if (base == "F2F") return i_.opcode.starts_with("F2F.F64") || first_type() == "F64" ? 2 : 1;
        if (base == "F2I") return i_.has_modifier("S64") || i_.has_modifier("U64") ? 2 : 1;
        if (base == "MOV" || base == "UMOV") return i_.has_modifier("64") ? 2 : 1;
        return 1;
    }

    void read(std::string_view operand, std::size_t place) {
        if (is_address(operand) || operand.starts_with("c[") || operand.starts_with("cx[") ||
            operand.contains('[')) {
            read_within(operand);
            return;
        }
        const auto reg = plain_register(operand);
        if (!reg || reg->is_null) return;
        RegisterRange range = reg->range;
        if (!is_predicate(*reg)) range.count = source_registers(operand, place);
        add(i_.reads, range);
    }

    // "[R2.64+UR4+0x10]", "desc[UR4][R2.64]", "c[0x2][R8]", "cx[UR4][0x10]".
    void read_within(std::string_view operand) {
        const bool wide_address =
            (i_.is_global() || i_.access() == Access::copy) && i_.has_modifier("E") && !names_width(operand);
        for (std::size_t at = 0; at < operand.size(); ++at) {
            const bool starts = at > 0 && std::string_view("[+-").contains(operand[at - 1]);
            if (!starts) continue;
            const auto reg = register_at(operand.substr(at));
            if (!reg || reg->is_null) continue;
            RegisterRange range = reg->range;
            const std::string_view behind = operand.substr(at + reg->length);
            const bool descriptor = at >= 5 && operand.substr(at - 5, 5) == "desc[";
            const bool first_of_copy = i_.access() == Access::copy && operand == i_.operands[0];
            // A uniform base or offset of global memory has 64 bits, too.
            const bool uniform_base = i_.is_global() && range.file == RegisterFile::uniform;
            if (descriptor || behind.starts_with(".64") ||
                ((wide_address || uniform_base) && !first_of_copy && !operand.starts_with("c[")))
                range.count = 2;
            add(i_.reads, range);
            at += reg->length - 1;
        }
    }
    static bool names_width(std::string_view operand) {
        return operand.contains(".64") || operand.contains(".U32") || operand.contains(".S32");
    }

    [[nodiscard]] std::uint16_t source_registers(std::string_view operand, std::size_t place) const {
        const std::string_view base = i_.base();
        // Of a store or an atomic: data of the access's width.
        if (i_.access() == Access::store || i_.access() == Access::atomic) {
            if (base == "STSM") return i_.has_modifier("4") ? 4 : i_.has_modifier("2") ? 2 : 1;
            return registers_of(i_.access_bytes);
        }
        if (i_.info != nullptr && i_.info->space == Space::texture) return place == 0 ? 2 : 1;
        if (operand.contains(".64")) return 2;
        if (i_.pipe() == Pipe::fp64) return 2;
        if (i_.pipe() == Pipe::tensor) return matrix_registers(place);
        if ((base == "IMAD" || base == "UIMAD") && i_.has_modifier("WIDE")) return place == 2 ? 2 : 1;
        if (base == "FFMA2" || base == "FADD2" || base == "FMUL2") return 2;
        if (base == "F2F" || base == "F2I" || base == "FRND") return last_type() == "F64" ? 2 : 1;
        if (base == "I2F") return last_type() == "S64" || last_type() == "U64" ? 2 : 1;
        if (base == "RET" || base == "BRX" || base == "JMX" || (base == "CALL" && i_.has_modifier("ABS")))
            return 2;
        return 1;
    }

    static std::uint16_t registers_of(std::uint32_t bytes) {
        return static_cast<std::uint16_t>(std::max<std::uint32_t>(1, bytes / 4));
    }

    static bool is_type(std::string_view part) {
        return part.size() >= 2 && std::string_view("FSU").contains(part[0]) && part[1] >= '0' &&
               part[1] <= '9';
    }
    [[nodiscard]] std::string_view first_type() const { return a_type(false); }
    [[nodiscard]] std::string_view last_type() const { return a_type(true); }
    [[nodiscard]] std::string_view a_type(bool last) const {
        std::string_view rest = i_.opcode, found;
        for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
            rest.remove_prefix(dot + 1);
            const std::string_view part = rest.substr(0, rest.find('.'));
            if (is_type(part) && (last || found.empty())) found = part;
        }
        return found;
    }

    // Registers of a lane of A, B, C (0, 1, 2) and D (3) of m x n x k, whose products are spread evenly over
    // 32 lanes.
    [[nodiscard]] std::uint16_t matrix_registers(std::size_t place) const {
        std::string_view shape, result;
        std::string_view rest = i_.opcode;
        for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
            rest.remove_prefix(dot + 1);
            const std::string_view part = rest.substr(0, rest.find('.'));
            if (shape.empty() && !part.empty() && part[0] >= '0' && part[0] <= '9') shape = part;
            if (result.empty() && is_type(part)) result = part;
        }
        const auto registers = [](std::uint32_t elements, std::uint32_t bits) {
            return static_cast<std::uint16_t>(std::max<std::uint32_t>(1, elements * bits / 32 / 32));
        };
        const std::string_view base = i_.base();
        std::uint32_t m = 16, n = 8, k = 16;
        if (shape == "884") {
            // Volta's, whose quarters of a warp work on four products: pairs in, eight results out.
            if (base == "DMMA") return place == 0 || place == 1 ? 2 : 4;
            return place < 2 ? 2 : (result == "F16" ? 4 : 8);
        }
        if (shape.starts_with("8"))
            m = 8, n = 8, k = shape == "8816" ? 16 : shape == "8832" ? 32 : 128;
        else if (shape == "1688")
            k = 8;
        else if (shape == "1684")
            k = 4;
        else if (shape == "16816")
            k = 16;
        else if (shape == "16832")
            k = 32;
        else if (shape == "16864")
            k = 64;
        else if (shape == "168128")
            k = 128;
        else if (shape == "168256")
            k = 256;
        std::uint32_t in_bits = 16;
        if (base == "IMMA" || base == "QMMA") in_bits = k >= 64 ? 4 : 8;
        if (base == "BMMA") in_bits = 1;
        if (base == "DMMA") in_bits = 64;
        if (i_.has_modifier("TF32")) in_bits = 32;
        const std::uint32_t out_bits = base == "DMMA" ? 64 : result == "F16" ? 16 : 32;
        if (place == 0) return registers(m * k, in_bits);
        if (place == 1) return registers(n * k, in_bits);
        return registers(m * n, out_bits);
    }

    Instruction& i_;
};

}  // namespace

void find_registers(Instruction& instruction) {
    instruction.reads.clear();
    instruction.writes.clear();
    RegisterFinder(instruction).run();
}

}  // namespace trimtab::sass
