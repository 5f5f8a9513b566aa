// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/device/timeline.h"

#include <algorithm>

namespace trimtab::emulator {
namespace {

// As many resident grids as current devices allow (CUDA C++ Programming Guide, technical specifications:
// resident grids per device, 128 from compute capability 7.0 on).
constexpr std::size_t resident_grids = 128;

Work transfer(const trimtab_device& device, Engine engine, double bytes, double bytes_per_s) {
    return {.engine = engine, .duration_ns = device.launch_overhead_ns + bytes / bytes_per_s * 1e9};
}

}  // namespace

Work work_of_bus_copy(const trimtab_device& device, bool is_to_host, double bytes) {
    return transfer(device, is_to_host ? Engine::copy_to_host : Engine::copy_to_device, bytes,
                    device.pcie_bytes_per_s);
}

Work work_of_device_copy(const trimtab_device& device, double bytes) {
    return transfer(device, Engine::copy_within, 2 * bytes, device.dram_bytes_per_s);
}

Work work_of_fill(const trimtab_device& device, double bytes) {
    return transfer(device, Engine::copy_within, bytes, device.dram_bytes_per_s);
}

double Timeline::place_kernel(const Work& work, double earliest_ns) {
    // Kernels start in the order of their launch: none begins before the one launched ahead of it.
    if (!kernels_.empty()) earliest_ns = std::max(earliest_ns, kernels_.back().begin_ns);
    std::erase_if(kernels_, [&](const Running& running) { return running.end_ns <= earliest_ns; });
    const double part = std::min(work.part_of_device, 1.0);
    const auto fits_at = [&](double time_ns) {
        double used = 0;
        std::size_t count = 0;
        for (const Running& running : kernels_) {
            if (running.end_ns <= time_ns) continue;
            used += running.part;
            ++count;
        }
        return used + part <= 1 && count < resident_grids;
    };
    std::vector<double> starts{earliest_ns};
    for (const Running& running : kernels_) starts.push_back(running.end_ns);
    std::sort(starts.begin(), starts.end());
    // When the last one has ended nothing runs, so that one of the starts always fits.
    const double begin_ns = *std::find_if(starts.begin(), starts.end() - 1, fits_at);
    kernels_.push_back({.begin_ns = begin_ns, .end_ns = begin_ns + work.duration_ns, .part = part});
    return begin_ns + work.duration_ns;
}

double Timeline::place(const Work& work, double earliest_ns) {
    const auto behind = [&](double& free_ns) {
        return free_ns = std::max(earliest_ns, free_ns) + work.duration_ns;
    };
    switch (work.engine) {
        case Engine::compute:
            return place_kernel(work, earliest_ns);
        case Engine::copy_to_device:
            return behind(copy_to_device_free_ns_);
        case Engine::copy_to_host:
            return behind(copy_to_host_free_ns_);
        case Engine::copy_within:
            return behind(copy_within_free_ns_);
        case Engine::none:
            break;
    }
    return earliest_ns + work.duration_ns;
}

}  // namespace trimtab::emulator
