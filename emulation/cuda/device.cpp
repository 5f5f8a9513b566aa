// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/device.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

namespace trimtab::cuda {
namespace {

int to_int(double value) {
    return static_cast<int>(std::min(value, 2147483647.0));
}

// Compute capability 6.0 brought preemption, page-faulting managed memory and cooperative launches; 9.0
// clusters (CUDA C++ Programming Guide, feature support).
bool is_pascal_or_newer(const Device& device) {
    return device.description.compute_major >= 6;
}

void set_default_limits(Device& device) {
    // What cudaDeviceGetLimit answers on a fresh device.
    device.limits[cudaLimitStackSize] = 1024;
    device.limits[cudaLimitPrintfFifoSize] = std::size_t{1} << 20;
    device.limits[cudaLimitMallocHeapSize] = std::size_t{8} << 20;
    device.limits[cudaLimitDevRuntimeSyncDepth] = 2;
    device.limits[cudaLimitDevRuntimePendingLaunchCount] = 2048;
    device.limits[cudaLimitMaxL2FetchGranularity] = 64;
    device.limits[cudaLimitPersistingL2CacheSize] = 0;
}

// Texture and surface limits of compute capability 5.0 and later (CUDA C++ Programming Guide, technical
// specifications). Programs print these.
void set_texture_limits(cudaDeviceProp& p) {
    p.textureAlignment = 512;
    p.texturePitchAlignment = 32;
    p.surfaceAlignment = 512;
    p.maxTexture1D = 131072;
    p.maxTexture1DMipmap = 32768;
    std::copy_n(std::array{131072, 65536}.data(), 2, p.maxTexture2D);
    std::copy_n(std::array{32768, 32768}.data(), 2, p.maxTexture2DMipmap);
    std::copy_n(std::array{131072, 65000, 2097120}.data(), 3, p.maxTexture2DLinear);
    std::copy_n(std::array{32768, 32768}.data(), 2, p.maxTexture2DGather);
    std::copy_n(std::array{16384, 16384, 16384}.data(), 3, p.maxTexture3D);
    std::copy_n(std::array{8192, 8192, 32768}.data(), 3, p.maxTexture3DAlt);
    p.maxTextureCubemap = 32768;
    std::copy_n(std::array{32768, 2048}.data(), 2, p.maxTexture1DLayered);
    std::copy_n(std::array{32768, 32768, 2048}.data(), 3, p.maxTexture2DLayered);
    std::copy_n(std::array{32768, 2046}.data(), 2, p.maxTextureCubemapLayered);
    p.maxSurface1D = 32768;
    std::copy_n(std::array{131072, 65536}.data(), 2, p.maxSurface2D);
    std::copy_n(std::array{16384, 16384, 16384}.data(), 3, p.maxSurface3D);
    std::copy_n(std::array{32768, 2048}.data(), 2, p.maxSurface1DLayered);
    std::copy_n(std::array{32768, 32768, 2048}.data(), 3, p.maxSurface2DLayered);
    p.maxSurfaceCubemap = 32768;
    std::copy_n(std::array{32768, 2046}.data(), 2, p.maxSurfaceCubemapLayered);
}

}  // namespace

std::expected<std::vector<std::unique_ptr<Device>>, Error> make_devices(std::string_view slugs) {
    std::vector<std::unique_ptr<Device>> out;
    if (slugs.empty() || slugs == "gpu") slugs = model::default_device;
    while (true) {
        const std::size_t comma = slugs.find(',');
        auto description = model::find_device(slugs.substr(0, comma));
        if (!description) return std::unexpected(std::move(description.error()));
        auto& device = out.emplace_back(std::make_unique<Device>());
        device->description = std::move(*description);
        device->ordinal = static_cast<int>(out.size()) - 1;
        device->legacy_stream.device = device->default_pool.device = device->primary.device = device->ordinal;
        device->default_pool.is_default = true;
        set_default_limits(*device);
        if (comma == std::string_view::npos) return out;
        slugs.remove_prefix(comma + 1);
    }
}

cudaDeviceProp properties_of(const Device& device) {
    const trimtab_device& v = device.description.values;
    cudaDeviceProp p{};
    const std::string& name = device.description.name;
    std::memcpy(p.name, name.c_str(), std::min(name.size(), sizeof p.name - 1));
    // Stable from run to run, and different for equal devices. No byte is zero: some read it as text.
    std::size_t identity = std::hash<std::string>{}(device.description.slug);
    for (char& byte : p.uuid.bytes) {
        byte = static_cast<char>(identity % 255 + 1);
        identity = std::rotr(identity, 8) * 31 + 1;
    }
    p.uuid.bytes[15] = static_cast<char>(device.ordinal % 255 + 1);
    p.totalGlobalMem = device.total_bytes();
    p.sharedMemPerBlock = static_cast<std::size_t>(v.shared_bytes_per_block);
    p.sharedMemPerBlockOptin = static_cast<std::size_t>(v.shared_bytes_per_block_optin);
    p.sharedMemPerMultiprocessor = static_cast<std::size_t>(v.shared_bytes_per_sm);
    p.reservedSharedMemPerBlock = static_cast<std::size_t>(v.shared_reserved_bytes_per_block);
    p.regsPerBlock = to_int(v.registers_per_block);
    p.regsPerMultiprocessor = to_int(v.registers_per_sm);
    p.warpSize = to_int(v.warp_size);
    p.memPitch = 2147483647;
    p.maxThreadsPerBlock = to_int(v.max_threads_per_block);
    p.maxThreadsDim[0] = to_int(v.max_block_x);
    p.maxThreadsDim[1] = to_int(v.max_block_y);
    p.maxThreadsDim[2] = to_int(v.max_block_z);
    p.maxGridSize[0] = to_int(v.max_grid_x);
    p.maxGridSize[1] = to_int(v.max_grid_y);
    p.maxGridSize[2] = to_int(v.max_grid_z);
    p.maxThreadsPerMultiProcessor = to_int(v.max_threads_per_sm);
    p.maxBlocksPerMultiProcessor = to_int(v.max_blocks_per_sm);
    p.totalConstMem = static_cast<std::size_t>(v.constant_bytes);
    p.major = static_cast<int>(device.description.compute_major);
    p.minor = static_cast<int>(device.description.compute_minor);
    p.multiProcessorCount = to_int(v.sm_count);
    p.memoryBusWidth = to_int(v.dram_bus_bits);
    p.l2CacheSize = to_int(v.l2_bytes);
    p.globalL1CacheSupported = v.l1_caches_global_loads > 0 ? 1 : 0;
    p.localL1CacheSupported = 1;
    p.concurrentKernels = v.concurrent_kernels > 0 ? 1 : 0;
    p.asyncEngineCount = to_int(v.copy_engines);
    p.pciBusID = device.ordinal + 1;
    p.canMapHostMemory = 1;
    p.unifiedAddressing = 1;
    p.managedMemory = 1;
    p.hostRegisterSupported = 1;
    p.canUseHostPointerForRegisteredMem = 1;
    p.streamPrioritiesSupported = 1;
    p.memoryPoolsSupported = 1;
    p.concurrentManagedAccess = is_pascal_or_newer(device) ? 1 : 0;
    p.computePreemptionSupported = p.concurrentManagedAccess;
    p.cooperativeLaunch = p.concurrentManagedAccess;
    p.hostNumaId = -1;
    p.deviceNumaId = -1;
    set_texture_limits(p);
    return p;
}

bool can_be_peers(const Device& device, const Device& peer) {
    return device.ordinal != peer.ordinal && device.description.compute_major >= 2 &&
           peer.description.compute_major >= 2;
}

}  // namespace trimtab::cuda
