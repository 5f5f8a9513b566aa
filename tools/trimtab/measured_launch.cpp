#include "tools/trimtab/measured_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "emulator/exec/launch.h"
#include "emulator/mem/metrics.h"

namespace trimtab::tools {

namespace {

// Warp instructions that a prediction may cost: some seconds.
constexpr std::uint64_t budget = 40'000'000;
// More samples than this tell little more of an average.
constexpr std::uint64_t most_samples = 24;

using emulator::SparseMemory;

SparseMemory::Fill fill_of(const std::string& pointee) {
    if (pointee.find("double") != std::string::npos) return SparseMemory::Fill::f64;
    if (pointee.find("float") != std::string::npos) return SparseMemory::Fill::f32;
    if (pointee.find("half") != std::string::npos) return SparseMemory::Fill::f16;
    // Unknown contents as small integers: as indices they stay inside the arrays.
    return SparseMemory::Fill::integer;
}

// Evenly spread over the launch, ends included.
std::set<std::uint64_t> spread(std::uint64_t total, std::uint64_t count) {
    std::set<std::uint64_t> blocks;
    for (std::uint64_t i = 0; i < count; ++i)
        blocks.insert(count == 1 ? total / 2 : i * (total - 1) / (count - 1));
    return blocks;
}

std::vector<std::uint64_t> neighbours(std::uint64_t total, std::uint64_t count) {
    count = std::min(count, total);
    const std::uint64_t first = (total - count) / 2;
    std::vector<std::uint64_t> blocks(count);
    for (std::uint64_t i = 0; i < count; ++i) blocks[i] = first + i;
    return blocks;
}

}  // namespace

std::expected<MeasuredLaunch, Error> measure_launch(const LaunchQuestion& question, trimtab_dim3 grid,
                                                    trimtab_dim3 block, std::uint32_t dynamic_shared_bytes,
                                                    std::uint32_t blocks_per_sm) {
    const FileKernel& kernel = question.file.kernels[question.kernel];
    const analysis::KernelDescription& description = kernel.record.description;
    if (kernel.module == nullptr)
        return std::unexpected(Error{
            .message = fmt::format("holds no PTX of {}, so it cannot be emulated", description.demangled),
            .file = question.file.path});
    const auto program = emulator::load_program(*kernel.module);
    if (!program) return std::unexpected(program.error());
    SparseMemory memory;
    for (const auto& parameter : description.parameters)
        if (parameter.is_pointer) memory.set_fill(parameter.index, fill_of(parameter.pointee));

    const std::uint64_t total = std::uint64_t{grid.x} * grid.y * grid.z;
    emulator::LaunchRequest request;
    request.kernel = description.name;
    request.grid = grid;
    request.block = block;
    request.dynamic_shared_bytes = dynamic_shared_bytes;
    request.parameters = question.arguments.bytes;
    request.sm_count = static_cast<std::uint32_t>(question.device.values.sm_count);
    request.instruction_limit = budget;
    request.print = [](std::string_view) {};
    const auto launch = [&]() -> std::expected<emulator::LaunchResult, Error> {
        auto result = emulator::launch(**program, memory, request);
        if (result) return std::move(*result);
        return std::unexpected(Error{.message = result.error().message, .file = question.file.path});
    };

    // One block first: what it costs decides how many more there may be.
    request.counting = {.count = true, .footprints = false, .groups = {}};
    request.blocks = {total / 2};
    const auto first = launch();
    if (!first) return std::unexpected(first.error());
    const std::uint64_t affordable = budget / std::max<std::uint64_t>(first->warp_instructions, 1) / 2;

    std::set<std::uint64_t> blocks =
        spread(total, std::clamp<std::uint64_t>(affordable, 1, std::min(total, most_samples)));
    request.counting.footprints = true;
    for (const std::uint64_t size : {std::uint64_t{blocks_per_sm}, std::uint64_t{blocks_per_sm} * 8})
        if (size > 1 && size <= std::max<std::uint64_t>(affordable, 2))
            request.counting.groups.push_back(neighbours(total, size));
    request.blocks.assign(blocks.begin(), blocks.end());
    request.instruction_limit = budget * 4;
    const auto result = launch();
    if (!result) return std::unexpected(result.error());

    MeasuredLaunch measured;
    measured.values = emulator::metrics(**program, description.name, result->counters, total);
    const double threads = double(block.x) * block.y * block.z;
    std::vector<emulator::FootprintSample> footprints{
        {threads, measured.values[static_cast<std::size_t>(model::Metric::footprint_sectors)]}};
    for (std::size_t i = 0; i < request.counting.groups.size() && i < result->counters.group_sectors.size();
         ++i)
        footprints.push_back({threads * static_cast<double>(request.counting.groups[i].size()),
                              static_cast<double>(result->counters.group_sectors[i])});
    measured.metric = emulator::measured_metrics(measured.values, std::move(footprints));
    measured.blocks_run = result->counters.blocks;
    measured.blocks = total;
    return measured;
}

}  // namespace trimtab::tools
