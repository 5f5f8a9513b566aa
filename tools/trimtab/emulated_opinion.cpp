// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/emulated_opinion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/model/occupancy.h"
#include "emulation/emulator/exec/memory.h"
#include "emulation/emulator/metrics/metrics.h"
#include "emulation/emulator/metrics/result_work.h"
#include "emulation/schedule/emulated_blocks.h"
#include "emulation/schedule/estimate.h"
#include "tools/trimtab/measured_launch.h"

namespace trimtab::tools {
namespace {

using emulator::LaunchProfile;
using model::Metric;

// Work is counted in warp instructions of functional emulation, of which this machine's like do some twenty million a
// second; one that is scheduled costs as much as eight of them. All in all some six seconds.
constexpr std::uint64_t most_work = 150'000'000, scheduled_work = 8;
constexpr std::uint64_t most_a_launch = 10'000'000;
constexpr std::uint64_t sampled_blocks = 6;
// Of blocks that are watched, which is slower: the first iterations of their loops are wanted.
constexpr std::uint64_t most_watched = 2'000'000;
constexpr const char* spent = "what a report may cost is spent on the kernels that take longer";
// Between what the record says and what is run now: blocks are sampled here and there.
constexpr double same = 0.2;

void fill(emulator::SparseMemory& memory, const analysis::KernelDescription& description) {
    for (const auto& parameter : description.parameters)
        if (parameter.is_pointer) memory.set_fill(parameter.index, fill_of(parameter.pointee));
}

// Each array in a region of its own; what an address is a multiple of, it stays.
void place_arrays(const analysis::KernelDescription& description, std::vector<std::byte>& parameters) {
    constexpr std::uint64_t alignment = 512;
    for (const auto& parameter : description.parameters) {
        std::uint64_t address = 0;
        if (!parameter.is_pointer || parameter.size != sizeof address ||
            parameter.offset + sizeof address > parameters.size())
            continue;
        std::memcpy(&address, parameters.data() + parameter.offset, sizeof address);
        if (address == 0) continue;
        address = emulator::SparseMemory::region_base(parameter.index) + address % alignment;
        std::memcpy(parameters.data() + parameter.offset, &address, sizeof address);
    }
}

std::uint64_t blocks_of(const trimtab_dim3& grid) {
    return std::uint64_t{grid.x} * grid.y * grid.z;
}

// Warp instructions of one pass through the trace, for an SM's resident blocks.
double instructions_of(const schedule::TracedLaunch& launch) {
    double count = 0;
    for (const schedule::BlockTrace& block : launch.trace.blocks)
        for (const schedule::WarpTrace& warp : block.warps)
            for (const schedule::Step& step : warp.steps)
                count += launch.trace.code.stretches[step.stretch].count;
    return count * launch.resident / std::max(1.0, static_cast<double>(launch.trace.blocks.size()));
}

}  // namespace

std::expected<EmulatedOpinion::Again, std::string> EmulatedOpinion::again(
    const LaunchProfile& profile) const {
    const auto found = std::ranges::find_if(file_.kernels, [&](const FileKernel& one) {
        return one.module != nullptr && one.record.description.name == profile.kernel;
    });
    if (found == file_.kernels.end()) return std::unexpected("its PTX is not in the program's file");
    auto program = emulator::load_program(*found->module);
    if (!program) return std::unexpected(program.error().message);
    // Of several images of a kernel another one may have run.
    const auto places = emulator::instruction_places(**program, profile.kernel);
    for (const emulator::InstructionProfile& instruction : profile.instructions)
        if (instruction.index >= places.size() || places[instruction.index].text != instruction.text)
            return std::unexpected("the program's file holds other PTX than what ran");
    Again launch{.kernel = {.found = &*found, .program = std::move(*program)},
                 .parameters = profile.parameters};
    place_arrays(found->record.description, launch.parameters);
    return launch;
}

emulator::LaunchRequest EmulatedOpinion::request_of(const LaunchProfile& profile, const Again& launch) const {
    emulator::LaunchRequest request;
    request.kernel = profile.kernel;
    request.grid = profile.grid;
    request.block = profile.block;
    request.dynamic_shared_bytes = profile.dynamic_shared_bytes;
    request.parameters = launch.parameters;
    request.sm_count = static_cast<std::uint32_t>(device_.values.sm_count);
    request.print = [](std::string_view) {};
    request.threads = 1;
    return request;
}

schedule::TraceRequest EmulatedOpinion::trace_request(const Again& launch, emulator::SparseMemory& memory,
                                                      const LaunchProfile& profile,
                                                      const advice::Question& asked, std::uint32_t resident,
                                                      std::span<const schedule::Edit> edits) const {
    return {.program = launch.kernel.program.get(),
            .memory = &memory,
            .kernel = profile.kernel,
            .grid = asked.grid,
            .block = asked.block,
            .dynamic_shared_bytes = profile.dynamic_shared_bytes,
            .parameters = launch.parameters,
            .device = &device_,
            .resident = resident,
            .shared_bytes_of_block = asked.image.static_shared_bytes + asked.dynamic_shared_bytes,
            .instruction_budget = most_a_launch,
            .loads_bypass_l1 = false,
            .policy = schedule::Policy::greedy_then_oldest,
            .settings = settings_,
            .code = nullptr,
            .edits = edits};
}

// Nothing but counted iterations is left out, so that what a warp does hangs on no data: the number of its instructions is
// what can be compared.
std::optional<std::string> EmulatedOpinion::long_launch_differs(const LaunchProfile& profile,
                                                                const Again& launch,
                                                                std::span<const std::uint64_t> blocks) {
    emulator::SparseMemory memory;
    fill(memory, launch.kernel.found->record.description);
    const advice::Question asked(profile, device_.values);
    const schedule::TraceRequest request = trace_request(launch, memory, profile, asked, 1, {});
    schedule::EmulatedBlocks source(request);
    const auto ran = source.count(blocks);
    work_ += source.warp_instructions();
    if (!ran) return "its blocks run for too long";
    const double was = profile.values[static_cast<std::size_t>(Metric::warp_instructions)];
    const double warps = profile.values[static_cast<std::size_t>(Metric::active_warps)];
    const double is = static_cast<double>(*ran) / (static_cast<double>(blocks.size()) * std::max(1.0, warps));
    if (std::abs(was - is) <= same * std::max(was, is)) return std::nullopt;
    return fmt::format("its warps run {:.3g} instructions on made-up data, not {:.3g}", is, was);
}

std::optional<std::string> EmulatedOpinion::differs(const LaunchProfile& profile, const Again& launch) {
    emulator::SparseMemory memory;
    fill(memory, launch.kernel.found->record.description);
    emulator::LaunchRequest request = request_of(profile, launch);
    request.instruction_limit = most_a_launch;
    request.counting = {.count = true, .footprints = false, .groups = {}};
    const std::uint64_t total = blocks_of(profile.grid), few = std::min(total, sampled_blocks);
    for (std::uint64_t i = 0; i < few; ++i) request.blocks.push_back((2 * i + 1) * total / (2 * few));
    const auto ran = emulator::launch(*launch.kernel.program, memory, request);
    if (!ran)
        return ran.error().kind == emulator::Fault::Kind::limit
                   ? long_launch_differs(profile, launch, request.blocks)
                   : "it does not run on made-up data: " + ran.error().message;
    work_ += ran->warp_instructions;
    const model::MetricValues now =
        emulator::metrics(*launch.kernel.program, profile.kernel, ran->counters, total);
    for (const Metric metric : {Metric::warp_instructions, Metric::load_requests, Metric::load_sectors,
                                Metric::store_sectors, Metric::shared_wavefronts, Metric::active_warps}) {
        const double was = profile.values[static_cast<std::size_t>(metric)],
                     is = now[static_cast<std::size_t>(metric)];
        if (std::abs(was - is) > same * std::max({was, is, 2.0}))
            return fmt::format(
                "what it does depends on its data: on made-up data {} is {:.3g} a warp, not {:.3g}",
                model::name(metric), is, was);
    }
    return std::nullopt;
}

const std::expected<EmulatedOpinion::Again, std::string>& EmulatedOpinion::look_at(
    const LaunchProfile& profile) {
    if (last_ == &profile) return launch_;
    last_ = &profile;
    launch_ = again(profile);
    if (launch_)
        if (const auto why = differs(profile, *launch_)) launch_ = std::unexpected(*why);
    return launch_;
}

std::expected<advice::LaunchPatterns, std::string> EmulatedOpinion::patterns(const LaunchProfile& profile) {
    if (work_ >= most_work) return std::unexpected(spent);
    if (const auto& launch = look_at(profile); !launch) return std::unexpected(launch.error());
    emulator::SparseMemory memory;
    fill(memory, launch_->kernel.found->record.description);
    emulator::LaunchRequest request = request_of(profile, *launch_);
    request.instruction_limit = most_watched;
    auto accesses = emulator::access_patterns(*launch_->kernel.program, memory, request);
    work_ += most_watched;
    if (!accesses) return std::unexpected(accesses.error());
    return advice::LaunchPatterns{.accesses = std::move(*accesses),
                                  .works = emulator::result_work(*launch_->kernel.program, profile.kernel)};
}

std::expected<double, std::string> EmulatedOpinion::time_ns(const LaunchProfile& profile,
                                                            const advice::Question& asked,
                                                            std::span<const schedule::Edit> edits) {
    if (work_ >= most_work) return std::unexpected(spent);
    if (const auto& launch = look_at(profile); !launch) return std::unexpected(launch.error());
    const model::Occupancy occupancy = model::occupancy(
        device_.values, asked.image, static_cast<std::uint32_t>(asked.threads()), asked.dynamic_shared_bytes);
    if (occupancy.blocks_per_sm == 0) return std::unexpected("the block does not fit an SM");
    emulator::SparseMemory memory;
    fill(memory, launch_->kernel.found->record.description);
    const auto traced = schedule::trace_launch(
        trace_request(*launch_, memory, profile, asked, occupancy.blocks_per_sm, edits));
    if (!traced) {
        work_ += most_a_launch;
        return std::unexpected("it cannot be traced: " + traced.error().message);
    }
    work_ += traced->warp_instructions;
    if (traced->is_cut) return std::unexpected("its warps take more steps than can be kept");
    // A schedule for each loop, of up to four waves.
    const double waves =
        std::min(4.0, std::ceil(static_cast<double>(traced->blocks_on_sm) / traced->resident));
    const double cost = scheduled_work * instructions_of(*traced) * waves *
                        (1 + static_cast<double>(traced->trace.code.loops.size()));
    if (cost > static_cast<double>(most_work))
        return std::unexpected("its warps do more than a report may cost");
    if (cost > static_cast<double>(most_work - std::min(most_work, work_))) return std::unexpected(spent);
    const schedule::Estimate estimate = schedule::estimate(*traced);
    work_ += scheduled_work * estimate.emulated_warp_instructions;
    return estimate.time_ns;
}

}  // namespace trimtab::tools
