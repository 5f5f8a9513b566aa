// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One thread block: its shared memory, its warps and its barriers.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulation/emulator/exec/launch.h"
#include "emulation/emulator/exec/warp.h"

namespace trimtab::emulator {

class Cluster;
class Worker;

class Block {
  public:
    // waiting: nothing can run before other blocks of its cluster come to a barrier.
    enum class State : std::uint8_t { running, waiting, done, fault };

    explicit Block(Worker& worker);
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    // Becomes the grid's block `linear_index`, as it is before its first instruction.
    void start(std::uint64_t linear_index);
    // Runs until every warp has exited (done), or until each waits or spins for what another block may do
    // (running, waiting).
    [[nodiscard]] State run();

    // Before it starts: it is a member.
    void join(Cluster& cluster, std::uint32_t rank) {
        cluster_ = &cluster;
        rank_ = rank;
    }
    [[nodiscard]] bool is_in_cluster() const { return cluster_ != nullptr; }
    [[nodiscard]] std::uint32_t cluster_rank() const { return rank_; }
    [[nodiscard]] bool is_done() const { return finished_ == warp_count_; }
    [[nodiscard]] bool can_go_on() const;
    // All its threads have come to the cluster's barrier, or exited.
    [[nodiscard]] bool is_at_cluster_barrier() const;
    void pass_cluster_barrier() { release(cluster_barrier); }
    // Nothing can run: makes something able to, or says why not and faults.
    [[nodiscard]] bool unblock();
    void deadlock();
    // The host's address of shared memory at an offset in the shared window; nullptr: there is none.
    [[nodiscard]] std::byte* shared_at(std::uint64_t offset, std::uint64_t bytes);
    // Whether the host's address lies in the shared memory of a block of its cluster.
    [[nodiscard]] bool is_cluster_memory(std::uint64_t host);

    [[nodiscard]] std::uint64_t linear_index() const { return linear_index_; }
    [[nodiscard]] const trimtab_dim3& index() const { return index_; }
    [[nodiscard]] std::uint32_t thread_count() const { return thread_count_; }
    [[nodiscard]] trimtab_dim3 thread_index(std::uint32_t warp, unsigned lane) const;
    // nullptr: it has exited, or has not started.
    [[nodiscard]] const Warp* warp(std::uint32_t index) const { return warps_[index].get(); }

    void lanes_exited(std::uint32_t lanes) {
        threads_exited(static_cast<std::uint32_t>(std::popcount(lanes)));
    }
    // Before anything but compiled code looks at the warp: which of the block's it is by now.
    void settle(Warp& w);
    // Compiled code has come to the kernel's end with all lanes of the warp, which becomes the next one of the
    // block or the first of the worker's next block. False: it ends as others do.
    [[nodiscard]] bool pass_on(Warp& w);

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
    static constexpr unsigned cluster_barrier = barrier_count;  // the block's part in it

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
    void begin_warp(Warp& w, std::uint32_t index);
    void finish_warp(std::uint32_t index);
    [[nodiscard]] bool is_complete(const Barrier& barrier) const;
    void release(unsigned number);
    [[nodiscard]] static bool can_go_on(const Warp& w);
    [[nodiscard]] bool waits_for_cluster() const;

    Worker& worker_;
    std::uint64_t linear_index_ = 0;
    trimtab_dim3 index_{};
    Cluster* cluster_ = nullptr;  // nullptr: it is one of its own
    std::uint32_t rank_ = 0;      // in its cluster
    const std::uint32_t thread_count_, warp_count_;
    std::uint32_t live_threads_ = 0;
    std::vector<LaneBytes> shared_;
    std::vector<std::unique_ptr<Warp>> warps_;  // null: exited, or not started
    std::uint32_t started_ = 0, finished_ = 0;
    std::vector<std::uint32_t> turns_;  // empty: by index
    bool met_barrier_ = false;          // any of its warps, any barrier
    bool active_ = false;               // one of its warps was (core/model/metrics.h)
    std::array<Barrier, barrier_count + 1> barriers_;
};

}  // namespace trimtab::emulator
