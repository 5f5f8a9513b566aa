// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
        for (const std::uint32_t at : other.used_) {
            const Slot& slot = other.slots_[at];
            if (slot.bits != 0) insert_window(slot.window, slot.bits);
        }
    }
    void clear() {
        for (const std::uint32_t at : used_) {
            slots_[at] = {};
            if (!earlier_.empty()) earlier_[at] = 0;
        }
        used_.clear();
    }
    // The set of a block goes on as that of the next one. What it had is in `all` at the latest when this is
    // done for another set or hand_over() is called. Blocks that follow each other mostly touch the same
    // windows: those keep their slots, and reach `all` once for many blocks. Returns how many sectors it had.
    std::uint64_t start_next(SectorSet& all) {
        if (earlier_.empty()) earlier_.resize(slots_.size());
        std::uint64_t sectors = 0;
        std::size_t touched = 0;
        for (const std::uint32_t at : used_) {
            Slot& slot = slots_[at];
            if (slot.bits == 0) continue;
            touched++;
            sectors += static_cast<std::uint64_t>(std::popcount(slot.bits));
            earlier_[at] |= slot.bits;
            slot.bits = 0;
        }
        if (used_.size() > touched + touched / 2 + 16) hand_over(all);
        return sectors;
    }
    void hand_over(SectorSet& all) {
        for (const std::uint32_t at : used_) {
            if (!earlier_.empty() && earlier_[at] != 0) all.insert_window(slots_[at].window, earlier_[at]);
        }
        clear();
    }
    [[nodiscard]] std::size_t window_count() const { return used_.size(); }
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
        const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
        const std::vector<std::uint64_t> earlier = std::exchange(earlier_, {});
        if (!earlier.empty()) earlier_.resize(slots_.size());
        shift_--;
        used_.clear();
        for (std::size_t i = 0; i < old.size(); i++) {
            if (old[i].window == none) continue;
            insert_window(old[i].window, old[i].bits);
            if (!earlier.empty()) earlier_[used_.back()] = earlier[i];
        }
    }

    unsigned shift_ = 58;
    std::vector<Slot> slots_ = std::vector<Slot>(64);
    std::vector<std::uint32_t> used_;
    std::vector<std::uint64_t> earlier_;  // bits of each slot that start_next() has put aside
};

}  // namespace trimtab::emulator
