// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one memory request costs: sectors, lines, segments, bank conflicts.
#include <algorithm>
#include <array>
#include <bit>

#include "emulation/emulator/exec/address_resolution.h"
#include "emulation/emulator/exec/counting.h"
#include "emulation/emulator/exec/warp.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator {
namespace {

using Shape = LaneAddresses::Shape;
using u64 = std::uint64_t;

constexpr unsigned sector_shift = SectorSet::sector_shift, segment_shift = 6;

// The active lanes' addresses in order.
struct Sorted {
    std::array<u64, warp_lanes> address;
    unsigned count = 0;

    Sorted(const Warp& w) {
        bool in_order = true;
        u64 before = 0;
        for (unsigned lane = 0; lane < warp_lanes; lane++) {
            if (!has_lane(w.mask, lane)) continue;
            const u64 own = w.at.address[lane];
            in_order = in_order && own >= before;
            address[count++] = before = own;
        }
        if (!in_order) std::sort(address.begin(), address.begin() + count);
    }
};

// Lanes whose addresses lie close together: what they touch, as bits from the line of the first address on.
constexpr u64 near_bytes = 2048;

bool is_near(const Warp& w) {
    return w.at.end - (w.at.first & ~u64{127}) <= near_bytes;
}

// 64 sectors of 32 bytes.
u64 near_sectors(const Warp& w, std::uint32_t lanes) {
    const u64 base = w.at.first & ~u64{127};
    u64 sectors = 0;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        sectors |= u64{1} << ((w.at.address[lane] - base) >> sector_shift);
    }
    return sectors;
}

// What a request touches: sectors of windows of 2 KiB, each window once.
class Windows {
  public:
    void add(u64 window, u64 bits) {
        if (count_ != 0 && window <= at_[highest_]) {
            unsigned i = at_[latest_] == window ? latest_ : 0;
            while (i < count_ && at_[i] != window) i++;
            if (i < count_) {
                bits_[latest_ = i] |= bits;
                return;
            }
        }
        if (count_ == 0 || window > at_[highest_]) highest_ = count_;
        latest_ = count_;
        at_[count_] = window;
        bits_[count_++] = bits;
    }
    // At most 2 KiB.
    void add_span(u64 first, u64 end) {
        const u64 low = first >> window_shift, high = (end - 1) >> window_shift;
        const u64 from = ~u64{0} << ((first >> sector_shift) & 63);
        const u64 to = ~u64{0} >> (63 - (((end - 1) >> sector_shift) & 63));
        if (low == high) {
            add(low, from & to);
        } else {
            add(low, from);
            add(high, to);
        }
    }
    [[nodiscard]] unsigned number() const { return count_; }
    void count(Warp& w, InstructionCount& count) const {
        for (unsigned i = 0; i < count_; i++) {
            count.sectors += static_cast<u64>(std::popcount(bits_[i]));
            count.lines += SectorSet::lines_of(bits_[i]);
            insert_window(w, at_[i], bits_[i]);
        }
    }

  private:
    static constexpr unsigned window_shift = SectorSet::window_shift;
    unsigned count_ = 0, highest_ = 0, latest_ = 0;
    u64 at_[warp_lanes], bits_[warp_lanes];
};

void add_lanes(const Warp& w, std::uint32_t lanes, Windows& windows) {
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const u64 sector = w.at.address[static_cast<unsigned>(std::countr_zero(rest))] >> sector_shift;
        windows.add(sector >> 6, u64{1} << (sector & 63));
    }
}

bool is_same(const RecentRequests::Request& request, const u64* address) {
    if (!request.valid || request.sector[0] != address[0] >> sector_shift) return false;
    u64 unlike = 0;
    for (unsigned lane = 0; lane < warp_lanes; lane++)
        unlike |= request.sector[lane] ^ (address[lane] >> sector_shift);
    return unlike == 0;
}

bool is_in_same_windows(const LastRequests::Request& request, const u64* address) {
    u64 unlike = 0;
    for (unsigned lane = 0; lane < warp_lanes; lane++)
        unlike |= (request.sector[lane] >> 6) ^ (address[lane] >> SectorSet::window_shift);
    return unlike == 0;
}

// All 32 lanes, each somewhere.
void count_all_lanes(Warp& w, InstructionCount& count) {
    RecentRequests& recent = w.worker->counts().recent;
    for (const RecentRequests::Request& request : recent.requests) {
        if (w.is_footprint_wanted && !request.in_warp_footprint) continue;
        if (!is_same(request, w.at.address)) continue;
        count.sectors += request.sectors;
        count.lines += request.lines;
        return;
    }
    RecentRequests::Request& made = recent.requests[recent.oldest++ % std::size(recent.requests)];
    for (unsigned lane = 0; lane < warp_lanes; lane++) made.sector[lane] = w.at.address[lane] >> sector_shift;
    Windows windows;
    add_lanes(w, all_lanes, windows);
    const u64 sectors = count.sectors, lines = count.lines;
    windows.count(w, count);
    made.sectors = count.sectors - sectors;
    made.lines = count.lines - lines;
    made.in_warp_footprint = w.is_footprint_wanted;
    made.valid = true;
}

