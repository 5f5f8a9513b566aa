// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <deque>
#include <exception>
#include <functional>
#include <string_view>
#include <utility>

#include "core/analysis/launches/demangle.h"
#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/cluster.h"
#include "emulation/emulator/exec/describe.h"
#include "emulation/emulator/exec/memory_info.h"
#include "emulation/emulator/exec/observer.h"
#include "emulation/emulator/exec/paths.h"
#include "emulation/emulator/jit/variants.h"

namespace trimtab::emulator {
namespace {

// Instructions between two looks at the launch's limits.
constexpr std::uint64_t slice = 1u << 16;
// And while the warp's state does not change: it polls.
constexpr std::uint64_t early_slice = 1u << 10;
constexpr std::uint32_t early_looks_of_a_poll = 8;
// Slices after which the other warps of the block have their turn, and other blocks: a warp may poll in a way
// that changes its state.
constexpr std::uint32_t slices_of_a_turn = 16, slices_of_a_block = 64;
// How often every open block spins before another one starts.
constexpr unsigned patience = 8;
// What CUDA lets a thread have (programming guide, "local memory per thread").
constexpr std::uint32_t max_local_bytes = 512u << 10;
// Even a call without variables takes a return address and saved registers.
constexpr std::uint32_t min_frame_bytes = 32;

std::string text_of(const trimtab_dim3& place) {
    return fmt::format("({},{},{})", place.x, place.y, place.z);
}

// What a thread of the launch as it is would be in the launch as it was written: the one with the same global
// index. A block of another size in the same grid has no such threads.
std::string text_as_written(const LaunchRequest& request, const trimtab_dim3& thread,
                            const trimtab_dim3& block) {
    if (!request.written) return "";
    const auto& [grid_was, block_was] = *request.written;
    const std::string launch = fmt::format("<<<{}, {}>>>", text_of(grid_was), text_of(block_was));
    trimtab_dim3 old_thread, old_block;
    for (auto index : {&trimtab_dim3::x, &trimtab_dim3::y, &trimtab_dim3::z}) {
        if (request.grid.*index == grid_was.*index && request.block.*index != block_was.*index)
            return fmt::format(" (as written: of {})", launch);
        const std::uint64_t global = std::uint64_t{block.*index} * (request.block.*index) + thread.*index;
        if (global / (block_was.*index) >= grid_was.*index)
            return fmt::format(" (as written: none, past the end of {})", launch);
        old_block.*index = static_cast<std::uint32_t>(global / (block_was.*index));
        old_thread.*index = static_cast<std::uint32_t>(global % (block_was.*index));
    }
    return fmt::format(" (as written: thread {} of block {} of {})", text_of(old_thread), text_of(old_block),
                       launch);
}

// A loop that comes to the same branch with the same in all registers goes on as it does until something
// else changes memory.
std::uint64_t state_of(const Warp& w, const Op* op) {
    const std::string_view registers(reinterpret_cast<const char*>(w.frame->registers),
                                     w.frame->function->register_bytes);
    return std::hash<std::string_view>{}(registers) ^ std::hash<const void*>{}(op) ^
           (std::uint64_t{w.path_lanes} << 32);
}

std::string text_of_exception() {
    try {
        throw;
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "something was thrown";
    }
}

}  // namespace

std::string hexadecimal(std::uint64_t value) {
    return fmt::format("0x{:x}", value);
}

Worker::Worker(Launch& launch, unsigned workers) : launch_(launch), recent_(recent_ranges) {
    start_.entry = launch.code.functions.front().get();
    start_.compiled = launch.variant == nullptr ? nullptr : launch.variant->handlers();
    start_.parameters = reinterpret_cast<std::byte*>(launch.parameters.data());
    start_.shared_bytes =
        launch.kernel.info().static_shared_bytes + std::uint64_t{launch.request.dynamic_shared_bytes};
    start_.check_at = launch.request.instruction_limit == 0 ? slice : 1;
    start_.special_registers = launch.code.special_registers;
    // Warps one after the other, and nobody who watches them.
    start_.in_passing = launch.request.instruction_limit == 0 && launch.request.order_seed == 0 &&
                        launch.request.observer == nullptr;
    start_.local_bytes = std::max(start_.entry->local_bytes, min_frame_bytes);
    ranges_.resize(launch.kernel.info().instruction_count + 1);
    const trimtab_dim3& block = launch.request.block;
    const std::uint32_t threads = block.x * block.y * block.z;
    thread_indices_.resize(std::size_t{(threads + warp_lanes - 1) / warp_lanes} * 3 * warp_lanes);
    for (std::uint32_t thread = 0; thread < thread_indices_.size() / 3; thread++) {
        std::uint32_t* place =
            thread_indices_.data() + std::size_t{thread / warp_lanes} * 3 * warp_lanes + thread % warp_lanes;
        place[0] = thread % block.x;
        place[warp_lanes] = thread / block.x % block.y;
        place[2 * warp_lanes] = thread / block.x / block.y;
    }
    // Few enough at once that all workers are busy to the end.
    positions_at_once_ = std::clamp<std::uint64_t>(launch.block_count / (std::uint64_t{64} * workers), 1, 16);
    if (!launch.request.counting.count) return;
    counts_.enabled = true;
    counts_.footprints = launch.request.counting.footprints;
    counts_.active.resize(ranges_.size());
    counts_.inactive.resize(ranges_.size());
    counts_.instructions.resize(ranges_.size());
}

Worker::~Worker() {
    tell_executed();
}

// The launch's count is shared by all workers: it is seldom touched.
void Worker::executed(std::uint64_t warp_instructions) {
    executed_ += warp_instructions;
    if (executed_ >= slice || launch_.request.instruction_limit != 0) tell_executed();
}

void Worker::tell_executed() {
    if (executed_ == 0) return;
    launch_.executed.fetch_add(executed_, std::memory_order_relaxed);
    if (launch_.variant != nullptr) launch_.variant->ran(executed_);
    executed_ = 0;
}

std::optional<std::uint64_t> Worker::next_index() {
    if (launch_.stopped.load(std::memory_order_relaxed)) return std::nullopt;
    if (next_position_ == positions_end_) {
        const std::uint64_t all = launch_.block_count;
        next_position_ = std::min(launch_.next_block.fetch_add(positions_at_once_), all);
        positions_end_ = std::min(next_position_ + positions_at_once_, all);
        if (next_position_ == all) return std::nullopt;
    }
    return launch_.block_at(next_position_++);
}

template <class Unit>
std::unique_ptr<Unit> Worker::next_unit(std::vector<std::unique_ptr<Unit>>& free) {
    const auto index = next_index();
    if (!index) return nullptr;
    std::unique_ptr<Unit> unit;
    if (free.empty()) {
        unit = std::make_unique<Unit>(*this);
    } else {
        unit = std::move(free.back());
        free.pop_back();
    }
    unit->start(*index);
    return unit;
}

// Blocks start in order. One that only spins makes room for the next: it may wait for a block that has not
// begun.
void Worker::run() noexcept {
    try {
        const trimtab_dim3& cluster = launch_.request.cluster;
        if (cluster.x * cluster.y * cluster.z > 1) {
            std::vector<std::unique_ptr<Cluster>> free;
            run_all(free);
        } else {
            run_all(free_blocks_);
        }
        counts_.block_footprint.hand_over(counts_.total_footprint);
    } catch (...) {
        fault_of_exception();
    }
}

template <class Unit>
void Worker::run_all(std::vector<std::unique_ptr<Unit>>& free) {
    std::deque<std::unique_ptr<Unit>> open;
    bool more = true;
    unsigned idle_turns = patience;  // rounds in which no open block came to its end
    for (;;) {
        if (launch_.stopped.load(std::memory_order_relaxed)) return;
        if (more && (open.empty() || idle_turns >= patience)) {
            idle_turns = 0;
            std::unique_ptr<Unit> block = next_unit(free);
            more = block != nullptr;
            if (more) open.push_back(std::move(block));
        }
        if (open.empty()) {
            if (!more) return;
            continue;
        }
        idle_turns++;
        for (std::size_t turns = open.size(); turns > 0; turns--) {
            std::unique_ptr<Unit> block = std::move(open.front());
            open.pop_front();
            switch (block->run()) {
                case Block::State::done:
                    free.push_back(std::move(block));
                    idle_turns = 0;
                    break;
                case Block::State::running:
                case Block::State::waiting:
                    open.push_back(std::move(block));
                    break;
                case Block::State::fault:
                    return;
            }
        }
    }
}

std::string Worker::text_of_event(Warp& w, const Op* op, unsigned lane, const std::string& what) const {
    const trimtab_dim3 thread = w.block->thread_index(w.index, lane);
    const trimtab_dim3& block = w.block->index();
    const ptx::Instruction& instruction = launch_.kernel.instruction(op->index);
    const ptx::Function& function = launch_.kernel.function_of(op->index);
    return fmt::format("kernel {}: {} by thread {} of block {}{} at {}: {}",
                       analysis::demangle(launch_.kernel.function().name), what, text_of(thread),
                       text_of(block), text_as_written(launch_.request, thread, block),
                       place_text(launch_.program.module(), instruction),
                       instruction_text(function, instruction));
}

const Op* Worker::fault(Warp& w, const Op* op, Fault::Kind kind, unsigned lane, const std::string& what) {
    if (launch_.request.observer != nullptr) launch_.request.observer->faults(w, op, kind, lane, what);
    std::string message = text_of_event(w, op, lane, what);
    const std::lock_guard lock(launch_.mutex);
    const std::uint64_t index = w.block->linear_index();
    if (!launch_.fault || index < launch_.fault_block) {
        launch_.fault = Fault{kind, std::move(message)};
        launch_.fault_block = index;
    }
    launch_.stopped.store(true, std::memory_order_relaxed);
    w.stop = Warp::Stop::fault;
    return nullptr;
}

void Worker::fault_of_exception() noexcept {
    const std::lock_guard lock(launch_.mutex);
    launch_.stopped.store(true, std::memory_order_relaxed);
    if (launch_.fault) return;
    launch_.fault = Fault{Fault::Kind::host, ""};
    launch_.fault_block = 0;
    try {
        launch_.fault->message = fmt::format("kernel {}: the emulator failed: {}",
                                             launch_.kernel.function().name, text_of_exception());
    } catch (...) {
        launch_.fault->message.clear();  // no memory is left even for this: the kind says it
    }
}

LaneAddresses::Shape Worker::address_fault(Warp& w, const Op* op, Fault::Kind kind, unsigned lane,
                                           const std::string& what) {
    (void)fault(w, op, kind, lane, what);
    return LaneAddresses::Shape::fault;
}

const Op* Worker::check_limits(Warp& w, const Op* op, const Op* next) {
    const std::uint64_t total = launch_.executed.fetch_add(w.executed) + w.executed;
    w.clock += w.executed;
    if (launch_.variant != nullptr) launch_.variant->ran(w.executed);
    w.executed = 0;
    w.check_at = slice;
    if (launch_.request.instruction_limit != 0) {
        const std::uint64_t limit = launch_.request.instruction_limit;
        if (total >= limit) {
            const auto lane = static_cast<unsigned>(std::countr_zero(w.path_lanes));
            return fault(w, op, Fault::Kind::limit, lane,
                         fmt::format("the limit of {} warp instructions is reached", limit));
        }
        w.check_at = std::min(slice, limit - total);
    }
    if (launch_.stopped.load(std::memory_order_relaxed)) {
        w.stop = Warp::Stop::fault;
        return nullptr;
    }
    if (launch_.request.is_cancelled && launch_.request.is_cancelled()) {
        const auto lane = static_cast<unsigned>(std::countr_zero(w.path_lanes));
        return fault(w, op, Fault::Kind::limit, lane, "the launch was cancelled");
    }
    const std::uint64_t state = state_of(w, op);
    const bool polls = state == std::exchange(w.last_state, state);
    if (polls) w.early_looks = early_looks_of_a_poll;
    if (w.early_looks > 0) {
        w.early_looks--;
        w.check_at = std::min(w.check_at, early_slice);
    }
    const std::uint32_t spins = std::exchange(w.spins, 0);
    w.looks++;
    // Blocks that are counted run one after the other where they can: their footprints are told apart so.
    const bool is_other_blocks_turn = w.looks % slices_of_a_block == 0 && !counts_.enabled;
    if (spins >= spin_limit || polls || is_other_blocks_turn) {
        // The lanes may wait for something: let whoever may bring it about run.
        if (release_joined_lanes(w)) w.came_apart = true;
        return yield_path(w, next);
    }
    if (w.looks % slices_of_a_turn != 0) return next;
    const Op* const stopped = yield_path(w, next);
    w.stop = Warp::Stop::none;
    return stopped;
}

Frame* Worker::take_frame(Warp& w, const Op* op, const FunctionCode& function) {
    Frame* const caller = w.frame;
    const std::uint32_t depth = caller == nullptr ? 0 : caller->depth + 1;
    const std::uint32_t local_base = caller == nullptr ? 0 : caller->local_end;
    const std::uint32_t local_end = local_base + std::max(function.local_bytes, min_frame_bytes);
    if (local_end > max_local_bytes || !grow_local(w, local_end)) {
        (void)fault(w, op, Fault::Kind::stack, static_cast<unsigned>(std::countr_zero(w.path_lanes)),
                    fmt::format("stack overflow: {} KiB per thread are used up after {} nested calls",
                                max_local_bytes >> 10, depth));
        return nullptr;
    }
    Frame* frame = nullptr;
    std::vector<Frame*>& free = free_frames(function);
    if (free.empty()) {
        frame = frames_.emplace_back(std::make_unique<Frame>()).get();
        frame->function = &function;
        const std::size_t bytes =
            function.register_bytes + std::size_t{function.parameter_bytes} * warp_lanes + sizeof(LaneBytes);
        frame->storage.resize(bytes);
        const auto start = reinterpret_cast<std::uintptr_t>(frame->storage.data());
        frame->registers = frame->storage.data() + ((64 - start % 64) % 64);
        frame->constants =
            const_cast<std::byte*>(reinterpret_cast<const std::byte*>(function.constants.data()));
    } else {
        frame = free.back();
        free.pop_back();
        if (launch_.request.is_interpreted)
            std::fill_n(frame->registers, function.register_bytes, std::byte{0});
    }
    frame->caller = caller;
    frame->depth = depth;
    frame->local_base = local_base;
    frame->local_end = local_end;
    frame->lanes = w.path_lanes;
    return frame;
}

bool Worker::extend_frame(Warp& w, const Op* op, std::uint64_t first, std::uint64_t bytes) {
    const bool fits = first <= max_local_bytes && bytes <= max_local_bytes - first;
    if (!fits || !grow_local(w, static_cast<std::uint32_t>(first + bytes))) {
        (void)fault(w, op, Fault::Kind::stack, static_cast<unsigned>(std::countr_zero(w.path_lanes)),
                    fmt::format("stack overflow: {} KiB per thread cannot hold {} more bytes",
                                max_local_bytes >> 10, bytes));
        return false;
    }
    w.frame->local_end = static_cast<std::uint32_t>(first + bytes);
    return true;
}

std::vector<Frame*>& Worker::free_frames(const FunctionCode& function) {
    return function.number == 0 ? free_outermost_ : free_frames_[&function];
}

void Worker::give_back(Frame* frame) {
    free_frames(*frame->function).push_back(frame);
}

const FunctionCode* Worker::function_at(std::uint64_t address) const {
    const auto found = launch_.code.by_address.find(address);
    return found == launch_.code.by_address.end() ? nullptr : found->second;
}

std::unique_ptr<Warp> Worker::take_warp() {
    if (free_warps_.empty()) return std::make_unique<Warp>();
    std::unique_ptr<Warp> warp = std::move(free_warps_.back());
    free_warps_.pop_back();
    return warp;
}

void Worker::give_back(std::unique_ptr<Warp> warp) {
    free_warps_.push_back(std::move(warp));
}

bool Worker::grow_local(Warp& w, std::uint32_t bytes) {
    if (bytes <= w.local_stride) return true;
    const std::uint32_t stride = std::bit_ceil(std::max(bytes, 64u));
    std::vector<std::byte> grown(std::size_t{stride} * warp_lanes);
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        std::copy_n(w.local.data() + std::size_t{lane} * w.local_stride, w.local_stride,
                    grown.data() + std::size_t{lane} * stride);
    }
    w.local = std::move(grown);
    w.local_stride = stride;
    return true;
}

