// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

#include "emulation/emulator/exec/cluster.h"
#include "emulation/emulator/exec/observer.h"
#include "emulation/emulator/exec/paths.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/exec/worker.h"
#include "emulation/emulator/jit/abi.h"
#include "emulation/emulator/jit/variants.h"

namespace trimtab::emulator {
namespace {

constexpr std::size_t special_count = static_cast<std::size_t>(ptx::SpecialRegister::other);

std::uint32_t* special(Warp& w, ptx::SpecialRegister which) {
    return w.lanes<std::uint32_t>(
        operand_ref(Base::specials, static_cast<std::uint32_t>(which) * 4 * warp_lanes));
}
void fill(Warp& w, ptx::SpecialRegister which, std::uint32_t value) {
    std::fill_n(special(w, which), warp_lanes, value);
}

// What stays the same for every warp of a launch.
void fill_launch_specials(Warp& w, const LaunchRequest& request, std::uint32_t static_shared_bytes) {
    using enum ptx::SpecialRegister;
    fill(w, ntid_x, request.block.x);
    fill(w, ntid_y, request.block.y);
    fill(w, ntid_z, request.block.z);
    fill(w, nctaid_x, request.grid.x);
    fill(w, nctaid_y, request.grid.y);
    fill(w, nctaid_z, request.grid.z);
    const trimtab_dim3& cluster = request.cluster;
    const std::uint32_t cluster_blocks = cluster.x * cluster.y * cluster.z;
    fill(w, nclusterid_x, request.grid.x / cluster.x);
    fill(w, nclusterid_y, request.grid.y / cluster.y);
    fill(w, nclusterid_z, request.grid.z / cluster.z);
    fill(w, cluster_nctaid_x, cluster.x);
    fill(w, cluster_nctaid_y, cluster.y);
    fill(w, cluster_nctaid_z, cluster.z);
    fill(w, cluster_nctarank, cluster_blocks);
    fill(w, is_explicit_cluster, cluster_blocks > 1 ? all_lanes : 0);
    fill(w, nwarpid, (request.block.x * request.block.y * request.block.z + warp_lanes - 1) / warp_lanes);
    fill(w, nsmid, std::max(request.sm_count, 1u));
    fill(w, gridid, 1);
    fill(w, dynamic_smem_size, request.dynamic_shared_bytes);
    fill(w, total_smem_size, static_shared_bytes + request.dynamic_shared_bytes);
    fill(w, aggr_smem_size, static_shared_bytes + request.dynamic_shared_bytes);
    fill(w, warp_size, warp_lanes);
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        const std::uint32_t own = 1u << lane;
        special(w, laneid)[lane] = lane;
        special(w, lanemask_eq)[lane] = own;
        special(w, lanemask_lt)[lane] = own - 1;
        special(w, lanemask_le)[lane] = own | (own - 1);
        special(w, lanemask_gt)[lane] = ~(own | (own - 1));
        special(w, lanemask_ge)[lane] = ~(own - 1);
    }
}

}  // namespace

Block::Block(Worker& worker)
    : worker_(worker),
      thread_count_(worker.launch().request.block.x * worker.launch().request.block.y *
                    worker.launch().request.block.z),
      warp_count_((thread_count_ + warp_lanes - 1) / warp_lanes),
      shared_((worker.start().shared_bytes + sizeof(LaneBytes) - 1) / sizeof(LaneBytes)),
      warps_(warp_count_) {}

void Block::start(std::uint64_t linear_index) {
    const LaunchRequest& request = worker_.launch().request;
    linear_index_ = linear_index;
    index_.x = static_cast<std::uint32_t>(linear_index % request.grid.x);
    index_.y = static_cast<std::uint32_t>(linear_index / request.grid.x % request.grid.y);
    index_.z = static_cast<std::uint32_t>(linear_index / request.grid.x / request.grid.y);
    live_threads_ = thread_count_;
    started_ = finished_ = 0;
    active_ = false;
    for (Barrier& barrier : barriers_) {
        if (!met_barrier_) break;
        std::fill(barrier.arrived.begin(), barrier.arrived.end(), 0);
        barrier.threads = barrier.waiting = 0;
        barrier.gathered = barrier.finished = {};
    }
    met_barrier_ = false;
    std::fill(shared_.begin(), shared_.end(), LaneBytes{});
    if (request.observer != nullptr) request.observer->block_started(*this);
    if (request.order_seed != 0) draw_turns();
}

Block::~Block() = default;

