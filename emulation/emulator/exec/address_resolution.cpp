// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/address_resolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator {
namespace {

using Shape = LaneAddresses::Shape;

// Every active lane's address, whichever shape they have.
void spread(Warp& w, const Op* op, Shape shape) {
    if (shape == Shape::scattered) return;
    const std::uint64_t step = shape == Shape::uniform ? 0 : info_of(op).total_bytes;
    for (unsigned lane = 0; lane < warp_lanes; lane++) w.at.address[lane] = w.at.first + lane * step;
}

Shape illegal(Warp& w, const Op* op, unsigned lane, std::uint64_t address, const std::string& explanation) {
    return w.worker->address_fault(w, op, Fault::Kind::illegal_address, lane,
                                   fmt::format("illegal address 0x{:x} ({})", address, explanation));
}

std::string past_shared(const Warp& w, std::uint64_t offset) {
    const auto place = static_cast<std::int32_t>(offset);
    const bool is_before = offset < window_bytes && place < 0;
    return fmt::format("byte {} of {} bytes of shared memory",
                       is_before ? std::int64_t{place} : static_cast<std::int64_t>(offset), w.shared_bytes);
}

// One lane of a generic address in a window: its host address, or 0 and a fault.
std::uint64_t window_address(Warp& w, const Op* op, unsigned lane, std::uint64_t address) {
    const MemoryInfo& info = info_of(op);
    const std::uint64_t bytes = info.total_bytes;
    if (address < local_window) {
        const std::uint64_t offset = address - shared_window;
        if (const std::byte* host = w.block->shared_at(offset, bytes); host != nullptr)
            return reinterpret_cast<std::uint64_t>(host);
        (void)illegal(w, op, lane, address, past_shared(w, offset));
    } else if (address < parameter_window) {
        const std::uint64_t offset = address - local_window;
        if (offset + bytes <= w.frame->local_end)
            return reinterpret_cast<std::uint64_t>(w.local.data()) + std::uint64_t{lane} * w.local_stride +
                   offset;
        (void)illegal(w, op, lane, address, "past the thread's local memory");
    } else if (address < function_window) {
        const std::uint64_t offset = address - parameter_window;
        const auto parameters = w.worker->launch().request.parameters;
        if (info.access == Access::read && offset + bytes <= parameters.size())
            return reinterpret_cast<std::uint64_t>(parameters.data()) + offset;
        (void)illegal(
            w, op, lane, address,
            info.access == Access::read ? "past the kernel's parameters" : "parameters cannot be written");
    } else {
        (void)illegal(w, op, lane, address, "a function's address");
    }
    return 0;
}

bool holds(const CachedRange& range, std::uint64_t address, std::uint64_t bytes) {
    return address >= range.first && address < range.end && bytes <= range.end - address;
}

bool in_windows(std::uint64_t address) {
    return address >= shared_window && address < windows_end;
}

// Counts a request whose lanes may lie in different spaces.
void count_spaces(Warp& w, const Op* op) {
    const std::uint32_t all = w.mask;
    std::uint32_t shared = 0, local = 0, global = 0;
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (!has_lane(all, lane)) continue;
        const std::uint64_t address = w.at.address[lane];
        if (!in_windows(address))
            global |= 1u << lane;
        else if (address < local_window)
            shared |= 1u << lane;
        else if (address < parameter_window)
            local |= 1u << lane;
    }
    if (global != 0) {
        w.mask = global;
        count_global(w, op, Shape::scattered);
    }
    if (shared != 0) {
        w.mask = shared;
        count_shared(w, op, Shape::scattered);
    }
    if (local != 0) {
        w.mask = local;
        count_local(w, op);
    }
    w.mask = all;
}

Shape resolve_each(Warp& w, const Op* op, Shape shape) {
    const MemoryInfo& info = info_of(op);
    spread(w, op, shape);
    const std::uint64_t bytes = info.total_bytes;
    std::array<std::uint64_t, warp_lanes> hosts{};
    std::uint64_t first_host = 0;
    bool same_host = true;  // one local address is another place for each lane
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const std::uint64_t address = w.at.address[lane];
        std::uint64_t host = 0;
        if (info.space == ptx::Space::generic && in_windows(address)) {
            host = window_address(w, op, lane, address);
            if (host == 0) return Shape::fault;
        } else {
            CachedRange range = w.worker->find_range(address, info.access);
            if (!holds(range, address, bytes)) {
                if (in_windows(address)) return illegal(w, op, lane, address, "an address of another space");
                const std::uint64_t at = address < range.first || address >= range.end ? address : range.end;
                range = w.worker->find_outside(w, op, lane, address, bytes, range);
                if (!holds(range, address, bytes))
                    return illegal(w, op, lane, address, w.worker->explain_outside(at));
            }
            host = address + range.delta;
        }
        hosts[lane] = host;
        if (rest == w.mask) first_host = host;
        same_host = same_host && host == first_host;
    }
    // Only what is valid is counted: addresses that wrap around have no span.
    if (info.counted) count_spaces(w, op);
    if (w.worker->launch().request.observer != nullptr) {
        w.at.is_apart = true;
        std::ranges::copy(w.at.address, w.at.seen);
    }
    std::copy(hosts.begin(), hosts.end(), w.at.address);
    w.at.delta = 0;
    w.at.host = reinterpret_cast<std::byte*>(first_host);
    return same_host ? Shape::uniform : Shape::scattered;
}

