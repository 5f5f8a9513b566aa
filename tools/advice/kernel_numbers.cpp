// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/kernel_numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace trimtab::advice {
namespace {

using emulator::LaunchProfile;
using model::Metric;

std::string percent(double share) {
    return fmt::format("{:.0f} %", 100 * share);
}

}  // namespace

std::string bottleneck_sentence(const KernelAdvice& kernel) {
    // Of a launch this short its start is all there is to tell.
    if (const auto start = kernel.derived.find("launch_overhead_share");
        start != kernel.derived.end() && start->second >= 0.5)
        return fmt::format("latency-bound: {} of the time is the start of the launch",
                           percent(start->second));
    const Resource& busiest = kernel.rooflines.busiest();
    const double headroom = kernel.rooflines.headroom();
    if (kernel.label.bound != Bound::latency) {
        const bool was_asked = !kernel.measured || kernel.measured->model_ns > 0;
        const auto used =
            std::ranges::find(kernel.rooflines.resources, kernel.label.limiter, &Resource::name);
        const Resource& limiter = used == kernel.rooflines.resources.end() ? busiest : *used;
        return fmt::format(
            "{}: {} is {} used{}", name(kernel.label.bound), limiter.title,
            percent(std::min(1.0, limiter.used)),
            was_asked && kernel.is_close && kernel.findings.empty() ? "; there is little left to win" : "");
    }
    return fmt::format(
        "latency-bound: nothing is used for more than {} (most of all {}); {:.3g}x are left to the "
        "nearest roofline",
        percent(busiest.used), busiest.title, headroom);
}

void add_numbers(KernelAdvice& kernel, const LaunchProfile& profile, const Question& question,
                 const model::Device& described) {
    const trimtab_device& device = question.device;
    const auto ratio = [](double a, double b) { return b > 0 ? a / b : 0; };
    const BytesInFlight flight = bytes_in_flight(question);
    const MixCap cap = mix_cap(question);
    const double warps = question[Metric::active_warps] * question[Metric::active_blocks];
    const double dram = kernel.rooflines.of("dram").work, l2 = kernel.rooflines.of("l2").work;
    // A launch that moves less than one sector moves none: what is left of a share that a cache keeps is no traffic.
    const auto per_byte = [&](double bytes) {
        constexpr double sector_bytes = 32;
        return bytes < sector_bytes ? 0 : 32 * question[Metric::warp_instructions] * warps / bytes;
    };
    kernel.derived = {
        {"instructions_per_byte_dram", per_byte(dram)},
        {"instructions_per_byte_l2", per_byte(l2)},
        {"balance", ratio(32 * device.schedulers_per_sm * device.sm_count * device.sm_clock_hz,
                          device.dram_bytes_per_s)},
        {"sectors_per_load_request", ratio(question[Metric::load_sectors], question[Metric::load_requests])},
        {"sectors_per_store_request",
         ratio(question[Metric::store_sectors],
               question[Metric::store_requests] + question[Metric::atomic_requests])},
        {"passes_per_shared_request",
         ratio(question[Metric::shared_wavefronts], question[Metric::shared_requests])},
        {"local_requests_share",
         ratio(question[Metric::local_requests], question[Metric::warp_instructions])},
        {"divergence", ratio(profile.divergent_branches, profile.branches)},
        {"idle_lanes", 1 - question[Metric::active_lanes] / 32},
        {"fp64_share", ratio(question[Metric::fp64_instructions], question[Metric::warp_instructions])},
        {"occupancy", kernel.occupancy.fraction},
        {"waves", ratio(question[Metric::active_blocks],
                        std::max(1u, kernel.occupancy.blocks_per_sm) * device.sm_count)},
        {"bytes_in_flight", flight.at_most},
        {"bytes_in_flight_needed", flight.needed},
        {"mix_cap_serial", cap.serial},
        {"mix_cap_overlapped", cap.overlapped},
        {"launch_overhead_share", ratio(device.launch_overhead_ns, profile.time_ns)}};
    const auto terms = question.terms("gpuperf-benefits", described);
    for (const char* label :
         {"T_comp", "T_mem", "T_overlap", "T_exec", "T_fp", "T_mem_min", "W_parallel", "O_sync", "O_SFU",
          "O_CFdiv", "O_bank", "B_itilp", "B_memlp", "B_fp", "B_serial"})
        if (const auto found = terms.find(label); found != terms.end())
            kernel.benefits[label] = found->second / device.sm_clock_hz * 1e9;
    for (std::uint32_t threads = 32; threads <= device.max_threads_per_block; threads += 32)
        kernel.occupancy_by_block.push_back(
            {.threads = threads,
             .occupancy =
                 model::occupancy(device, question.image, threads, question.dynamic_shared_bytes).fraction});
}

void hold_benefits_against(KernelAdvice& kernel, std::string_view which, double time_ns,
                           double launch_overhead_ns) {
    const auto executed = kernel.benefits.find("T_exec");
    if (executed == kernel.benefits.end()) return;
    constexpr double most_apart = 2;
    const double times = (executed->second + launch_overhead_ns) / time_ns;
    if (times <= most_apart && times >= 1 / most_apart) return;
    kernel.no_benefits = fmt::format("GPUPerf's equations give {:.2g} times the {} time", times, which);
    kernel.benefits.clear();
}

}  // namespace trimtab::advice
