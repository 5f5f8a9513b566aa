// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/measured_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "core/model/performance_model.h"
#include "emulation/emulator/exec/launch.h"
#include "emulation/emulator/metrics/footprint_boxes.h"
#include "emulation/emulator/metrics/metrics.h"
#include "profiler/active_indices.h"
#include "profiler/arguments.h"
#include "profiler/machine_code.h"
#include "tools/trimtab/captured_launch.h"

namespace trimtab::tools {

namespace {

// More samples than this tell little more of an average.
constexpr std::uint64_t most_samples = 24;

using emulator::SparseMemory;

// Spread evenly over the launch. Steps of the golden ratio fall into no rhythm with the grid's rows: equal
// steps would meet some columns, those at an edge perhaps, again and again, and others never.
std::set<std::uint64_t> spread(std::uint64_t total, std::uint64_t count) {
    constexpr double golden = 0.6180339887498949;
    std::set<std::uint64_t> blocks;
    for (std::uint64_t i = 0; blocks.size() < count; ++i) {
        const double place = (static_cast<double>(i) + 0.5) * golden;
        blocks.insert(count >= total ? i
                                     : static_cast<std::uint64_t>((place - std::floor(place)) *
                                                                  static_cast<double>(total)));
    }
    return blocks;
}

// The blocks whose indices pass the guards; all of them where guards say nothing.
emulator::BlockBox active_blocks(const analysis::KernelDescription& description,
                                 const std::vector<std::byte>& argument_bytes, trimtab_dim3 grid,
                                 trimtab_dim3 block) {
    emulator::BlockBox within{.first = {}, .count = {grid.x, grid.y, grid.z}};
    const std::array<std::uint64_t, 3> threads{block.x, block.y, block.z};
    const auto indices = profiler::active_indices(description, {.bytes = argument_bytes, .pointers = {}});
    for (std::size_t d = 0; d < 3; ++d) {
        if (!description.reads(d)) continue;
        const std::uint64_t first = indices[d].first / threads[d];
        const std::uint64_t end =
            indices[d].end ? std::min(within.count[d], (*indices[d].end + threads[d] - 1) / threads[d])
                           : within.count[d];
        if (first >= end) continue;
        within.first[d] = first;
        within.count[d] = end - first;
    }
    return within;
}

// Those of `boxes` that are run with at most so many blocks in all; boxes share many.
std::vector<emulator::BlockBox> affordable_boxes(const std::vector<emulator::BlockBox>& boxes,
                                                 trimtab_dim3 grid, std::uint64_t most_blocks) {
    std::vector<emulator::BlockBox> chosen;
    std::set<std::uint64_t> blocks;
    for (const emulator::BlockBox& box : boxes) {
        if (box.blocks() > most_blocks) break;  // the smallest come first
        std::set<std::uint64_t> with = blocks;
        for (const std::uint64_t index : box.indices(grid)) with.insert(index);
        if (with.size() > most_blocks) continue;
        blocks = std::move(with);
        chosen.push_back(box);
    }
    return chosen;
}

void count_code(MeasuredLaunch& measured, const LaunchQuestion& question, const emulator::Program& program,
                const emulator::LaunchCounters& counters) {
    const FileKernel& kernel = question.file.kernels[question.kernel];
    const std::string& name = kernel.record.description.name;
    const auto capability = static_cast<unsigned>(question.device.values.compute_capability);
    if (kernel.ptx == nullptr) {
        measured.no_code = "the PTX's text is not at hand";
        return;
    }
    auto code =
        sass::counted_code(*kernel.ptx, name, capability, profiler::ptx_counts(program, name, counters),
                           static_cast<double>(counters.active_warps), sass::default_cache_folder());
    if (!code) {
        measured.no_code = code.error().text();
        return;
    }
    // Code for another architecture is another's: older devices than ptxas knows.
    if (code->assembly.architecture != fmt::format("sm_{}", capability))
        measured.no_code = fmt::format("ptxas makes no code for sm_{}", capability);
    else
        measured.code = std::move(*code);
}

}  // namespace

SparseMemory::Fill fill_of(const std::string& pointee) {
    if (pointee.contains("double")) return SparseMemory::Fill::f64;
    if (pointee.contains("float")) return SparseMemory::Fill::f32;
    if (pointee.contains("half")) return SparseMemory::Fill::f16;
    // Unknown contents as small integers: as indices they stay inside the arrays.
    return profiler::pointee_of(pointee).bytes == sizeof(std::uint64_t) ? SparseMemory::Fill::integer64
                                                                        : SparseMemory::Fill::integer;
}

std::expected<MeasuredLaunch, Error> measure_launch(const LaunchQuestion& question, trimtab_dim3 grid,
                                                    trimtab_dim3 block, std::uint32_t dynamic_shared_bytes,
                                                    std::uint64_t budget, bool with_code) {
    const FileKernel& kernel = question.file.kernels[question.kernel];
    const analysis::KernelDescription& description = kernel.record.description;
    if (kernel.module == nullptr)
        return std::unexpected(Error{
            .message = fmt::format("holds no PTX of {}, so it cannot be emulated", description.demangled),
            .file = question.file.path});
    const auto program = emulator::load_program(*kernel.module);
    if (!program) return std::unexpected(program.error());
    LaunchMemory memory;
    for (const auto& parameter : description.parameters)
        if (parameter.is_pointer) memory.set_fill(parameter.index, fill_of(parameter.pointee));
    std::vector<std::byte> parameters = question.arguments.bytes;
    if (question.captured != nullptr)
        if (const auto placed = place_captured(question.captured->capture, **program, memory, parameters);
            !placed)
            return std::unexpected(placed.error());

    const std::uint64_t total = std::uint64_t{grid.x} * grid.y * grid.z;
    emulator::LaunchRequest request;
    request.kernel = description.name;
    request.grid = grid;
    request.block = block;
    request.dynamic_shared_bytes = dynamic_shared_bytes;
    request.parameters = parameters;
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
    request.blocks.assign(blocks.begin(), blocks.end());
    request.instruction_limit = budget * 4;
    const auto result = launch();
    if (!result) return std::unexpected(result.error());

    MeasuredLaunch measured;
    measured.values = emulator::metrics(**program, description.name, result->counters, total);
    if (with_code) count_code(measured, question, **program, result->counters);
    measured.blocks_run = result->counters.blocks;
    measured.blocks = total;
    std::vector<emulator::FootprintSample> footprints =
        emulator::footprints_in_block(result->counters, block);

    // The boxes that the model asks about, as far as they are affordable.
    const model::RationalProgram& model = *question.file.kernels[question.kernel].record.model.program;
    const auto inputs =
        model::input_values(model, question.device.values, question.image,
                            {.extent = {.x = grid.x * block.x, .y = grid.y * block.y, .z = grid.z * block.z},
                             .block = block,
                             .dynamic_shared_bytes = static_cast<double>(dynamic_shared_bytes)});
    const std::uint64_t block_cost =
        std::max<std::uint64_t>(result->warp_instructions / std::max<std::uint64_t>(blocks.size(), 1), 1);
    const auto boxes = affordable_boxes(
        emulator::boxes_of_blocks(emulator::requested_boxes(model, inputs, measured.values),
                                  active_blocks(description, question.arguments.bytes, grid, block), block),
        grid, budget / block_cost);
    if (!boxes.empty()) {
        for (const emulator::BlockBox& box : boxes) request.counting.groups.push_back(box.indices(grid));
        request.blocks = request.counting.groups.back();
        // Where some blocks do much more than those before, the footprints of these will have to do.
        if (const auto more = launch()) {
            for (std::size_t i = 0; i < boxes.size(); ++i) {
                const emulator::ThreadBox threads = boxes[i].threads(block);
                footprints.push_back({.x = threads[0],
                                      .y = threads[1],
                                      .z = threads[2],
                                      .sectors = static_cast<double>(more->counters.group_sectors[i])});
            }
            measured.blocks_run += more->counters.blocks;
        }
    }
    measured.profile = emulator::launch_profile(**program, description.name, result->counters, total);
    measured.profile.device = question.device.slug;
    measured.profile.grid = grid;
    measured.profile.block = block;
    measured.profile.dynamic_shared_bytes = dynamic_shared_bytes;
    measured.profile.image = question.image;
    measured.profile.parameters = question.arguments.bytes;
    measured.profile.footprints = footprints;
    measured.metric = emulator::measured_metrics(measured.values, std::move(footprints));
    measured.profile.time_ns = measured.profile.total_ns = model.evaluate(inputs, measured.metric).time_ns;
    return measured;
}

}  // namespace trimtab::tools
