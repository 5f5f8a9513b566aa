// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From measurements to a description: what is measured, told, kept or taken from a relative.
#include "tools/calibrate/description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace trimtab::calibrate {
namespace {

using testing::DoubleEq;
using testing::HasSubstr;
using testing::StartsWith;

std::string source_of(const model::Device& device, std::string_view field) {
    for (const auto& source : device.sources)
        if (source.field == field) return source.source;
    return "none";
}

Calibration found_on(const char* name, unsigned major, unsigned minor) {
    return {.told = {.name = name,
                     .compute_major = major,
                     .compute_minor = minor,
                     .values = {{"sm_count", 77}, {"l2_bytes", 5e6}}},
            .is_emulated = false,
            .measurements = {summarized("latency_l2_cycles", "cycles", {210, 200, 190, 205, 400}, "a chase"),
                             summarized("tlb_reach_bytes", "bytes", {1e9}, "pages"),
                             summarized("departure_delay_coalesced_cycles", "cycles", {3}, "requests"),
                             summarized("latency_dram_cycles", "cycles", {-7}, "noise")}};
}

TEST(Measurement, IsTheMedianWithItsQuartiles) {
    const Measurement one = summarized("x", "cycles", {5, 1, 9, 3, 7}, "");
    EXPECT_THAT(one.value, DoubleEq(5));
    EXPECT_THAT(one.first_quartile, DoubleEq(3));
    EXPECT_THAT(one.third_quartile, DoubleEq(7));
    const Measurement even = summarized("x", "cycles", {4, 1, 2, 3}, "");
    EXPECT_THAT(even.value, DoubleEq(2.5));
    EXPECT_THAT(even.first_quartile, DoubleEq(1.75));
    EXPECT_EQ(summarized("x", "", {6}, "").third_quartile, 6);
}

TEST(Description, ADescribedDeviceKeepsWhatIsNotMeasured) {
    const auto shipped = model::find_device("rtx2070super");
    ASSERT_TRUE(shipped);
    const MeasuredDevice made =
        measured_device(found_on("NVIDIA GeForce RTX 2070 SUPER", 7, 5), *shipped, "mine");
    EXPECT_EQ(made.shipped, "rtx2070super");
    EXPECT_EQ(made.device.slug, "mine");
    EXPECT_THAT(made.device.values.latency_l2_cycles, DoubleEq(205));
    EXPECT_EQ(source_of(made.device, "latency_l2_cycles"),
              "measured: trimtab calibrate, a chase; median of 5, quartiles 200 and 210");
    EXPECT_EQ(made.device.values.sm_count, 77);
    EXPECT_EQ(source_of(made.device, "sm_count"), "vendor: what CUDA tells of NVIDIA GeForce RTX 2070 SUPER");
    // What makes no sense is not taken, and what nobody measured stays with its source.
    EXPECT_EQ(made.device.values.latency_dram_cycles, shipped->values.latency_dram_cycles);
    EXPECT_EQ(source_of(made.device, "latency_dram_cycles"), source_of(*shipped, "latency_dram_cycles"));
    EXPECT_EQ(made.device.values.departure_delay_coalesced_cycles, 3);
    ASSERT_EQ(made.differences.size(), 4);
    EXPECT_EQ(made.differences[0].field, "sm_count");
    EXPECT_EQ(made.differences[0].shipped, 40);
    EXPECT_EQ(made.differences[0].found, 77);
}

TEST(Description, ADeviceThatNobodyKnowsIsItsRelativesButForWhatIsFound) {
    const MeasuredDevice made = measured_device(found_on("NVIDIA Something 9000", 8, 7), std::nullopt, "");
    EXPECT_EQ(made.shipped, "");
    EXPECT_EQ(made.device.slug, "something9000");
    const auto relative = model::find_device(made.relative);
    ASSERT_TRUE(relative);
    EXPECT_EQ(relative->values.compute_capability, 86u);  // the newest not above 8.7
    EXPECT_EQ(made.device.values.compute_capability, 87u);
    EXPECT_EQ(made.device.values.fp32_lanes_per_sm, relative->values.fp32_lanes_per_sm);
    EXPECT_THAT(source_of(made.device, "fp32_lanes_per_sm"),
                StartsWith("estimated: as " + made.relative + "'s (vendor: "));
    EXPECT_THAT(made.device.aliases, testing::IsEmpty());
}

TEST(Description, OfTheEmulatorItDoesNotTakeWhatTheEmulatorDoesNotGoBy) {
    Calibration found = found_on("NVIDIA GeForce RTX 2070 SUPER", 7, 5);
    found.is_emulated = true;
    const auto shipped = model::find_device("rtx2070super");
    const MeasuredDevice made = measured_device(found, *shipped, "");
    EXPECT_EQ(made.device.values.departure_delay_coalesced_cycles,
              shipped->values.departure_delay_coalesced_cycles);
    EXPECT_THAT(source_of(made.device, "latency_l2_cycles"), HasSubstr("on the emulator"));
}

TEST(Description, IsAFileThatIsReadAgain) {
    const MeasuredDevice made = measured_device(found_on("NVIDIA Something 9000", 8, 7), std::nullopt, "");
    const auto read = model::parse_device(to_file(made.device), "made.json");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->name, "NVIDIA Something 9000");
    EXPECT_EQ(read->values.latency_l2_cycles, 205);
    EXPECT_EQ(source_of(*read, "latency_l2_cycles"), source_of(made.device, "latency_l2_cycles"));
}

TEST(Calibration, GoesThroughJson) {
    const Calibration found = found_on("NVIDIA Something 9000", 8, 7);
    const auto read = calibration_from(to_json(found).dump(), "x");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_THAT(read->told.values, testing::UnorderedElementsAreArray(found.told.values));
    ASSERT_EQ(read->measurements.size(), 4);
    EXPECT_EQ(read->measurements[0].third_quartile, 210);
    EXPECT_EQ(read->measurements[0].how, "a chase");
    const auto spoilt = calibration_from(R"({"name":"x","compute_capability":[7]})", "x");
    ASSERT_FALSE(spoilt);
    EXPECT_THAT(spoilt.error().text(), HasSubstr("compute_capability"));
    EXPECT_FALSE(calibration_from("", "x"));
}

}  // namespace
}  // namespace trimtab::calibrate
