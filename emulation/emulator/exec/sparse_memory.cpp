// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "emulation/emulator/exec/memory.h"

namespace trimtab::emulator {
namespace {

constexpr std::uint64_t page_bytes = 64u << 10;
// Above every host address and the executor's windows.
constexpr std::uint64_t regions_first = std::uint64_t{1} << 48;
constexpr std::uint64_t region_bytes = std::uint64_t{1} << 40;

// A good mix of an address's bits (the finaliser of MurmurHash3).
std::uint64_t mixed(std::uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ (x >> 33);
}

template <class T, class Make>
void fill_with(std::byte* page, std::uint64_t address, const Make& make) {
    auto* out = reinterpret_cast<T*>(page);
    for (std::uint64_t i = 0; i < page_bytes / sizeof(T); i++) out[i] = make(mixed(address + i * sizeof(T)));
}

}  // namespace

struct SparseMemory::State {
    std::uint64_t limit_bytes = 0;
    mutable std::shared_mutex mutex;
    std::map<std::uint32_t, Fill> fills;
    std::unordered_map<std::uint64_t, std::unique_ptr<std::byte[]>> pages;  // by address / page_bytes

    [[nodiscard]] Fill fill_of(std::uint64_t address) const {
        if (address < regions_first) return Fill::zero;
        const auto found = fills.find(static_cast<std::uint32_t>((address - regions_first) / region_bytes));
        return found == fills.end() ? Fill::f32 : found->second;
    }
};

SparseMemory::SparseMemory(std::uint64_t page_limit_bytes) : state_(std::make_unique<State>()) {
    state_->limit_bytes = page_limit_bytes;
}

SparseMemory::~SparseMemory() = default;

std::uint64_t SparseMemory::region_base(std::uint32_t region) {
    return regions_first + region * region_bytes + region_bytes / 2;
}

void SparseMemory::set_fill(std::uint32_t region, Fill fill) {
    const std::unique_lock lock(state_->mutex);
    state_->fills[region] = fill;
}

GlobalMemory::Range SparseMemory::range_of(std::uint64_t address, Access) {
    const std::uint64_t page = address / page_bytes;
    const std::uint64_t first = page * page_bytes;
    {
        const std::shared_lock lock(state_->mutex);
        const auto found = state_->pages.find(page);
        if (found != state_->pages.end()) return {first, first + page_bytes, found->second.get()};
    }
    const std::unique_lock lock(state_->mutex);
    const auto found = state_->pages.find(page);
    if (found != state_->pages.end()) return {first, first + page_bytes, found->second.get()};
    // Nothing stands at the bottom of the address space, so that a null pointer stays a fault.
    if (address < page_bytes || (state_->pages.size() + 1) * page_bytes > state_->limit_bytes) return {};
    auto bytes = std::make_unique_for_overwrite<std::byte[]>(page_bytes);
    std::byte* host = bytes.get();
    switch (state_->fill_of(address)) {
        case Fill::zero:
            std::fill_n(host, page_bytes, std::byte{0});
            break;
        case Fill::f32:
            fill_with<std::uint32_t>(host, first, [](std::uint64_t x) {
                // 0.5 to 1 or 1 to 1.5, half each: the distribution is uniform.
                return std::bit_cast<std::uint32_t>(0.5f + static_cast<float>(x >> 40) * 0x1p-24f);
            });
            break;
        case Fill::f64:
            fill_with<std::uint64_t>(host, first, [](std::uint64_t x) {
                return std::bit_cast<std::uint64_t>(0.5 + static_cast<double>(x >> 11) * 0x1p-53);
            });
            break;
        case Fill::f16:
            fill_with<std::uint16_t>(host, first, [](std::uint64_t x) {
                const auto steps = static_cast<std::uint16_t>(x >> 54);  // of 2^-10
                // From 0.5 in steps of 2^-11 to 1, from there in steps of 2^-10.
                return static_cast<std::uint16_t>(steps < 512 ? 0x3800 + 2 * steps : 0x3c00 + (steps - 512));
            });
            break;
        case Fill::integer:
            fill_with<std::uint32_t>(host, first,
                                     [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 60); });
            break;
        case Fill::integer64:
            fill_with<std::uint64_t>(host, first, [](std::uint64_t x) { return x >> 60; });
            break;
    }
    state_->pages.emplace(page, std::move(bytes));
    return {first, first + page_bytes, host};
}

std::string SparseMemory::explain(std::uint64_t address) const {
    if (address < page_bytes) return "a null pointer, or close to one";
    return fmt::format("the limit of {} MiB of touched pages is reached", state_->limit_bytes >> 20);
}

}  // namespace trimtab::emulator
