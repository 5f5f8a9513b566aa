// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the work-groups of a round fetch from behind L2, by a warp of two of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulation/opencl/pruning/reuse_distance.h"
#include "emulation/opencl/pruning/warp_walk.h"

namespace trimtab::pruning {

// An access whose address is a sum over the ids of its group is taken to be made by all of the group's items: its lines are
// then known without a walk of the other warps, and what one warp or row finds that another has fetched is counted rightly.
class GroupFetches {
  public:
    // Of this multiprocessor's share of L2.
    explicit GroupFetches(std::uint64_t l2_lines) : l2_lines_(l2_lines), cache_(l2_lines) {}

    // Sectors fetched for each access of `first`, on average over the round's warps; nullopt: its address is no such sum.
    // `second` is of the next group on the same multiprocessor, null where there is none; groups behind it fetch what it does.
    [[nodiscard]] const std::vector<std::optional<double>>& sectors_per_warp(
        const WalkedWarp& first, const WalkedWarp* second, const std::array<std::uint32_t, 3>& group,
        std::uint32_t groups_at_once);

  private:
    // Accesses of one group that touch the same sectors are equal in all of this.
    struct Place {
        std::int64_t x = 0, y = 0, z = 0, first_sector = 0, last_sector = 0;  // of the first row
        friend bool operator==(const Place&, const Place&) = default;
    };
    struct Recent {
        Place place;
        std::uint64_t touched = 0;  // lines, until then
    };
    // The last few of a group's accesses: walks along rows meet the same sectors again at once, which costs nothing to know.
    class RecentPlaces {
      public:
        void clear() { count_ = 0; }
        // Null where it is none of them.
        [[nodiscard]] Recent* find(const Place& place);
        void add(const Recent& one) { ring_[count_++ % ring_.size()] = one; }

      private:
        std::array<Recent, 16> ring_{};
        std::size_t count_ = 0;
    };

    // Sectors that access `a` of the warp's group fetches.
    [[nodiscard]] std::uint32_t fetched(const WalkedWarp& warp, std::size_t a,
                                        const std::array<std::uint32_t, 3>& group, RecentPlaces& recent);

    std::uint64_t l2_lines_, capacity_ = 0, touched_ = 0;  // lines; touched: again counts again
    ReuseCache cache_;
    std::array<RecentPlaces, 2> recent_;  // of the two groups
    std::vector<TouchedLine> lines_;
    std::vector<std::optional<double>> out_;
};

}  // namespace trimtab::pruning