CachedRange Worker::find_range(std::uint64_t address, Access access) {
    // Mixed: arrays that begin at like places of their regions are walked together.
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
    CachedRange& recent = recent_[(((address >> 16) * golden) >> 32) % recent_ranges];
    if (address >= recent.first && address < recent.end) return recent;
    CachedRange found;
    const Program& program = launch_.program;
    if (address >= program.variables_first() && address < program.variables_end()) {
        found = {program.variables_first(), program.variables_end(), 0};
    } else if (const auto first = reinterpret_cast<std::uint64_t>(launch_.grid_workspace.data());
               address >= first && address < first + sizeof(launch_.grid_workspace)) {
        found = {first, first + sizeof(launch_.grid_workspace), 0};
    } else if (const auto [first, end] = launch_.program.heap().range(); address >= first && address < end) {
        found = {first, end, 0};
    } else {
        const GlobalMemory::Range range = launch_.memory.range_of(address, access);
        if (range.host == nullptr) return {};
        found = {range.first, range.end, reinterpret_cast<std::uint64_t>(range.host) - range.first};
    }
    return recent = found;
}

CachedRange Worker::find_outside(Warp& w, const Op* op, unsigned lane, std::uint64_t address,
                                 std::uint64_t bytes, const CachedRange& inside) {
    if (!launch_.request.outside) return {};
    const bool begins_inside = address >= inside.first && address < inside.end;
    const std::uint64_t at = begins_inside ? inside.end : address;
    if (at < outside_.first || at >= outside_.end) {
        const Program& program = launch_.program;
        outside_ = {};
        if (at >= program.variables_end() && at < program.mapped_end()) {
            outside_ = {program.variables_end(), program.mapped_end(), 0};
        } else if (const auto range = launch_.memory.mapped_outside(at); range.host != nullptr) {
            outside_ = {range.first, range.end, reinterpret_cast<std::uint64_t>(range.host) - range.first};
        }
    }
    if (at < outside_.first || at >= outside_.end || bytes > outside_.end - address) return {};
    // Bytes on both sides of the end must lie side by side on the host, too.
    if (begins_inside && outside_.delta != inside.delta) return {};
    if (!launch_.is_outside_told.exchange(true, std::memory_order_relaxed)) {
        const Access access = static_cast<const MemoryInfo*>(op->info)->access;
        const std::string what = fmt::format("out of bounds: {} of {} bytes at {} ({})",
                                             access == Access::read    ? "a read"
                                             : access == Access::write ? "a write"
                                                                       : "an atomic update",
                                             bytes, hexadecimal(address), explain_outside(at));
        launch_.request.outside(text_of_event(w, op, lane, what));
    }
    return {begins_inside ? inside.first : outside_.first, outside_.end, outside_.delta};
}

std::string Worker::explain_outside(std::uint64_t address) const {
    const Program& program = launch_.program;
    if (address < program.variables_end() || address >= program.mapped_end())
        return launch_.memory.explain(address);
    return fmt::format("{} bytes past the end of the module's variables", address - program.variables_end());
}

std::byte* Worker::host_address(Warp& w, unsigned lane, std::uint64_t address, std::uint64_t bytes) {
    if (address >= shared_window && address < local_window) {
        const std::uint64_t offset = address - shared_window;
        return w.block->shared_at(offset, bytes);
    }
    if (address >= local_window && address < parameter_window) {
        const std::uint64_t offset = address - local_window;
        if (offset + bytes > w.frame->local_end) return nullptr;
        return w.local.data() + std::size_t{lane} * w.local_stride + offset;
    }
    const CachedRange range = find_range(address, Access::read);
    if (address < range.first || address >= range.end || bytes > range.end - address) return nullptr;
    return reinterpret_cast<std::byte*>(address + range.delta);
}

void Worker::print(const std::string& text) {
    const std::lock_guard lock(launch_.mutex);
    if (launch_.request.print) {
        launch_.request.print(text);
    } else {
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);
    }
}

}  // namespace trimtab::emulator