// Sectors of a 64-byte segment that are written, but not wholly. Bits of `written`: the segment's bytes.
u64 partial_sectors(u64 written) {
    constexpr u64 sector = 0xffffffff;
    const u64 low = written & sector, high = written >> 32;
    return (low != 0 && low != sector ? 1u : 0u) + (high != 0 && high != sector ? 1u : 0u);
}

void count_near_store(Warp& w, InstructionCount& count, u64 bytes) {
    // Bytes of each 64-byte segment that are written; a segment is two sectors.
    const u64 base = w.at.first & ~u64{127};
    std::array<u64, near_bytes / 64> written{};
    const u64 own = (u64{1} << bytes) - 1;
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const u64 at = w.at.address[static_cast<unsigned>(std::countr_zero(rest))] - base;
        written[at >> segment_shift] |= own << (at & 63);
    }
    u64 full = 0;  // sectors of full segments
    const u64 segments = (w.at.end - base + 63) >> segment_shift;
    for (u64 i = 0; i < segments; i++) {
        full |= written[i] == ~u64{0} ? u64{3} << (2 * i) : 0;
        count.partial_sectors += partial_sectors(written[i]);
    }
    count.full_segments += static_cast<u64>(std::popcount(full)) / 2;
    for (unsigned quad = 0; quad < warp_lanes; quad += 4) {
        const std::uint32_t lanes = w.mask & (0xfu << quad);
        if (lanes != 0) count.fragments += static_cast<u64>(std::popcount(near_sectors(w, lanes) & ~full));
    }
}

// Lanes that lie one behind the other in each run, where no segment is shared by two runs. False: there is
// one.
bool count_store_of_runs(const Warp& w, InstructionCount& count, unsigned run_lanes, u64 bytes) {
    const u64 span = run_lanes * bytes;
    for (unsigned lane = run_lanes; lane < warp_lanes; lane += run_lanes) {
        const u64 last = w.at.address[lane - run_lanes] + span - 1;
        if (w.at.address[lane] >> segment_shift <= last >> segment_shift) return false;
    }
    for (unsigned lane = 0; lane < warp_lanes; lane += run_lanes) {
        const u64 first = w.at.address[lane], end = first + span;
        const u64 full = (first + 63) >> segment_shift, full_end = std::max(full, end >> segment_shift);
        count.full_segments += full_end - full;
        const bool head = first % 32 != 0, tail = end % 32 != 0;
        const bool is_same = first >> sector_shift == (end - 1) >> sector_shift;
        count.partial_sectors += head && tail && is_same ? 1u : (head ? 1u : 0u) + (tail ? 1u : 0u);
        for (u64 quad = first; quad < end; quad += 4 * bytes) {
            for (u64 sector = quad >> sector_shift; sector <= (quad + 3 * bytes) >> sector_shift; sector++)
                count.fragments += sector / 2 >= full && sector / 2 < full_end ? 0 : 1;
        }
    }
    return true;
}

void count_far_store(Warp& w, InstructionCount& count, u64 bytes, const Sorted& sorted) {
    std::array<u64, warp_lanes> full;
    unsigned full_count = 0;
    for (unsigned i = 0; i < sorted.count;) {
        const u64 segment = sorted.address[i] >> segment_shift;
        u64 written = 0;
        const u64 own = (u64{1} << bytes) - 1;  // at most 32 bytes
        for (; i < sorted.count && sorted.address[i] >> segment_shift == segment; i++)
            written |= own << (sorted.address[i] & 63);
        if (written == ~u64{0}) full[full_count++] = segment;
        count.partial_sectors += partial_sectors(written);
    }
    count.full_segments += full_count;
    for (unsigned quad = 0; quad < warp_lanes; quad += 4) {
        std::array<u64, 4> sectors;
        unsigned found = 0;
        for (unsigned lane = quad; lane < quad + 4; lane++) {
            if (!has_lane(w.mask, lane)) continue;
            const u64 sector = w.at.address[lane] >> sector_shift;
            const bool in_full = std::binary_search(full.begin(), full.begin() + full_count,
                                                    sector >> (segment_shift - sector_shift));
            if (!in_full &&
                std::find(sectors.begin(), sectors.begin() + found, sector) == sectors.begin() + found)
                sectors[found++] = sector;
        }
        count.fragments += found;
    }
}

}  // namespace

