// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/occupancy.h"

#include <cuda_occupancy.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/model/device.h"
#include "core/model/potential_block.h"

namespace trimtab::model {
namespace {

constexpr std::uint32_t registers_step = 3, threads_step = 17;

cudaOccDeviceProp properties_of(const trimtab_device& device) {
    cudaOccDeviceProp p;
    p.computeMajor = static_cast<int>(device.compute_capability / 10);
    p.computeMinor = static_cast<int>(device.compute_capability % 10);
    p.maxThreadsPerBlock = static_cast<int>(device.max_threads_per_block);
    p.maxThreadsPerMultiprocessor = static_cast<int>(device.max_threads_per_sm);
    p.regsPerBlock = static_cast<int>(device.registers_per_block);
    p.regsPerMultiprocessor = static_cast<int>(device.registers_per_sm);
    p.warpSize = static_cast<int>(device.warp_size);
    p.sharedMemPerBlock = static_cast<std::size_t>(device.shared_bytes_per_block);
    p.sharedMemPerMultiprocessor = static_cast<std::size_t>(device.shared_bytes_per_sm);
    p.numSms = static_cast<int>(device.sm_count);
    p.sharedMemPerBlockOptin = static_cast<std::size_t>(device.shared_bytes_per_block_optin);
    p.reservedSharedMemPerBlock = static_cast<std::size_t>(device.shared_reserved_bytes_per_block);
    return p;
}

// The toolkit's own answer, the dynamic shared memory opted in to.
int toolkit_blocks(const cudaOccDeviceProp& properties, std::uint32_t registers, std::uint32_t static_shared,
                   std::uint32_t dynamic_shared, std::uint32_t threads) {
    cudaOccFuncAttributes attributes;
    attributes.maxThreadsPerBlock = 1024;
    attributes.numRegs = static_cast<int>(registers);
    attributes.sharedSizeBytes = static_shared;
    attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
    attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    attributes.maxDynamicSharedSizeBytes = dynamic_shared;
    attributes.numBlockBarriers = 1;
    const cudaOccDeviceState state;
    cudaOccResult result;
    EXPECT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state,
                                                      static_cast<int>(threads), dynamic_shared),
              CUDA_OCC_SUCCESS);
    return result.activeBlocksPerMultiprocessor;
}

void compare_with_toolkit(const trimtab_device& device) {
    const cudaOccDeviceProp properties = properties_of(device);
    const auto most_registers = static_cast<std::uint32_t>(device.max_registers_per_thread);
    const auto optin = static_cast<std::uint32_t>(device.shared_bytes_per_block_optin);
    int failures = 0;
    const auto check = [&](std::uint32_t registers, std::uint32_t static_shared, std::uint32_t dynamic_shared,
                           std::uint32_t threads) {
        const trimtab_image image{.registers_per_thread = static_cast<double>(registers),
                                  .static_shared_bytes = static_cast<double>(static_shared),
                                  .local_bytes_per_thread = 0,
                                  .max_threads_per_block = 0};
        const int expected = toolkit_blocks(properties, registers, static_shared, dynamic_shared, threads);
        const Occupancy found = occupancy(device, image, threads, dynamic_shared);
        if (static_cast<int>(found.blocks_per_sm) == expected) return;
        if (++failures < 5)
            ADD_FAILURE() << "cc " << device.compute_capability << ", registers " << registers << ", shared "
                          << static_shared << " + " << dynamic_shared << ", threads " << threads << ": "
                          << found.blocks_per_sm << " blocks, the toolkit says " << expected;
    };
    // Every step of one, over few of the others: the granularities show at odd numbers.
    for (std::uint32_t registers = 0; registers <= most_registers; ++registers)
        for (std::uint32_t threads :
             {1u, 31u, 32u, 33u, 96u, 128u, 160u, 256u, 416u, 512u, 768u, 992u, 1024u})
            check(registers, 0, 0, threads);
    for (std::uint32_t threads = 1; threads <= 1024; ++threads)
        for (std::uint32_t registers : {0u, 16u, 33u, 63u}) check(registers, 100, 0, threads);
    for (std::uint32_t shared = 0; shared <= optin + 2048; shared += 61)
        for (std::uint32_t threads : {32u, 128u, 512u}) {
            // Static shared memory never exceeds what a block gets without opting in.
            check(20, 0, shared, threads);
            check(20, std::min(shared, 4096u), shared - std::min(shared, 4096u), threads);
        }
    for (std::uint32_t registers = 1; registers <= most_registers; registers += registers_step * 5)
        for (std::uint32_t shared = 0; shared <= optin; shared += 4099)
            for (std::uint32_t threads = 1; threads <= 1024; threads += threads_step * 3)
                check(registers, 0, shared, threads);
    EXPECT_EQ(failures, 0);
}

