// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/lane_access.h"

#include <algorithm>
#include <bit>

namespace trimtab::schedule {

namespace {

constexpr unsigned lane_count = LaneAccess::most, banks = 32, bank_bytes = 4, sector_shift = 5,
                   line_shift = 7;

// The lines of the sectors that `each` calls its argument with, in no order.
template <class Each>
void touch_sectors(std::vector<Line>& lines, Request& request, const Each& each) {
    const std::size_t first = lines.size();
    std::size_t last = first;      // where the lane before found its line
    std::uint64_t beyond_all = 0;  // no line has this number, or a greater one
    const auto touch = [&](std::uint64_t sector) {
        const std::uint64_t number = sector >> (line_shift - sector_shift);
        const auto bit = static_cast<std::uint8_t>(1u << (sector & 3));
        if (last < lines.size() && lines[last].number == number) {
            lines[last].sectors |= bit;
            return;
        }
        // Lanes mostly ask for ascending addresses.
        for (last = number < beyond_all ? first : lines.size(); last < lines.size(); ++last)
            if (lines[last].number == number) {
                lines[last].sectors |= bit;
                return;
            }
        lines.push_back({.number = number, .sectors = bit});
        beyond_all = std::max(beyond_all, number + 1);
    };
    each(touch);
    request.first_line = static_cast<std::uint32_t>(first);
    request.lines = static_cast<std::uint16_t>(lines.size() - first);
    std::array<std::uint16_t, 4> in_bank{};
    for (std::size_t i = first; i < lines.size(); ++i) {
        request.sectors += static_cast<std::uint16_t>(std::popcount(lines[i].sectors));
        for (unsigned bank = 0; bank < in_bank.size(); ++bank) in_bank[bank] += lines[i].sectors >> bank & 1;
    }
    request.in_one_bank = *std::ranges::max_element(in_bank);
}

}  // namespace

void touch_lines(const LaneAccess& lanes, unsigned bytes, std::vector<Line>& lines, Request& request) {
    touch_sectors(lines, request, [&](const auto& touch) {
        for (unsigned i = 0; i < lanes.count; ++i) {
            const std::uint64_t begin = lanes.address[i] >> sector_shift,
                                end = (lanes.address[i] + std::max(1u, bytes) - 1) >> sector_shift;
            for (std::uint64_t sector = begin; sector <= end; ++sector) touch(sector);
        }
    });
}

unsigned touch_own_lines(const LaneAccess& offsets, unsigned bytes, std::uint64_t first_line,
                         std::vector<Line>& lines, Request& request) {
    constexpr unsigned word_bytes = 4, lanes_in_sector = 8;
    touch_sectors(lines, request, [&](const auto& touch) {
        for (unsigned i = 0; i < offsets.count; ++i) {
            const std::uint64_t offset = offsets.address[i];
            for (std::uint64_t word = offset / word_bytes; word * word_bytes < offset + bytes; ++word)
                touch(((first_line + word) << (line_shift - sector_shift)) +
                      offsets.lane[i] / lanes_in_sector);
        }
    });
    unsigned segments = 0;
    for (std::size_t i = request.first_line; i < lines.size(); ++i) {
        const unsigned sectors = lines[i].sectors;
        segments += static_cast<unsigned>(std::popcount((sectors | sectors >> 1) & 5u));
    }
    return segments;
}

double store_slots(const LaneAccess& lanes, unsigned bytes, const StoreRules& rules) {
    struct Sector {
        std::uint64_t number = 0;
        std::uint32_t written = 0;  // bits: its bytes
        std::uint8_t quads = 0;     // bits: of lanes that write there
    };
    std::array<Sector, 4 * lane_count> sectors;  // set as they are taken
    unsigned count = 0, last = 0;
    std::uint64_t beyond_all = 0;  // no sector has this number, or a greater one
    bool ascends = true;
    for (unsigned i = 0; i < lanes.count; ++i)
        for (std::uint64_t at = lanes.address[i], end = at + std::max(1u, bytes); at < end;) {
            const std::uint64_t number = at >> sector_shift,
                                next = std::min((number + 1) << sector_shift, end);
            if (last >= count || sectors[last].number != number)
                for (last = number < beyond_all ? 0 : count; last < count && sectors[last].number != number;
                     ++last) {
                }
            if (last == count) {
                if (count == sectors.size()) return static_cast<double>(count);
                sectors[count++] = {.number = number};
                ascends = ascends && number >= beyond_all;
                beyond_all = std::max(beyond_all, number + 1);
            }
            const auto length = static_cast<unsigned>(next - at);
            const std::uint32_t mask = length >= 32 ? ~0u : (1u << length) - 1;
            sectors[last].written |= mask << (at & 31);
            sectors[last].quads |= static_cast<std::uint8_t>(1u << (lanes.lane[i] / 4));
            at = next;
        }
    if (!ascends)
        std::sort(sectors.begin(), sectors.begin() + count,
                  [](const Sector& a, const Sector& b) { return a.number < b.number; });
    double slots = 0;
    for (unsigned i = 0; i < count; ++i) {
        const Sector& one = sectors[i];
        const bool is_whole = one.written == ~0u;
        if (is_whole && one.number % 2 == 0 && i + 1 < count && sectors[i + 1].number == one.number + 1 &&
            sectors[i + 1].written == ~0u) {
            slots += 1;
            ++i;
            continue;
        }
        slots += (is_whole ? rules.whole_sector : rules.partial_sector) +
                 rules.fragment * std::popcount(one.quads);
    }
    return slots;
}

unsigned shared_passes(const LaneAccess& lanes, unsigned bytes, bool is_atomic) {
    const unsigned words = std::max(1u, bytes / bank_bytes), together = std::max(1u, banks / words);
    unsigned passes = 0;
    for (unsigned from = 0; from < lanes.count; from += together) {
        std::array<std::array<std::uint64_t, lane_count>, banks> seen;
        std::array<unsigned, banks> count{};
        const unsigned to = std::min(lanes.count, from + together);
        for (unsigned i = from; i < to; ++i)
            for (unsigned k = 0; k < words; ++k) {
                const std::uint64_t word = lanes.address[i] / bank_bytes + k;
                auto& own = seen[word % banks];
                unsigned& n = count[word % banks];
                const bool is_known = std::find(own.begin(), own.begin() + n, word) != own.begin() + n;
                if ((is_atomic || !is_known) && n < lane_count) own[n++] = word;
            }
        passes += *std::ranges::max_element(count);
    }
    return std::max(1u, passes);
}

unsigned passes_without_conflicts(const LaneAccess& lanes, unsigned bytes) {
    return std::max(1u, lanes.count * bytes / (banks * bank_bytes));
}

void lay_side_by_side(LaneAccess& lanes, unsigned bytes) {
    if (lanes.count == 0 || bytes == 0) return;
    constexpr std::uint64_t line_bytes = std::uint64_t{1} << line_shift;
    std::array<std::uint64_t, lane_count> lines{};
    unsigned count = 0;
    for (unsigned i = 0; i < lanes.count; ++i) {
        const std::uint64_t line = lanes.address[i] >> line_shift;
        if (std::find(lines.begin(), lines.begin() + count, line) == lines.begin() + count)
            lines[count++] = line;
    }
    const std::uint64_t together = std::max<std::uint64_t>(1, lanes.count * bytes / line_bytes),
                        rotation = lanes.address[0] % line_bytes / bytes;
    for (unsigned i = 0; i < lanes.count; ++i) {
        const std::uint64_t offset = std::uint64_t{i} * bytes;
        lanes.address[i] =
            (lines[(rotation * together + offset / line_bytes) % count] << line_shift) + offset % line_bytes;
    }
}

unsigned most_at_once(LaneAccess lanes) {
    std::sort(lanes.address.begin(), lanes.address.begin() + lanes.count);
    unsigned most = 1, run = 1;
    for (unsigned i = 1; i < lanes.count; ++i) {
        run = lanes.address[i] == lanes.address[i - 1] ? run + 1 : 1;
        most = std::max(most, run);
    }
    return most;
}

}  // namespace trimtab::schedule
