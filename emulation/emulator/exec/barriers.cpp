// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers between the warps of a block (PTX ISA, "bar, barrier").
//
// Arrival is by lane, as on Volta and later: a barrier that waits for everyone is complete when every lane
// that has not exited has arrived, by whichever instruction. Where a number of threads is given, a warp
// counts whole once its last live lane is there.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/cluster.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/observer.h"
#include "emulation/emulator/exec/paths.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator {

bool Block::is_complete(const Barrier& barrier) const {
    if (barrier.threads == 0) return barrier.waiting != 0 && barrier.waiting >= live_threads_;
    std::uint32_t threads = 0;
    for (std::uint32_t i = 0; i < barrier.arrived.size(); i++) {
        if (barrier.arrived[i] == 0) continue;
        const std::uint32_t live = warps_[i] == nullptr ? 0 : warps_[i]->live;
        threads += static_cast<std::uint32_t>(std::popcount(barrier.arrived[i] | ~live));
    }
    return threads >= barrier.threads;
}

bool Block::meet_barrier(Warp& w, unsigned number, std::uint32_t threads) {
    Barrier& barrier = barriers_[number];
    met_barrier_ = true;
    if (barrier.arrived.empty()) barrier.arrived.resize(warp_count_);
    barrier.arrived[w.index] |= w.path_lanes;
    barrier.waiting += static_cast<std::uint32_t>(std::popcount(w.path_lanes));
    barrier.threads = threads;
    if (!is_complete(barrier)) return false;
    if (number == cluster_barrier && cluster_ != nullptr) return cluster_->meet();
    release(number);
    return true;
}

bool Block::is_at_cluster_barrier() const {
    return live_threads_ == 0 || is_complete(barriers_[cluster_barrier]);
}

bool Block::waits_for_cluster() const {
    if (cluster_ == nullptr) return false;
    return std::any_of(warps_.begin(), warps_.end(), [](const std::unique_ptr<Warp>& warp) {
        return warp != nullptr && std::any_of(warp->paths.begin(), warp->paths.end(), [](const Path& path) {
                   return path.state == Path::State::at_barrier && path.barrier == cluster_barrier;
               });
    });
}

void Block::contribute(unsigned number, std::uint32_t true_lanes, std::uint32_t lanes) {
    barriers_[number].gathered.count += static_cast<std::uint32_t>(std::popcount(true_lanes));
    barriers_[number].gathered.threads += static_cast<std::uint32_t>(std::popcount(lanes));
}

void Block::release(unsigned number) {
    Barrier& barrier = barriers_[number];
    if (LaunchObserver* observer = worker_.launch().request.observer)
        observer->barrier_completes(*this, number, barrier.arrived);
    barrier.waiting = 0;
    barrier.threads = 0;
    std::fill(barrier.arrived.begin(), barrier.arrived.end(), 0);
    barrier.finished = barrier.gathered;
    barrier.gathered = {};
    for (const std::unique_ptr<Warp>& warp : warps_) {
        if (warp == nullptr) continue;
        for (Path& path : warp->paths) {
            if (path.state == Path::State::at_barrier && path.barrier == number)
                path.state = Path::State::ready;
        }
    }
}

void Block::threads_exited(std::uint32_t count) {
    live_threads_ -= count;
    if (cluster_ != nullptr) (void)cluster_->meet();
    if (!met_barrier_) return;
    const unsigned own_barriers = cluster_ == nullptr ? barrier_count + 1 : barrier_count;
    for (unsigned number = 0; number < own_barriers; number++) {
        if (barriers_[number].waiting != 0 && is_complete(barriers_[number])) release(number);
    }
}

// Nothing can run. Collectives whose other lanes never come go on with the lanes they have; then lanes that
// wait for others of their warp go on without them.
bool Block::unblock() {
    for (const std::unique_ptr<Warp>& warp : warps_) {
        if (warp == nullptr) continue;
        for (Path& path : warp->paths) {
            if (path.state != Path::State::at_collective) continue;
            path.state = Path::State::ready;
            path.forced = true;
            return true;
        }
    }
    for (const std::unique_ptr<Warp>& warp : warps_) {
        if (warp != nullptr && release_joined_lanes(*warp)) return true;
    }
    return false;
}

