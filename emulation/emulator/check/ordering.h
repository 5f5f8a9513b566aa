// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which accesses of a launch are ordered before which: what a race is judged by.
//
// Time is the count of synchronizing events so far; an access is stamped with it. A thread knows all accesses
// of another before some time: by a barrier of the block that both met, by a warp collective that both lanes
// were members of, each of these taking along what the other knew; or by a release (a fence, then an atomic
// or ordered write) that it has acquired since (an atomic or ordered read). Releases are taken as acquired by
// whoever acquires anything later, and as made by the whole warp (to its block's other warps) or block (to
// other blocks): an ordering may be seen where there is none, and a race be missed, but none is made up.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "emulation/emulator/exec/op.h"

namespace trimtab::emulator::check {

// One access by one thread.
struct Stamp {
    std::uint32_t block = 0;  // in the order in which blocks started, from 1; 0: no access
    std::uint32_t time = 0;
    std::uint32_t instruction = 0;  // in the kernel's numbering
    std::uint16_t thread = 0;       // in its block
    std::uint8_t bytes = 0;         // of the word, a bit each
    bool strong = false;            // atomic or ordered: two of these do not race

    [[nodiscard]] bool is_valid() const { return block != 0; }
    [[nodiscard]] bool is_same_thread(const Stamp& other) const {
        return block == other.block && thread == other.thread;
    }
};

class Ordering {
  public:
    void start_block(std::uint64_t linear_index, std::uint32_t warps);
    void finish_block(std::uint64_t linear_index);

    // Where the next calls play.
    void enter(std::uint64_t linear_index, std::uint32_t warp);
    [[nodiscard]] std::uint32_t block() const { return current_->number; }
    [[nodiscard]] std::uint32_t time() const { return time_; }
    [[nodiscard]] std::uint64_t linear_index_of(std::uint32_t block) const { return linear_[block]; }

    void fence();
    void acquire();
    void release(bool fences);  // `fences`: the write has release semantics of its own
    void synchronize_lanes(std::uint32_t lanes);
    void synchronize_warps(std::uint64_t linear_index, std::span<const std::uint32_t> arrived);

    // Is the access ordered before whatever `lane` of the entered warp does now?
    [[nodiscard]] bool is_before(const Stamp& access, unsigned lane) const;

  private:
    struct Release {
        std::uint32_t covers = 0, at = 0;  // accesses before `covers`; acquired by who acquires after `at`
    };
    struct Releaser {
        std::uint32_t fence = 0, acquired = 0;
        std::vector<Release> releases;
        [[nodiscard]] bool covers(std::uint32_t access_time, std::uint32_t acquired_at) const;
        void release(std::uint32_t covered, std::uint32_t at);
    };
    struct WarpOrder {
        Releaser releaser;
        std::array<std::uint32_t, warp_lanes> known_warps{};
        std::array<std::array<std::uint32_t, warp_lanes>, warp_lanes> known_lanes{};
    };
    struct BlockOrder {
        std::uint32_t number = 0;
        Releaser releaser;
        std::vector<WarpOrder> warps;  // empty: the block is finished
    };

    void synchronize(WarpOrder& warp, std::uint32_t lanes) const;

    std::uint32_t time_ = 1;
    std::vector<std::uint64_t> linear_{0};                // by block number
    std::vector<std::unique_ptr<BlockOrder>> blocks_{1};  // by block number
    std::map<std::uint64_t, BlockOrder*> open_;           // by linear index
    BlockOrder* current_ = nullptr;
    std::uint64_t current_index_ = 0;
    std::uint32_t warp_ = 0;
};

}  // namespace trimtab::emulator::check
