// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/launch_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "emulation/cuda/checked_run.h"

namespace trimtab::cuda {
namespace {

// Orders that the launch as written runs in, beside its own.
constexpr std::uint64_t orders_as_written = 2;
constexpr std::size_t max_differences = 16;  // that one launch reports
// A run that executes as many times the warp instructions of the launch as written has lost its way. A warp
// of one thread stands for up to 32 of a full one's.
constexpr double checked_instructions_ratio = 256, least_checked_limit = 1e8;

thread_local std::shared_ptr<const LaunchCheck> next_check;

}  // namespace

std::vector<MemoryRegion> regions_of(State& state, const Device& device) {
    std::vector<MemoryRegion> regions;
    for (const Allocation& allocation : state.heap.map()->allocations) {
        const bool is_of_device =
            allocation.kind == MemoryKind::device || allocation.kind == MemoryKind::array;
        // Another device may be writing its own memory now.
        if (is_of_device && allocation.device != device.ordinal) continue;
        regions.push_back({.first = allocation.first,
                           .size_bytes = allocation.size_bytes,
                           .name = fmt::format("an allocation of {} bytes", allocation.size_bytes)});
    }
    const std::lock_guard lock(state.mutex);
    for (const auto& module : state.modules.all()) {
        const auto loaded = module->loaded.find(device.ordinal);
        if (loaded == module->loaded.end() || loaded->second == nullptr) continue;
        const Program& program = *loaded->second->program;
        if (program.variables_end() > program.variables_first())
            regions.push_back({.first = program.variables_first(),
                               .size_bytes = program.variables_end() - program.variables_first(),
                               .name = "its module's variables"});
    }
    return regions;
}

std::shared_ptr<const LaunchCheck> take_next_check() {
    return std::exchange(next_check, nullptr);
}

CheckedRun::CheckedRun(State& state, Device& device, const TimedLaunch& launch, const LaunchCheck& check)
    : state_(state), device_(device), launch_(launch), check_(check), before_(regions_of(state, device)) {}

std::expected<CheckedRun::Body, Fault> CheckedRun::body_of(const LaunchShapeToCheck& shape) {
    if (shape.function == nullptr) return Body{launch_.program, launch_.info, launch_.image};
    const auto unknown = [](std::string why) {
        return Fault{.kind = Fault::Kind::invalid_launch, .message = std::move(why)};
    };
    const std::lock_guard lock(state_.mutex);
    CUkern_st* kernel = state_.modules.kernel(shape.function);
    if (kernel == nullptr) return std::unexpected(unknown("the other kernel is not known"));
    const auto loaded = state_.modules.load(*kernel, device_.ordinal, device_.description.values);
    if (!loaded) return std::unexpected(unknown(loaded.error().line));
    if (!(*loaded)->info->error.empty()) return std::unexpected(unknown((*loaded)->info->error));
    return Body{(*loaded)->module->program, (*loaded)->info, (*loaded)->image};
}

void CheckedRun::finish(GlobalMemory& memory, const LaunchRequest& as_written, const LaunchTime& time) {
    result_.ran = true;
    after_.emplace(regions_of(state_, device_));
    if (check_.adds_floats) rounding_ = std::make_shared<Rounding>(check_.regroups_sums);
    bool is_watched = false;
    limit_ =
        static_cast<std::uint64_t>(least_checked_limit + checked_instructions_ratio * time.warp_instructions);
    const auto run = [&](const LaunchShapeToCheck& shape, std::uint64_t seed, bool is_as_written) {
        before_.restore();
        LaunchRequest request = as_written;
        request.grid = shape.grid;
        request.block = shape.block;
        request.dynamic_shared_bytes = static_cast<std::uint32_t>(shape.dynamic_shared_bytes);
        request.order_seed = seed;
        request.instruction_limit = limit_;
        const auto body = body_of(shape);
        if (body) request.kernel = body->info->name;
        const bool watches = rounding_ != nullptr && !is_watched;
        if (watches) request.observer = &rounding_->watch();
        const auto done =
            body ? emulator::launch(*body->program, memory, request) : std::unexpected(body.error());
        result_.runs++;
        if (watches) rounding_->note_scales(before_);
        is_watched = is_watched || watches;
        LaunchDifference difference;
        difference.shape = shape;
        difference.order_seed = seed;
        if (!done) {
            difference.fault = done.error().message;
        } else {
            after_->compare([&](const MemorySnapshot::ChangedWord& word) {
                if (rounding_ != nullptr && rounding_->explains(word, is_as_written)) {
                    if (is_as_written) rounding_->note_spread(word);
                    result_.rounded++;
                    return true;
                }
                if (difference.words++ > 0) return true;
                difference.address = word.address;
                difference.place =
                    fmt::format("byte {} of {}", word.address - word.region->first, word.region->name);
                difference.written = word.then;
                difference.found = word.now;
                return true;
            });
        }
        auto& list = is_as_written ? result_.as_written : result_.reshaped;
        if ((difference.words > 0 || !difference.fault.empty()) && list.size() < max_differences)
            list.push_back(std::move(difference));
    };
    std::uint64_t seed = std::max<std::uint64_t>(check_.seed, 1);
    for (std::uint64_t i = 0; i < orders_as_written; ++i)
        run({.grid = as_written.grid,
             .block = as_written.block,
             .dynamic_shared_bytes = as_written.dynamic_shared_bytes},
            seed++, true);
    for (const LaunchShapeToCheck& shape : check_.shapes) run(shape, seed++, false);
    if (check_.trial != nullptr) try_shapes(memory, as_written, time);
    after_->restore();
}

void CheckedRun::tell() const {
    if (check_.done) check_.done(result_);
}

}  // namespace trimtab::cuda

extern "C" void trimtab_cudart_check_next_launch(std::shared_ptr<const trimtab::cuda::LaunchCheck> check) {
    trimtab::cuda::next_check = std::move(check);
}
