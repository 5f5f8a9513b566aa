// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/jit/shapes.h"

#include <algorithm>

#include "core/ptx/special_registers.h"

namespace trimtab::emulator::jit {
namespace {

using ptx::Opcode;
using ptx::Type;
using Kind = Shape::Kind;

// Farther apart than this, lanes are not worth calling a pattern.
constexpr std::int64_t widest_offset = std::int64_t{1} << 24;

std::int64_t wrapped(std::int64_t value, unsigned bytes) {
    if (bytes >= 8) return value;
    const unsigned up = 64 - 8 * bytes;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << up) >> up;
}

bool is_whole_lane(const ptx::Instruction& instruction) {
    return !ptx::is_float(instruction.type) && !instruction.modifiers.sat &&
           !instruction.modifiers.carry_out && instruction.destination_count == 1;
}

}  // namespace

unsigned run_lanes_of(const LanePatterns& lanes) {
    unsigned run = warp_lanes;
    const LanePattern& x = lanes.tid[0];
    while (x.known && run > 8 && x.offset[run - 1] != run - 1) run /= 2;
    return run;
}

unsigned register_bytes(const ptx::Function& function, ptx::RegisterIndex reg) {
    const unsigned width = ptx::size_bytes(function.registers[reg].type);
    return width == 1 ? 2 : width;
}

Shape Shape::pattern(Offsets offsets, unsigned bytes) {
    bool same = true;
    for (std::int64_t& offset : offsets) {
        offset = wrapped(offset, bytes);
        if (offset > widest_offset || offset < -widest_offset) return general();
        same = same && offset == 0;
    }
    return same ? uniform() : Shape{Kind::pattern, offsets};
}

Shape Shape::runs(Offsets offsets, unsigned bytes) {
    for (std::int64_t& offset : offsets) {
        offset = wrapped(offset, bytes);
        if (offset > widest_offset || offset < -widest_offset) return general();
    }
    return {Kind::runs, offsets};
}

Shape Shape::in_runs(unsigned run_lanes) const {
    if (!is_uniform() && !is_pattern()) return *this;
    Shape made{Kind::runs, offsets};
    for (unsigned lane = 0; lane < warp_lanes; lane++)
        made.offsets[lane] -= offsets[lane / run_lanes * run_lanes];
    return made;
}

// f(a's offset, b's offset), lane by lane, of values of `bytes`.
template <class F>
Shape Shapes::combine(const Shape& a, const Shape& b, unsigned bytes, const F& f) const {
    if (a.kind == Kind::unknown || b.kind == Kind::unknown) return {};
    if (a.is_general() || b.is_general()) return Shape::general();
    const auto each = [&f](const Shape& x, const Shape& y) {
        Offsets made{};
        for (unsigned lane = 0; lane < warp_lanes; lane++) made[lane] = f(x.offsets[lane], y.offsets[lane]);
        return made;
    };
    if (!a.is_runs() && !b.is_runs()) return Shape::pattern(each(a, b), bytes);
    return Shape::runs(each(a.in_runs(run_lanes_), b.in_runs(run_lanes_)), bytes);
}

// Of a register that more than one instruction writes.
Shape Shapes::merged(const Shape& a, const Shape& b) const {
    if (a.kind == Kind::unknown) return b;
    if (b.kind == Kind::unknown || a == b) return a;
    if (a.is_general() || b.is_general() || !has_runs_) return Shape::general();
    const Shape x = a.in_runs(run_lanes_);
    return x == b.in_runs(run_lanes_) ? x : Shape::general();
}

Shapes::Shapes(const ptx::Function& function, const ptx::ControlFlow& flow, const ptx::Liveness& liveness,
               const LanePatterns& lanes, bool is_kernel, bool may_have_runs)
    : function_(function),
      flow_(flow),
      liveness_(liveness),
      lanes_(lanes),
      is_kernel_(is_kernel),
      run_lanes_(run_lanes_of(lanes)),
      has_runs_(may_have_runs && run_lanes_ != warp_lanes) {
    shapes_.resize(function.registers.size());
    divergent_.resize(function.body.size());
    do {
        while (propagate()) {
        }
    } while (spread_divergence());
    // What nothing ever writes.
    for (Shape& shape : shapes_) {
        if (shape.kind == Kind::unknown) shape = Shape::general();
    }
}

unsigned Shapes::width_of(ptx::RegisterIndex reg) const {
    return register_bytes(function_, reg);
}

Shape Shapes::special(const ptx::Operand& operand) const {
    using enum ptx::SpecialRegister;
    switch (operand.special) {
        case tid_x:
        case tid_y:
        case tid_z: {
            const auto dimension =
                static_cast<std::size_t>(operand.special) - static_cast<std::size_t>(tid_x);
            const LanePattern& pattern = lanes_.tid[dimension];
            if (!pattern.known) return Shape::general();
            Offsets offsets{};
            for (unsigned lane = 0; lane < warp_lanes; lane++)
                offsets[lane] = static_cast<std::int32_t>(pattern.offset[lane]);
            return Shape::pattern(offsets, 4);
        }
        case laneid: {
            Offsets offsets{};
            for (unsigned lane = 0; lane < warp_lanes; lane++) offsets[lane] = lane;
            return Shape::pattern(offsets, 4);
        }
        default:
            return varies_in_warp(operand.special) ? Shape::general() : Shape::uniform();
    }
}