// Lanes' own addresses of [a + imm] in a space that each thread has of its own, without the shapes that the
// quick ways know.
template <class AddressRegister>
bool gather(Warp& w, const Op* op, std::uint64_t limit, unsigned& culprit) {
    const AddressRegister* r = w.lanes<AddressRegister>(op->a);
    const std::uint64_t bytes = info_of(op).total_bytes;
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        const std::uint64_t address = narrow_address(static_cast<std::uint64_t>(r[lane]) + op->imm);
        w.at.address[lane] = address;
        if (!has_lane(w.mask, lane) || (address <= limit && bytes <= limit - address)) continue;
        culprit = lane;
        return false;
    }
    return true;
}

Shape misaligned(Warp& w, const Op* op, unsigned lane) {
    return w.worker->address_fault(w, op, Fault::Kind::misaligned_address, lane,
                                   fmt::format("misaligned address 0x{:x} (it must be a multiple of {})",
                                               w.at.address[lane], info_of(op).alignment_bytes));
}

// Addresses of which some are in other blocks' shared memory; false: one is in none's.
bool resolve_cluster(Warp& w, const Op* op) {
    const std::uint64_t bytes = info_of(op).total_bytes;
    std::array<std::uint64_t, warp_lanes> hosts{};
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (!has_lane(w.mask, lane)) continue;
        const std::byte* host = w.block->shared_at(w.at.address[lane], bytes);
        if (host == nullptr) return false;
        hosts[lane] = reinterpret_cast<std::uint64_t>(host);
    }
    if (info_of(op).counted) count_shared(w, op, Shape::scattered);
    std::copy(hosts.begin(), hosts.end(), w.at.address);
    w.at.delta = 0;
    return true;
}

template <class AddressRegister>
Shape resolve_local(Warp& w, const Op* op) {
    const MemoryInfo& info = info_of(op);
    unsigned lane = 0;
    if (!gather<AddressRegister>(w, op, w.frame->local_end, lane))
        return illegal(w, op, lane, w.at.address[lane],
                       fmt::format("the thread has {} bytes of local memory here", w.frame->local_end));
    for (lane = 0; lane < warp_lanes; lane++) {
        if (has_lane(w.mask, lane) && (w.at.address[lane] & (info.alignment_bytes - 1u)) != 0)
            return misaligned(w, op, lane);
    }
    if (info.counted) count_local(w, op);
    const auto base = reinterpret_cast<std::uint64_t>(w.local.data());
    for (lane = 0; lane < warp_lanes; lane++)
        w.at.address[lane] += base + std::uint64_t{lane} * w.local_stride;
    w.at.delta = 0;
    return Shape::scattered;
}

template <class AddressRegister>
Shape resolve_parameter(Warp& w, const Op* op) {
    const auto parameters = w.worker->launch().request.parameters;
    unsigned lane = 0;
    if (!gather<AddressRegister>(w, op, parameters.size(), lane))
        return illegal(w, op, lane, w.at.address[lane],
                       fmt::format("the kernel has {} bytes of parameters", parameters.size()));
    w.at.delta = reinterpret_cast<std::uint64_t>(parameters.data());
    return Shape::scattered;
}

}  // namespace

Shape resolve_slowly(Warp& w, const Op* op, Shape shape) {
    const MemoryInfo& info = info_of(op);
    const bool touches_windows = w.at.first < windows_end && w.at.end > shared_window;
    if (w.at.end <= w.at.first || touches_windows) return resolve_each(w, op, shape);
    const CachedRange range = w.worker->find_range(w.at.first, info.access);
    if (w.at.first < range.first || w.at.end > range.end) return resolve_each(w, op, shape);
    w.ranges[op->index] = range;
    w.at.delta = range.delta;
    w.at.host = reinterpret_cast<std::byte*>(w.at.first + range.delta);
    if (info.counted) count_global(w, op, shape);
    return shape;
}

Shape fault_misaligned(Warp& w, const Op* op, Shape shape) {
    spread(w, op, shape);
    unsigned culprit = static_cast<unsigned>(std::countr_zero(w.mask));
    for (unsigned lane = warp_lanes; lane-- > 0;) {
        if (has_lane(w.mask, lane) && (w.at.address[lane] & (info_of(op).alignment_bytes - 1u)) != 0)
            culprit = lane;
    }
    return misaligned(w, op, culprit);
}

Shape resolve_shared_slowly(Warp& w, const Op* op, Shape shape) {
    spread(w, op, shape);
    for (std::uint64_t& address : w.at.address) address = narrow_address(address);
    if (w.block->is_in_cluster() && resolve_cluster(w, op)) return Shape::scattered;
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const std::uint64_t address = w.at.address[lane];
        if (address > w.shared_bytes || info_of(op).total_bytes > w.shared_bytes - address)
            return illegal(w, op, lane, address, past_shared(w, address));
    }
    if (info_of(op).counted) count_shared(w, op, Shape::scattered);
    w.at.delta = reinterpret_cast<std::uint64_t>(w.shared);
    return Shape::scattered;
}

Resolve local_resolver(bool wide) {
    return wide ? &resolve_local<std::uint64_t> : &resolve_local<std::uint32_t>;
}
Resolve parameter_resolver(bool wide) {
    return wide ? &resolve_parameter<std::uint64_t> : &resolve_parameter<std::uint32_t>;
}

}  // namespace trimtab::emulator
