// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/coalescing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "emulation/opencl/pruning/components.h"

namespace trimtab::pruning {

namespace {

// Bytes [first, end) as lines; what lies in the last line of `out`, from `begin` on, joins it.
void add_bytes(std::uint64_t first, std::uint64_t end, std::size_t begin, std::vector<TouchedLine>& out) {
    for (std::uint64_t line = first / line_bytes; line <= (end - 1) / line_bytes; ++line) {
        const std::uint64_t from = std::max(first, line * line_bytes),
                            to = std::min(end, (line + 1) * line_bytes);
        const auto low = static_cast<std::uint32_t>(from % line_bytes / sector_bytes),
                   high = static_cast<std::uint32_t>((to - 1) % line_bytes / sector_bytes);
        const std::uint32_t sectors = (2u << high) - (1u << low);
        if (out.size() > begin && out.back().line == line)
            out.back().sectors |= sectors;
        else
            out.push_back({.line = line, .sectors = sectors});
    }
}

// Rows come in order of address as a rule; where they do not, lines may be there twice.
void join_lines(std::size_t begin, std::vector<TouchedLine>& out) {
    const auto first = out.begin() + static_cast<std::ptrdiff_t>(begin);
    if (std::ranges::is_sorted(first, out.end(), std::less_equal{}, &TouchedLine::line)) return;
    std::ranges::sort(first, out.end(), {}, &TouchedLine::line);
    std::size_t kept = begin;
    for (std::size_t i = begin + 1; i < out.size(); ++i) {
        if (out[i].line == out[kept].line)
            out[kept].sectors |= out[i].sectors;
        else
            out[++kept] = out[i];
    }
    out.resize(kept + 1);
}

bool is_strictly_sorted(std::size_t begin, const std::vector<TouchedLine>& out) {
    for (std::size_t i = begin + 1; i < out.size(); ++i)
        if (out[i].line <= out[i - 1].line) return false;
    return true;
}

}  // namespace

void touched_lines(const WarpOperand& address, std::uint32_t bytes, std::uint32_t mask,
                   const WarpLanes& lanes, std::vector<TouchedLine>& out) {
    mask &= lanes.present;
    if (mask == 0) return;
    const std::size_t begin = out.size();
    const WarpValue& v = address.value;
    if (v.kind == WarpValue::Kind::lanes) {
        for (std::uint32_t left = mask; left != 0; left &= left - 1) {
            const auto at =
                static_cast<std::uint64_t>((*address.lanes)[static_cast<unsigned>(std::countr_zero(left))]);
            add_bytes(at, at + bytes, begin, out);
        }
    } else {
        const auto at = [&](unsigned lane) {
            return static_cast<std::uint64_t>(v.base) + static_cast<std::uint64_t>(v.x * lanes.x[lane]) +
                   static_cast<std::uint64_t>(v.y * lanes.y[lane]) +
                   static_cast<std::uint64_t>(v.z * lanes.z[lane]);
        };
        const bool has_holes =
            v.x > static_cast<std::int64_t>(sector_bytes) || v.x < -static_cast<std::int64_t>(sector_bytes);
        for (std::uint32_t left = mask; left != 0;) {
            // The lanes of one row that follow each other.
            const auto first = static_cast<unsigned>(std::countr_zero(left));
            unsigned last = first;
            while (!has_holes && last + 1 < warp_lanes && (mask >> (last + 1) & 1) != 0 &&
                   lanes.y[last + 1] == lanes.y[first] && lanes.z[last + 1] == lanes.z[first])
                ++last;
            const std::uint64_t a = at(first), b = at(last);
            add_bytes(std::min(a, b), std::max(a, b) + bytes, begin, out);
            left &= last + 1 < warp_lanes ? ~0u << (last + 1) : 0u;
            if (v.is_uniform()) break;
        }
    }
    if (!is_strictly_sorted(begin, out)) join_lines(begin, out);
}

void lines_of_group(const WarpValue& address, std::uint32_t bytes, const std::array<std::uint32_t, 3>& group,
                    std::vector<TouchedLine>& out) {
    struct Dimension {
        std::int64_t step = 0;
        std::uint32_t count = 1;
    };
    std::array<Dimension, 3> dimensions{
        {{address.x, group[0]}, {address.y, group[1]}, {address.z, group[2]}}};
    for (Dimension& one : dimensions)
        if (one.step == 0) one.count = 1;
    // Rows lie along the dimension in which items follow each other without a hole, if there is one.
    const auto follows = [](const Dimension& one) {
        return one.count > 1 && std::abs(one.step) <= static_cast<std::int64_t>(sector_bytes);
    };
    const auto along = std::ranges::find_if(dimensions, follows);
    Dimension row;
    if (along != dimensions.end()) std::swap(row, *along);
    const std::int64_t length = row.step * (std::int64_t{row.count} - 1);
    const auto& [inner, middle, outer] = dimensions;
    for (std::uint32_t o = 0; o < outer.count; ++o)
        for (std::uint32_t m = 0; m < middle.count; ++m)
            for (std::uint32_t i = 0; i < inner.count; ++i) {
                const std::int64_t a = address.base + outer.step * o + middle.step * m + inner.step * i;
                add_bytes(static_cast<std::uint64_t>(std::min(a, a + length)),
                          static_cast<std::uint64_t>(std::max(a, a + length)) + bytes, out.size(), out);
            }
}

std::uint32_t local_passes(const WarpOperand& address, std::uint32_t bytes, std::uint32_t mask,
                           const WarpLanes& lanes) {
    mask &= lanes.present;
    // Thirty-two words in banks by chance: the fullest has 3.5 of them on average.
    constexpr std::uint32_t by_chance = 4, banks = 32, bank_bytes = 4;
    if (mask == 0) return 0;
    if (address.value.kind == WarpValue::Kind::unknown)
        return std::min<std::uint32_t>(by_chance, std::popcount(mask));
    const std::uint32_t words = std::max(1u, bytes / bank_bytes);
    if (address.value.is_uniform() && address.value.kind != WarpValue::Kind::lanes) return words;
    LaneNumbers numbers;
    numbers_of(address, ptx::Type::u64, lanes, numbers);
    std::array<std::vector<std::int64_t>, banks> in_bank;
    std::size_t most = 1;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const std::int64_t word = numbers[static_cast<unsigned>(std::countr_zero(left))] / bank_bytes;
        auto& bank = in_bank[static_cast<std::uint64_t>(word) % banks];
        if (std::ranges::find(bank, word) == bank.end()) bank.push_back(word);
        most = std::max(most, bank.size());
    }
    // Wider words pass in parts: as many lanes at once as the banks have room for.
    return static_cast<std::uint32_t>(
        std::max<std::size_t>(most, words * static_cast<std::size_t>(std::popcount(mask)) / banks));
}

}  // namespace trimtab::pruning
