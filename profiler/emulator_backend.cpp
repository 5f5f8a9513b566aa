// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/emulator_backend.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "emulation/emulator/exec/memory.h"
#include "emulation/emulator/metrics/metrics.h"
#include "profile_hash.h"
#include "profiler/made_up_constants.h"
#include "profiler/made_up_texture.h"

namespace trimtab::profiler {

namespace {

using emulator::InstructionCount;
using emulator::LaunchCounters;

// Weights are fractions; counters are whole: all are taken this many times. Fine enough for rounding to stay
// below what counts as exact, coarse enough for 64 bits.
constexpr double weight_scale = 65536;

void add(std::uint64_t& sum, std::uint64_t value, std::uint64_t weight) {
    sum += value * weight;
}

void add(InstructionCount& sum, const InstructionCount& value, std::uint64_t weight) {
    add(sum.warp, value.warp, weight);
    add(sum.thread, value.thread, weight);
    add(sum.requests, value.requests, weight);
    add(sum.sectors, value.sectors, weight);
    add(sum.lines, value.lines, weight);
    add(sum.full_segments, value.full_segments, weight);
    add(sum.fragments, value.fragments, weight);
    add(sum.partial_sectors, value.partial_sectors, weight);
    add(sum.wavefronts, value.wavefronts, weight);
    add(sum.bytes, value.bytes, weight);
    add(sum.divergent, value.divergent, weight);
}

// What `weight` such sets of blocks would have counted.
void add(LaunchCounters& sum, const LaunchCounters& value, std::uint64_t weight) {
    add(sum.blocks, value.blocks, weight);
    add(sum.warps, value.warps, weight);
    add(sum.active_blocks, value.active_blocks, weight);
    add(sum.active_warps, value.active_warps, weight);
    for (std::size_t c = 0; c < emulator::instruction_class_count; ++c) {
        add(sum.by_class[c].warp, value.by_class[c].warp, weight);
        add(sum.by_class[c].thread, value.by_class[c].thread, weight);
        add(sum.active_by_class[c].warp, value.active_by_class[c].warp, weight);
        add(sum.active_by_class[c].thread, value.active_by_class[c].thread, weight);
    }
    if (sum.instructions.size() < value.instructions.size())
        sum.instructions.resize(value.instructions.size());
    for (std::size_t i = 0; i < value.instructions.size(); ++i)
        add(sum.instructions[i], value.instructions[i], weight);
    add(sum.barriers, value.barriers, weight);
    add(sum.branches, value.branches, weight);
    add(sum.divergent_branches, value.divergent_branches, weight);
    add(sum.idle_lanes, value.idle_lanes, weight);
    add(sum.dependent_rounds, value.dependent_rounds, weight);
    sum.max_dependent_rounds = std::max(sum.max_dependent_rounds, value.max_dependent_rounds);
    sum.max_warp_instructions = std::max(sum.max_warp_instructions, value.max_warp_instructions);
    add(sum.block_sectors, value.block_sectors, weight);
}

emulator::SparseMemory::Fill memory_fill(const PointerSlot& slot) {
    switch (slot.fill) {
        case Fill::f32:
            return emulator::SparseMemory::Fill::f32;
        case Fill::f64:
            return emulator::SparseMemory::Fill::f64;
        case Fill::f16:
            return emulator::SparseMemory::Fill::f16;
        case Fill::integer:
            return slot.element_bytes == sizeof(std::uint64_t) ? emulator::SparseMemory::Fill::integer64
                                                               : emulator::SparseMemory::Fill::integer;
    }
    return emulator::SparseMemory::Fill::f32;
}

// Memory is filled from the address, so other contents are to be had in other regions: of arguments, and of pointers in
// constant memory.
constexpr std::uint32_t regions_a_seed = 512, first_constant_region = 384;

// Of pages, which are made as they are touched. A point that touches more takes seconds, and a build the
// machine's memory: smaller sizes are looked for in its place, as for tables that end.
constexpr std::uint64_t most_profiled_bytes = std::uint64_t{128} << 20;

class MemoryWithTextures : public emulator::SparseMemory {
  public:
    MemoryWithTextures() : SparseMemory(most_profiled_bytes) {}
    [[nodiscard]] const emulator::Texture* texture(std::uint64_t) const override { return texture_.get(); }

  private:
    MadeUpTexture texture_;
};

class EmulatorBackend : public Backend {
  public:
    EmulatorBackend(std::shared_ptr<emulator::Program> program, unsigned threads)
        : program_(std::move(program)), constants_(*program_), threads_(threads) {}
    [[nodiscard]] std::string_view name() const override { return "emulator"; }
    [[nodiscard]] std::string_view version() const override { return emulator_backend_version(); }
    [[nodiscard]] std::expected<Measurement, MeasureError> measure(const MeasuredLaunch& launch) override;
    [[nodiscard]] emulator::Program* program() override { return program_.get(); }

