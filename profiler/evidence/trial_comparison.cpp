#include "profiler/evidence/trial_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "emulator/exec/half.h"

namespace trimtab::profiler {

namespace {

using ptx::Type;

constexpr std::size_t word_bytes = 4;

// What sums of many terms may lose: far above their usual rounding, far below a term too many. As `trimtab verify` has
// it (docs/legality.md).
double tolerance(Type type) {
    switch (type) {
        case Type::f64:
            return 1e-10;
        case Type::f32:
            return 1e-4;
        case Type::f16:
            return 2e-2;
        default:
            return 1e-1;
    }
}

template <typename T>
T read(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

double number(Type type, const std::byte* from) {
    switch (type) {
        case Type::f64:
            return read<double>(from);
        case Type::f32:
            return read<float>(from);
        case Type::f16:
            return emulator::half_to_real(read<std::uint16_t>(from));
        default:
            return emulator::bfloat_to_real(read<std::uint16_t>(from));
    }
}

bool is_near(Type type, const std::byte* expected, const std::byte* found, double scale) {
    if (std::memcmp(expected, found, ptx::size_bytes(type)) == 0) return true;
    const double then = number(type, expected), now = number(type, found);
    if (std::isnan(then) && std::isnan(now)) return true;
    if (!std::isfinite(then) || !std::isfinite(now)) return false;
    return std::abs(then - now) <= tolerance(type) * std::max({std::abs(then), std::abs(now), scale});
}

// The root mean square of numbers, for what is left where sums cancel.
class Scale {
  public:
    void add(double value) {
        // Above this, bits are hardly meant as a number of that type.
        constexpr double most = 1e15;
        if (!std::isfinite(value) || value == 0 || std::abs(value) > most) return;
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
        if (roundings.atomics == nullptr && !roundings.sums) return;
        for (const auto& [first, bytes] : expected) add_to_scales(first, bytes);
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
    [[nodiscard]] Type atomic_at(std::uint64_t address) const {
        if (roundings_.atomics == nullptr) return Type::none;
        const auto found = roundings_.atomics->find(address);
        return found == roundings_.atomics->end() ? Type::none : found->second;
    }

    void add_to_scales(std::uint64_t first, const std::vector<std::byte>& bytes) {
        const Pointee* pointee = memory_.pointee_at(first);
        const std::byte* before = memory_.before(first);
        const Type sums = roundings_.sums && pointee != nullptr ? type_of(*pointee) : Type::none;
        for (std::size_t at = 0; at + 2 <= bytes.size(); at += 2) {
            Type type = atomic_at(first + at);
            if (type == Type::none && sums != Type::none && at % ptx::size_bytes(sums) == 0) type = sums;
            if (type == Type::none || at + ptx::size_bytes(type) > bytes.size()) continue;
            if (before != nullptr && std::memcmp(bytes.data() + at, before + at, ptx::size_bytes(type)) == 0)
                continue;
            scales_[pointee].add(number(type, bytes.data() + at));
        }
    }

    // Is the word at `at` of the stretch the rounding's?
    [[nodiscard]] bool is_rounding(std::uint64_t first, std::size_t at, const std::byte* expected,
                                   const std::byte* found, std::size_t bytes) const {
        if (roundings_.atomics == nullptr && !roundings_.sums) return false;
        const Pointee* pointee = memory_.pointee_at(first);
        const auto scale_at = scales_.find(pointee);
        const double scale = scale_at == scales_.end() ? 0 : scale_at->second.value();
        const auto near = [&](Type type, std::size_t from) {
            return from + ptx::size_bytes(type) <= bytes &&
                   is_near(type, expected + from, found + from, scale);
        };
        // The number that atomics made of these bytes.
        if (atomic_at(first + at) == Type::f32) return near(Type::f32, at);
        if (atomic_at(first + at / 8 * 8) == Type::f64) return near(Type::f64, at / 8 * 8);
        if (const Type low = atomic_at(first + at), high = atomic_at(first + at + 2);
            ptx::size_bytes(low) == 2 || ptx::size_bytes(high) == 2) {
            const auto half = [&](Type type, std::size_t from) {
                return type == Type::none ? std::memcmp(expected + from, found + from, 2) == 0
                                          : near(type, from);
            };
            return half(low, at) && half(high, at + 2);
        }
        if (!roundings_.sums) return false;
        if (pointee == nullptr || pointee->is_guess)
            return near(Type::f32, at) || near(Type::f64, at / 8 * 8);
        switch (type_of(*pointee)) {
            case Type::f64:
                return near(Type::f64, at / 8 * 8);
            case Type::f32:
                return near(Type::f32, at);
            case Type::f16:
                return near(Type::f16, at) && near(Type::f16, at + 2);
            default:
                break;
        }
        // A whole number that was made of such a sum: the next one.
        const auto then = std::int64_t{read<std::int32_t>(expected + at)},
                   now = std::int64_t{read<std::int32_t>(found + at)};
        return std::abs(then - now) <=
               std::max(1.0, tolerance(Type::f32) * static_cast<double>(std::abs(then)));
    }

    const TrialMemory& memory_;
    const Roundings& roundings_;
    std::unordered_map<const Pointee*, Scale> scales_;
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