TEST(Occupancy, AgreesWithTheToolkitForEveryDeviceItKnows) {
    std::vector<std::uint32_t> seen;
    for (const Device& device : devices()) {
        const std::uint32_t capability = device.values.compute_capability;
        if (capability < 30 || std::ranges::count(seen, capability) != 0) continue;
        seen.push_back(capability);
        compare_with_toolkit(device.values);
    }
    EXPECT_GE(seen.size(), 7u);
}

// Architectures of which no device is described, from the limits that the toolkit's header and the CUDA
// programming guide give: GP100's two register file parts, Volta, Ada, Blackwell.
TEST(Occupancy, AgreesWithTheToolkitForOtherArchitectures) {
    struct Architecture {
        std::uint32_t capability;
        double parts, blocks, threads, shared_kib, optin_kib, reserved;
        double allocation;
    };
    for (const Architecture& a :
         {Architecture{60, 2, 32, 2048, 64, 48, 0, 256}, Architecture{70, 4, 32, 2048, 96, 96, 0, 256},
          Architecture{89, 4, 24, 1536, 100, 99, 1024, 128},
          Architecture{100, 4, 32, 2048, 228, 227, 1024, 128},
          Architecture{120, 4, 24, 1536, 100, 99, 1024, 128}}) {
        trimtab_device device = find_device(default_device)->values;
        device.compute_capability = a.capability;
        device.warp_allocation_granularity = a.parts;
        device.max_blocks_per_sm = a.blocks;
        device.max_threads_per_sm = a.threads;
        device.max_warps_per_sm = a.threads / 32;
        device.shared_bytes_per_sm = a.shared_kib * 1024;
        device.shared_bytes_per_block_optin = a.optin_kib * 1024;
        device.shared_reserved_bytes_per_block = a.reserved;
        device.shared_allocation_bytes = a.allocation;
        compare_with_toolkit(device);
    }
}

TEST(Occupancy, PotentialBlockIsTheToolkits) {
    for (const Device& device : devices()) {
        if (device.values.compute_capability < 30) continue;
        const cudaOccDeviceProp properties = properties_of(device.values);
        for (const int registers : {16, 33, 40, 63, 96, 128, 200}) {
            if (registers > device.values.max_registers_per_thread) continue;
            for (const std::uint32_t shared : {0u, 3000u, 20000u}) {
                for (const int most : {1024, 300, 96}) {
                    cudaOccFuncAttributes attributes;
                    attributes.maxThreadsPerBlock = most;
                    attributes.numRegs = registers;
                    attributes.sharedSizeBytes = 64;
                    attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
                    attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
                    attributes.maxDynamicSharedSizeBytes = shared;
                    attributes.numBlockBarriers = 1;
                    const cudaOccDeviceState state;
                    int grid = 0, threads = 0;
                    ASSERT_EQ(cudaOccMaxPotentialOccupancyBlockSize(&grid, &threads, &properties, &attributes,
                                                                    &state, nullptr, shared),
                              CUDA_OCC_SUCCESS);
                    EXPECT_EQ(potential_block_threads(device.values,
                                                      {.registers_per_thread = static_cast<double>(registers),
                                                       .static_shared_bytes = 64,
                                                       .local_bytes_per_thread = 0,
                                                       .max_threads_per_block = static_cast<double>(most)},
                                                      shared),
                              static_cast<std::uint32_t>(threads))
                        << device.slug << ", " << registers << " registers, " << shared << " bytes, " << most;
                }
            }
        }
    }
}

Occupancy fermi(double registers, std::uint32_t threads) {
    return occupancy(find_device("c2050")->values,
                     {.registers_per_thread = registers,
                      .static_shared_bytes = 0,
                      .local_bytes_per_thread = 0,
                      .max_threads_per_block = 0},
                     threads, 0);
}

