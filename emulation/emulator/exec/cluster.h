// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cluster: blocks that run side by side on one worker, meet at a barrier of their own and reach each
// other's shared memory (PTX ISA, "cooperative thread arrays" and "cluster").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulation/emulator/exec/block.h"

namespace trimtab::emulator {

class Cluster {
  public:
    explicit Cluster(Worker& worker);

    // Becomes the grid's cluster `linear_index`.
    void start(std::uint64_t linear_index);
    // As Block::run: never `waiting`, for nothing outside the cluster comes to its barrier.
    [[nodiscard]] Block::State run();

    // nullptr: there is no such rank.
    [[nodiscard]] Block* member(std::uint64_t rank) {
        return rank < members_.size() ? members_[rank].get() : nullptr;
    }
    // Lets every block pass the barrier if all are there; false: some are not.
    bool meet();

  private:
    Worker& worker_;
    std::vector<std::unique_ptr<Block>> members_;  // by rank
};

}  // namespace trimtab::emulator
