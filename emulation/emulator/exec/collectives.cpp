// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions by which the lanes of a warp exchange data: shfl, vote, match, redux, elect, bar.warp.sync.
#include <bit>
#include <cmath>

#include "core/ptx/shuffle.h"
#include "emulation/emulator/exec/assembly.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/memory_info.h"

namespace trimtab::emulator::run {
namespace {

// Of each group that acts by itself: f(its lanes, those of the warp that act with them).
template <class F>
void each_group(const Assembly& assembly, const F& f) {
    for (std::uint32_t rest = assembly.lanes; rest != 0;) {
        const std::uint32_t group = assembly.group_of(static_cast<unsigned>(std::countr_zero(rest)));
        std::uint32_t lanes = 0;
        for (std::uint32_t all = rest; all != 0; all &= all - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(all));
            if (assembly.group_of(lane) == group) lanes |= 1u << lane;
        }
        f(lanes, group);
        rest &= ~lanes;
    }
}

void fill(std::uint32_t* d, std::uint32_t lanes, std::uint32_t value) {
    for (; lanes != 0; lanes &= lanes - 1) d[std::countr_zero(lanes)] = value;
}

// What was read may be what is written: results are written once all are known.
void write(Warp& w, OperandRef to, const std::uint32_t (&results)[warp_lanes]) {
    std::uint32_t* d = w.lanes<std::uint32_t>(to);
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        d[lane] = results[lane];
    }
}

// The mask goes back to the path's own lanes.
const Op* finish(Warp& w, const Op* next) {
    w.set_mask(w.path_lanes);
    return next;
}

}  // namespace

const Op* warp_sync(Warp& w, const Op* op) {
    const Assembly assembly = assemble(w, op, op->a);
    return assembly.lanes == 0 ? assembly.next : finish(w, assembly.next);
}

const Op* shuffle(Warp& w, const Op* op) {
    const Assembly assembly = assemble(w, op, static_cast<const MemoryInfo*>(op->info)->elements[0]);
    if (assembly.lanes == 0) return assembly.next;
    const std::uint32_t* a = w.lanes<std::uint32_t>(op->a);
    const std::uint32_t* b = w.lanes<std::uint32_t>(op->b);
    const std::uint32_t* c = w.lanes<std::uint32_t>(op->c);
    std::uint32_t result[warp_lanes];
    std::uint32_t in_range = 0;
    const auto mode = static_cast<ptx::ShuffleMode>(op->imm);
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        const ptx::ShuffleSource source = ptx::shuffle_source(mode, lane, b[lane], c[lane]);
        result[lane] = a[source.lane];
        in_range |= (source.is_in_range ? 1u : 0u) << lane;
    }
    write(w, op->d, result);
    if (op->e != no_operand) w.write_predicate(op->e, in_range);
    return finish(w, assembly.next);
}

const Op* vote(Warp& w, const Op* op) {
    const Assembly assembly = assemble(w, op, op->c);
    if (assembly.lanes == 0) return assembly.next;
    const auto mode = static_cast<ptx::VoteMode>(op->imm);
    const std::uint32_t predicate = w.predicate(op->a);
    std::uint32_t holds = 0;
    each_group(assembly, [&](std::uint32_t lanes, std::uint32_t group) {
        const std::uint32_t yes = predicate & group;
        if (mode == ptx::VoteMode::ballot) fill(w.lanes<std::uint32_t>(op->d), lanes, yes);
        if ((mode == ptx::VoteMode::all && yes == group) || (mode == ptx::VoteMode::any && yes != 0) ||
            (mode == ptx::VoteMode::uni && (yes == 0 || yes == group)))
            holds |= lanes;
    });
    if (mode != ptx::VoteMode::ballot) w.write_predicate(op->d, holds);
    return finish(w, assembly.next);
}

