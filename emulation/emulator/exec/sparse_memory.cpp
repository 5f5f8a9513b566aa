// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "emulation/emulator/exec/memory.h"

namespace trimtab::emulator {
namespace {

// Accesses a row of an array apart touch a page each, which is filled as a whole: it is small.
constexpr std::uint64_t page_bytes = SparseMemory::page_bytes;
// Nothing stands at the bottom of the address space, so that a null pointer stays a fault.
constexpr std::uint64_t null_bytes = 64u << 10;
constexpr std::size_t first_pages = 4, most_pages = 64, shard_count = 16;
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

// A share of all pages, so that workers seldom wait for each other.
struct Shard {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, std::byte*> pages;  // by address / page_bytes
    std::vector<std::unique_ptr<std::byte[]>> slabs;      // of several pages, ever more
    std::size_t left = 0, of_slab = first_pages / 2;      // pages of the last slab

    std::byte* new_page() {
        if (left == 0) {
            left = of_slab = std::min(2 * of_slab, most_pages);
            slabs.push_back(std::make_unique_for_overwrite<std::byte[]>(of_slab * page_bytes));
        }
        return slabs.back().get() + (of_slab - left--) * page_bytes;
    }
};

}  // namespace

struct SparseMemory::State {
    std::uint64_t limit_bytes = 0;
    std::map<std::uint32_t, Fill> fills;
    std::array<Shard, shard_count> shards;
    std::atomic<std::uint64_t> page_count = 0;

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
    state_->fills[region] = fill;
}

GlobalMemory::Range SparseMemory::range_of(std::uint64_t address, Access) {
    const std::uint64_t page = address / page_bytes;
    const std::uint64_t first = page * page_bytes;
    Shard& shard = state_->shards[mixed(page) % shard_count];
    const std::lock_guard lock(shard.mutex);
    const auto [found, is_new] = shard.pages.try_emplace(page);
    if (!is_new) return {first, first + page_bytes, found->second};
    if (address < null_bytes || (state_->page_count.fetch_add(1) + 1) * page_bytes > state_->limit_bytes) {
        shard.pages.erase(found);
        return {};
    }
    std::byte* const host = found->second = shard.new_page();
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
    return {first, first + page_bytes, host};
}

std::string SparseMemory::explain(std::uint64_t address) const {
    if (address < null_bytes) return "a null pointer, or close to one";
    return fmt::format("the limit of {} MiB of touched pages is reached", state_->limit_bytes >> 20);
}

}  // namespace trimtab::emulator
