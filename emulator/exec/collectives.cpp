// Instructions by which the lanes of a warp exchange data: shfl, vote, match, redux, elect, bar.warp.sync.
//
// With .sync they wait for the members that are on other paths (PTX ISA): a path that comes first is put
// aside until the others stand at the same instruction; then all act at once. Members that never come (they
// wait themselves) are done without.
#include <bit>
#include <cmath>

#include "emulator/exec/handlers.h"
#include "emulator/exec/observer.h"
#include "emulator/exec/paths.h"
#include "emulator/exec/worker.h"

namespace trimtab::emulator::run {
namespace {

bool has(std::uint32_t mask, unsigned lane) {
    return ((mask >> lane) & 1u) != 0;
}

// Which lanes act now; 0: the path was put aside, and `next` is where the warp goes on.
struct Assembly {
    std::uint32_t lanes = 0;
    const Op* next = nullptr;
};

// The lanes that act are known.
Assembly complete(Warp& w, const Op* op, OperandRef members, std::uint32_t lanes) {
    if (LaunchObserver* observer = w.worker->launch().request.observer)
        observer->warp_synchronizes(w, op, members, lanes);
    return {lanes, op + 1};
}

Assembly assemble(Warp& w, const Op* op, OperandRef members) {
    if (members == no_operand) return {w.mask, op + 1};
    const auto first = static_cast<unsigned>(std::countr_zero(w.path_lanes));
    const std::uint32_t wanted = w.lanes<std::uint32_t>(members)[first] & w.live;
    Path& own = w.paths[static_cast<std::size_t>(w.current)];
    const bool forced = own.forced;
    own.forced = false;
    if ((wanted & ~w.path_lanes) == 0 || forced) return complete(w, op, members, w.path_lanes);
    // bar.warp.sync may be met at different places; data is only exchanged at one.
    const auto stands_here = [&](const Path& path) {
        return path.state == Path::State::at_collective &&
               (path.pc == op ? path.frame == w.frame : path.pc->run == op->run && op->run == warp_sync);
    };
    std::uint32_t there = w.path_lanes;
    for (const Path& path : w.paths) {
        if (stands_here(path)) there |= path.lanes;
    }
    if ((wanted & ~there) != 0) return {0, suspend_path(w, Path::State::at_collective, op)};
    for (Path& path : w.paths) {
        if (!stands_here(path)) continue;
        path.state = Path::State::ready;
        path.pc = path.pc + 1;
    }
    w.set_mask(there);
    return complete(w, op, members, there);
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

// PTX ISA, "shfl": c holds the segments' mask in bits 12 to 8 and the clamp in bits 4 to 0.
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
        const std::uint32_t amount = b[lane] & 0x1f, clamp = c[lane] & 0x1f, segment = (c[lane] >> 8) & 0x1f;
        const std::uint32_t highest = (lane & segment) | (clamp & ~segment & 0x1f), lowest = lane & segment;
        int from = 0;
        bool valid = false;
        switch (mode) {
            case ptx::ShuffleMode::up:
                from = static_cast<int>(lane) - static_cast<int>(amount);
                valid = from >= static_cast<int>(highest);
                break;
            case ptx::ShuffleMode::down:
                from = static_cast<int>(lane + amount);
                valid = from <= static_cast<int>(highest);
                break;
            case ptx::ShuffleMode::bfly:
                from = static_cast<int>(lane ^ amount);
                valid = from <= static_cast<int>(highest);
                break;
            default:
                from = static_cast<int>(lowest | (amount & ~segment & 0x1f));
                valid = from <= static_cast<int>(highest);
                break;
        }
        if (!valid) from = static_cast<int>(lane);
        result[lane] = a[from & 31];
        in_range |= (valid ? 1u : 0u) << lane;
    }
    std::uint32_t* d = w.lanes<std::uint32_t>(op->d);
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (has(w.mask, lane)) d[lane] = result[lane];
    }
    if (op->e != no_operand) w.write_predicate(op->e, in_range);
    return finish(w, assembly.next);
}

const Op* vote(Warp& w, const Op* op) {
    const Assembly assembly = assemble(w, op, op->c);
    if (assembly.lanes == 0) return assembly.next;
    const std::uint32_t yes = w.predicate(op->a) & assembly.lanes;
    switch (static_cast<ptx::VoteMode>(op->imm)) {
        case ptx::VoteMode::all:
            w.write_predicate(op->d, yes == assembly.lanes ? all_lanes : 0);
            break;
        case ptx::VoteMode::any:
            w.write_predicate(op->d, yes != 0 ? all_lanes : 0);
            break;
        case ptx::VoteMode::uni:
            w.write_predicate(op->d, yes == 0 || yes == assembly.lanes ? all_lanes : 0);
            break;
        default: {
            std::uint32_t* d = w.lanes<std::uint32_t>(op->d);
            for (unsigned lane = 0; lane < warp_lanes; lane++) {
                if (has(w.mask, lane)) d[lane] = yes;
            }
            break;
        }
    }
    return finish(w, assembly.next);
}

const Op* match(Warp& w, const Op* op) {
    const Assembly assembly = assemble(w, op, op->c);
    if (assembly.lanes == 0) return assembly.next;
    const auto value = [&](unsigned lane) {
        return op->a_bytes == 8 ? w.lanes<std::uint64_t>(op->a)[lane]
                                : std::uint64_t{w.lanes<std::uint32_t>(op->a)[lane]};
    };
    std::uint32_t same[warp_lanes] = {};
    bool all = true;
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (!has(assembly.lanes, lane)) continue;
        for (unsigned other = 0; other < warp_lanes; other++) {
            if (has(assembly.lanes, other) && value(other) == value(lane)) same[lane] |= 1u << other;
        }
        all = all && same[lane] == assembly.lanes;
    }
    std::uint32_t* d = w.lanes<std::uint32_t>(op->d);
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (!has(w.mask, lane)) continue;
        d[lane] = op->imm == 0 ? same[lane] : (all ? assembly.lanes : 0);
    }
    if (op->e != no_operand) w.write_predicate(op->e, all ? all_lanes : 0);
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
    const auto first = static_cast<unsigned>(std::countr_zero(assembly.lanes));
    std::uint32_t result = take(a[first]);
    for (unsigned lane = first + 1; lane < warp_lanes; lane++) {
        if (!has(assembly.lanes, lane)) continue;
        const std::uint32_t x = take(a[lane]);
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
    std::uint32_t* d = w.lanes<std::uint32_t>(op->d);
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (has(w.mask, lane)) d[lane] = result;
    }
    return finish(w, assembly.next);
}

const Op* active_mask(Warp& w, const Op* op) {
    std::uint32_t* d = w.lanes<std::uint32_t>(op->d);
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (has(w.mask, lane)) d[lane] = w.mask;
    }
    return op + 1;
}

const Op* elect(Warp& w, const Op* op) {
    const Assembly assembly = assemble(w, op, op->c);
    if (assembly.lanes == 0) return assembly.next;
    const auto leader = static_cast<unsigned>(std::countr_zero(assembly.lanes));
    std::uint32_t* d = w.lanes<std::uint32_t>(op->d);
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (has(w.mask, lane)) d[lane] = leader;
    }
    if (op->e != no_operand) w.write_predicate(op->e, 1u << leader);
    return finish(w, assembly.next);
}

}  // namespace trimtab::emulator::run