// The toolkit's header has forgotten Fermi. Published measurements on a C2050 (Gehrke 2015): a stencil of 25
// registers at 128 threads reaches 67 %, a kernel of 63 registers 33 % at 64 and at 128 threads.
TEST(Occupancy, FermiAllocatesRegistersByWarpInUnitsOf64) {
    const Occupancy stencil = fermi(25, 128);
    EXPECT_EQ(stencil.blocks_per_sm, 8u);  // of 48 warps, 8 blocks of 4
    EXPECT_NEAR(stencil.fraction, 0.667, 0.001);
    EXPECT_EQ(stencil.limiter, OccupancyLimiter::blocks);
    for (std::uint32_t threads : {64u, 128u}) {
        EXPECT_EQ(fermi(63, threads).warps_per_sm, 16u);  // 32768 / (63 * 32 rounded up to 2048)
        EXPECT_NEAR(fermi(63, threads).fraction, 0.333, 0.001);
    }
    // 21 registers: 672 a warp, 704 allocated, 16384 / 704 = 23 warps in each half: 46, not 48.
    EXPECT_EQ(fermi(21, 192).blocks_per_sm, 7u);
    EXPECT_EQ(fermi(20, 192).blocks_per_sm, 8u);
    EXPECT_EQ(fermi(64, 32).limiter, OccupancyLimiter::does_not_fit);  // 63 is an instruction's limit
}

TEST(Occupancy, WhatInstructionsCannotAddressIsKeptInMemory) {
    const trimtab_image large{.registers_per_thread = 72,
                              .static_shared_bytes = 0,
                              .local_bytes_per_thread = 0,
                              .max_threads_per_block = 0};
    const auto on = [&](const char* device) {
        return with_addressable_registers(large, find_device(device)->values);
    };
    EXPECT_EQ(on("c2075").registers_per_thread, 63);
    EXPECT_GT(occupancy(find_device("c2075")->values, on("c2075"), 128, 0).blocks_per_sm, 0u);
    EXPECT_EQ(on("k20c").registers_per_thread, 72);
}

TEST(Occupancy, NamesTheLimit) {
    const trimtab_device device = find_device("rtx2070super")->values;
    trimtab_image image{.registers_per_thread = 32,
                        .static_shared_bytes = 0,
                        .local_bytes_per_thread = 0,
                        .max_threads_per_block = 0};
    EXPECT_EQ(occupancy(device, image, 256, 0).limiter, OccupancyLimiter::threads);
    EXPECT_EQ(occupancy(device, image, 32, 0).limiter, OccupancyLimiter::blocks);
    EXPECT_EQ(occupancy(device, image, 32, 0).blocks_per_sm, 16u);
    EXPECT_EQ(occupancy(device, image, 256, 40000).limiter, OccupancyLimiter::shared_memory);
    image.registers_per_thread = 128;
    EXPECT_EQ(occupancy(device, image, 256, 0).limiter, OccupancyLimiter::registers);
    EXPECT_EQ(name(OccupancyLimiter::shared_memory), "shared memory");
}

TEST(Occupancy, IsNothingWhereTheBlockCannotBeLaunched) {
    const trimtab_device device = find_device("rtx2070super")->values;
    trimtab_image image{.registers_per_thread = 32,
                        .static_shared_bytes = 0,
                        .local_bytes_per_thread = 0,
                        .max_threads_per_block = 256};
    EXPECT_EQ(occupancy(device, image, 256, 0).blocks_per_sm, 4u);
    for (const Occupancy& nothing :
         {occupancy(device, image, 257, 0), occupancy(device, image, 0, 0),
          occupancy(device, image, 128, 65537), occupancy(device, image, 128, 1e300)}) {
        EXPECT_EQ(nothing.blocks_per_sm, 0u);
        EXPECT_EQ(nothing.fraction, 0);
        EXPECT_EQ(nothing.limiter, OccupancyLimiter::does_not_fit);
    }
    image.max_threads_per_block = 0;
    EXPECT_EQ(occupancy(device, image, 1025, 0).limiter, OccupancyLimiter::does_not_fit);
    image.registers_per_thread = 255;
    EXPECT_EQ(occupancy(device, image, 288, 0).limiter, OccupancyLimiter::does_not_fit);
}

}  // namespace
}  // namespace trimtab::model
