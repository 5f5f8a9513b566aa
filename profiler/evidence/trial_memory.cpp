// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/evidence/trial_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "emulation/emulator/exec/half.h"

namespace trimtab::profiler {

namespace {

// Where arrays of addresses point: each element to a region of its own, until there are no more.
constexpr std::uint32_t first_pointed_region = 4096, pointed_regions = 4096;

// A good mix of an address's bits (the finaliser of MurmurHash3).
std::uint64_t mixed(std::uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ (x >> 33);
}

double fraction(std::uint64_t draw) {
    return static_cast<double>(draw >> 11) * 0x1p-53;
}

std::int64_t whole_number(Contents contents, std::uint64_t draw, unsigned bits) {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
    switch (contents) {
        case Contents::counting:
            return static_cast<std::int64_t>(draw % 13);
        case Contents::units:
            return static_cast<std::int64_t>(draw % 16 + 1);
        case Contents::magnitudes: {
            // Up to a million: what sums and bounds of programs are about.
            const unsigned digits = static_cast<unsigned>((draw >> 1) % std::min(bits - 1, 21u));
            const auto value = static_cast<std::int64_t>(std::uint64_t{1} << digits |
                                                         (draw >> 20 & ((std::uint64_t{1} << digits) - 1)));
            return (draw & 1) != 0 ? value : -value;
        }
        case Contents::extremes: {
            const std::array<std::int64_t, 8> values{0, 1, -1, most, -most - 1, most - 1, 2, most / 2 + 1};
            return values[draw % values.size()];
        }
    }
    return 0;
}

struct RealType {
    int least_exponent, most_exponent;  // of magnitudes
    double most, least_normal, least;
};

double real_number(Contents contents, std::uint64_t draw, const RealType& type) {
    switch (contents) {
        case Contents::counting:
            return static_cast<double>(draw % 13);
        case Contents::units:
            return 0.5 + fraction(draw);
        case Contents::magnitudes: {
            const auto exponents = static_cast<std::uint64_t>(type.most_exponent - type.least_exponent);
            // Sign, exponent and significand of a double.
            const std::uint64_t exponent = 1023 + (draw >> 1) % exponents + type.least_exponent;
            return std::bit_cast<double>(draw << 63 | exponent << 52 | draw >> 12);
        }
        case Contents::extremes: {
            const std::array<double, 12> values{
                0,          -0.0, 1,   -1,   type.most, -type.most, type.least_normal, -type.least_normal,
                type.least, 0.5,  1e4, -1e-3};
            return values[draw % values.size()];
        }
    }
    return 0;
}

template <typename T>
void fill_whole(std::span<std::byte> bytes, std::uint64_t address, std::uint64_t seed, Contents contents,
                bool is_truth) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
        const std::uint64_t draw = mixed((address + at) ^ seed);
        const auto value =
            static_cast<T>(is_truth ? static_cast<std::int64_t>(draw & 1)
                                    : whole_number(contents, draw, 8 * static_cast<unsigned>(sizeof(T))));
        std::memcpy(bytes.data() + at, &value, sizeof value);
    }
}

template <typename T, typename Make>
void fill_real(std::span<std::byte> bytes, std::uint64_t address, std::uint64_t seed, Contents contents,
               const RealType& type, const Make& make) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
        const T value = make(real_number(contents, mixed((address + at) ^ seed), type));
        std::memcpy(bytes.data() + at, &value, sizeof value);
    }
}

std::optional<std::uint32_t> region_of(std::uint64_t address) {
    const std::uint64_t base = emulator::SparseMemory::region_base(0),
                        size = emulator::SparseMemory::region_base(1) - base, first = base - size / 2;
    if (address < first || (address - first) / size > std::numeric_limits<std::uint32_t>::max())
        return std::nullopt;
    return static_cast<std::uint32_t>((address - first) / size);
}

}  // namespace

std::string_view name(Contents contents) {
    constexpr std::array<std::string_view, 4> names{"small whole numbers", "numbers about 1",
                                                    "numbers of all magnitudes and signs", "extreme numbers"};
    return names[static_cast<std::size_t>(contents)];
}

TrialMemory::TrialMemory(emulator::Program& program, std::uint64_t most_bytes)
    : program_(program),
      variables_(variables_now(), variables_now() + (program.variables_end() - program.variables_first())),
      most_bytes_(most_bytes) {}

TrialMemory::~TrialMemory() {
    std::ranges::copy(variables_, variables_now());
}

void TrialMemory::set_region(std::uint32_t region, const Pointee& pointee) {
    regions_[region] = pointee;
    if (!pointee.is_address) return;
    pointed_ = pointee;
    pointed_.is_address = false;
}

const Pointee* TrialMemory::pointee_at(std::uint64_t address) const {
    const auto region = region_of(address);
    if (!region) return nullptr;
    if (*region >= first_pointed_region && *region < first_pointed_region + pointed_regions) return &pointed_;
    const auto found = regions_.find(*region);
    return found == regions_.end() ? nullptr : &found->second;
}

void TrialMemory::fill(Contents contents, std::uint32_t seed) {
    pages_.clear();
    contents_ = contents;
    seed_ = seed;
    is_exhausted_ = false;
    std::ranges::copy(variables_, variables_now());
}

void TrialMemory::restore() {
    for (auto& [number, page] : pages_)
        std::memcpy(page.bytes.get(), page.bytes.get() + page_bytes, page_bytes);
    std::ranges::copy(variables_, variables_now());
}

