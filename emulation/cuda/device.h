// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The devices that the emulator plays.
#pragma once

#include <driver_types.h>

#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/device.h"
#include "emulation/cuda/machine.h"
#include "emulation/cuda/objects.h"

namespace trimtab::cuda {

// The last of CUDA 13. The emulator reads PTX of any version. Programs built with a newer CUDA than this driver's would
// compile their PTX to machine code themselves, which the emulator does not run.
inline constexpr int emulated_driver_version = 13090;

struct Device {
    model::Device description;
    int ordinal = 0;
    // Held while work runs on the device, so that work of several host threads is done one after the other.
    std::mutex execution;
    LaunchTimes launch_times;  // under `execution`

    // Below: under State::mutex.
    cudaError_t fault = cudaSuccess;  // of a kernel; every call fails with it until cudaDeviceReset
    bool fault_told = false;          // launches return before their kernel has failed: the next call tells
    Timeline timeline;
    double host_ns = 0;  // modelled time up to which the host has waited for the device
    CUstream_st legacy_stream;
    CUctx_st primary;
    CUmemPoolHandle_st default_pool;
    CUmemPoolHandle_st* current_pool = &default_pool;
    std::uint64_t used_bytes = 0;
    // What the nodes of graphs have allocated, and what is held ready for them.
    std::uint64_t graph_used_bytes = 0, graph_used_high_bytes = 0, graph_reserved_bytes = 0,
                  graph_reserved_high_bytes = 0;
    unsigned flags = cudaDeviceScheduleAuto;
    std::array<std::size_t, cudaLimitStackSize + 16> limits{};
    cudaFuncCache cache_config = cudaFuncCachePreferNone;
    std::set<int> peers;
    // What cudaMallocAsync and the like may still give: the description's memory less what is used.
    [[nodiscard]] std::uint64_t total_bytes() const {
        return static_cast<std::uint64_t>(description.values.dram_bytes);
    }
};

// "a,b" as TRIMTAB_DEVICE gives them; empty: the default device. An unknown slug is an error that offers the
// nearest.
[[nodiscard]] std::expected<std::vector<std::unique_ptr<Device>>, Error> make_devices(std::string_view slugs);

// What cudaGetDeviceProperties says of it.
[[nodiscard]] cudaDeviceProp properties_of(const Device& device);
// What cudaDeviceGetAttribute says; false for an attribute that does not exist.
[[nodiscard]] bool attribute_of(const Device& device, cudaDeviceAttr attribute, int& value);

// Two devices are peers where both are of compute capability 2.0 or more.
[[nodiscard]] bool can_be_peers(const Device& device, const Device& peer);

}  // namespace trimtab::cuda
