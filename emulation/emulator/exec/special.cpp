// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clocks, local addresses, directed rounding, and arithmetic with a carry.
#include <algorithm>
#include <cfenv>
#include <chrono>

#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/warp.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator::run {
namespace {

void write_all(Warp& w, const Op* op, std::uint64_t value) {
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (((w.mask >> lane) & 1u) == 0) continue;
        if (op->d_bytes == 8)
            w.lanes<std::uint64_t>(op->d)[lane] = value;
        else
            w.lanes<std::uint32_t>(op->d)[lane] = static_cast<std::uint32_t>(value);
    }
}

template <class T, class Wide>
void carry_lanes(Warp& w, const Op* op) {
    const bool takes = (op->imm & 1) != 0, gives = (op->imm & 2) != 0, subtracts = (op->imm & 4) != 0;
    const bool multiplies = (op->imm & 8) != 0, high = (op->imm & 16) != 0, is_signed = (op->imm & 32) != 0;
    constexpr unsigned bits = sizeof(T) * 8;
    using Signed = std::conditional_t<sizeof(T) == 4, std::int64_t, __int128>;
    using Half = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    T* d = w.lanes<T>(op->d);
    const T* a = w.lanes<T>(op->a);
    const T* b = w.lanes<T>(op->b);
    const T* c = multiplies ? w.lanes<T>(op->c) : nullptr;
    const std::uint32_t in = takes ? w.predicate(op->e) : 0;
    std::uint32_t out = 0;
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (((w.mask >> lane) & 1u) == 0) continue;
        T x = a[lane], y = b[lane];
        if (multiplies) {
            Wide product = static_cast<Wide>(x) * y;
            if (is_signed)
                product = static_cast<Wide>(static_cast<Signed>(static_cast<Half>(x)) * static_cast<Half>(y));
            x = static_cast<T>(high ? product >> bits : product);
            y = c[lane];
        }
        const Wide carry = (in >> lane) & 1u;
        const Wide sum = subtracts ? static_cast<Wide>(x) - y - carry : static_cast<Wide>(x) + y + carry;
        d[lane] = static_cast<T>(sum);
        out |= static_cast<std::uint32_t>((sum >> bits) & 1u) << lane;
    }
    if (gives) w.write_predicate(op->e, out);
}

}  // namespace

// The inner handler is out of the compiler's sight: it neither moves nor folds what is computed in between.
const Op* rounded(Warp& w, const Op* op) {
    switch (static_cast<ptx::Rounding>(op->imm)) {
        case ptx::Rounding::rz:
            std::fesetround(FE_TOWARDZERO);
            break;
        case ptx::Rounding::rm:
            std::fesetround(FE_DOWNWARD);
            break;
        default:
            std::fesetround(FE_UPWARD);
            break;
    }
    const Op* next = op->inner(w, op);
    std::fesetround(FE_TONEAREST);
    return next;
}

// As many cycles as instructions would take at one a cycle: it only ever grows.
const Op* read_clock(Warp& w, const Op* op) {
    const double rate = w.worker->launch().cycles_per_instruction;
    if (rate > 0) {
        const auto cycles = static_cast<std::uint64_t>(static_cast<double>(w.clock + w.executed) * rate);
        write_all(w, op, cycles >> op->imm);
        return op + 1;
    }
    w.clock += 8;
    write_all(w, op, (w.clock + w.executed) >> op->imm);
    return op + 1;
}

const Op* read_global_timer(Warp& w, const Op* op) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    write_all(w, op,
              static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()) >>
                  op->imm);
    return op + 1;
}

// Other grids have none: cooperative_groups traps where such a grid synchronizes.
const Op* read_grid_workspace(Warp& w, const Op* op) {
    Launch& launch = w.worker->launch();
    const auto address = reinterpret_cast<std::uintptr_t>(launch.grid_workspace.data());
    write_all(w, op, launch.request.cooperative ? address >> op->imm : 0);
    return op + 1;
}

const Op* local_address(Warp& w, const Op* op) {
    write_all(w, op, w.frame->local_base + op->imm);
    return op + 1;
}

// Lanes of a frame share its extent: as much as the greediest of them wants.
const Op* allocate_stack(Warp& w, const Op* op) {
    std::uint64_t bytes = 0;
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if ((w.mask >> lane) & 1u) bytes = std::max(bytes, w.lanes<std::uint64_t>(op->a)[lane]);
    }
    const std::uint64_t first = (w.frame->local_end + op->imm - 1) / op->imm * op->imm;
    if (!w.worker->extend_frame(w, op, first, bytes)) return nullptr;
    write_all(w, op, first);
    return op + 1;
}

const Op* save_stack(Warp& w, const Op* op) {
    write_all(w, op, w.frame->local_end);
    return op + 1;
}

// Lanes elsewhere in the function may use what lies beyond: then it stays until the function returns.
const Op* restore_stack(Warp& w, const Op* op) {
    if (w.mask != w.frame->lanes) return op + 1;
    std::uint64_t end = w.frame->local_base + w.frame->function->local_bytes;
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if ((w.mask >> lane) & 1u) end = std::max(end, w.lanes<std::uint64_t>(op->a)[lane]);
    }
    if (end < w.frame->local_end) w.frame->local_end = static_cast<std::uint32_t>(end);
    return op + 1;
}

const Op* carry(Warp& w, const Op* op) {
    if (op->d_bytes == 8)
        carry_lanes<std::uint64_t, unsigned __int128>(w, op);
    else
        carry_lanes<std::uint32_t, std::uint64_t>(w, op);
    return op + 1;
}

}  // namespace trimtab::emulator::run
