// One thread block: its shared memory, its warps and its barriers.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/exec/launch.h"
#include "emulator/exec/warp.h"

namespace trimtab::emulator {

class Worker;

class Block {
  public:
    enum class State : std::uint8_t { running, done, fault };

    explicit Block(Worker& worker);
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    // Becomes the grid's block `linear_index`, as it is before its first instruction.
    void start(std::uint64_t linear_index);
    // Runs until every warp has exited (done), or until each waits or spins for what another block may do
    // (running).
    [[nodiscard]] State run();

    [[nodiscard]] std::uint64_t linear_index() const { return linear_index_; }
    [[nodiscard]] const trimtab_dim3& index() const { return index_; }
    [[nodiscard]] std::uint32_t thread_count() const { return thread_count_; }
    [[nodiscard]] trimtab_dim3 thread_index(std::uint32_t warp, unsigned lane) const;

    void lanes_exited(std::uint32_t lanes) {
        threads_exited(static_cast<std::uint32_t>(std::popcount(lanes)));
    }
    // Before anything but compiled code looks at the warp: which of the block's it is by now.
    void settle(Warp& w);

    // The current path of `w` meets barrier `number`, which waits for `threads` (0: all that have not
    // exited). Returns true if the barrier is complete, and everyone who waited at it may go on.
    [[nodiscard]] bool meet_barrier(Warp& w, unsigned number, std::uint32_t threads);
    // What bar.red gathers at a barrier.
    struct Reduction {
        std::uint32_t count = 0, threads = 0;
    };
    void contribute(unsigned number, std::uint32_t true_lanes, std::uint32_t lanes);
    [[nodiscard]] Reduction last_reduction(unsigned number) const { return barriers_[number].finished; }

    // Lanes of the current path of `w` that have come to the barrier and wait for others.
    [[nodiscard]] std::uint32_t arrived_lanes(const Warp& w, unsigned number) const {
        const Barrier& barrier = barriers_[number];
        return barrier.arrived.empty() ? 0 : barrier.arrived[w.index] & w.path_lanes;
    }

    static constexpr unsigned barrier_count = 16;
    static constexpr unsigned cluster_barrier =
        barrier_count;  // a cluster is one block: its barrier, another

  private:
    struct Barrier {
        std::uint32_t threads = 0;           // that it waits for; 0: all
        std::uint32_t waiting = 0;           // lanes that have arrived, waiting or not
        std::vector<std::uint32_t> arrived;  // by warp: which lanes
        Reduction gathered, finished;
    };

    // The order in which warps take their turns (LaunchRequest::order_seed).
    void draw_turns();
    void threads_exited(std::uint32_t count);
    // Of those that the kernel reads: what changes with the block, and with the warp.
    void fill_block_specials(Warp& w);
    void fill_warp_specials(Warp& w);
    // Returns its first op; nullptr: it cannot start, Warp::stop says why.
    [[nodiscard]] const Op* start_warp(std::uint32_t index);
    void finish_warp(std::uint32_t index);
    [[nodiscard]] bool is_complete(const Barrier& barrier) const;
    void release(unsigned number);
    [[nodiscard]] bool unblock();
    void deadlock();
    [[nodiscard]] bool can_go_on(const Warp& w) const;

    Worker& worker_;
    std::uint64_t linear_index_ = 0;
    trimtab_dim3 index_{};
    const std::uint32_t thread_count_, warp_count_;
    std::uint32_t live_threads_ = 0;
    std::vector<LaneBytes> shared_;
    std::vector<std::unique_ptr<Warp>> warps_;  // null: exited, or not started
    std::uint32_t started_ = 0, finished_ = 0;
    std::vector<std::uint32_t> turns_;  // empty: by index
    bool met_barrier_ = false;          // any of its warps, any barrier
    bool active_ = false;               // one of its warps was (model/metrics.h)
    std::array<Barrier, barrier_count + 1> barriers_;
};

}  // namespace trimtab::emulator
