#include "emulator/mem/metrics.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "emulator/exec/counting.h"
#include "emulator/exec/program.h"

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
    double requests = 0, sectors = 0, lines = 0, wavefronts = 0;
    void add(const InstructionCount& count) {
        requests += static_cast<double>(count.requests);
        sectors += static_cast<double>(count.sectors);
        lines += static_cast<double>(count.lines);
        wavefronts += static_cast<double>(count.wavefronts);
    }
};

// A power law through the two samples next to `box_threads`, or the nearest pair beyond them.
double footprint_of(const std::vector<FootprintSample>& samples, double box_threads) {
    if (samples.empty() || box_threads <= 0) return 0;
    if (samples.size() == 1) return samples[0].sectors * box_threads / samples[0].box_threads;
    auto above = std::find_if(
        samples.begin() + 1, samples.end() - 1,
        [box_threads](const FootprintSample& sample) { return sample.box_threads >= box_threads; });
    const FootprintSample& low = *(above - 1);
    const FootprintSample& high = *above;
    if (low.sectors <= 0 || high.sectors <= 0) return ratio(high.sectors * box_threads, high.box_threads);
    double exponent = std::log(high.sectors / low.sectors) / std::log(high.box_threads / low.box_threads);
    // Beyond the samples, more threads touch no less, and no more than in proportion.
    const bool beyond = box_threads < low.box_threads || box_threads > high.box_threads;
    if (beyond) exponent = std::clamp(exponent, 0.0, 1.0);
    const FootprintSample& from = box_threads < low.box_threads ? low : high;
    return from.sectors * std::pow(box_threads / from.box_threads, exponent);
}

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
    std::sort(footprints.begin(), footprints.end(), [](const FootprintSample& a, const FootprintSample& b) {
        return std::pair(a.box_threads, a.sectors) < std::pair(b.box_threads, b.sectors);
    });
    // Of boxes of one size the largest footprint counts: a smaller one was cut off by the grid's edge.
    const auto last = std::unique(
        footprints.rbegin(), footprints.rend(),
        [](const FootprintSample& a, const FootprintSample& b) { return a.box_threads == b.box_threads; });
    footprints.erase(footprints.begin(), last.base());
    std::erase_if(footprints, [](const FootprintSample& sample) { return sample.box_threads <= 0; });
    return [values, footprints = std::move(footprints)](Metric metric, double x, double y, double z) {
        if (metric == Metric::footprint_sectors && !footprints.empty())
            return footprint_of(footprints, x * y * z);
        return values[static_cast<std::size_t>(metric)];
    };
}

}  // namespace trimtab::emulator
