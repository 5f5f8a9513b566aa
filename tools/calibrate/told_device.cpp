// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/calibrate/told_device.h"

namespace trimtab::calibrate {

ToldDevice told_device(const Session& session) {
    const cudaDeviceProp& p = session.properties();
    ToldDevice out{.name = p.name,
                   .compute_major = static_cast<unsigned>(p.major),
                   .compute_minor = static_cast<unsigned>(p.minor),
                   .values = {}};
    const auto tell = [&out](const char* field, auto value) {
        out.values.emplace_back(field, static_cast<double>(value));
    };
    tell("sm_count", p.multiProcessorCount);
    tell("dram_bytes", p.totalGlobalMem);
    tell("dram_bus_bits", p.memoryBusWidth);
    tell("l2_bytes", p.l2CacheSize);
    tell("shared_bytes_per_sm", p.sharedMemPerMultiprocessor);
    tell("shared_bytes_per_block", p.sharedMemPerBlock);
    tell("shared_bytes_per_block_optin", p.sharedMemPerBlockOptin);
    tell("shared_reserved_bytes_per_block", p.reservedSharedMemPerBlock);
    tell("registers_per_sm", p.regsPerMultiprocessor);
    tell("registers_per_block", p.regsPerBlock);
    tell("max_threads_per_sm", p.maxThreadsPerMultiProcessor);
    tell("max_threads_per_block", p.maxThreadsPerBlock);
    tell("max_blocks_per_sm", p.maxBlocksPerMultiProcessor);
    tell("max_warps_per_sm", p.maxThreadsPerMultiProcessor / p.warpSize);
    tell("max_block_x", p.maxThreadsDim[0]);
    tell("max_block_y", p.maxThreadsDim[1]);
    tell("max_block_z", p.maxThreadsDim[2]);
    tell("max_grid_x", p.maxGridSize[0]);
    tell("max_grid_y", p.maxGridSize[1]);
    tell("max_grid_z", p.maxGridSize[2]);
    tell("warp_size", p.warpSize);
    tell("constant_bytes", p.totalConstMem);
    tell("copy_engines", p.asyncEngineCount);
    int device = 0, khz = 0;
    check(cudaGetDevice(&device), "the device");
    // A GPU that is shared may not tell.
    if (cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, device) == cudaSuccess && khz > 0)
        tell("memory_clock_hz", 1e3 * khz);
    else
        cudaGetLastError();
    return out;
}

}  // namespace trimtab::calibrate