MemoryImage TrialMemory::changed() const {
    MemoryImage image;
    for (const auto& [number, page] : pages_)
        if (std::memcmp(page.bytes.get(), page.bytes.get() + page_bytes, page_bytes) != 0)
            image[number * page_bytes].assign(page.bytes.get(), page.bytes.get() + page_bytes);
    if (!variables_.empty() && std::memcmp(variables_now(), variables_.data(), variables_.size()) != 0)
        image[program_.variables_first()].assign(variables_now(), variables_now() + variables_.size());
    return image;
}

void TrialMemory::compare(const MemoryImage& expected, const Visit& visit) const {
    const auto look = [&](std::uint64_t address, const std::byte* now, const std::byte* then,
                          std::size_t bytes) {
        const auto kept = expected.find(address);
        const std::byte* wanted = kept == expected.end() ? then : kept->second.data();
        if (std::memcmp(now, wanted, bytes) != 0) visit(address, wanted, now, bytes);
    };
    for (const auto& [number, page] : pages_)
        look(number * page_bytes, page.bytes.get(), page.bytes.get() + page_bytes, page_bytes);
    if (!variables_.empty())
        look(program_.variables_first(), variables_now(), variables_.data(), variables_.size());
}

const std::byte* TrialMemory::before(std::uint64_t stretch) const {
    if (!variables_.empty() && stretch == program_.variables_first()) return variables_.data();
    const auto found = pages_.find(stretch / page_bytes);
    return found == pages_.end() ? nullptr : found->second.bytes.get() + page_bytes;
}

const std::byte* TrialMemory::now(std::uint64_t stretch) const {
    if (!variables_.empty() && stretch == program_.variables_first()) return variables_now();
    const auto found = pages_.find(stretch / page_bytes);
    return found == pages_.end() ? nullptr : found->second.bytes.get();
}

void TrialMemory::make(std::uint64_t address, std::span<std::byte> bytes) const {
    const Pointee* pointee = pointee_at(address);
    if (pointee == nullptr) {
        std::ranges::fill(bytes, std::byte{0});
        return;
    }
    if (pointee->is_address) {
        for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
            const auto element = static_cast<std::uint32_t>((address + at) / sizeof(std::uint64_t));
            const std::uint64_t pointed =
                emulator::SparseMemory::region_base(first_pointed_region + element % pointed_regions);
            std::memcpy(bytes.data() + at, &pointed, sizeof pointed);
        }
        return;
    }
    const std::uint64_t seed = mixed(seed_ + 1);
    constexpr RealType f16{-8, 10, 65504, 0x1p-14, 0x1p-24};
    constexpr RealType f32{-12, 20, std::numeric_limits<float>::max(), std::numeric_limits<float>::min(),
                           std::numeric_limits<float>::denorm_min()};
    constexpr RealType f64{-12, 20, std::numeric_limits<double>::max(), std::numeric_limits<double>::min(),
                           std::numeric_limits<double>::denorm_min()};
    // Of arrays of unknown type the small numbers are whole ones: they may be indices.
    const bool is_whole =
        pointee->fill == Fill::integer || (pointee->is_guess && contents_ == Contents::counting);
    if (is_whole) {
        switch (pointee->bytes) {
            case 1:
                return fill_whole<std::int8_t>(bytes, address, seed, contents_, pointee->is_truth);
            case 2:
                return fill_whole<std::int16_t>(bytes, address, seed, contents_, false);
            case 8:
                return fill_whole<std::int64_t>(bytes, address, seed, contents_, false);
            default:
                return fill_whole<std::int32_t>(bytes, address, seed, contents_, false);
        }
    }
    switch (pointee->fill) {
        case Fill::f16:
            return fill_real<std::uint16_t>(bytes, address, seed, contents_, f16,
                                            [](double value) { return emulator::real_to_half(value); });
        case Fill::f64:
            return fill_real<double>(bytes, address, seed, contents_, f64,
                                     [](double value) { return value; });
        default:
            return fill_real<float>(bytes, address, seed, contents_, f32,
                                    [](double value) { return static_cast<float>(value); });
    }
}

emulator::GlobalMemory::Range TrialMemory::range_of(std::uint64_t address, emulator::Access) {
    const std::uint64_t number = address / page_bytes, first = number * page_bytes;
    if (const auto found = pages_.find(number); found != pages_.end())
        return {first, first + page_bytes, found->second.bytes.get()};
    // Nothing stands at the bottom of the address space: a null pointer is a fault.
    constexpr std::uint64_t lowest = 64u << 10;
    if (address < lowest || first + page_bytes < first) return {};
    if ((pages_.size() + 1) * page_bytes > most_bytes_) {
        is_exhausted_ = true;
        return {};
    }
    filled_bytes_ += page_bytes;
    auto bytes = std::make_unique_for_overwrite<std::byte[]>(2 * page_bytes);
    make(first, {bytes.get(), page_bytes});
    std::memcpy(bytes.get() + page_bytes, bytes.get(), page_bytes);
    std::byte* host = bytes.get();
    pages_[number] = {std::move(bytes)};
    return {first, first + page_bytes, host};
}

std::string TrialMemory::explain(std::uint64_t address) const {
    return is_exhausted_ ? fmt::format("more than {} MiB are touched", most_bytes_ >> 20)
                         : fmt::format("{:#x} is a null pointer, or close to one", address);
}

}  // namespace trimtab::profiler
