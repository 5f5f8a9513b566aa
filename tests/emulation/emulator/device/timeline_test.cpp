// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/device/timeline.h"

#include <gtest/gtest.h>

namespace trimtab::emulator {
namespace {

Work kernel(double duration_ns, double part) {
    return {.engine = Engine::compute, .duration_ns = duration_ns, .part_of_device = part};
}

TEST(Timeline, KernelsThatFillTheDeviceRunOneAfterTheOther) {
    Timeline timeline;
    EXPECT_EQ(timeline.place(kernel(100, 1), 0), 100);
    EXPECT_EQ(timeline.place(kernel(50, 1), 0), 150);
    EXPECT_EQ(timeline.place(kernel(50, 1), 500), 550);
}

TEST(Timeline, SmallKernelsShareTheDevice) {
    Timeline timeline;
    EXPECT_EQ(timeline.place(kernel(100, 0.5), 0), 100);
    EXPECT_EQ(timeline.place(kernel(80, 0.5), 0), 80);
    // The third waits until half of the device is free: at 80.
    EXPECT_EQ(timeline.place(kernel(10, 0.5), 0), 90);
    // One that needs all waits for the last of them.
    EXPECT_EQ(timeline.place(kernel(10, 1), 0), 110);
}

TEST(Timeline, NoKernelOvertakesTheOneLaunchedBefore) {
    Timeline timeline;
    EXPECT_EQ(timeline.place(kernel(100, 1), 0), 100);
    EXPECT_EQ(timeline.place(kernel(100, 1), 0), 200);
    // There would be no room before 200; a start before 100 is out of the question too.
    EXPECT_EQ(timeline.place(kernel(10, 0.1), 0), 210);
}

TEST(Timeline, CopiesInBothDirectionsAndKernelsOverlap) {
    Timeline timeline;
    const Work in{.engine = Engine::copy_to_device, .duration_ns = 100};
    const Work out{.engine = Engine::copy_to_host, .duration_ns = 100};
    EXPECT_EQ(timeline.place(in, 0), 100);
    EXPECT_EQ(timeline.place(out, 0), 100);
    EXPECT_EQ(timeline.place(kernel(100, 1), 0), 100);
    EXPECT_EQ(timeline.place(in, 0), 200);
    EXPECT_EQ(timeline.place(out, 150), 250);
}

TEST(Timeline, CopiesWithinTheDeviceTakeItsBandwidthFromEachOtherAndFromNobodyElse) {
    Timeline timeline;
    const Work within{.engine = Engine::copy_within, .duration_ns = 100};
    EXPECT_EQ(timeline.place(kernel(100, 1), 0), 100);
    EXPECT_EQ(timeline.place(within, 0), 100);
    EXPECT_EQ(timeline.place(within, 0), 200);
    // Nor does the kernel that comes next wait for them.
    EXPECT_EQ(timeline.place(kernel(10, 1), 0), 110);
    EXPECT_EQ(timeline.place({.engine = Engine::copy_to_host, .duration_ns = 50}, 0), 50);
}

TEST(Timeline, TransfersTakeTheBandwidthOfWhatTheyGoThrough) {
    trimtab_device device{};
    device.launch_overhead_ns = 1000;
    device.pcie_bytes_per_s = 1e9;
    device.dram_bytes_per_s = 1e10;
    EXPECT_EQ(work_of_bus_copy(device, true, 1e6).duration_ns, 1000 + 1e6);
    EXPECT_EQ(work_of_bus_copy(device, true, 1e6).engine, Engine::copy_to_host);
    EXPECT_EQ(work_of_bus_copy(device, false, 1e6).engine, Engine::copy_to_device);
    EXPECT_EQ(work_of_device_copy(device, 1e6).duration_ns, 1000 + 2e5);
    EXPECT_EQ(work_of_fill(device, 1e6).duration_ns, 1000 + 1e5);
    EXPECT_EQ(work_of_fill(device, 1e6).engine, work_of_device_copy(device, 1e6).engine);
}

}  // namespace
}  // namespace trimtab::emulator