// Compiled code goes on with the footprint as it is.
void insert_window(Warp& w, u64 window, u64 bits) {
    WorkerCounts& counts = w.worker->counts();
    (w.is_footprint_wanted ? counts.warp_footprint : counts.block_footprint).insert_window(window, bits);
    counts.update_tables();
}

void count_global(Warp& w, const Op* op, Shape shape) {
    const MemoryInfo& info = info_of(op);
    InstructionCount& count = w.counts[op->index];
    const u64 bytes = info.total_bytes;
    w.active = true;
    count.requests++;
    count.bytes += bytes * static_cast<u64>(std::popcount(w.mask));
    Windows windows;
    if (shape != Shape::scattered) {
        windows.add_span(w.at.first, w.at.end);
        windows.count(w, count);
        if (info.access != Access::write) return;
        w.at.address[0] = w.at.first;
        if (shape == Shape::contiguous && count_store_of_runs(w, count, warp_lanes, bytes)) return;
        const u64 step = shape == Shape::uniform ? 0 : bytes;
        for (unsigned lane = 0; lane < warp_lanes; lane++) w.at.address[lane] = w.at.first + lane * step;
        count_near_store(w, count, bytes);  // 32 lanes of at most 32 bytes
        return;
    }
    if (w.mask == all_lanes) {
        count_all_lanes(w, count);
    } else {
        add_lanes(w, w.mask, windows);
        windows.count(w, count);
    }
    if (info.access != Access::write) return;
    if (is_near(w))
        count_near_store(w, count, bytes);
    else
        count_far_store(w, count, bytes, Sorted(w));
}

// 32 banks of 4 bytes. A request of 8 bytes a lane is made in two halves of the warp, of 16 in four quarters;
// each takes as many passes as the busiest bank has different words, or, for atomics, lanes.
void count_shared(Warp& w, const Op* op, Shape shape) {
    const MemoryInfo& info = info_of(op);
    InstructionCount& count = w.counts[op->index];
    const u64 bytes = info.total_bytes;
    const unsigned words = std::max<unsigned>(1, static_cast<unsigned>(bytes / 4));
    w.active = true;
    count.requests++;
    count.bytes += bytes * static_cast<u64>(std::popcount(w.mask));
    if (shape == Shape::contiguous) {
        count.wavefronts += words;
        return;
    }
    if (shape == Shape::uniform) {
        count.wavefronts += info.is_atomic ? static_cast<u64>(std::popcount(w.mask)) : 1;
        return;
    }
    const unsigned parts = std::min(words, 8u), lanes_each = warp_lanes / parts;
    for (unsigned part = 0; part < parts; part++) {
        std::array<std::array<u64, warp_lanes>, warp_lanes> in_bank;  // different words of each bank
        std::array<unsigned, warp_lanes> busy{};
        unsigned most = 0;
        for (unsigned lane = part * lanes_each; lane < (part + 1) * lanes_each; lane++) {
            if (!has_lane(w.mask, lane)) continue;
            for (unsigned word = 0; word < words; word++) {
                const u64 at = w.at.address[lane] / 4 + word;
                auto& bank = in_bank[at % warp_lanes];
                unsigned& used = busy[at % warp_lanes];
                if (!info.is_atomic &&
                    std::find(bank.begin(), bank.begin() + used, at) != bank.begin() + used)
                    continue;
                bank[used++] = at;
                most = std::max(most, used);
            }
        }
        count.wavefronts += most;
    }
}

// Local memory is interleaved: the same word of neighbouring lanes lies side by side.
void count_local(Warp& w, const Op* op) {
    const MemoryInfo& info = info_of(op);
    InstructionCount& count = w.counts[op->index];
    const u64 bytes = info.total_bytes;
    const u64 words = std::max<u64>(1, bytes / 4);
    w.active = true;
    count.requests++;
    count.bytes += bytes * static_cast<u64>(std::popcount(w.mask));
    std::array<u64, warp_lanes * 8> sectors;
    unsigned found = 0;
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (!has_lane(w.mask, lane)) continue;
        for (u64 word = 0; word < words; word++)
            sectors[found++] = (w.at.address[lane] / 4 + word) * 4 + lane / 8;
    }
    std::sort(sectors.begin(), sectors.begin() + found);
    const auto end = std::unique(sectors.begin(), sectors.begin() + found);
    count.sectors += static_cast<u64>(end - sectors.begin());
    const auto line_end = std::unique(sectors.begin(), end, [](u64 a, u64 b) { return a >> 2 == b >> 2; });
    count.lines += static_cast<u64>(line_end - sectors.begin());
}

