// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/metrics/metrics.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "emulation/emulator/exec/counting.h"
#include "emulation/emulator/exec/program.h"

namespace trimtab::emulator {
namespace {

using model::Metric;

double& at(model::MetricValues& values, Metric metric) {
    return values[static_cast<std::size_t>(metric)];
}

double ratio(double a, double b) {
    return b == 0 ? 0 : a / b;
}

// Loads, stores and atomics of one space, summed.
struct Traffic {
    double requests = 0, sectors = 0, lines = 0, wavefronts = 0, partial_sectors = 0;
    void add(const InstructionCount& count) {
        requests += static_cast<double>(count.requests);
        sectors += static_cast<double>(count.sectors);
        lines += static_cast<double>(count.lines);
        wavefronts += static_cast<double>(count.wavefronts);
        partial_sectors += static_cast<double>(count.partial_sectors);
    }
};

}  // namespace

model::MetricValues metrics(const Program& program, std::string_view kernel_name,
                            const LaunchCounters& counters, std::uint64_t total_blocks) {
    model::MetricValues values{};
    const auto warps = static_cast<double>(counters.active_warps);
    const auto blocks = static_cast<double>(counters.active_blocks);
    const auto of_class = [&](InstructionClass which) {
        return static_cast<double>(counters.active_by_class[static_cast<std::size_t>(which)].warp);
    };
    double instructions = 0, lanes = 0;
    for (const ClassCount& count : counters.active_by_class) {
        instructions += static_cast<double>(count.warp);
        lanes += static_cast<double>(count.thread);
    }
    Traffic loads, stores, atomics, local, shared;
    if (const CompiledKernel* kernel = program.kernel(kernel_name)) {
        for (std::uint32_t i = 0; i < counters.instructions.size(); i++) {
            const InstructionCount& count = counters.instructions[i];
            if (count.requests == 0) continue;
            switch (class_of(kernel->instruction(i))) {
                case InstructionClass::global_load:
                    loads.add(count);
                    break;
                case InstructionClass::global_store:
                    stores.add(count);
                    break;
                case InstructionClass::global_atomic:
                    atomics.add(count);
                    break;
                case InstructionClass::local_memory:
                    local.add(count);
                    break;
                case InstructionClass::shared_memory:
                    shared.add(count);
                    break;
                default:
                    break;
            }
        }
    }
    at(values, Metric::warp_instructions) = ratio(instructions, warps);
    at(values, Metric::fp32_instructions) =
        ratio(of_class(InstructionClass::fp32) + of_class(InstructionClass::fp16), warps);
    at(values, Metric::fp64_instructions) = ratio(of_class(InstructionClass::fp64), warps);
    at(values, Metric::integer_instructions) =
        ratio(of_class(InstructionClass::integer) + of_class(InstructionClass::conversion), warps);
    at(values, Metric::special_function_instructions) =
        ratio(of_class(InstructionClass::special_function), warps);
    at(values, Metric::control_instructions) = ratio(of_class(InstructionClass::control), warps);
    at(values, Metric::load_requests) = ratio(loads.requests, warps);
    at(values, Metric::store_requests) = ratio(stores.requests, warps);
    at(values, Metric::atomic_requests) = ratio(atomics.requests, warps);
    at(values, Metric::local_requests) = ratio(local.requests, warps);
    at(values, Metric::shared_requests) = ratio(shared.requests, warps);
    at(values, Metric::shared_wavefronts) = ratio(shared.wavefronts, warps);
    at(values, Metric::load_sectors) = ratio(loads.sectors, warps);
    at(values, Metric::store_sectors) = ratio(stores.sectors + atomics.sectors, warps);
    at(values, Metric::store_partial_sectors) = ratio(stores.partial_sectors, warps);
    at(values, Metric::load_lines) = ratio(loads.lines, warps);
    at(values, Metric::store_lines) = ratio(stores.lines + atomics.lines, warps);
    at(values, Metric::barriers) = ratio(static_cast<double>(counters.barriers), warps);
    at(values, Metric::divergent_branches) = ratio(static_cast<double>(counters.divergent_branches), warps);
    at(values, Metric::active_lanes) = ratio(lanes, instructions);
    at(values, Metric::dependent_rounds) = ratio(static_cast<double>(counters.dependent_rounds), warps);
    at(values, Metric::instruction_parallelism) = instruction_parallelism(program, kernel_name, counters);
    at(values, Metric::active_warps) = ratio(warps, blocks);
    at(values, Metric::active_blocks) =
        ratio(blocks * static_cast<double>(total_blocks), static_cast<double>(counters.blocks));
    at(values, Metric::footprint_sectors) = ratio(static_cast<double>(counters.block_sectors), blocks);
    return values;
}

model::RationalProgram::MetricFunction measured_metrics(const model::MetricValues& values,
                                                        std::vector<FootprintSample> footprints) {
    return
        [values, shape = FootprintShape(std::move(footprints))](Metric metric, double x, double y, double z) {
            if (metric == Metric::footprint_sectors && !shape.empty()) return shape.sectors(x, y, z);
            return values[static_cast<std::size_t>(metric)];
        };
}

std::vector<FootprintSample> footprints_in_block(const LaunchCounters& counters, const trimtab_dim3& block) {
    std::vector<FootprintSample> samples;
    const double x = block.x, y = block.y, z = block.z;
    if (counters.active_blocks > 0)
        samples.push_back({.x = x,
                           .y = y,
                           .z = z,
                           .sectors = static_cast<double>(counters.block_sectors) /
                                      static_cast<double>(counters.active_blocks)});
    if (counters.footprint_warps > 0) {
        FootprintSample warp;
        warp.x = std::min(x, 32.0);
        warp.y = std::clamp(std::floor(32 / warp.x), 1.0, y);
        warp.z = std::clamp(std::floor(32 / (warp.x * warp.y)), 1.0, z);
        // Where no box of threads is a warp, its part of one.
        const double threads = warp.x * warp.y * warp.z;
        warp.sectors = static_cast<double>(counters.warp_sectors) /
                       static_cast<double>(counters.footprint_warps) * threads / std::min(x * y * z, 32.0);
        if (threads < x * y * z) samples.push_back(warp);
    }
    return samples;
}

}  // namespace trimtab::emulator
