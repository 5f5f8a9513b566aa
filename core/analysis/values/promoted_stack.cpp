// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/promoted_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/analysis/launches/operation.h"

namespace trimtab::analysis {
namespace {

using ptx::no_index;
using ptx::Opcode;
using ptx::Operand;
using ptx::RegisterIndex;

struct Place {
    const ptx::Variable* variable = nullptr;
    std::int64_t offset = 0;
    friend bool operator==(const Place&, const Place&) = default;
};

// Bytes [first, first + size) of a variable: `reg` once it is promoted.
struct Slot {
    const ptx::Variable* variable = nullptr;
    std::int64_t first = 0;
    unsigned size = 0;
    bool good = true;
    unsigned stores = 0;
    std::optional<Place> holds;  // the frame address that its one store keeps in it
    // A half that is only loaded, of a whole that is stored and loaded as one: fields of a struct that is
    // copied.
    std::optional<std::size_t> whole;
    RegisterIndex reg = no_index;
    friend bool operator==(const Slot&, const Slot&) = default;
};

ptx::Type slot_type(unsigned size) {
    switch (size) {
        case 1:
            return ptx::Type::b8;
        case 2:
            return ptx::Type::b16;
        case 4:
            return ptx::Type::b32;
        default:
            return ptx::Type::b64;
    }
}

class Promotion {
  public:
    explicit Promotion(const ptx::Function& function)
        : function_(function), definitions_(function.registers.size()), places_(function.registers.size()) {
        for (const ptx::Variable& variable : function.variables)
            if (variable.space == ptx::Space::local || variable.space == ptx::Space::param)
                variables_[variable.name] = &variable;
    }

    std::optional<ptx::Function> run() {
        if (variables_.empty()) return std::nullopt;
        count_definitions();
        // What is found depends on which variables are out of sight; each round finds more that are.
        std::size_t before = 0;
        do {
            before = hidden_.size();
            std::ranges::fill(places_, std::nullopt);
            slots_.clear();
            find_addresses();
            hide_what_escapes();
        } while (hidden_.size() != before);
        return out_of_bounds_ ? std::nullopt : rewritten();
    }

  private:
    void count_definitions() {
        for (const ptx::Instruction& made : function_.body) {
            for (const Operand& destination : made.destinations()) {
                count(destination);
                for (const Operand& element : destination.elements) count(element);
            }
        }
    }
    void count(const Operand& operand) {
        if (operand.kind == Operand::Kind::reg) definitions_[operand.reg]++;
    }

    std::optional<Place> frame_variable(const Operand& operand) const {
        if ((operand.kind != Operand::Kind::symbol && operand.kind != Operand::Kind::address) ||
            operand.text.empty())
            return std::nullopt;
        const auto at = variables_.find(operand.text);
        if (at == variables_.end()) return std::nullopt;
        return Place{at->second, operand.offset + static_cast<std::int64_t>(operand.bits)};
    }
    std::optional<Place> place_of(const Operand& operand) const {
        if (operand.kind == Operand::Kind::symbol) return frame_variable(operand);
        if (operand.kind == Operand::Kind::reg) return places_[operand.reg];
        return std::nullopt;
    }

    static bool writes_one_register(const ptx::Instruction& made) {
        return made.guard == no_index && made.destination_count == 1 &&
               made.operands[0].kind == Operand::Kind::reg;
    }
    // What the instruction writes, where it is a frame address: moved, converted, with a constant added, or
    // loaded from a slot that nothing else is ever stored in.
    std::optional<Place> made_address(const ptx::Instruction& made) const {
        if (!writes_one_register(made) || definitions_[made.operands[0].reg] != 1) return std::nullopt;
        const auto sources = made.sources();
        const bool converts = made.opcode == Opcode::cvta && made.modifiers.space == ptx::Space::local;
        if ((made.opcode == Opcode::mov || converts) && sources.size() == 1) return place_of(sources[0]);
        if (made.opcode == Opcode::ld) {
            const Slot* slot = slot_of(made);
            return slot != nullptr && slot->holds ? slot->holds : std::nullopt;
        }
        if (made.opcode != Opcode::add || sources.size() != 2) return std::nullopt;
        for (std::size_t i = 0; i < 2; i++) {
            auto place = place_of(sources[i]);
            if (!place || sources[1 - i].kind != Operand::Kind::immediate) continue;
            place->offset += static_cast<std::int64_t>(sources[1 - i].bits);
            return place;
        }
        return std::nullopt;
    }