namespace {

void count_in_space(Warp& w, const Op* op, Shape shape) {
    if (info_of(op).space == ptx::Space::shared)
        count_shared(w, op, shape);
    else
        count_global(w, op, shape);
}

}  // namespace

void count_request(Warp& w, const Op* op, u64 first, u64 end) {
    w.at.first = first;
    w.at.end = end;
    count_in_space(w, op, end - first == info_of(op).total_bytes ? Shape::uniform : Shape::contiguous);
}

void count_request(Warp& w, const Op* op, unsigned run_lanes, u64 span) {
    const MemoryInfo& info = info_of(op);
    InstructionCount& count = w.counts[op->index];
    w.active = true;
    count.requests++;
    count.bytes += u64{info.total_bytes} * warp_lanes;
    Windows windows;
    for (unsigned lane = 0; lane < warp_lanes; lane += run_lanes)
        windows.add_span(w.at.address[lane], w.at.address[lane] + span);
    windows.count(w, count);
    if (info.access != Access::write) return;
    if (span == u64{run_lanes} * info.total_bytes &&
        count_store_of_runs(w, count, run_lanes, info.total_bytes))
        return;
    const u64 step = span == info.total_bytes ? 0 : info.total_bytes;
    w.at.first = ~u64{0};
    w.at.end = 0;
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        const u64 address = w.at.address[lane / run_lanes * run_lanes] + lane % run_lanes * step;
        w.at.address[lane] = address;
        w.at.first = std::min(w.at.first, address);
        w.at.end = std::max(w.at.end, address + info.total_bytes);
    }
    const std::uint32_t all = w.mask;
    w.mask = all_lanes;
    if (is_near(w))
        count_near_store(w, count, info.total_bytes);
    else
        count_far_store(w, count, info.total_bytes, Sorted(w));
    w.mask = all;
}

void count_far_load(Warp& w, const Op* op, std::uint32_t number) {
    InstructionCount& count = w.counts[op->index];
    w.active = true;
    count.requests++;
    count.bytes += u64{info_of(op).total_bytes} * warp_lanes;
    LastRequests& last = *w.last_requests;
    LastRequests::Request& made = last.requests[number];
    const bool is_waiting = ((last.are_waiting >> number) & 1) != 0;
    if (made.warp == last.warp && made.is_apart && is_in_same_windows(made, w.at.address)) {
        for (unsigned lane = 0; lane < warp_lanes; lane++) {
            made.sector[lane] = w.at.address[lane] >> sector_shift;
            made.waiting[lane] |= u64{1} << (made.sector[lane] & 63);
        }
        last.are_waiting |= u64{1} << number;
        count.sectors += made.sectors;
        count.lines += made.lines;
        return;
    }
    WorkerCounts& counts = w.worker->counts();
    if (is_waiting) {
        last.settle(number, w.is_footprint_wanted ? counts.warp_footprint : counts.block_footprint);
        counts.update_tables();
    }
    Windows windows;
    add_lanes(w, all_lanes, windows);
    const u64 sectors = count.sectors, lines = count.lines;
    windows.count(w, count);
    for (unsigned lane = 0; lane < warp_lanes; lane++) made.sector[lane] = w.at.address[lane] >> sector_shift;
    made.sectors = count.sectors - sectors;
    made.lines = count.lines - lines;
    made.warp = last.warp;
    made.is_apart = windows.number() == warp_lanes;
}

// What vector/resolve.cpp finds out about a request.
void count_request(Warp& w, const Op* op, std::uint32_t lanes) {
    const MemoryInfo& info = info_of(op);
    const u64 bytes = info.total_bytes;
    // The shape makes no difference to what a load from global memory touches.
    if (lanes == all_lanes && info.space != ptx::Space::shared && info.access == Access::read) {
        InstructionCount& count = w.counts[op->index];
        w.active = true;
        count.requests++;
        count.bytes += bytes * warp_lanes;
        count_all_lanes(w, count);
        return;
    }
    u64 low = ~u64{0}, high = 0;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const u64 address = w.at.address[static_cast<unsigned>(std::countr_zero(rest))];
        low = std::min(low, address);
        high = std::max(high, address);
    }
    w.at.first = low;
    w.at.end = high + bytes;
    Shape shape = low == high ? Shape::uniform : Shape::scattered;
    if (lanes == all_lanes && shape == Shape::scattered) {
        u64 unlike = 0;
        for (unsigned lane = 0; lane < warp_lanes; lane++)
            unlike |= w.at.address[lane] ^ (w.at.address[0] + lane * bytes);
        if (unlike == 0) shape = Shape::contiguous;
    }
    const std::uint32_t all = w.mask;
    w.mask = lanes;
    count_in_space(w, op, shape);
    w.mask = all;
}

}  // namespace trimtab::emulator
