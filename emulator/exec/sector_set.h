// A set of 32-byte sectors of memory, dense within pages of 4 KiB.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <unordered_map>

namespace trimtab::emulator {

class SectorSet {
  public:
    // Every sector that [first, end) touches; at most 2 KiB.
    void insert(std::uint64_t first, std::uint64_t end) {
        const std::uint64_t sector = first >> 5, count = ((end - 1) >> 5) - sector + 1;
        insert_sectors(sector, count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1);
        if (count > 64) insert_sector(sector + 64);
    }
    void insert_sector(std::uint64_t sector) { half_of(sector) |= std::uint64_t{1} << (sector & 63); }
    // Sector `first` + i for each bit i.
    void insert_sectors(std::uint64_t first, std::uint64_t bits) {
        const std::uint64_t shift = first & 63;
        if (const std::uint64_t low = bits << shift; low != 0) half_of(first) |= low;
        if (shift == 0) return;
        if (const std::uint64_t high = bits >> (64 - shift); high != 0) half_of(first + 64) |= high;
    }
    void merge(const SectorSet& other) {
        for (const auto& [page, bits] : other.pages_) {
            Bits& own = pages_[page];
            own[0] |= bits[0];
            own[1] |= bits[1];
        }
    }
    void clear() {
        pages_.clear();
        last_ = nullptr;
    }
    [[nodiscard]] bool empty() const { return pages_.empty(); }
    [[nodiscard]] std::uint64_t sectors() const {
        std::uint64_t count = 0;
        for (const auto& [page, bits] : pages_)
            count += static_cast<std::uint64_t>(std::popcount(bits[0]) + std::popcount(bits[1]));
        return count;
    }
    // 128-byte lines that hold one of the sectors.
    [[nodiscard]] std::uint64_t lines() const {
        std::uint64_t count = 0;
        for (const auto& [page, bits] : pages_) {
            for (const std::uint64_t half : bits) {
                const std::uint64_t any = half | (half >> 1) | (half >> 2) | (half >> 3);
                count += static_cast<std::uint64_t>(std::popcount(any & 0x1111111111111111u));
            }
        }
        return count;
    }

  private:
    using Bits = std::array<std::uint64_t, 2>;
    std::uint64_t& half_of(std::uint64_t sector) {
        const std::uint64_t page = sector >> 7;
        if (page != last_page_ || last_ == nullptr) {
            last_ = &pages_[page];
            last_page_ = page;
        }
        return (*last_)[(sector >> 6) & 1];
    }
    std::unordered_map<std::uint64_t, Bits> pages_;
    Bits* last_ = nullptr;  // nodes of the map stay where they are
    std::uint64_t last_page_ = 0;
};

}  // namespace trimtab::emulator
