#include "emulator/exec/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

#include "emulator/exec/observer.h"
#include "emulator/exec/paths.h"
#include "emulator/exec/worker.h"
#include "emulator/jit/abi.h"
#include "emulator/jit/variants.h"

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
    // Without clusters every block is a cluster of its own.
    fill(w, nclusterid_x, request.grid.x);
    fill(w, nclusterid_y, request.grid.y);
    fill(w, nclusterid_z, request.grid.z);
    fill(w, cluster_nctaid_x, 1);
    fill(w, cluster_nctaid_y, 1);
    fill(w, cluster_nctaid_z, 1);
    fill(w, cluster_nctarank, 1);
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

Block::Block(Worker& worker, std::uint64_t linear_index, std::vector<LaneBytes> shared)
    : worker_(worker), linear_index_(linear_index), index_{}, shared_(std::move(shared)) {
    const LaunchRequest& request = worker.launch().request;
    index_.x = static_cast<std::uint32_t>(linear_index % request.grid.x);
    index_.y = static_cast<std::uint32_t>(linear_index / request.grid.x % request.grid.y);
    index_.z = static_cast<std::uint32_t>(linear_index / request.grid.x / request.grid.y);
    thread_count_ = request.block.x * request.block.y * request.block.z;
    warp_count_ = (thread_count_ + warp_lanes - 1) / warp_lanes;
    live_threads_ = thread_count_;
    warps_.resize(warp_count_);
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

void Block::start_warp(std::uint32_t index) {
    std::unique_ptr<Warp> owned = worker_.take_warp();
    Warp& w = *owned;
    Launch& launch = worker_.launch();
    const KernelInfo& info = launch.kernel.info();
    if (w.specials_storage.empty()) {
        w.specials_storage.resize(special_count * 4 * warp_lanes / sizeof(LaneBytes) + 1);
        w.bases[static_cast<unsigned>(Base::specials)] =
            reinterpret_cast<std::byte*>(w.specials_storage.data());
        w.bases[static_cast<unsigned>(Base::parameters)] =
            reinterpret_cast<std::byte*>(launch.parameters.data());
        w.worker = &worker_;
        w.ranges = worker_.ranges();
        w.counts = worker_.counts().instructions.data();
        fill_launch_specials(w, launch.request, info.static_shared_bytes);
        if (worker_.counts().enabled) w.slots.resize(info.instruction_count + 1);
    }
    using enum ptx::SpecialRegister;
    if (w.filled_for != linear_index_) {
        w.filled_for = linear_index_;
        fill(w, ctaid_x, index_.x);
        fill(w, ctaid_y, index_.y);
        fill(w, ctaid_z, index_.z);
        fill(w, clusterid_x, index_.x);
        fill(w, clusterid_y, index_.y);
        fill(w, clusterid_z, index_.z);
        fill(w, smid, static_cast<std::uint32_t>(linear_index_ % std::max(launch.request.sm_count, 1u)));
    }
    fill(w, warpid, index);
    static_assert(static_cast<unsigned>(tid_y) == static_cast<unsigned>(tid_x) + 1 &&
                  static_cast<unsigned>(tid_z) == static_cast<unsigned>(tid_x) + 2);
    std::copy_n(worker_.thread_indices(index), 3 * warp_lanes, special(w, tid_x));
    w.block = this;
    w.index = index;
    w.compiled = launch.variant == nullptr ? nullptr : launch.variant->handlers();
    w.services = &jit::services();
    w.shared = reinterpret_cast<std::byte*>(shared_.data());
    w.shared_bytes = info.static_shared_bytes + std::uint64_t{launch.request.dynamic_shared_bytes};
    w.stop = Warp::Stop::none;
    w.active = false;
    w.is_footprint_wanted = worker_.counts().footprints && linear_index_ % warp_count_ == index;
    w.spins = 0;
    w.came_apart = false;
    w.last_spun = -1;
    w.executed = 0;
    w.check_at = launch.request.instruction_limit == 0 ? 1u << 16 : 1;
    w.dependent_rounds = 0;
    w.pending = nullptr;
    const std::uint32_t threads = std::min(thread_count_ - index * warp_lanes, warp_lanes);
    const std::uint32_t lanes = threads == warp_lanes ? all_lanes : (1u << threads) - 1;
    const FunctionCode& entry = *launch.code.functions.front();
    w.path_lanes = lanes;
    w.frame = nullptr;
    Frame* frame = worker_.take_frame(w, entry.ops.data(), entry);
    warps_[index] = std::move(owned);
    started_ = index + 1;
    if (frame == nullptr) return;  // the stack's fault is set
    frame->lanes = lanes;
    start_paths(w, lanes, entry.ops.data(), frame);
    w.outermost = frame;
}

void Block::finish_warp(std::uint32_t index) {
    Warp& w = *warps_[index];
    if (w.outermost != nullptr) worker_.give_back(w.outermost);
    w.outermost = nullptr;
    worker_.executed(w.executed);
    active_ = active_ || w.active;
    if (worker_.counts().enabled) finish_warp_counts(w, worker_.counts(), worker_.launch().code);
    worker_.give_back(std::move(warps_[index]));
    finished_++;
}

bool Block::can_go_on(const Warp& w) const {
    return std::any_of(w.paths.begin(), w.paths.end(),
                       [](const Path& path) { return path.state == Path::State::ready; });
}

Block::State Block::run() {
    while (finished_ < warp_count_) {
        bool progress = false, only_spinning = true;
        for (std::uint32_t turn = 0; turn < warp_count_; turn++) {
            const std::uint32_t i = turns_.empty() ? turn : turns_[turn];
            while (i >= started_) start_warp(started_);
            Warp* const w = warps_[i].get();
            if (w == nullptr) continue;
            if (w->stop == Warp::Stop::fault) return State::fault;
            if (!can_go_on(*w)) continue;
            progress = true;
            w->stop = Warp::Stop::none;
            const Op* op = next_path(*w);
            while (op != nullptr) op = op->run(*w, op);
            switch (w->stop) {
                case Warp::Stop::fault:
                    return State::fault;
                case Warp::Stop::finished:
                    finish_warp(i);
                    [[fallthrough]];
                case Warp::Stop::none:
                case Warp::Stop::waiting:
                    only_spinning = false;
                    break;
                case Warp::Stop::yielded:
                    break;
            }
        }
        if (!progress && finished_ < warp_count_ && !unblock()) {
            deadlock();
            return State::fault;
        }
        if (progress && only_spinning) return State::running;
    }
    if (worker_.counts().enabled) worker_.finish_block(linear_index_, active_);
    if (LaunchObserver* observer = worker_.launch().request.observer) observer->block_finished(*this);
    return State::done;
}

}  // namespace trimtab::emulator
