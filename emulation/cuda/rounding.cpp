// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/rounding.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "emulation/emulator/check/rounding_bounds.h"

namespace trimtab::cuda {
namespace {

using emulator::check::AtomicSum;
using emulator::check::bound_of;
using emulator::check::most_of_scale;
using emulator::check::number_of;
using emulator::check::precision_of;
using emulator::check::SumBound;
using ptx::NumberKind;

// How much more than another order of the launch as written a run may differ.
constexpr double spread_factor = 16;
}  // namespace

template <class Visit>
bool Rounding::each_number(const MemorySnapshot::ChangedWord& word, const Visit& visit) const {
    for (std::size_t at = 0; at < word.size_bytes;) {
        const std::uint64_t address = word.address + at;
        NumberKind kind = numbers_.kind_at(address);
        std::size_t size = ptx::size_bytes(kind);
        bool is_whole = size > 0 && address % size == 0 && at + size <= word.size_bytes;
        for (std::size_t part = 2; is_whole && part < size; part += 2)
            is_whole = numbers_.kind_at(address + part) == kind;
        if (!is_whole) {
            kind = NumberKind::other;
            size = std::min<std::size_t>(2 - address % 2, word.size_bytes - at);
        }
        const std::uint64_t mask = size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size)) - 1;
        const std::uint64_t then = word.then >> (8 * at) & mask, now = word.now >> (8 * at) & mask;
        at += size;
        if (then == now) continue;
        Number number{.kind = kind, .region = word.region->first, .address = address};
        if (kind != NumberKind::other) {
            number.then = number_of(reinterpret_cast<const std::byte*>(&then), kind);
            number.now = number_of(reinterpret_cast<const std::byte*>(&now), kind);
        }
        if (!visit(number)) return false;
    }
    return true;
}

void Rounding::note_scales(const MemorySnapshot& before) {
    std::map<std::pair<std::uint64_t, NumberKind>, std::pair<double, std::uint64_t>> squares;
    before.compare([&](const MemorySnapshot::ChangedWord& word) {
        return each_number(word, [&](const Number& number) {
            if (number.kind == NumberKind::other || !(std::abs(number.now) <= most_of_scale) ||
                number.now == 0)
                return true;
            auto& [sum, count] = squares[{number.region, number.kind}];
            sum += number.now * number.now;
            count++;
            return true;
        });
    });
    for (const auto& [of, square] : squares)
        scales_[of] = std::sqrt(square.first / static_cast<double>(square.second));
}

void Rounding::note_spread(const MemorySnapshot::ChangedWord& word) {
    static_cast<void>(each_number(word, [&](const Number& number) {
        if (number.kind == NumberKind::other) return true;
        double& spread = spread_[number.address];
        spread = std::max(spread, std::abs(number.now - number.then));
        return true;
    }));
}

double Rounding::scale_of(const Number& number) const {
    const auto scale = scales_.find({number.region, number.kind});
    return std::max(
        {std::abs(number.then), std::abs(number.now), scale == scales_.end() ? 0 : scale->second});
}

bool Rounding::is_explained(const Number& number, bool is_as_written) const {
    if (number.kind == NumberKind::other || !std::isfinite(number.then) || !std::isfinite(number.now))
        return false;
    const double difference = std::abs(number.now - number.then);
    if (difference == 0) return true;  // zeros of two signs
    const AtomicSum* sum = numbers_.sum_at(number.address);
    if (sum != nullptr && sum->kind == number.kind) {
        const SumBound bound = bound_of(*sum);
        const auto spread = spread_.find(number.address);
        const double least = spread == spread_.end() ? 0 : spread_factor * spread->second;
        if (difference <= (is_as_written ? bound.most : std::max(bound.usual, std::min(bound.most, least))))
            return true;
    }
    // What is added was added up by blocks in other groups, or by atomics before.
    if (!(regroups_sums_ && !is_as_written) && !numbers_.are_sums_read()) return false;
    return difference <= precision_of(number.kind).tolerance *
                             std::max(scale_of(number), sum == nullptr ? 0 : sum->magnitude);
}

bool Rounding::explains(const MemorySnapshot::ChangedWord& word, bool is_as_written) const {
    return each_number(word, [&](const Number& number) { return is_explained(number, is_as_written); });
}

}  // namespace trimtab::cuda
