// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What polynomials are in other widths, and what of them counts warps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/checker/reading.h"

namespace trimtab::checker {

using ptx::no_index;
using ptx::Opcode;

// Below 2^31 in every launch that is looked at: the same number in 32 and in 64 bits.
bool Reading::is_small(const Form& form) const {
    if (form.terms.size() == 1 && form.terms.begin()->second == 1 && form.terms.begin()->first.size() == 1) {
        const Atom only = form.terms.begin()->first[0];
        if (is_register(only) || (only >= first_loop && only < first_value)) return true;
    }
    using enum ptx::SpecialRegister;
    for (unsigned d = 0; d < 3; d++) {
        const auto of = [&](ptx::SpecialRegister first) {
            return *special(static_cast<ptx::SpecialRegister>(static_cast<unsigned>(first) + d), form.width);
        };
        const Form cover = product(of(ctaid_x), of(ntid_x));
        if (form == of(tid_x) || form == of(ntid_x) || form == cover || form == sum(cover, of(tid_x)) ||
            form == product(of(nctaid_x), of(ntid_x)))
            return true;
    }
    // The launch shows that no index plus the total wraps.
    for (std::size_t l = 0; l < loop_count(); l++) {
        const Form by = total(l, form.width);
        if (form == sum(atom(index_of(l), form.width), by) || form == sum(start(l, form.width), by))
            return true;
    }
    const Form warps = product(atom(ctaid, form.width), atom(warps_atom, form.width));
    return form == warps || form == sum(warps, atom(warp_atom, form.width));
}

// What the polynomial is below in every launch that is looked at, as whole numbers. Indices are those of the grid where
// `is_normal`, and of blocks otherwise.
double Reading::largest(const Form& form, bool is_normal) const {
    constexpr double extent = 0x1p31, blocks = 0x1p24, threads = 1025, unknown = 0x1p80;
    double result = 0;
    for (const auto& [atoms, coefficient] : form.terms) {
        double term = static_cast<double>(coefficient);
        std::vector<Atom> left = atoms;
        for (unsigned d = 0; d < 3; d++) {
            const auto size = std::ranges::find(
                left, certificate_->dimensions[d].has_whole_warps ? Atom{warps_atom} : ntid + d);
            const auto grid =
                std::ranges::find_if(left, [&](Atom of) { return of == ctaid + d || of == nctaid + d; });
            if (size == left.end() || grid == left.end()) continue;
            term *= extent / (certificate_->dimensions[d].has_whole_warps ? 32 : 1);
            left.erase(std::max(size, grid));
            left.erase(std::min(size, grid));
        }
        for (const Atom of : left) {
            const bool is_of_grid =
                is_normal &&
                (of == warp_atom || (of < ctaid && certificate_->dimensions[of].scheme != Scheme::in_block));
            if (is_of_grid || (of >= first_loop && of < first_value))
                term *= extent;
            else if (of >= register_count)
                term *= unknown;
            else
                term *= (of >= ctaid && of < ntid) || (of >= nctaid && of < lane_atom) ? blocks : threads;
        }
        result += term;
    }
    return result;
}

// What is agreed on behind a loop is not what it is in the loop.
bool Reading::is_agreed_on(const Form& form) const {
    const auto is_agreed = [&](Atom each) {
        if (const Part* const of = part_of(each)) return is_agreed_on(of->form);
        return each >= first_value && each < first_parameter && agreed_[each - first_value] != nullptr;
    };
    return std::ranges::any_of(form.terms,
                               [&](const auto& term) { return std::ranges::any_of(term.first, is_agreed); });
}

// An operation's result that is followed as one thing; width 0: it is not.
Form Reading::part(std::string_view operation, const Form& form, unsigned width) {
    if (is_agreed_on(form)) return {};
    std::string key = fmt::format("{}:{}:{}", operation, form.width, width);
    for (const auto& [atoms, coefficient] : form.terms)
        key += fmt::format("+{}*{}", coefficient, fmt::join(atoms, "*"));
    const auto [at, is_new] = known_parts_.try_emplace(std::move(key), parts_.size());
    if (is_new) parts_.push_back({std::string(operation), form, width});
    return atom(first_value + static_cast<Atom>(ssa_.values.size() + at->second), width);
}

// Also in what operations were done on.
Form Reading::with_parts(const Form& form, Atom from, const Form& to) {
    Form result = with(form, from, to);
    for (const auto& [atoms, coefficient] : form.terms)
        for (const Atom each : atoms) {
            if (part_of(each) == nullptr) continue;
            const Part old = *part_of(each);
            const Form inner = with_parts(old.form, from, to);
            if (inner == old.form) continue;
            const Form changed = old.is_widened() ? widened(inner, old.width, old.is_signed(), false)
                                                  : part(old.operation, inner, old.width);
            if (changed.width == 0) return {};
            result = with(result, each, changed);
        }
    return result;
}

Form Reading::widened(const Form& form, unsigned width, bool is_signed, bool is_granted) {
    if (form.width == 0 || form.width >= width) return form.width == 0 ? Form{} : with_width(form, width);
    if (form.is_constant()) {
        const std::uint64_t value = form.constant();
        return number(is_signed ? static_cast<std::uint64_t>(sign_extend(value, form.width)) : value, width);
    }
    if (is_small(form)) return with_width(form, width);
    if (std::min(largest(form, false), largest(normal(form), true)) <
        std::ldexp(1.0, static_cast<int>(form.width) - (is_signed ? 1 : 0)))
        return with_width(form, width);
    Form indices{width, {}}, rest{form.width, {}};
    if (is_granted)
        for (const auto& [atoms, coefficient] : form.terms) {
            if (std::ranges::any_of(
                    atoms, [](Atom of) { return is_register(of) || (of >= first_loop && of < first_value); }))
                indices.terms[atoms] =
                    truncate_bits(static_cast<std::uint64_t>(sign_extend(coefficient, form.width)), width);
            else
                rest.terms[atoms] = coefficient;
        }
    if (indices.terms.empty()) return part(is_signed ? "s" : "u", form, width);
    const Form beside = rest.is_constant() ? widened(rest, width, is_signed, false)
                                           : part(is_signed ? "s" : "u", rest, width);
    return beside.width == 0 ? beside : sum(beside, indices);
}

// Of whole warps: the number of the warp, and of the lane in it.
std::optional<Form> Reading::of_warps(const ptx::Instruction& made, const Form& a, const Form& b) {
    // Numbers of blocks are below 2^24, and those of threads in a block no more than 2^10.
    if (made.opcode == Opcode::and_ && b.is_constant() && a.terms.size() == 1 &&
        a.terms.begin()->second == 1 && a.terms.begin()->first.size() == 1) {
        const Atom only = a.terms.begin()->first[0];
        const bool is_of_grid = (only >= ctaid && only < ntid) || (only >= nctaid && only < lane_atom);
        const std::uint64_t most = is_of_grid ? 0xffffff : 0x7ff;
        if (is_register(only) && (b.constant() & most) == most && (b.constant() & (b.constant() + 1)) == 0)
            return a;
    }
    if (!certificate_->dimensions[0].has_whole_warps || !b.is_constant() || a.is_constant())
        return std::nullopt;
    Form warps{a.width, {}}, rest{a.width, {}};
    for (const auto& term : a.terms) (term.second % 32 == 0 ? warps : rest).terms.insert(term);
    const bool is_constant = rest.is_constant() && rest.constant() < 32 && is_small(warps);
    const bool is_number = is_constant || (is_small(a) && rest == atom(lane_atom, a.width));
    if (warps.terms.empty()) return std::nullopt;
    const std::uint64_t by = b.constant();
    const auto power = [&](std::uint64_t of) -> std::optional<unsigned> {
        for (unsigned k = 0; k <= 5; k++)
            if (of == std::uint64_t{1} << k) return k;
        return std::nullopt;
    };
    std::optional<unsigned> shift, mask;
    if (made.opcode == Opcode::shr && by <= 5) shift = static_cast<unsigned>(by);
    // The bits of a number that is no larger than a block.
    const bool is_of_block =
        std::ranges::all_of(warps.terms, [](const auto& term) { return term.first.size() == 1; });
    if (made.opcode == Opcode::bfe && by <= 5 && is_of_block && made.operands.size() == 4 &&
        made.operands[3].kind == ptx::Operand::Kind::immediate && made.operands[3].bits >= 11)
        shift = static_cast<unsigned>(by);
    if (made.opcode == Opcode::div) shift = power(by);
    if (made.opcode == Opcode::rem) mask = power(by);
    if (made.opcode == Opcode::and_) mask = power(by + 1);
    // Low bits are those of what is no multiple of a warp.
    if (mask && (made.opcode == Opcode::and_ || is_number)) {
        if (rest.is_constant()) return number(truncate_bits(rest.constant(), *mask), a.width);
        return *mask == 5 && rest == atom(lane_atom, a.width)
                   ? rest
                   : part(fmt::format("&{}", *mask), rest, a.width);
    }
    if (!is_number) return std::nullopt;
    if (made.opcode == Opcode::and_ && by == truncate_bits(~std::uint64_t{31}, a.width)) return warps;
    if (!shift) return std::nullopt;
    for (auto& [atoms, coefficient] : warps.terms) coefficient >>= *shift;
    if (is_constant) return sum(warps, number(rest.constant() >> *shift, a.width));
    if (*shift == 5) return warps;
    const Form lanes = part(fmt::format(">>{}", *shift), rest, a.width);
    return lanes.width == 0 ? lanes : sum(warps, lanes);
}

// The low bits of what was widened are what it was.
Form Reading::narrowed(const Form& form, unsigned width) const {
    Form result = with_width(form, width);
    if (form.width == width) return result;
    for (const auto& [atoms, coefficient] : form.terms)
        for (const Atom each : atoms) {
            if (const Part* const of = part_of(each)) {
                if (of->is_widened() && of->form.width >= width)
                    result = with(result, each, with_width(of->form, width));
                continue;
            }
            if (each < first_value || each >= first_parameter) continue;
            const ptx::Value& value = ssa_.values[each - first_value];
            if (value.kind != ptx::Value::Kind::instruction || value.previous != no_index) continue;
            const ptx::Instruction& made = function().body[value.instruction];
            if (made.opcode != Opcode::cvt || ptx::is_float(made.source_type) || ptx::is_float(made.type) ||
                made.modifiers.sat || bits_of(made.source_type) < width || bits_of(made.type) < width)
                continue;
            if (const Form from = operand(value.instruction, 1, width); from.width != 0)
                result = with(result, each, from);
        }
    return result;
}

}  // namespace trimtab::checker