    void find_addresses() {
        bool changed = true;
        while (changed) {
            changed = false;
            for (const ptx::Instruction& made : function_.body) {
                const auto place = made_address(made);
                if (!place || places_[made.operands[0].reg] == place) continue;
                places_[made.operands[0].reg] = place;
                changed = true;
            }
            changed |= find_slots();
        }
    }

    std::optional<Place> accessed(const ptx::Instruction& made) const {
        if (made.opcode != Opcode::ld && made.opcode != Opcode::st) return std::nullopt;
        for (const Operand& operand : made.operands) {
            if (operand.kind != Operand::Kind::address) continue;
            if (operand.reg == no_index) return frame_variable(operand);
            auto place = places_[operand.reg];
            if (place) place->offset += operand.offset + static_cast<std::int64_t>(operand.bits);
            return place;
        }
        return std::nullopt;
    }

    // Every use of a frame address makes another one of it, loads or stores there, or keeps it in a slot of
    // its own; by any other the variable gets out of sight.
    void hide_what_escapes() {
        for (const ptx::Instruction& made : function_.body) {
            const bool makes = made_address(made).has_value();
            const bool accesses = accessed(made).has_value();
            const Slot* slot = made.opcode == Opcode::st ? slot_of(made) : nullptr;
            const bool keeps = slot != nullptr && slot->holds.has_value();
            for (const Operand& operand : made.operands) hide(operand, makes, accesses, keeps);
            // Loaded to where it is not followed.
            const Slot* loaded = made.opcode == Opcode::ld ? slot_of(made) : nullptr;
            if (loaded != nullptr && loaded->holds && !makes) hidden_.insert(loaded->holds->variable);
        }
    }
    void hide(const Operand& operand, bool makes, bool accesses, bool keeps) {
        for (const Operand& element : operand.elements) hide(element, false, false, false);
        std::optional<Place> place = operand.kind == Operand::Kind::address && operand.reg != no_index
                                         ? places_[operand.reg]
                                         : place_of(operand);
        if (!place && operand.kind == Operand::Kind::address) place = frame_variable(operand);
        if (!place) return;
        const bool stays = makes || (operand.kind == Operand::Kind::address ? accesses : keeps);
        if (!stays) hidden_.insert(place->variable);
    }

    static unsigned access_bytes(const ptx::Instruction& made) {
        return ptx::size_bytes(made.type) * std::max<unsigned>(1, made.modifiers.vector_width);
    }
    static bool is_plain(const ptx::Instruction& made) {
        const unsigned size = ptx::size_bytes(made.type);
        return made.modifiers.vector_width == 1 && (size == 1 || size == 2 || size == 4 || size == 8) &&
               made.modifiers.semantics == ptx::MemorySemantics::weak &&
               (made.modifiers.space == ptx::Space::local || made.modifiers.space == ptx::Space::generic ||
                made.modifiers.space == ptx::Space::param);
    }

