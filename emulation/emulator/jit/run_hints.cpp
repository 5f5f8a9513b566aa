// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/jit/run_hints.h"

#include "core/ptx/special_registers.h"

namespace trimtab::emulator::jit {
namespace {

using ptx::Opcode;

const Offsets zeros{};

bool is_zero(const std::optional<Offsets>& offsets) {
    return offsets && *offsets == zeros;
}

template <class F>
std::optional<Offsets> each(const std::optional<Offsets>& a, const std::optional<Offsets>& b, const F& f) {
    if (!a || !b) return std::nullopt;
    Offsets made{};
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        made[lane] = f((*a)[lane], (*b)[lane]);
        // What is no array's need not be followed.
        if (made[lane] > (1 << 20) || made[lane] < -(1 << 20)) return std::nullopt;
    }
    return made;
}

}  // namespace

RunHints::RunHints(const ptx::Function& function, const ptx::ControlFlow& flow, const LanePatterns& lanes)
    : lanes_(lanes), run_lanes_(run_lanes_of(lanes)) {
    hints_.resize(function.registers.size());
    for (bool changed = true; changed;) {
        changed = false;
        for (const ptx::BlockIndex b : flow.reverse_post_order) {
            for (std::uint32_t i = flow.blocks[b].first; i < flow.blocks[b].last; i++)
                changed = propagate(function.body[i]) || changed;
        }
    }
}

RunHints::Hint RunHints::special(const ptx::Operand& operand) const {
    using enum ptx::SpecialRegister;
    const auto within = [this](const auto& value_of) {
        Offsets offsets{};
        for (unsigned lane = 0; lane < warp_lanes; lane++)
            offsets[lane] = value_of(lane) - value_of(lane / run_lanes_ * run_lanes_);
        return Hint{true, offsets};
    };
    switch (operand.special) {
        case tid_x:
        case tid_y:
        case tid_z: {
            const auto dimension =
                static_cast<std::size_t>(operand.special) - static_cast<std::size_t>(tid_x);
            const LanePattern& pattern = lanes_.tid[dimension];
            if (!pattern.known) return {true, std::nullopt};
            return within([&](unsigned lane) { return std::int64_t{pattern.offset[lane]}; });
        }
        case laneid:
            return within([](unsigned lane) { return std::int64_t{lane}; });
        default:
            if (varies_in_warp(operand.special)) return {true, std::nullopt};
            return {true, zeros};
    }
}

RunHints::Hint RunHints::of(const ptx::Operand& operand) const {
    using Kind = ptx::Operand::Kind;
    if (operand.kind == Kind::reg) return hints_[operand.reg];
    if (operand.kind == Kind::address && operand.reg != ptx::no_index) return hints_[operand.reg];
    if (operand.kind == Kind::special) return special(operand);
    if (operand.kind == Kind::vector) return {true, std::nullopt};
    return {true, zeros};
}

RunHints::Hint RunHints::result(const ptx::Instruction& instruction) const {
    const auto sources = instruction.sources();
    std::vector<Hint> of_sources;
    bool all_zero = true;
    for (const ptx::Operand& operand : sources) {
        of_sources.push_back(of(operand));
        if (!of_sources.back().known) return {};
        all_zero = all_zero && is_zero(of_sources.back().offsets);
    }
    const bool loads = is_load(instruction);
    if (!is_elementwise(instruction) && !loads) return {true, std::nullopt};
    if (all_zero) return {true, zeros};
    if (loads || ptx::is_float(instruction.type) || ptx::is_float(instruction.source_type))
        return {true, std::nullopt};
    const auto first = [&] { return of_sources[0].offsets; };
    const auto second = [&] { return of_sources[1].offsets; };
    switch (instruction.opcode) {
        case Opcode::mov:
        case Opcode::cvta:
        case Opcode::cvt:
            return {true, first()};
        case Opcode::add:
            return {true, each(first(), second(), [](auto x, auto y) { return x + y; })};
        case Opcode::sub:
            return {true, each(first(), second(), [](auto x, auto y) { return x - y; })};
        case Opcode::or_:  // as a sum, where it is one
            return {true, is_zero(second()) ? first() : std::nullopt};
        case Opcode::shl: {
            const ptx::Operand& by = sources[1];
            if (by.kind != ptx::Operand::Kind::immediate || by.bits > 16) return {true, std::nullopt};
            return {true, each(first(), first(), [&by](auto x, auto) { return x * (1 << by.bits); })};
        }
        case Opcode::mul:
        case Opcode::mad: {
            std::optional<Offsets> product;
            const bool swapped = sources[0].kind == ptx::Operand::Kind::immediate;
            const ptx::Operand& by = sources[swapped ? 0 : 1];
            if (is_zero(first()) && is_zero(second())) {
                product = zeros;
            } else if (by.kind == ptx::Operand::Kind::immediate && by.bits < (1u << 16)) {
                const auto factor = static_cast<std::int64_t>(by.bits);
                const auto& a = of_sources[swapped ? 1 : 0].offsets;
                product = each(a, a, [factor](auto x, auto) { return x * factor; });
            }
            if (sources.size() < 3) return {true, product};
            return {true, each(product, of_sources[2].offsets, [](auto x, auto y) { return x + y; })};
        }
        default:
            return {true, std::nullopt};
    }
}

bool RunHints::propagate(const ptx::Instruction& instruction) {
    const Hint made = result(instruction);
    if (!made.known) return false;
    bool changed = false;
    visit_writes(instruction, [&](ptx::RegisterIndex reg) {
        Hint next = made;
        if (hints_[reg].known && hints_[reg] != made) next = {true, std::nullopt};
        changed = changed || next != hints_[reg];
        hints_[reg] = next;
    });
    return changed;
}

}  // namespace trimtab::emulator::jit
