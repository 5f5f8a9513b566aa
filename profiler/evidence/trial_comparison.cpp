// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/evidence/trial_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "core/ptx/types.h"
#include "emulation/emulator/check/rounding_bounds.h"
#include "emulation/emulator/exec/half.h"

namespace trimtab::profiler {

namespace {

using emulator::check::most_of_scale;
using emulator::check::number_of;
using ptx::NumberKind;
using ptx::Type;

constexpr std::size_t word_bytes = 4;

template <typename T>
T read(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// The root mean square of numbers, for what is left where sums cancel.
class Scale {
  public:
    void add(double value) {
        if (!(std::abs(value) <= most_of_scale) || value == 0) return;
        sum_ += value * value;
        ++count_;
    }
    [[nodiscard]] double value() const { return count_ == 0 ? 0 : std::sqrt(sum_ / count_); }

  private:
    double sum_ = 0, count_ = 0;
};

Type type_of(const Pointee& pointee) {
    if (pointee.is_address || pointee.fill == Fill::integer) return Type::none;
    if (pointee.fill == Fill::f64) return Type::f64;
    return pointee.fill == Fill::f16 ? Type::f16 : Type::f32;
}

class Comparison {
  public:
    Comparison(const TrialMemory& memory, const MemoryImage& expected, const Roundings& roundings)
        : memory_(memory), roundings_(roundings) {
        if (roundings.numbers == nullptr) return;
        for (const auto& [first, bytes] : expected)
            if (const std::byte* host = memory.now(first); host != nullptr) add_to_scales(first, bytes, host);
    }

    void look(std::uint64_t first, const std::byte* expected, const std::byte* found, std::size_t bytes) {
        for (std::size_t at = 0; at < bytes; at += word_bytes) {
            const std::size_t size = std::min(word_bytes, bytes - at);
            if (std::memcmp(expected + at, found + at, size) == 0 ||
                is_rounding(first, at, expected, found, bytes))
                continue;
            ++words_;
            if (first_ && first_->address < first + at) continue;
            first_.emplace(TrialDifference{.address = first + at});
            const std::size_t shown = std::min(first_->found.size(), bytes - at);
            std::copy_n(expected + at, shown, first_->expected.begin());
            std::copy_n(found + at, shown, first_->found.begin());
        }
    }
    [[nodiscard]] std::optional<TrialDifference> first() {
        if (first_) first_->words = words_;
        return first_;
    }

  private:
    static std::uint64_t address_of(const std::byte* host) { return reinterpret_cast<std::uint64_t>(host); }

    // What the launch as written left in the bytes from `host` on, of which there are `bytes`: a whole number of that
    // kind, or none.
    [[nodiscard]] NumberKind number_at(const std::byte* host, std::size_t bytes) const {
        const NumberKind kind = roundings_.numbers->kind_at(address_of(host));
        const std::size_t size = ptx::size_bytes(kind);
        if (size == 0 || size > bytes || address_of(host) % size != 0) return NumberKind::other;
        for (std::size_t at = 2; at < size; at += 2)
            if (roundings_.numbers->kind_at(address_of(host + at)) != kind) return NumberKind::other;
        return kind;
    }

    void add_to_scales(std::uint64_t first, const std::vector<std::byte>& expected, const std::byte* host) {
        const Pointee* pointee = memory_.pointee_at(first);
        const std::byte* before = memory_.before(first);
        for (std::size_t at = 0; at + 2 <= expected.size();) {
            const NumberKind kind = number_at(host + at, expected.size() - at);
            const std::size_t size = std::max<std::size_t>(ptx::size_bytes(kind), 2);
            if (kind != NumberKind::other && std::memcmp(expected.data() + at, before + at, size) != 0)
                scales_[{pointee, kind}].add(number_of(expected.data() + at, kind));
            at += size;
        }
    }

    // Is the word at `at` of the stretch another one by rounding?
    [[nodiscard]] bool is_rounding(std::uint64_t first, std::size_t at, const std::byte* expected,
                                   const std::byte* found, std::size_t bytes) const {
        if (roundings_.numbers == nullptr) return false;
        const std::size_t wide = at / 8 * 8;
        if (number_at(found + wide, bytes - wide) == NumberKind::f64)
            return explains(first, wide, NumberKind::f64, expected, found);
        for (std::size_t part = at; part < std::min(at + word_bytes, bytes);) {
            const NumberKind kind = number_at(found + part, bytes - part);
            const std::size_t size = std::max<std::size_t>(ptx::size_bytes(kind), 2);
            if (std::memcmp(expected + part, found + part, std::min(size, bytes - part)) != 0 &&
                (kind == NumberKind::other || !explains(first, part, kind, expected, found)))
                return false;
            part += size;
        }
        return true;
    }

    [[nodiscard]] bool explains(std::uint64_t first, std::size_t at, NumberKind kind,
                                const std::byte* expected, const std::byte* found) const {
        const double then = number_of(expected + at, kind), now = number_of(found + at, kind);
        if (!std::isfinite(then) || !std::isfinite(now)) return false;
        const double difference = std::abs(now - then);
        const auto* sum = roundings_.numbers->sum_at(address_of(found + at));
        if (sum != nullptr && sum->kind == kind) {
            const auto bound = emulator::check::bound_of(*sum);
            if (difference <= (roundings_.is_as_written ? bound.most : bound.usual)) return true;
        }
        if (!(roundings_.sums && !roundings_.is_as_written) && !roundings_.numbers->are_sums_read())
            return difference == 0;  // zeros of two signs
        const auto scale = scales_.find({memory_.pointee_at(first), kind});
        return difference <= emulator::check::precision_of(kind).tolerance *
                                 std::max({std::abs(then), std::abs(now),
                                           scale == scales_.end() ? 0 : scale->second.value(),
                                           sum == nullptr ? 0 : sum->magnitude});
    }

    const TrialMemory& memory_;
    const Roundings& roundings_;
    std::map<std::pair<const Pointee*, NumberKind>, Scale> scales_;
    std::optional<TrialDifference> first_;
    std::uint64_t words_ = 0;
};

std::string value_text(const Pointee& pointee, const std::byte* from) {
    if (pointee.is_guess || pointee.is_address) return fmt::format("{:#010x}", read<std::uint32_t>(from));
    switch (type_of(pointee)) {
        case Type::f64:
            return fmt::format("{}", read<double>(from));
        case Type::f32:
            return fmt::format("{}", read<float>(from));
        case Type::f16:
            return fmt::format("{}", emulator::half_to_real(read<std::uint16_t>(from)));
        default:
            break;
    }
    if (pointee.bytes == 1) return fmt::format("{}", static_cast<int>(read<std::int8_t>(from)));
    if (pointee.bytes == 2) return fmt::format("{}", read<std::int16_t>(from));
    if (pointee.bytes == 8) return fmt::format("{}", read<std::int64_t>(from));
    return fmt::format("{}", read<std::int32_t>(from));
}

std::string text_of_first(const TrialDifference& difference, const TrialMemory& memory,
                          const emulator::Program& program, const analysis::KernelDescription& description) {
    const auto hexadecimal = [](const std::array<std::byte, 8>& bytes) {
        return fmt::format("{:#010x}", read<std::uint32_t>(bytes.data()));
    };
    if (const auto* placed = program.variable_at(difference.address))
        return fmt::format("byte {} of variable '{}' is {} instead of {}", difference.address - placed->first,
                           placed->variable->name, hexadecimal(difference.found),
                           hexadecimal(difference.expected));
    const Pointee* pointee = memory.pointee_at(difference.address);
    for (const analysis::KernelParameter& parameter : description.parameters) {
        const std::uint64_t base = emulator::SparseMemory::region_base(parameter.index);
        if (pointee == nullptr || !parameter.is_pointer || memory.pointee_at(base) != pointee) continue;
        // The first byte that differs is of this element.
        std::size_t at = 0;
        while (at + 1 < word_bytes && difference.expected[at] == difference.found[at]) ++at;
        const std::uint32_t bytes = pointee->is_address ? 8 : pointee->bytes;
        const auto offset = static_cast<std::int64_t>(difference.address + at - base);
        const std::int64_t element = offset >= 0 ? offset / bytes : -((bytes - 1 - offset) / bytes);
        const auto start =
            static_cast<std::int64_t>(bytes) * element - static_cast<std::int64_t>(difference.address - base);
        // An element of 8 bytes may begin before the word that differs.
        if (start < 0)
            return fmt::format("element {} of '{}' is another one (the word at byte {} is {} instead of {})",
                               element, parameter.name, offset, hexadecimal(difference.found),
                               hexadecimal(difference.expected));
        return fmt::format("element {} of '{}' is {} instead of {}", element, parameter.name,
                           value_text(*pointee, difference.found.data() + start),
                           value_text(*pointee, difference.expected.data() + start));
    }
    return fmt::format("the word at {:#x} is {} instead of {}", difference.address,
                       hexadecimal(difference.found), hexadecimal(difference.expected));
}

}  // namespace

std::optional<TrialDifference> compare(const TrialMemory& memory, const MemoryImage& expected,
                                       const Roundings& roundings) {
    Comparison comparison(memory, expected, roundings);
    memory.compare(expected, [&](std::uint64_t first, const std::byte* wanted, const std::byte* found,
                                 std::size_t bytes) { comparison.look(first, wanted, found, bytes); });
    return comparison.first();
}

std::string text_of(const TrialDifference& difference, const TrialMemory& memory,
                    const emulator::Program& program, const analysis::KernelDescription& description) {
    std::string text = text_of_first(difference, memory, program, description);
    if (difference.words > 1) text += fmt::format(", the first of {} words that differ", difference.words);
    return text;
}

}  // namespace trimtab::profiler
