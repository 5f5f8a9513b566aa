// A set of 32-byte sectors of memory, dense within windows of 2 KiB: 64 sectors.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace trimtab::emulator {

class SectorSet {
  public:
    static constexpr unsigned window_shift = 11, sector_shift = 5;
    static constexpr std::uint64_t none = ~std::uint64_t{0};  // no address is so high

    struct Slot {
        std::uint64_t window = none, bits = 0;
    };
    // What compiled code looks windows up in: the first slot of one is window * multiplier >> shift.
    struct Table {
        Slot* slots = nullptr;
        std::uint64_t shift = 0;
    };
    static constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15u;
    // Until something is next inserted.
    [[nodiscard]] Table table() { return {slots_.data(), shift_}; }

    // Every sector that [first, end) touches; at most 2 KiB.
    void insert(std::uint64_t first, std::uint64_t end) {
        const std::uint64_t sector = first >> sector_shift, count = ((end - 1) >> sector_shift) - sector + 1;
        insert_sectors(sector, count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1);
        if (count > 64) insert_sector(sector + 64);
    }
    void insert_sector(std::uint64_t sector) {
        insert_window(sector >> 6, std::uint64_t{1} << (sector & 63));
    }
    // Sector `first` + i for each bit i.
    void insert_sectors(std::uint64_t first, std::uint64_t bits) {
        const std::uint64_t shift = first & 63;
        if (const std::uint64_t low = bits << shift; low != 0) insert_window(first >> 6, low);
        if (shift == 0) return;
        if (const std::uint64_t high = bits >> (64 - shift); high != 0) insert_window((first >> 6) + 1, high);
    }
    // Sector 64 * `window` + i for each bit i.
    void insert_window(std::uint64_t window, std::uint64_t bits) {
        std::uint64_t at = place_of(window);
        while (slots_[at].window != window) {
            if (slots_[at].window == none) {
                add(at, window, bits);
                return;
            }
            at = (at + 1) & (slots_.size() - 1);
        }
        slots_[at].bits |= bits;
    }
    void merge(const SectorSet& other) {
        for (const std::uint32_t at : other.used_)
            insert_window(other.slots_[at].window, other.slots_[at].bits);
    }
    void clear() {
        for (const std::uint32_t at : used_) slots_[at] = {};
        used_.clear();
    }
    [[nodiscard]] bool empty() const { return used_.empty(); }
    [[nodiscard]] std::uint64_t sectors() const {
        std::uint64_t count = 0;
        for (const std::uint32_t at : used_)
            count += static_cast<std::uint64_t>(std::popcount(slots_[at].bits));
        return count;
    }
    // 128-byte lines that hold one of the sectors.
    [[nodiscard]] std::uint64_t lines() const {
        std::uint64_t count = 0;
        for (const std::uint32_t at : used_) count += lines_of(slots_[at].bits);
        return count;
    }
    [[nodiscard]] static std::uint64_t lines_of(std::uint64_t bits) {
        const std::uint64_t any = bits | (bits >> 1) | (bits >> 2) | (bits >> 3);
        return static_cast<std::uint64_t>(std::popcount(any & 0x1111111111111111u));
    }

  private:
    [[nodiscard]] std::uint64_t place_of(std::uint64_t window) const {
        return (window * multiplier) >> shift_;
    }
    void add(std::uint64_t at, std::uint64_t window, std::uint64_t bits) {
        slots_[at] = {window, bits};
        used_.push_back(static_cast<std::uint32_t>(at));
        if (used_.size() * 2 > slots_.size()) grow();
    }
    void grow() {
        std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
        shift_--;
        used_.clear();
        for (const Slot& slot : old) {
            if (slot.window != none) insert_window(slot.window, slot.bits);
        }
    }

    unsigned shift_ = 58;
    std::vector<Slot> slots_ = std::vector<Slot>(64);
    std::vector<std::uint32_t> used_;
};

}  // namespace trimtab::emulator