Shape Shapes::of(const ptx::Operand& operand, unsigned bytes, Type type) const {
    switch (operand.kind) {
        case ptx::Operand::Kind::reg: {
            const Shape& shape = shapes_[operand.reg];
            const unsigned width = width_of(operand.reg);
            if (width == bytes || shape.is_uniform() || shape.kind == Kind::unknown) return shape;
            (void)type;
            if (bytes < width && bytes >= 4 && shape.is_pattern())
                return Shape::pattern(shape.offsets, bytes);
            if (bytes < width && bytes >= 4 && shape.is_runs()) return Shape::runs(shape.offsets, bytes);
            return Shape::general();
        }
        case ptx::Operand::Kind::special: {
            const Shape shape = special(operand);
            return bytes == 4 || !shape.is_pattern() ? shape : Shape::general();
        }
        case ptx::Operand::Kind::vector: {
            Shape all = Shape::uniform();
            for (const ptx::Operand& element : operand.elements) {
                const Shape one = of(element, 0, Type::none);
                if (one.kind == Kind::unknown) return one;
                if (!one.is_uniform()) all = Shape::general();
            }
            return all;
        }
        case ptx::Operand::Kind::address: {
            if (operand.reg == ptx::no_index) return Shape::uniform();
            return shapes_[operand.reg];
        }
        default:
            return Shape::uniform();
    }
}

// mul and mad: with a literal factor, or of what is the same in each run.
Shape Shapes::product(const ptx::Instruction& instruction, unsigned bytes) const {
    const auto sources = instruction.sources();
    const bool wide = instruction.modifiers.multiply_part == ptx::MultiplyPart::wide;
    const unsigned d_bytes = wide ? 2 * bytes : bytes;
    Shape a = of(sources[0], bytes, instruction.type), b = of(sources[1], bytes, instruction.type);
    const ptx::Operand* factor = &sources[1];
    if (sources[0].kind == ptx::Operand::Kind::immediate) {
        std::swap(a, b);
        factor = &sources[0];
    }
    if (instruction.modifiers.multiply_part == ptx::MultiplyPart::hi || (wide && bytes != 4))
        return Shape::general();
    Shape made;
    if (a.is_uniform() && b.is_uniform()) {
        made = Shape::uniform();
    } else if (factor->kind == ptx::Operand::Kind::immediate) {
        const std::int64_t by = wide && !ptx::is_signed(instruction.type)
                                    ? static_cast<std::int64_t>(factor->bits & 0xffffffffu)
                                    : wrapped(static_cast<std::int64_t>(factor->bits), bytes);
        if (by > widest_offset || by < -widest_offset) return Shape::general();
        made = combine(a, b, d_bytes, [by](std::int64_t x, std::int64_t) { return x * by; });
    } else {
        a = a.in_runs(run_lanes_);
        b = b.in_runs(run_lanes_);
        if (!has_runs_ || !a.is_same_in_runs() || !b.is_same_in_runs()) return Shape::general();
        made = Shape::runs({}, d_bytes);
    }
    if (sources.size() < 3) return made;
    const Type added = instruction.type;
    return combine(made, of(sources[2], d_bytes, added), d_bytes,
                   [](std::int64_t x, std::int64_t y) { return x + y; });
}

// Patterns that survive an instruction; `general` if it makes none.
Shape Shapes::arithmetic(const ptx::Instruction& instruction) const {
    const unsigned bytes = ptx::size_bytes(instruction.type);
    const auto sources = instruction.sources();
    const auto own = [&](std::size_t i) { return of(sources[i], bytes, instruction.type); };
    if ((bytes != 4 && bytes != 8) || !is_whole_lane(instruction)) return Shape::general();
    switch (instruction.opcode) {
        case Opcode::mov:
        case Opcode::cvta:
            if (sources[0].kind == ptx::Operand::Kind::vector ||
                instruction.operands[0].kind == ptx::Operand::Kind::vector) {
                return Shape::general();
            }
            return own(0);
        case Opcode::add:
            return combine(own(0), own(1), bytes, [](std::int64_t x, std::int64_t y) { return x + y; });
        case Opcode::sub:
            return combine(own(0), own(1), bytes, [](std::int64_t x, std::int64_t y) { return x - y; });
        case Opcode::mul:
        case Opcode::mad:
            return product(instruction, bytes);
        case Opcode::shl: {
            const ptx::Operand& by = sources[1];
            if (by.kind != ptx::Operand::Kind::immediate || by.bits > 24) return Shape::general();
            return combine(own(0), Shape::uniform(), bytes,
                           [&by](std::int64_t x, std::int64_t) { return x * (std::int64_t{1} << by.bits); });
        }
        case Opcode::cvt: {
            const unsigned from = ptx::size_bytes(instruction.source_type);
            if (ptx::is_float(instruction.source_type) || (from != 4 && from != 8) ||
                sources[0].kind != ptx::Operand::Kind::reg || width_of(sources[0].reg) != from ||
                instruction.operands[0].kind != ptx::Operand::Kind::reg ||
                width_of(instruction.operands[0].reg) != bytes) {
                return Shape::general();
            }
            return combine(shapes_[sources[0].reg], Shape::uniform(), bytes,
                           [](std::int64_t x, std::int64_t) { return x; });
        }
        default:
            return Shape::general();
    }
}

