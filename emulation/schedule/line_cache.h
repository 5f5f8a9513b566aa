// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// L1 and L2 as the scheduler keeps them: lines of 128 bytes with their sectors of 32, written back when they go, the
// least recently used first. Sets of eight lines, chosen by a hash, stand for the real caches' placement, which is not published.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "emulation/schedule/trace.h"

namespace trimtab::schedule {

class LineCache {
  public:
    explicit LineCache(std::uint64_t bytes) : sets_(bytes / line_bytes / ways) {}

    [[nodiscard]] bool is_there() const { return !sets_.empty(); }

    enum class Use : std::uint8_t { reads, writes };
    struct Found {
        std::uint8_t missing = 0;        // those of the wanted sectors that are not there
        std::uint8_t dirtied = 0;        // those that are written, and were clean or not there
        double* there_cycles = nullptr;  // when what is under way arrives; to be set for what is missing
        std::uint32_t* block = nullptr;  // whose line it is, `none` when it comes; to be set
    };
    static constexpr std::uint32_t several = none - 1;  // blocks
    // The wanted sectors are there, or under way, from now on, and `reader` (a loop, or no_loop) has read their line
    // last. What another reader has brought counts as not there if `distrusts(that reader)`.
    template <class Distrusts>
    [[nodiscard]] Found find(std::uint64_t line, std::uint8_t wanted, Use use, std::uint16_t reader,
                             Distrusts&& distrusts) {
        const std::uint8_t written = use == Use::writes ? wanted : 0;
        std::uint64_t hash = line * 0x9e3779b97f4a7c15u;
        hash = (hash ^ hash >> 32) * 0xbf58476d1ce4e5b9u;
        // Short, so that a look reads little of the host's memory; two lines of a set have one in a launch of billions.
        const auto tag = static_cast<std::uint32_t>(hash) | 1u;
        Set& set = sets_[((hash >> 32) * sets_.size()) >> 32];
        ++clock_;
        unsigned oldest = 0;
        for (unsigned i = 0; i < ways; ++i) {
            if (set.tag[i] == tag) {
                if (set.reader[i] != reader) {
                    if (distrusts(set.reader[i])) set.sectors[i] = set.dirty[i] = 0;
                    set.reader[i] = reader;
                }
                const auto missing = static_cast<std::uint8_t>(wanted & ~set.sectors[i]);
                const auto dirtied = static_cast<std::uint8_t>(written & ~set.dirty[i]);
                set.sectors[i] |= wanted;
                set.dirty[i] |= written;
                set.used[i] = clock_;
                return {missing, dirtied, &set.there_cycles[i], &set.block[i]};
            }
            if (set.used[i] < set.used[oldest]) oldest = i;
        }
        set.tag[oldest] = tag;
        set.used[oldest] = clock_;
        set.there_cycles[oldest] = 0;
        set.block[oldest] = none;
        set.sectors[oldest] = wanted;
        set.dirty[oldest] = written;
        set.reader[oldest] = reader;
        return {wanted, written, &set.there_cycles[oldest], &set.block[oldest]};
    }
    [[nodiscard]] Found find(std::uint64_t line, std::uint8_t wanted, Use use = Use::reads) {
        return find(line, wanted, use, no_loop, [](std::uint16_t) { return false; });
    }

  private:
    static constexpr std::uint64_t line_bytes = 128;
    static constexpr unsigned ways = 8;
    struct Set {
        std::array<std::uint32_t, ways> tag{};  // 0: nothing
        std::array<std::uint32_t, ways> used{}, block{};
        std::array<double, ways> there_cycles{};
        std::array<std::uint16_t, ways> reader{};
        std::array<std::uint8_t, ways> sectors{}, dirty{};
    };
    std::vector<Set> sets_;
    std::uint32_t clock_ = 0;
};

}  // namespace trimtab::schedule
