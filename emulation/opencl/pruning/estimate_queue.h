// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes in the order of their estimates, few of which are made at first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "trimtab/driver.h"

namespace trimtab::pruning {

struct SizeToEstimate {
    std::size_t index = 0;
    trimtab_dim3 size{1, 1, 1};
    std::uint32_t groups_at_once = 0, warps_at_once = 0;
    double rounds = 1;
};

// Of sizes that differ in x alone, within a sector's worth of 4-byte elements and with as many warps at once, the first and the
// last are estimated. A round of one between them touches parts of the same sectors: the lesser of the two is taken for it
// until it would be next.
class EstimateQueue {
  public:
    // `round`: what a round takes, by index, in any unit; an estimate is that times the size's rounds.
    EstimateQueue(std::span<const SizeToEstimate> sizes, std::function<double(std::size_t)> round);

    [[nodiscard]] std::size_t size() const { return waiting_.size(); }
    // Of those left the one of the least estimate in [from, to]; nullopt: there is none.
    [[nodiscard]] std::optional<std::size_t> first_between(double from, double to);
    void take(std::size_t index) { waiting_.erase(waiting_of(index)); }
    // Of any size: the last that was made of it, or what is taken for it.
    [[nodiscard]] double estimate(std::size_t index) const { return known_[index].estimate; }

  private:
    struct Known {
        double estimate = 0, rounds = 1;
        bool is_made = false;
    };
    // Of equal estimates sizes from all over the space come first: what is found of the first ones is taken for the rest.
    struct Waiting {
        double estimate = 0;
        std::uint64_t hash = 0;
        std::size_t index = 0;
        auto operator<=>(const Waiting&) const = default;
    };
    [[nodiscard]] Waiting waiting_of(std::size_t index) const;
    double make(std::size_t index);

    std::function<double(std::size_t)> round_;
    std::vector<Known> known_;  // by index
    std::set<Waiting> waiting_;
};

}  // namespace trimtab::pruning