bool Shapes::are_uniform(const ptx::Instruction& instruction) const {
    return std::ranges::all_of(instruction.sources(), [&](const ptx::Operand& operand) {
        const unsigned bytes = operand.kind == ptx::Operand::Kind::reg ? width_of(operand.reg) : 4;
        return of(operand, bytes, Type::none).is_uniform();
    });
}

Shape Shapes::result(const ptx::Instruction& instruction) const {
    for (const ptx::Operand& operand : instruction.sources()) {
        const unsigned bytes = operand.kind == ptx::Operand::Kind::reg ? width_of(operand.reg) : 4;
        if (of(operand, bytes, Type::none).kind == Kind::unknown) return {};
    }
    if (is_load(instruction)) {
        const ptx::Operand& place = instruction.operands[1];
        switch (instruction.modifiers.space) {
            case ptx::Space::param:
                return is_kernel_ && place.reg == ptx::no_index && function_.parameter(place.text) != nullptr
                           ? Shape::uniform()
                           : Shape::general();
            case ptx::Space::global:
            case ptx::Space::shared:
            case ptx::Space::constant:
                return are_uniform(instruction) ? Shape::uniform() : Shape::general();
            default:  // each lane has its own local memory, and generic addresses may lie there
                return Shape::general();
        }
    }
    if (!is_elementwise(instruction)) return Shape::general();
    if (are_uniform(instruction)) return Shape::uniform();
    return arithmetic(instruction);
}

// One round of the equations, which only ever make shapes more general.
bool Shapes::propagate() {
    bool changed = false;
    for (const ptx::BlockIndex b : flow_.reverse_post_order) {
        for (std::uint32_t i = flow_.blocks[b].first; i < flow_.blocks[b].last; i++) {
            const ptx::Instruction& instruction = function_.body[i];
            if (instruction.destination_count == 0) continue;
            Shape made = result(instruction);
            if (instruction.guard != ptx::no_index && !shapes_[instruction.guard].is_uniform() &&
                shapes_[instruction.guard].kind != Kind::unknown) {
                made = Shape::general();
            }
            const auto write = [&](ptx::RegisterIndex reg) {
                Shape next = merged(shapes_[reg], made);
                // Patterns and runs are for whole addresses and indices.
                if ((next.is_pattern() || next.is_runs()) && width_of(reg) != 4 && width_of(reg) != 8)
                    next = Shape::general();
                if (next == shapes_[reg]) return;
                shapes_[reg] = next;
                changed = true;
            };
            visit_writes(instruction, write);
        }
    }
    return changed;
}

// Blocks between a divergent branch and its join: what they write differs between lanes behind the join.
void Shapes::diverge(ptx::BlockIndex block) {
    const ptx::BlockIndex join = flow_.immediate_post_dominator[block];
    if (join == ptx::no_index) return;
    std::vector<bool> seen(flow_.blocks.size());
    std::vector<ptx::BlockIndex> open(flow_.blocks[block].successors);
    while (!open.empty()) {
        const ptx::BlockIndex b = open.back();
        open.pop_back();
        if (b == join || seen[b]) continue;
        seen[b] = true;
        for (const ptx::BlockIndex next : flow_.blocks[b].successors) open.push_back(next);
        for (std::uint32_t i = flow_.blocks[b].first; i < flow_.blocks[b].last; i++) {
            visit_writes(function_.body[i], [&](ptx::RegisterIndex reg) {
                if (liveness_.into(join).contains(reg)) shapes_[reg] = Shape::general();
            });
        }
    }
}

bool Shapes::spread_divergence() {
    bool found = false;
    for (ptx::BlockIndex b = 0; b < flow_.blocks.size(); b++) {
        if (flow_.blocks[b].first == flow_.blocks[b].last) continue;
        const std::uint32_t last = flow_.blocks[b].last - 1;
        const ptx::Instruction& instruction = function_.body[last];
        ptx::RegisterIndex by = instruction.guard;
        if (instruction.opcode == Opcode::brx && instruction.operands[0].kind == ptx::Operand::Kind::reg)
            by = instruction.operands[0].reg;
        if (divergent_[last] || by == ptx::no_index || shapes_[by].is_uniform() ||
            shapes_[by].kind == Kind::unknown) {
            continue;
        }
        divergent_[last] = found = true;
        diverge(b);
    }
    return found;
}

}  // namespace trimtab::emulator::jit