    // True: there is news.
    bool find_slots() {
        std::vector<Slot> slots;
        for (const ptx::Instruction& made : function_.body) {
            const auto place = accessed(made);
            if (!place) continue;
            const unsigned size = access_bytes(made);
            // Past a variable's end lies who knows what.
            if (size == 0 || place->offset < 0 ||
                static_cast<std::uint64_t>(place->offset) + size > place->variable->size_bytes)
                out_of_bounds_ = true;
            Slot slot;
            slot.variable = place->variable;
            slot.first = place->offset;
            slot.size = size;
            const auto same = std::ranges::find_if(slots, [&](const Slot& other) {
                return other.variable == slot.variable && other.first == slot.first &&
                       other.size == slot.size;
            });
            Slot& kept = same == slots.end() ? slots.emplace_back(slot) : *same;
            kept.good = kept.good && is_plain(made) && !hidden_.contains(slot.variable);
            if (made.opcode == Opcode::st) note_store(kept, made);
        }
        const auto overlap = [](const Slot& a, const Slot& b) {
            return a.variable == b.variable && a.first < b.first + b.size && b.first < a.first + a.size;
        };
        for (Slot& slot : slots)
            for (std::size_t i = 0; i < slots.size(); i++)
                if (slot.stores == 0 && slot.size == 4 && slots[i].size == 8 && overlap(slot, slots[i]) &&
                    (slot.first - slots[i].first) % 4 == 0)
                    slot.whole = i;
        for (std::size_t i = 0; i < slots.size(); i++)
            for (std::size_t j = 0; j < slots.size(); j++)
                if (i != j && overlap(slots[i], slots[j]) && slots[i].whole != j && slots[j].whole != i)
                    slots[i].good = false;
        for (Slot& slot : slots)
            if (!slot.good || slot.stores != 1 || slot.size != 8) slot.holds.reset();
        for (const Slot& slot : slots)
            if (slot.whole) slots[*slot.whole].holds.reset();
        const bool news = slots != slots_;
        slots_ = std::move(slots);
        return news;
    }
    void note_store(Slot& slot, const ptx::Instruction& made) const {
        slot.stores++;
        for (const Operand& operand : made.operands)
            if (operand.kind != Operand::Kind::address) slot.holds = place_of(operand);
    }

    static std::size_t place_in(const std::vector<Slot>& slots, const Place& place, unsigned size) {
        const auto at = std::ranges::find_if(slots, [&](const Slot& slot) {
            return slot.variable == place.variable && slot.first == place.offset && slot.size == size;
        });
        return static_cast<std::size_t>(at - slots.begin());
    }
    std::size_t slot_index(const ptx::Instruction& made) const {
        const auto place = accessed(made);
        if (!place) return slots_.size();
        const std::size_t at = place_in(slots_, *place, access_bytes(made));
        return at < slots_.size() && slots_[at].good ? at : slots_.size();
    }
    const Slot* slot_of(const ptx::Instruction& made) const {
        const std::size_t at = slot_index(made);
        return at < slots_.size() ? &slots_[at] : nullptr;
    }

    // Registers hold no bytes: those are in 16 bits, the upper ones zero.
    static unsigned register_bits(const Slot& slot) { return std::max(16u, slot.size * 8); }

    static void become_move(ptx::Instruction& made, unsigned to, unsigned from, bool is_signed) {
        const char sign = is_signed ? 's' : 'u';
        made.modifiers = {};
        made.suffixes.clear();
        made.destination_count = 1;
        if (to == from) {
            made.opcode = Opcode::mov;
            made.type = slot_type(to / 8);
            made.source_type = ptx::Type::none;
            made.mnemonic = fmt::format("mov.b{}", to);
            return;
        }
        made.opcode = Opcode::cvt;
        made.type = *type_from_name(fmt::format("{}{}", sign, to));
        made.source_type = *type_from_name(fmt::format("{}{}", sign, from));
        made.mnemonic = fmt::format("cvt.{0}{1}.{0}{2}", sign, to, from);
    }

    unsigned width_of(const Operand& operand, unsigned otherwise) const {
        if (operand.kind != Operand::Kind::reg) return otherwise;
        const ptx::Type type = function_.registers[operand.reg].type;
        return ptx::size_bytes(type) * 8;
    }

