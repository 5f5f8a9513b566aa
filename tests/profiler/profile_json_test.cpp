// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "profiler/profile.h"

namespace trimtab::profiler {
namespace {

Profile sample() {
    Profile profile;
    profile.kernel_id = "00000000000000k1";
    profile.backend_name = "emulator";
    profile.backend_version = "1";
    profile.data_names = {"n", "extent.x"};
    profile.varied = {true, false};
    profile.ranges.end[0].terms = {{0, 1}};
    profile.ranges.extent[0] = 1;
    profile.element_bytes = {4, 8};
    profile.levels = {{.data = {64, 64}, .held_out = false, .why = "the least"}};
    ProfilePoint& block = profile.points.emplace_back();
    block.data = {64, 64};
    block.box = {32, 1, 1};
    block.metrics[0] = 12.5;
    block.metrics[23] = 0.1 + 0.2;
    ProfilePoint& box = profile.points.emplace_back();
    box.data = {64, 64};
    box.box = {64, 1, 1};
    box.held_out = true;
    box.metrics[23] = 8;
    profile.data_dependent = {model::Metric::load_requests};
    profile.warp_instructions = 123456789012;
    return profile;
}

TEST(ProfileJson, KeepsEverything) {
    const auto read = profile_from_json(nlohmann::json::parse(to_json(sample()).dump()), "store");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, sample());
    Profile annotated = sample();
    annotated.blocks_cooperate = true;
    annotated.strides = {1};
    annotated.special = {{.data = 0, .value = 3}, {.data = 1, .value = 0}};
    annotated.left_out = 7;
    EXPECT_EQ(profile_from_json(to_json(annotated), "store").value(), annotated);
}

TEST(ProfileJson, NamesWhatIsWrong) {
    const auto message = [&](const char* pointer, const nlohmann::json& value) {
        nlohmann::json bad = to_json(sample());
        bad[nlohmann::json::json_pointer(pointer)] = value;
        const auto read = profile_from_json(bad, "store");
        return read ? std::string() : read.error().text();
    };
    EXPECT_EQ(message("/abi", 2), "store: profile.abi is not 1");
    EXPECT_EQ(message("/points/0/values", {1}), "store: profile.points[0].values is not a list of 2");
    EXPECT_EQ(message("/points/1/data", {1}), "store: profile.points[1].data is not a list of 2");
    EXPECT_EQ(message("/metrics/0", "cycles"), "store: profile.metrics[0] names no metric: \"cycles\"");
    EXPECT_EQ(message("/levels/0/why", 3), "store: profile.levels[0].why is not a text");
    EXPECT_EQ(message("/ranges/x/end/terms", {{7, 1}}),
              "store: profile.ranges.x.end.terms[0][0] is not an index below 2");
    EXPECT_EQ(message("/strides", {2}), "store: profile.strides[0] is not an index below 2");
    EXPECT_EQ(message("/special", {{2, 1}}), "store: profile.special[0][0] is not an index below 2");
    EXPECT_EQ(message("/special", {{1, 2, 3}}), "store: profile.special[0] is not a list of 2");
    EXPECT_EQ(message("/varied", "yes"), "store: profile.varied is not a list of 2");
    EXPECT_THAT(message("/blocks_cooperate", 1), ::testing::HasSubstr("profile.blocks_cooperate"));
}

}  // namespace
}  // namespace trimtab::profiler
