// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/mnemonic.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/ptx/names.h"

namespace trimtab::ptx {
namespace {

template <class Value, std::size_t n>
bool take(const std::array<std::pair<std::string_view, Value>, n>& table, std::string_view suffix,
          Value& out) {
    for (const auto& [spelling, value] : table) {
        if (spelling != suffix) continue;
        out = value;
        return true;
    }
    return false;
}

constexpr auto comparisons = std::to_array<std::pair<std::string_view, Comparison>>({
#define COMPARISON(enumerator, spelling) {spelling, Comparison::enumerator},
#include "core/ptx/modifiers.def"
});
constexpr auto roundings = std::to_array<std::pair<std::string_view, Rounding>>({
#define ROUNDING(enumerator, spelling) {spelling, Rounding::enumerator},
#include "core/ptx/modifiers.def"
});
constexpr auto caches = std::to_array<std::pair<std::string_view, CacheOp>>({
#define CACHE_OP(enumerator, spelling) {spelling, CacheOp::enumerator},
#include "core/ptx/modifiers.def"
});
// A fence of sc orders at least what acq_rel does; its suffix tells it apart.
constexpr auto semantics = std::to_array<std::pair<std::string_view, MemorySemantics>>({
#define MEMORY_SEMANTICS(enumerator, spelling) {spelling, MemorySemantics::enumerator},
#include "core/ptx/modifiers.def"
    {"sc", MemorySemantics::acq_rel},
});
constexpr auto scopes = std::to_array<std::pair<std::string_view, Scope>>({
#define SCOPE(enumerator, spelling) {spelling, Scope::enumerator},
#include "core/ptx/modifiers.def"
    {"gl", Scope::gpu},
});
constexpr auto atomics = std::to_array<std::pair<std::string_view, AtomicOp>>({
#define ATOMIC_OP(enumerator, spelling) {spelling, AtomicOp::enumerator},
#include "core/ptx/modifiers.def"
});
constexpr auto shuffles = std::to_array<std::pair<std::string_view, ShuffleMode>>({
#define SHUFFLE_MODE(enumerator, spelling) {spelling, ShuffleMode::enumerator},
#include "core/ptx/modifiers.def"
});
constexpr auto votes = std::to_array<std::pair<std::string_view, VoteMode>>({
#define VOTE_MODE(enumerator, spelling) {spelling, VoteMode::enumerator},
#include "core/ptx/modifiers.def"
});
constexpr auto booleans = std::to_array<std::pair<std::string_view, BooleanOp>>({
#define BOOLEAN_OP(enumerator, spelling) {spelling, BooleanOp::enumerator},
#include "core/ptx/modifiers.def"
});
constexpr auto parts = std::to_array<std::pair<std::string_view, MultiplyPart>>({
#define MULTIPLY_PART(enumerator, spelling) {spelling, MultiplyPart::enumerator},
#include "core/ptx/modifiers.def"
});
constexpr std::array<std::pair<std::string_view, std::uint8_t>, 3> widths = {
    {{"v2", 2}, {"v4", 4}, {"v8", 8}}};

// Types that Type has no enumerator for: they stand where a type stands, and leave it `none`.
bool is_foreign_type(std::string_view suffix) {
    constexpr std::array<std::string_view, 19> foreign = {
        "b1",     "u4",    "s4",      "u2",     "s2",     "e2m1",   "e2m3",   "e3m2",   "e2m1x2", "e2m3x2",
        "e3m2x2", "ue8m0", "ue8m0x2", "s2f6x2", "e2m1x4", "e2m3x4", "e3m2x4", "e4m3x4", "e5m2x4"};
    return std::find(foreign.begin(), foreign.end(), suffix) != foreign.end();
}

class Decoder {
  public:
    explicit Decoder(Mnemonic& out) : out_(out), m_(out.modifiers) {}

    void run() {
        for (const std::string& suffix : out_.suffixes) {
            if (!decode_for_opcode(suffix)) decode_anywhere(suffix);
        }
        finish();
    }

  private:
    bool is_one_of(std::initializer_list<Opcode> list) const {
        return std::find(list.begin(), list.end(), out_.opcode) != list.end();
    }

