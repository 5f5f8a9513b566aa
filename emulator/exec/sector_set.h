// A set of 32-byte sectors of memory, dense within pages of 4 KiB.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <unordered_map>

namespace trimtab::emulator {

class SectorSet {
  public:
    // Every sector that [first, end) touches.
    void insert(std::uint64_t first, std::uint64_t end) {
        std::uint64_t sector = first >> 5;
        const std::uint64_t last = (end - 1) >> 5;
        for (; sector <= last; sector++) insert_sector(sector);
    }
    void insert_sector(std::uint64_t sector) {
        const std::uint64_t page = sector >> 7;
        if (page != last_page_ || last_ == nullptr) {
            last_ = &pages_[page];
            last_page_ = page;
        }
        (*last_)[(sector >> 6) & 1] |= std::uint64_t{1} << (sector & 63);
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
    std::unordered_map<std::uint64_t, Bits> pages_;
    Bits* last_ = nullptr;  // nodes of the map stay where they are
    std::uint64_t last_page_ = 0;
};

}  // namespace trimtab::emulator
