// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A GPU's clock and what holds it down, on a library in the place of NVIDIA's.
#include "runtime/launches/clock_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trimtab::runtime {
namespace {

using testing::HasSubstr;

TEST(ClockWatch, ReadsTheClockAndWhatHoldsItDown) {
    const ClockWatch watch("0000:3B:00.0", TRIMTAB_STAND_IN_NVML);
    ASSERT_TRUE(watch.is_on()) << watch.why_not();
    const ClockWatch::Reading first = watch.read(), second = watch.read();
    EXPECT_EQ(first.sm_mhz, 1800u);
    EXPECT_EQ(first.celsius, 71u);
    EXPECT_EQ(first.slowed_by, "");
    EXPECT_EQ(second.sm_mhz, 1700u);
    EXPECT_EQ(second.slowed_by, "power cap, hardware thermal");
}

TEST(ClockWatch, WithoutTheLibraryOrTheDeviceItSaysWhyAndReadsNothing) {
    const ClockWatch none("0000:3B:00.0", "/nowhere/libnvidia-ml.so.1");
    EXPECT_FALSE(none.is_on());
    EXPECT_THAT(none.why_not(), HasSubstr("cannot be loaded"));
    EXPECT_EQ(none.read().sm_mhz, 0u);
    const ClockWatch other("0000:AF:00.0", TRIMTAB_STAND_IN_NVML);
    EXPECT_THAT(other.why_not(), HasSubstr("does not know the device 0000:AF:00.0"));
    const ClockWatch another("0000:3B:00.0", "libm.so.6");
    EXPECT_THAT(another.why_not(), HasSubstr("lacks a function"));
}

}  // namespace
}  // namespace trimtab::runtime