trimtab_dim3 Block::thread_index(std::uint32_t warp, unsigned lane) const {
    const trimtab_dim3& size = worker_.launch().request.block;
    const std::uint32_t thread = warp * warp_lanes + lane;
    return {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
}

void Block::draw_turns() {
    turns_.resize(warp_count_);
    std::iota(turns_.begin(), turns_.end(), 0u);
    std::seed_seq seed{worker_.launch().request.order_seed, linear_index_};
    std::shuffle(turns_.begin(), turns_.end(), std::mt19937(seed));
}

void Block::fill_block_specials(Warp& w) {
    using enum ptx::SpecialRegister;
    const LaunchRequest& request = worker_.launch().request;
    if (w.filled_for == linear_index_) return;
    w.filled_for = linear_index_;
    const auto set = [&](ptx::SpecialRegister which, std::uint32_t value) {
        if (worker_.start().reads(which)) fill(w, which, value);
    };
    set(ctaid_x, index_.x);
    set(ctaid_y, index_.y);
    set(ctaid_z, index_.z);
    const trimtab_dim3& cluster = request.cluster;
    set(clusterid_x, index_.x / cluster.x);
    set(clusterid_y, index_.y / cluster.y);
    set(clusterid_z, index_.z / cluster.z);
    set(cluster_ctaid_x, index_.x % cluster.x);
    set(cluster_ctaid_y, index_.y % cluster.y);
    set(cluster_ctaid_z, index_.z % cluster.z);
    set(cluster_ctarank, rank_);
    if (worker_.start().reads(smid))
        fill(w, smid, static_cast<std::uint32_t>(linear_index_ % std::max(request.sm_count, 1u)));
}

void Block::fill_warp_specials(Warp& w) {
    using enum ptx::SpecialRegister;
    if (worker_.start().reads(warpid)) fill(w, warpid, w.index);
    const std::uint32_t* threads = w.threads;
    for (const ptx::SpecialRegister which : {tid_x, tid_y, tid_z}) {
        if (worker_.start().reads(which)) std::copy_n(threads, warp_lanes, special(w, which));
        threads += warp_lanes;
    }
}

void Block::settle(Warp& w) {
    if (w.settled == w.index) return;
    if (w.place != w.index) {
        warps_[w.index] = std::move(warps_[w.place]);
        const std::uint32_t passed = w.index - w.place;
        finished_ += passed;
        started_ = w.index + 1;
        w.place = w.index;
        threads_exited(passed * warp_lanes);
    }
    w.settled = w.index;
    fill_warp_specials(w);
}

const Op* Block::start_warp(std::uint32_t index) {
    const WarpStart& start = worker_.start();
    warps_[index] = worker_.take_warp();
    Warp& w = *warps_[index];
    if (w.specials_storage.empty()) {
        const Launch& launch = worker_.launch();
        w.specials_storage.resize(special_count * 4 * warp_lanes / sizeof(LaneBytes) + 1);
        w.bases[static_cast<unsigned>(Base::specials)] =
            reinterpret_cast<std::byte*>(w.specials_storage.data());
        w.bases[static_cast<unsigned>(Base::parameters)] = start.parameters;
        w.worker = &worker_;
        w.ranges = worker_.ranges();
        w.counts = worker_.counts().instructions.data();
        w.compiled = start.compiled;
        w.services = &jit::services();
        w.shared_bytes = start.shared_bytes;
        fill_launch_specials(w, launch.request, launch.kernel.info().static_shared_bytes);
        if (worker_.counts().enabled) w.slots.resize(launch.kernel.info().instruction_count + 1);
        w.slot_counts = w.slots.data();
    }
    w.block = this;
    w.place = index;
    w.shared = reinterpret_cast<std::byte*>(shared_.data());
    w.stop = Warp::Stop::none;
    w.came_apart = false;
    w.last_spun = -1;
    w.executed = 0;
    begin_warp(w, index);
    fill_block_specials(w);
    const std::uint32_t threads = std::min(thread_count_ - index * warp_lanes, warp_lanes);
    const std::uint32_t lanes = threads == warp_lanes ? all_lanes : (1u << threads) - 1;
    w.path_lanes = lanes;
    if (start.compiled == nullptr || start.compiled[0].load(std::memory_order_relaxed) == nullptr) {
        w.more_warps = 0;
        settle(w);
    } else {
        w.may_pass_on = start.in_passing && lanes == all_lanes && cluster_ == nullptr ? 1 : 0;
    }
    started_ = index + 1;
    if (w.outermost == nullptr) {
        w.frame = nullptr;
        w.outermost = worker_.take_frame(w, start.entry->ops.data(), *start.entry);
        if (w.outermost == nullptr) return nullptr;  // the stack's fault is set
    } else if (worker_.launch().request.is_interpreted) {
        std::fill_n(w.outermost->registers, start.entry->register_bytes, std::byte{0});
    }
    w.outermost->lanes = lanes;
    w.outermost->local_end = w.outermost->local_base + start.local_bytes;
    start_paths(w, lanes, start.entry->ops.data(), w.outermost);
    return start.entry->ops.data();
}

// What is new with each warp, whichever way it starts.
void Block::begin_warp(Warp& w, std::uint32_t index) {
    WorkerCounts& counts = worker_.counts();
    w.index = index;
    w.threads = worker_.thread_indices(index);
    w.settled = Warp::unsettled;
    w.more_warps = w.may_pass_on = 0;
    const std::uint32_t whole = thread_count_ / warp_lanes;
    if (worker_.start().in_passing && !counts.enabled && whole > index + 1) w.more_warps = whole - index - 1;
    w.active = false;
    w.is_footprint_wanted = counts.footprints && linear_index_ % warp_count_ == index;
    w.footprint_table = w.is_footprint_wanted ? &counts.warp_table : &counts.block_table;
    w.last_requests = w.is_footprint_wanted ? &counts.last_in_warp : &counts.last;
    w.spins = 0;
    w.looks = w.early_looks = 0;
    w.last_state = 0;
    w.check_at = worker_.start().check_at;
    w.dependent_rounds = 0;
    w.pending = nullptr;
}

bool Block::pass_on(Warp& w) {
    // Where other warps are still under way, run() looks after them.
    if (w.may_pass_on == 0 || finished_ != w.place || started_ != w.place + 1) return false;
    WorkerCounts& counts = worker_.counts();
    const bool is_last = w.index + 1 == warp_count_;
    std::optional<std::uint64_t> next;
    if (is_last) {
        // At times everything else has a look: who stops the launch, or has better code by now.
        if (!worker_.has_more_at_hand()) return false;
        next = worker_.next_index();
        if (!next) return false;
    } else if (w.index + 2 == warp_count_ && thread_count_ % warp_lanes != 0) {
        return false;  // the next one has fewer lanes
    }
    if (counts.enabled) {
        active_ = active_ || w.active;
        finish_warp_counts(w, counts, worker_.launch().code);
    }
    if (is_last) {
        if (counts.enabled) worker_.finish_block(linear_index_, active_);
        if (w.place != 0) warps_[0] = std::move(warps_[w.place]);
        start(*next);
        started_ = 1;
        w.place = 0;
        worker_.executed(w.executed);
        w.executed = 0;
        w.outermost->local_end = w.outermost->local_base + worker_.start().local_bytes;
        fill_block_specials(w);
    }
    begin_warp(w, is_last ? 0 : w.index + 1);
    w.may_pass_on = 1;
    return true;
}

void Block::finish_warp(std::uint32_t index) {
    Warp& w = *warps_[index];
    worker_.executed(w.executed);
    active_ = active_ || w.active;
    if (worker_.counts().enabled) finish_warp_counts(w, worker_.counts(), worker_.launch().code);
    worker_.give_back(std::move(warps_[index]));
    finished_++;
}

bool Block::can_go_on(const Warp& w) {
    return std::any_of(w.paths.begin(), w.paths.end(),
                       [](const Path& path) { return path.state == Path::State::ready; });
}

bool Block::can_go_on() const {
    return std::any_of(warps_.begin(), warps_.end(),
                       [](const std::unique_ptr<Warp>& warp) { return warp != nullptr && can_go_on(*warp); });
}

std::byte* Block::shared_at(std::uint64_t offset, std::uint64_t bytes) {
    const std::uint64_t size = worker_.start().shared_bytes;
    if (offset >= cluster_stride) {
        if (cluster_ == nullptr) return nullptr;
        Block* const other = cluster_->member(offset / cluster_stride - 1);
        return other == nullptr ? nullptr : other->shared_at(offset % cluster_stride, bytes);
    }
    if (offset > size || bytes > size - offset) return nullptr;
    return reinterpret_cast<std::byte*>(shared_.data()) + offset;
}

bool Block::is_cluster_memory(std::uint64_t host) {
    if (cluster_ == nullptr) return false;
    for (std::uint64_t rank = 0; Block* const other = cluster_->member(rank); rank++) {
        const auto first = reinterpret_cast<std::uint64_t>(other->shared_.data());
        if (host >= first && host - first < worker_.start().shared_bytes) return true;
    }
    return false;
}

Block::State Block::run() {
    while (finished_ < warp_count_) {
        bool progress = false, only_spinning = true;
        for (std::uint32_t turn = 0; turn < warp_count_; turn++) {
            const std::uint32_t i = turns_.empty() ? turn : turns_[turn];
            const Op* op = nullptr;
            while (i >= started_) op = start_warp(started_);
            Warp* const w = warps_[i].get();
            if (w == nullptr) continue;
            if (w->stop == Warp::Stop::fault) return State::fault;
            if (op == nullptr) {
                if (!can_go_on(*w)) continue;
                w->stop = Warp::Stop::none;
                op = next_path(*w);
            }
            progress = true;
            const std::uint64_t block = linear_index_;
            while (op != nullptr) op = op->run(*w, op);
            if (linear_index_ != block) turn = warp_count_;  // it is another one by now
            switch (w->stop) {
                case Warp::Stop::fault:
                    return State::fault;
                case Warp::Stop::finished:
                    finish_warp(w->index);
                    [[fallthrough]];
                case Warp::Stop::none:
                case Warp::Stop::waiting:
                    only_spinning = false;
                    break;
                case Warp::Stop::yielded:
                    break;
            }
        }
        if (!progress && finished_ < warp_count_) {
            if (waits_for_cluster()) return State::waiting;
            if (!unblock()) {
                deadlock();
                return State::fault;
            }
        }
        if (progress && only_spinning) return State::running;
    }
    if (worker_.counts().enabled) worker_.finish_block(linear_index_, active_);
    if (LaunchObserver* observer = worker_.launch().request.observer) observer->block_finished(*this);
    return State::done;
}

}  // namespace trimtab::emulator