void Block::deadlock() {
    for (const std::unique_ptr<Warp>& warp : warps_) {
        if (warp == nullptr) continue;
        for (const Path& path : warp->paths) {
            if (path.state != Path::State::at_barrier) continue;
            const Barrier& barrier = barriers_[path.barrier];
            const std::uint32_t expected = barrier.threads == 0 ? live_threads_ : barrier.threads;
            (void)worker_.fault(
                *warp, path.pc - 1, Fault::Kind::illegal_instruction,
                static_cast<unsigned>(std::countr_zero(path.lanes)),
                fmt::format(
                    "deadlock: {} waits for {} threads; {} arrived, and no other thread can; waited for",
                    path.barrier == cluster_barrier ? "the cluster's barrier, in this block,"
                                                    : fmt::format("barrier {}", path.barrier),
                    expected, barrier.waiting));
            return;
        }
    }
}

namespace run {
namespace {

// The barrier's number and thread count are the same in all lanes, or the program is wrong.
const Op* meet(Warp& w, const Op* op, bool waits) {
    const auto first = static_cast<unsigned>(std::countr_zero(w.path_lanes));
    const std::uint32_t number = w.lanes<std::uint32_t>(op->a)[first];
    const std::uint32_t threads = op->b == no_operand ? 0 : w.lanes<std::uint32_t>(op->b)[first];
    if (number >= Block::barrier_count) {
        return w.worker->fault(w, op, Fault::Kind::illegal_instruction, first,
                               fmt::format("there is no barrier {}", number));
    }
    if (op->b != no_operand && (threads == 0 || threads % warp_lanes != 0)) {
        return w.worker->fault(w, op, Fault::Kind::illegal_instruction, first,
                               fmt::format("a barrier of {} threads, which is no multiple of 32,", threads));
    }
    if (op->c != no_operand) w.block->contribute(number, w.predicate(op->c) & w.path_lanes, w.path_lanes);
    if (w.worker->counts().enabled) {
        w.active = true;
        w.worker->counts().barriers++;
    }
    if (LaunchObserver* observer = w.worker->launch().request.observer)
        observer->meets_barrier(w, op, number, threads);
    if (w.block->meet_barrier(w, number, threads) || !waits) return op + 1;
    w.paths[static_cast<std::size_t>(w.current)].barrier = number;
    return suspend_path(w, Path::State::at_barrier, op + 1);
}

}  // namespace

// barrier.cluster.arrive and .wait: in two halves, others' work in between.
const Op* cluster_arrive(Warp& w, const Op* op) {
    (void)w.block->meet_barrier(w, Block::cluster_barrier, 0);
    return op + 1;
}
const Op* cluster_wait(Warp& w, const Op* op) {
    if (w.block->arrived_lanes(w, Block::cluster_barrier) == 0) return op + 1;
    w.paths[static_cast<std::size_t>(w.current)].barrier = Block::cluster_barrier;
    return suspend_path(w, Path::State::at_barrier, op + 1);
}

const Op* barrier_sync(Warp& w, const Op* op) {
    return meet(w, op, true);
}
const Op* barrier_arrive(Warp& w, const Op* op) {
    return meet(w, op, false);
}
const Op* barrier_reduce(Warp& w, const Op* op) {
    return meet(w, op, true);
}

const Op* barrier_result(Warp& w, const Op* op) {
    const auto first = static_cast<unsigned>(std::countr_zero(w.path_lanes));
    const std::uint32_t number = w.lanes<std::uint32_t>(op->a)[first];
    const Block::Reduction result = w.block->last_reduction(number);
    switch (static_cast<ptx::BooleanOp>(op->imm)) {
        case ptx::BooleanOp::popc:
            for (unsigned lane = 0; lane < warp_lanes; lane++) {
                if ((w.mask >> lane) & 1u) w.lanes<std::uint32_t>(op->d)[lane] = result.count;
            }
            break;
        case ptx::BooleanOp::and_:
            w.write_predicate(op->d, result.count == result.threads ? all_lanes : 0);
            break;
        default:
            w.write_predicate(op->d, result.count != 0 ? all_lanes : 0);
            break;
    }
    return op + 1;
}

}  // namespace run
}  // namespace trimtab::emulator