const Op* match(Warp& w, const Op* op) {
    const Assembly assembly = assemble(w, op, op->c);
    if (assembly.lanes == 0) return assembly.next;
    const auto value = [&](unsigned lane) {
        return op->a_bytes == 8 ? w.lanes<std::uint64_t>(op->a)[lane]
                                : std::uint64_t{w.lanes<std::uint32_t>(op->a)[lane]};
    };
    const bool wants_all = op->imm != 0;
    std::uint32_t results[warp_lanes] = {}, equal = 0;
    each_group(assembly, [&](std::uint32_t lanes, std::uint32_t group) {
        bool all = true;
        for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(rest));
            std::uint32_t same = 0;
            for (std::uint32_t others = group; others != 0; others &= others - 1) {
                const auto other = static_cast<unsigned>(std::countr_zero(others));
                if (value(other) == value(lane)) same |= 1u << other;
            }
            all = all && same == group;
            results[lane] = same;
        }
        if (wants_all) fill(results, lanes, all ? group : 0);
        if (all) equal |= lanes;
    });
    write(w, op->d, results);
    if (op->e != no_operand) w.write_predicate(op->e, equal);
    return finish(w, assembly.next);
}

const Op* reduce(Warp& w, const Op* op) {
    const Assembly assembly = assemble(w, op, op->c);
    if (assembly.lanes == 0) return assembly.next;
    const auto operation = static_cast<ptx::AtomicOp>(op->imm & 0xff);
    const auto type = static_cast<ptx::Type>((op->imm >> 8) & 0xff);
    const bool absolute = (op->imm >> 16 & 1) != 0, keep_nan = (op->imm >> 17 & 1) != 0;
    const std::uint32_t* a = w.lanes<std::uint32_t>(op->a);
    const auto take = [&](std::uint32_t bits) { return absolute ? bits & 0x7fffffffu : bits; };
    const auto better = [&](std::uint32_t x, std::uint32_t y) {  // x beats y
        const bool minimum = operation == ptx::AtomicOp::min;
        if (type == ptx::Type::f32) {
            const float p = std::bit_cast<float>(x), q = std::bit_cast<float>(y);
            if (std::isnan(p) || std::isnan(q)) return std::isnan(q) ? !keep_nan : keep_nan;
            return minimum ? p < q : p > q;
        }
        if (type == ptx::Type::s32) {
            const auto p = static_cast<std::int32_t>(x), q = static_cast<std::int32_t>(y);
            return minimum ? p < q : p > q;
        }
        return minimum ? x < y : x > y;
    };
    std::uint32_t results[warp_lanes] = {};
    each_group(assembly, [&](std::uint32_t lanes, std::uint32_t group) {
        std::uint32_t result = take(a[std::countr_zero(group)]);
        for (std::uint32_t rest = group & (group - 1); rest != 0; rest &= rest - 1) {
            const std::uint32_t x = take(a[std::countr_zero(rest)]);
            switch (operation) {
                case ptx::AtomicOp::add:
                    result += x;
                    break;
                case ptx::AtomicOp::and_:
                    result &= x;
                    break;
                case ptx::AtomicOp::or_:
                    result |= x;
                    break;
                case ptx::AtomicOp::xor_:
                    result ^= x;
                    break;
                default:
                    if (better(x, result)) result = x;
                    break;
            }
        }
        if (type == ptx::Type::f32 && std::isnan(std::bit_cast<float>(result))) result = 0x7fffffffu;
        fill(results, lanes, result);
    });
    write(w, op->d, results);
    return finish(w, assembly.next);
}

const Op* active_mask(Warp& w, const Op* op) {
    fill(w.lanes<std::uint32_t>(op->d), w.mask, w.mask);
    return op + 1;
}

const Op* elect(Warp& w, const Op* op) {
    const Assembly assembly = assemble(w, op, op->c);
    if (assembly.lanes == 0) return assembly.next;
    std::uint32_t leaders = 0;
    each_group(assembly, [&](std::uint32_t lanes, std::uint32_t group) {
        const auto leader = static_cast<unsigned>(std::countr_zero(group));
        leaders |= 1u << leader;
        fill(w.lanes<std::uint32_t>(op->d), lanes, leader);
    });
    if (op->e != no_operand) w.write_predicate(op->e, leaders);
    return finish(w, assembly.next);
}

}  // namespace trimtab::emulator::run