    void promote(ptx::Instruction& made, const Slot& slot) const {
        const bool is_store = made.opcode == Opcode::st;
        const auto other = std::ranges::find_if(
            made.operands, [](const Operand& operand) { return operand.kind != Operand::Kind::address; });
        const Operand& value = *other;  // until the operands are replaced
        Operand kept;
        kept.kind = Operand::Kind::reg;
        kept.reg = slot.reg;
        const unsigned bits = slot.size * 8;
        const unsigned value_bits = width_of(value, register_bits(slot));
        const bool is_signed = ptx::is_signed(made.type);
        if (is_store) {
            made.operands = {kept, value};
            // The low part of what is stored.
            become_move(made, register_bits(slot),
                        bits == register_bits(slot) && value_bits == bits ? register_bits(slot) : bits,
                        false);
        } else {
            made.operands = {value, kept};
            become_move(made, value_bits, value_bits == bits ? value_bits : bits, is_signed);
        }
    }

    static void take_half(ptx::Instruction& made, const Slot& whole, const Slot& half) {
        Operand value = *std::ranges::find(made.operands, Operand::Kind::reg, &Operand::kind);
        Operand other, both, kept;
        other.kind = Operand::Kind::sink;
        both.kind = Operand::Kind::vector;
        both.elements = half.first == whole.first ? std::vector{value, other} : std::vector{other, value};
        kept.kind = Operand::Kind::reg;
        kept.reg = whole.reg;
        made.operands = {both, kept};
        become_move(made, 64, 64, false);
    }

    // Floats that are converted on the way, and registers of odd widths, are not followed.
    bool can_promote(const ptx::Instruction& made, const Slot& slot) const {
        for (const Operand& operand : made.operands) {
            if (operand.kind == Operand::Kind::address) continue;
            if (operand.kind == Operand::Kind::immediate) {
                if (slot.size == 1) return false;
                continue;
            }
            if (operand.kind != Operand::Kind::reg) return false;
            const unsigned bits = width_of(operand, 0);
            if ((bits != 16 && bits != 32 && bits != 64) || bits < slot.size * 8) return false;
            if (slot.whole && bits != 32) return false;
        }
        return made.operands.size() == 2;
    }

    std::optional<ptx::Function> rewritten() {
        for (const ptx::Instruction& made : function_.body)
            if (const std::size_t at = slot_index(made); at < slots_.size() && !can_promote(made, slots_[at]))
                slots_[at].good = false;
        // A whole and its halves are in memory together or not at all.
        for (const Slot& slot : slots_)
            if (slot.whole && !slot.good) slots_[*slot.whole].good = false;
        for (Slot& slot : slots_)
            if (slot.whole && !slots_[*slot.whole].good) slot.good = false;
        ptx::Function result = function_;
        for (std::size_t i = 0; i < slots_.size(); i++) {
            if (!slots_[i].good || slots_[i].whole) continue;
            slots_[i].reg = static_cast<RegisterIndex>(result.registers.size());
            result.registers.push_back({fmt::format("%slot{}", i), slot_type(register_bits(slots_[i]) / 8)});
        }
        bool any = false;
        for (std::size_t i = 0; i < result.body.size(); i++) {
            const Slot* slot = slot_of(function_.body[i]);
            if (slot == nullptr) continue;
            if (slot->whole)
                take_half(result.body[i], slots_[*slot->whole], *slot);
            else
                promote(result.body[i], *slot);
            any = true;
        }
        if (!any) return std::nullopt;
        return result;
    }

    const ptx::Function& function_;
    std::map<std::string, const ptx::Variable*, std::less<>> variables_;
    std::set<const ptx::Variable*> hidden_;  // whose address gets to where it is not followed
    std::vector<unsigned> definitions_;
    std::vector<std::optional<Place>> places_;
    std::vector<Slot> slots_;
    bool out_of_bounds_ = false;
};

}  // namespace

std::optional<ptx::Function> with_promoted_stack(const ptx::Function& function) {
    return Promotion(function).run();
}

}  // namespace trimtab::analysis
