// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/emulated_blocks.h"

#include <algorithm>

#include "emulation/emulator/exec/program.h"
#include "emulation/schedule/recorder.h"

namespace trimtab::schedule {

namespace {

// Warp instructions that a neighbour runs, at most: its first access of each kind is wanted.
constexpr std::uint64_t probe_instructions = 40'000;

std::vector<CountedLoop> loops_of(const TraceRequest& request) {
    const emulator::CompiledKernel* const kernel = request.program->kernel(request.kernel);
    return kernel == nullptr || !kernel->info().error.empty() || request.runs_every_iteration
               ? std::vector<CountedLoop>{}
               : counted_loops(*kernel);
}

}  // namespace

EmulatedBlocks::EmulatedBlocks(const TraceRequest& request)
    : request_(request), counted_(loops_of(request)), skipping_pays_(!counted_.empty()) {
    launch_.kernel = request.kernel;
    launch_.grid = request.grid;
    launch_.block = request.block;
    launch_.dynamic_shared_bytes = request.dynamic_shared_bytes;
    launch_.parameters = request.parameters;
    launch_.sm_count = std::max(1u, static_cast<std::uint32_t>(request.device->values.sm_count));
    launch_.threads = 1;
    launch_.print = [](std::string_view) {};
    launch_.is_cancelled = request.is_cancelled;
    launch_.is_interpreted = request.is_interpreted;
}

std::expected<std::uint64_t, Error> EmulatedBlocks::launch(std::span<const std::uint64_t> blocks,
                                                           emulator::LaunchObserver* observer,
                                                           std::uint64_t limit) {
    launch_.blocks = {blocks.begin(), blocks.end()};
    launch_.observer = observer;
    launch_.instruction_limit = limit;
    launch_.counting = {.count = true, .footprints = false, .groups = {}};
    auto result = emulator::launch(*request_.program, *request_.memory, launch_);
    if (!result) return std::unexpected(Error{.message = result.error().message});
    blocks_run_ += blocks.size();
    warp_instructions_ += result->warp_instructions;
    return result->warp_instructions;
}

std::expected<RecordedBlocks, Error> EmulatedBlocks::record(const BuiltCode& code, const StoreRules& stores,
                                                            std::span<const std::uint64_t> blocks) {
    Recorder recorder(code, stores, *request_.program, counted_);
    const auto ran = launch(blocks, &recorder, request_.instruction_budget);
    if (!ran) return std::unexpected(ran.error());
    RecordedBlocks out = recorder.writer().take();
    out.warp_instructions = *ran + recorder.skipped_instructions();
    return out;
}

// Where most iterations can be left out the launch is watched, and without it compiled, which is some times faster.
std::expected<std::uint64_t, Error> EmulatedBlocks::count(std::span<const std::uint64_t> blocks) {
    constexpr std::uint64_t slower = 8;
    if (!skipping_pays_) return launch(blocks, nullptr, request_.instruction_budget);
    TurnSkipper skipper(counted_);
    const auto ran = launch(blocks, &skipper, request_.instruction_budget);
    if (!ran) return std::unexpected(ran.error());
    skipping_pays_ = skipper.skipped_instructions() >= slower * *ran;
    return *ran + skipper.skipped_instructions();
}

std::vector<std::uint64_t> EmulatedBlocks::first_addresses(const BuiltCode& code, std::uint64_t block) {
    Recorder probe(code, {}, *request_.program, counted_);
    // It may be stopped: what it has done by then is enough.
    [[maybe_unused]] const auto stopped = launch({&block, 1}, &probe, probe_instructions);
    RecordedBlocks out = probe.writer().take();
    return out.first_addresses.empty() ? std::vector<std::uint64_t>{}
                                       : std::move(out.first_addresses.front());
}

}  // namespace trimtab::schedule