    // Suffixes whose meaning depends on the opcode.
    bool decode_for_opcode(std::string_view suffix) {
        switch (out_.opcode) {
            case Opcode::setp:
            case Opcode::set:
            case Opcode::vset:
            case Opcode::vset2:
            case Opcode::vset4:
                return take(comparisons, suffix, m_.comparison) || take(booleans, suffix, m_.boolean_op);
            case Opcode::mul:
            case Opcode::mad:
            case Opcode::madc:
            case Opcode::mul24:
            case Opcode::mad24:
                return take(parts, suffix, m_.multiply_part);
            case Opcode::atom:
            case Opcode::red:
            case Opcode::redux:
            case Opcode::multimem:
                return take(atomics, suffix, m_.atomic);
            case Opcode::cp:
                return take(atomics, suffix, m_.atomic);  // cp.reduce.async.bulk
            case Opcode::bar:
            case Opcode::barrier:
                return take(booleans, suffix, m_.boolean_op);
            case Opcode::lop3:
                return take(booleans, suffix, m_.boolean_op);
            case Opcode::shfl:
                return take(shuffles, suffix, m_.shuffle);
            case Opcode::vote:
            case Opcode::match:
                return take(votes, suffix, m_.vote);
            case Opcode::shf:
                if (suffix == "l") return m_.left = true;
                if (suffix == "r") return m_.right = true;
                return false;
            case Opcode::bra:
            case Opcode::call:
            case Opcode::ret:
                if (suffix == "uni") return m_.uniform = true;
                return false;
            case Opcode::cvta:
                if (suffix == "to") return m_.to = true;
                return false;
            case Opcode::testp:
            case Opcode::tex:
            case Opcode::tld4:
            case Opcode::wgmma:
                return false;
            default:
                return false;
        }
    }

    void decode_anywhere(std::string_view suffix) {
        if (decode_flag(suffix)) return;
        if (const auto type = find_type(suffix)) return add_type(*type);
        if (is_foreign_type(suffix)) return add_type(Type::none);
        if (const auto space = find_space(suffix)) return add_space(*space);
        if (take(scopes, suffix, m_.scope) || take(widths, suffix, m_.vector_width)) return;
        if (take(roundings, suffix, m_.rounding)) return;
        if (take(semantics, suffix, m_.semantics)) return;
        take(caches, suffix, m_.cache);
    }

    bool decode_flag(std::string_view suffix) {
        if (suffix == "ftz") return m_.ftz = true;
        if (suffix == "sat") return m_.sat = true;
        if (suffix == "cc") return m_.carry_out = true;
        if (suffix == "sync") return m_.sync = true;
        if (suffix == "arrive") return m_.arrive = true;
        if (suffix == "nc") return m_.nc = true;
        if (suffix == "wrap") return m_.wrap = true;
        if (suffix == "clamp") return m_.clamp = true;
        if (suffix == "noftz") return m_.noftz = true;
        if (suffix == "relu") return m_.relu = true;
        if (suffix == "NaN") return m_.nan_ = true;
        if (suffix == "aligned") return m_.aligned = true;
        if (suffix == "xorsign") return m_.xorsign_abs = true;
        return false;
    }

    void add_type(Type type) {
        if (types_ == 0) out_.type = type;
        if (types_ == 1) out_.source_type = type;
        if (types_ == 0 && type == Type::none) type_is_foreign_ = true;
        ++types_;
    }

    void add_space(Space space) {
        // cp.async.ca.shared.global: the destination's space comes first.
        if (spaces_++ == 0) {
            m_.space = space;
        } else if (out_.opcode == Opcode::cp && spaces_ == 2) {
            m_.to_space = m_.space;
            m_.space = space;
        }
    }

    void finish() {
        if (out_.opcode == Opcode::cvta && m_.to) m_.to_space = m_.space;
        // PTX ISA, atom and red: relaxed at the scope of the GPU where nothing is written.
        if (is_one_of({Opcode::atom, Opcode::red})) {
            if (m_.semantics == MemorySemantics::weak) m_.semantics = MemorySemantics::relaxed;
            if (m_.scope == Scope::none) m_.scope = Scope::gpu;
        }
        // A result in a format that Type cannot say: nobody may take it for another.
        if (type_is_foreign_ && !is_one_of({Opcode::mma, Opcode::wmma, Opcode::wgmma})) {
            out_.opcode = Opcode::unknown;
        }
        if (out_.opcode == Opcode::cvt && types_ > 1 && out_.source_type == Type::none)
            out_.opcode = Opcode::unknown;
    }

    Mnemonic& out_;
    Modifiers& m_;
    unsigned types_ = 0, spaces_ = 0;
    bool type_is_foreign_ = false;
};

}  // namespace

bool Mnemonic::has(std::string_view suffix) const {
    return std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end();
}

Mnemonic decode_mnemonic(std::string_view spelling) {
    Mnemonic out;
    std::size_t dot = spelling.find('.');
    out.opcode = find_opcode(spelling.substr(0, dot));
    while (dot != std::string_view::npos) {
        const std::size_t start = dot + 1;
        dot = spelling.find('.', start);
        out.suffixes.emplace_back(spelling.substr(start, dot == std::string_view::npos ? dot : dot - start));
    }
    Decoder(out).run();
    return out;
}

}  // namespace trimtab::ptx