  private:
    using Run = std::expected<emulator::LaunchResult, MeasureError>;
    Run run(const MeasuredLaunch& launch, emulator::GlobalMemory& memory,
            std::span<const std::byte> arguments, std::vector<std::uint64_t> blocks,
            std::vector<std::vector<std::uint64_t>> groups, std::uint64_t already_run);

    std::shared_ptr<emulator::Program> program_;
    MadeUpConstants constants_;
    unsigned threads_;
};

EmulatorBackend::Run EmulatorBackend::run(const MeasuredLaunch& launch, emulator::GlobalMemory& memory,
                                          std::span<const std::byte> arguments,
                                          std::vector<std::uint64_t> blocks,
                                          std::vector<std::vector<std::uint64_t>> groups,
                                          std::uint64_t already_run) {
    emulator::LaunchRequest request;
    request.kernel = launch.kernel;
    request.grid = launch.grid;
    request.block = launch.block;
    request.dynamic_shared_bytes = launch.dynamic_shared_bytes;
    request.parameters = arguments;
    request.blocks = std::move(blocks);
    request.counting = {.count = true, .footprints = true, .groups = std::move(groups)};
    request.threads = threads_;
    request.print = [](std::string_view) {};  // what a kernel prints is no concern of a build
    if (launch.instruction_limit != 0)
        request.instruction_limit =
            launch.instruction_limit > already_run ? launch.instruction_limit - already_run : 1;
    auto result = emulator::launch(*program_, memory, request);
    if (!result)
        return std::unexpected(
            MeasureError{.limit = result.error().kind == emulator::Fault::Kind::limit,
                         .misaligned = result.error().kind == emulator::Fault::Kind::misaligned_address,
                         .outside = result.error().kind == emulator::Fault::Kind::illegal_address,
                         .message = std::move(result.error().message)});
    return std::move(*result);
}

std::expected<Measurement, MeasureError> EmulatorBackend::measure(const MeasuredLaunch& launch) {
    MemoryWithTextures memory;
    std::vector<std::byte> bytes = launch.arguments->bytes;
    for (const PointerSlot& slot : launch.arguments->pointers) {
        const std::uint32_t region = slot.region + launch.seed * regions_a_seed;
        memory.set_fill(region, memory_fill(slot));
        const std::uint64_t address = emulator::SparseMemory::region_base(region);
        if (slot.offset + sizeof address <= bytes.size())
            std::memcpy(bytes.data() + slot.offset, &address, sizeof address);
    }

    constants_.write(memory, first_constant_region + launch.seed * regions_a_seed, launch.seed);

    Measurement out;
    LaunchCounters sum;
    std::vector<BlockClass> classes = launch.classes;
    if (classes.empty()) classes.emplace_back();
    for (BlockClass& one : classes) {
        auto result = run(launch, memory, bytes, std::move(one.blocks), {}, out.warp_instructions);
        if (!result) return std::unexpected(result.error());
        out.warp_instructions += result->warp_instructions;
        add(sum, result->counters, static_cast<std::uint64_t>(std::llround(one.weight * weight_scale)));
    }
    const std::uint64_t blocks =
        launch.blocks != 0 ? launch.blocks : std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    out.values = emulator::metrics(*program_, launch.kernel, sum, blocks);

    if (!launch.boxes.empty()) {
        std::vector<std::uint64_t> first;
        std::vector<std::vector<std::uint64_t>> groups;
        for (const BoxOfBlocks& box : launch.boxes)
            for (const std::vector<std::uint64_t>& group : box.groups) {
                groups.push_back(group);
                if (first.empty() && !group.empty()) first.push_back(group.front());
            }
        auto result = run(launch, memory, bytes, std::move(first), std::move(groups), out.warp_instructions);
        if (!result) return std::unexpected(result.error());
        out.warp_instructions += result->warp_instructions;
        std::size_t next = 0;
        for (const BoxOfBlocks& box : launch.boxes) {
            double sectors = 0;
            for (std::size_t g = 0; g < box.groups.size(); ++g, ++next)
                sectors += static_cast<double>(result->counters.group_sectors[next]);
            out.box_sectors.push_back(box.groups.empty() ? 0
                                                         : sectors / static_cast<double>(box.groups.size()));
        }
    }
    return out;
}

}  // namespace

std::string_view emulator_backend_version() {
    return TRIMTAB_PROFILE_HASH;
}

std::unique_ptr<Backend> make_emulator_backend(std::shared_ptr<emulator::Program> program, unsigned threads) {
    return std::make_unique<EmulatorBackend>(std::move(program), threads);
}

}  // namespace trimtab::profiler
