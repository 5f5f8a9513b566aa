// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/rooflines.h"

#include <algorithm>
#include <array>

namespace trimtab::advice {
namespace {

using model::Metric;

double found_or_zero(const std::map<std::string, double>& terms, const char* name) {
    const auto found = terms.find(name);
    return found == terms.end() ? 0 : found->second;
}

struct Pipe {
    Metric metric;
    double trimtab_device::* lanes;
};
constexpr std::array pipes{
    Pipe{Metric::fp32_instructions, &trimtab_device::fp32_lanes_per_sm},
    Pipe{Metric::fp64_instructions, &trimtab_device::fp64_lanes_per_sm},
    Pipe{Metric::integer_instructions, &trimtab_device::int32_lanes_per_sm},
    Pipe{Metric::special_function_instructions, &trimtab_device::special_function_lanes_per_sm}};

}  // namespace

const Resource& Rooflines::of(std::string_view name) const {
    return *std::ranges::find(resources, name, &Resource::name);
}

double Rooflines::headroom() const {
    const double least = busiest().ns;
    return least > 0 ? std::max(1.0, time_ns / least) : 1;
}

Rooflines rooflines(const Question& question, double time_ns) {
    const trimtab_device& device = question.device;
    const auto terms = question.terms();
    const double warps = question[Metric::active_warps] * question[Metric::active_blocks];
    const double clocks = device.sm_clock_hz * device.sm_count;
    Rooflines out{.time_ns = time_ns, .resources = {}};
    const auto add = [&](std::string_view name, std::string_view title, bool is_memory, double work,
                         double rate) {
        const double ns = rate > 0 ? work / rate * 1e9 : 0;
        out.resources.push_back({.name = name,
                                 .title = title,
                                 .is_memory = is_memory,
                                 .work = work,
                                 .rate = rate,
                                 .ns = ns,
                                 .used = time_ns > 0 ? ns / time_ns : 0});
    };
    const auto add_pipe = [&](std::string_view name, std::string_view title, const Pipe& pipe) {
        add(name, title, false, question[pipe.metric] * warps,
            device.*pipe.lanes / device.warp_size * clocks);
    };
    add("dram", "the memory's bandwidth", true, found_or_zero(terms, "DRAM_bytes"), device.dram_bytes_per_s);
    const double l2_sectors = question[Metric::load_sectors] * (1 - found_or_zero(terms, "L1_hit_ratio")) +
                              question[Metric::store_sectors];
    add("l2", "L2's bandwidth", true, 32 * l2_sectors * warps,
        device.l2_bytes_per_clock * device.sm_clock_hz);
    add("shared", "shared memory's bandwidth", true, 128 * question[Metric::shared_wavefronts] * warps,
        std::min(device.shared_bytes_per_clock, 4 * device.load_store_units_per_sm) * clocks);
    add("issue", "the schedulers", false, question[Metric::warp_instructions] * warps,
        device.schedulers_per_sm * clocks);
    add_pipe("fp32", "single-precision arithmetic", pipes[0]);
    add_pipe("fp64", "double-precision arithmetic", pipes[1]);
    add_pipe("integer", "integer arithmetic", pipes[2]);
    add_pipe("special", "the special function units", pipes[3]);
    std::ranges::sort(out.resources, [](const Resource& a, const Resource& b) { return a.ns > b.ns; });
    return out;
}

BytesInFlight bytes_in_flight(const Question& question) {
    const trimtab_device& device = question.device;
    const auto terms = question.terms();
    const double resident = found_or_zero(terms, "resident_blocks") * question[Metric::active_warps];
    const double rounds = std::max(1.0, question[Metric::dependent_rounds]);
    return {.needed = device.latency_dram_cycles / device.sm_clock_hz * device.dram_bytes_per_s,
            .at_most = resident * 32 * question[Metric::load_sectors] / rounds};
}

MixCap mix_cap(const Question& question) {
    const trimtab_device& device = question.device;
    const double all = question[Metric::warp_instructions];
    if (!(all > 0)) return {};
    double serial = 0, longest = all / device.schedulers_per_sm, named = 0;
    for (const Pipe& pipe : pipes) {
        const double count = question[pipe.metric];
        const double cycles = count * device.warp_size / (device.*pipe.lanes);
        serial += std::max(cycles, count / device.schedulers_per_sm);
        longest = std::max(longest, cycles);
        named += count;
    }
    serial += std::max(0.0, all - named) / device.schedulers_per_sm;
    const double issue = all / device.schedulers_per_sm;
    return {.serial = std::min(1.0, issue / serial), .overlapped = issue / longest};
}

}  // namespace trimtab::advice
