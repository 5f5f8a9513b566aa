// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/known_devices.h"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>

#include "core/model/device.h"
#include "runtime/pending_error.h"
#include "runtime/relaxed_capture.h"

namespace trimtab::runtime {
namespace {

// The built-in description of the nearest architecture, the newest one not above the device's if there is
// one.
const model::Device& nearest_architecture(unsigned compute_capability) {
    const auto distance = [compute_capability](const model::Device& device) {
        const unsigned other = device.values.compute_capability;
        return other <= compute_capability ? compute_capability - other : 1000 + (other - compute_capability);
    };
    const std::vector<model::Device>& all = model::devices();
    const model::Device* best = &all.front();
    for (const model::Device& device : all) {
        if (distance(device) < distance(*best)) best = &device;
    }
    return *best;
}

// What CUDA tells of a device replaces what the description of its nearest relative says.
void take_what_cuda_tells(const cudaDeviceProp& properties, trimtab_device& device) {
    device.compute_capability = static_cast<std::uint32_t>(10 * properties.major + properties.minor);
    device.sm_count = properties.multiProcessorCount;
    device.dram_bytes = static_cast<double>(properties.totalGlobalMem);
    device.l2_bytes = properties.l2CacheSize;
    device.l1_caches_global_loads = properties.globalL1CacheSupported;
    device.shared_bytes_per_sm = static_cast<double>(properties.sharedMemPerMultiprocessor);
    device.shared_bytes_per_block = static_cast<double>(properties.sharedMemPerBlock);
    device.shared_bytes_per_block_optin = static_cast<double>(properties.sharedMemPerBlockOptin);
    device.shared_reserved_bytes_per_block = static_cast<double>(properties.reservedSharedMemPerBlock);
    device.registers_per_sm = properties.regsPerMultiprocessor;
    device.registers_per_block = properties.regsPerBlock;
    device.max_threads_per_sm = properties.maxThreadsPerMultiProcessor;
    device.max_threads_per_block = properties.maxThreadsPerBlock;
    device.max_blocks_per_sm = properties.maxBlocksPerMultiProcessor;
    device.warp_size = properties.warpSize;
    device.max_warps_per_sm =
        static_cast<double>(properties.maxThreadsPerMultiProcessor) / properties.warpSize;
    device.max_block_x = properties.maxThreadsDim[0];
    device.max_block_y = properties.maxThreadsDim[1];
    device.max_block_z = properties.maxThreadsDim[2];
    device.max_grid_x = properties.maxGridSize[0];
    device.max_grid_y = properties.maxGridSize[1];
    device.max_grid_z = properties.maxGridSize[2];
    device.constant_bytes = static_cast<double>(properties.totalConstMem);
    device.copy_engines = properties.asyncEngineCount;
    device.dram_bus_bits = properties.memoryBusWidth;
}

}  // namespace

KnownDevices::KnownDevices(const BackendCalls& calls, choosing::Log& log) : calls_(calls), log_(log) {
    const PendingError pending(calls_);
    if (calls_.get_device_count(&count_) == cudaSuccess) return;
    count_ = 0;
    pending.restore();
}

std::uint32_t KnownDevices::current() const {
    if (count_ <= 1) return 0;
    int ordinal = 0;
    const PendingError pending(calls_);
    if (calls_.get_device(&ordinal) == cudaSuccess)
        return ordinal > 0 ? static_cast<std::uint32_t>(ordinal) : 0;
    pending.restore();
    return 0;
}

std::shared_ptr<const choosing::KnownDevice> KnownDevices::device(std::uint32_t ordinal) {
    const std::lock_guard lock(mutex_);
    if (const auto known = devices_.find(ordinal); known != devices_.end()) return known->second;
    if (!is_due(ordinal)) return nullptr;
    const PendingError pending(calls_);
    std::shared_ptr<const choosing::KnownDevice> device = describe(ordinal);
    if (device == nullptr) {
        pending.restore();
        log_.warn_once(fmt::format(
            "device {} cannot be described: its kernels are launched unchanged until it answers", ordinal));
        return nullptr;
    }
    asked_in_vain_.erase(ordinal);
    return devices_[ordinal] = std::move(device);
}

bool KnownDevices::is_due(std::uint32_t ordinal) {
    const auto place = asked_in_vain_.find(ordinal);
    if (place == asked_in_vain_.end()) {
        asked_in_vain_.emplace(ordinal, 1);
        return true;
    }
    return std::has_single_bit(place->second++);
}

std::shared_ptr<const choosing::KnownDevice> KnownDevices::describe(std::uint32_t ordinal) const {
    // Another thread may be recording a graph, which what CUDA is asked here must not spoil.
    const RelaxedCapture relaxed(calls_);
    const int device = static_cast<int>(ordinal);
    if (calls_.emulated_device != nullptr) {
        const char* slug = nullptr;
        const trimtab_device* values = calls_.emulated_device(device, &slug);
        if (values == nullptr) return nullptr;
        return std::make_shared<choosing::KnownDevice>(
            choosing::KnownDevice{.values = *values, .name = slug == nullptr ? "emulator" : slug});
    }
    cudaDeviceProp properties{};
    if (calls_.get_device_properties(&properties, device) != cudaSuccess) return nullptr;
    const auto found = model::find_device(properties.name);
    // Of a GPU of that name a process may have a part of the SMs (MPS), or there are several of one name.
    if (found && found->values.sm_count == properties.multiProcessorCount) {
        log_.debug(fmt::format("device {}: {}, described as {}", device, properties.name, found->slug));
        return std::make_shared<choosing::KnownDevice>(
            choosing::KnownDevice{.values = found->values, .name = found->slug});
    }
    const auto capability = static_cast<unsigned>(10 * properties.major + properties.minor);
    const model::Device& relative = found ? *found : nearest_architecture(capability);
    choosing::KnownDevice known{
        .values = relative.values,
        .name =
            found ? fmt::format("{}, {} SMs", found->slug, properties.multiProcessorCount) : properties.name};
    take_what_cuda_tells(properties, known.values);
    const auto attribute = [&](cudaDeviceAttr which) {
        const PendingError pending(calls_);
        int value = 0;
        if (calls_.device_get_attribute(&value, which, device) == cudaSuccess) return value;
        pending.restore();
        return 0;
    };
    if (const int clock_khz = attribute(cudaDevAttrClockRate); clock_khz > 0)
        known.values.sm_clock_hz = clock_khz * 1e3;
    if (const int memory_clock_khz = attribute(cudaDevAttrMemoryClockRate); memory_clock_khz > 0) {
        known.values.memory_clock_hz = memory_clock_khz * 1e3;
        // Both edges of the memory clock carry data: core/model/devices/README.md, memory_clock_hz.
        known.values.dram_bytes_per_s = 2 * known.values.memory_clock_hz * known.values.dram_bus_bits / 8;
    }
    log_.debug(
        fmt::format("device {}: Trimtab has no description of {}: values that CUDA does not report "
                    "(latencies, lanes and caches per SM) are those of {}",
                    device, properties.name, relative.slug));
    return std::make_shared<choosing::KnownDevice>(std::move(known));
}

}  // namespace trimtab::runtime
