// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/arguments.h"

#include <gmock/gmock.h>

#include <cstring>

namespace trimtab::tools {
namespace {

using testing::HasSubstr;

// gemm(float*, int NI, float alpha, struct{int a, b} args, long long n, unsigned short s)
analysis::KernelDescription kernel() {
    analysis::KernelDescription k;
    k.name = "_Z4gemm";
    k.demangled = "gemm(float*, int, float, Args, long long, unsigned short)";
    const auto add = [&](std::string name, std::uint32_t offset, std::uint32_t size, std::string type,
                         bool pointer) {
        k.parameters.push_back({.index = static_cast<std::uint32_t>(k.parameters.size()),
                                .name = std::move(name),
                                .offset = offset,
                                .size = size,
                                .type = type,
                                .ptx_type = std::move(type),
                                .is_pointer = pointer,
                                .pointee = {}});
    };
    add("A", 0, 8, "u64", true);
    add("NI", 8, 4, "u32", false);
    add("alpha", 12, 4, "f32", false);
    add("args", 16, 8, "b8", false);
    add("n", 24, 8, "s64", false);
    add("s", 32, 2, "u16", false);
    const auto data = [&](std::string name, std::uint32_t parameter, std::uint32_t offset, std::string type) {
        k.data.push_back({.name = std::move(name),
                          .is_extent = false,
                          .dimension = {},
                          .parameter = parameter,
                          .offset = offset,
                          .type = std::move(type),
                          .in_memo = true,
                          .coarse_in_memo = false,
                          .bounds = {}});
    };
    data("NI", 1, 0, "s32");
    data("args+4", 3, 4, "s32");
    k.data.push_back({.name = "extent.x",
                      .is_extent = true,
                      .dimension = analysis::Dimension::x,
                      .parameter = 0,
                      .offset = 0,
                      .type = "u32",
                      .in_memo = true,
                      .coarse_in_memo = false,
                      .bounds = {}});
    return k;
}

std::uint64_t region(std::uint32_t index) {
    return 0x1000 * (index + 1);
}

auto parse(std::vector<std::string> texts) {
    return parse_arguments(kernel(), texts, region);
}

template <typename T>
T value_at(const LaunchArguments& arguments, std::size_t offset) {
    T value{};
    std::memcpy(&value, arguments.bytes.data() + offset, sizeof value);
    return value;
}

std::string error_of(std::vector<std::string> texts) {
    const auto arguments = parse(std::move(texts));
    return arguments ? "" : arguments.error().text();
}

TEST(Arguments, FillTheParameterBuffer) {
    const auto arguments =
        parse({"NI=512", "alpha=1.5", "args+4=-7", "4=-9000000000", "s=0xffff", "A=0x10000"});
    ASSERT_TRUE(arguments) << arguments.error().text();
    EXPECT_EQ(arguments->bytes.size(), 34u);
    EXPECT_EQ(value_at<std::uint64_t>(*arguments, 0), 0x10000u);
    EXPECT_EQ(value_at<std::int32_t>(*arguments, 8), 512);
    EXPECT_EQ(value_at<float>(*arguments, 12), 1.5f);
    EXPECT_EQ(value_at<std::int32_t>(*arguments, 20), -7);
    EXPECT_EQ(value_at<std::int64_t>(*arguments, 24), -9000000000);
    EXPECT_EQ(value_at<std::uint16_t>(*arguments, 32), 0xffff);
    EXPECT_EQ(analysis::data_values(kernel(), arguments->bytes, {640, 1, 1}),
              (std::vector<double>{512, -7, 640}));
    EXPECT_TRUE(require_data(kernel(), *arguments));
}

TEST(Arguments, PointersLeftOutGetRegionsOfTheirOwn) {
    EXPECT_EQ(value_at<std::uint64_t>(*parse({}), 0), 0x1000u);
}

TEST(Arguments, WhatTheModelNeedsAndIsMissingIsNamed) {
    EXPECT_THAT(require_data(kernel(), *parse({})).error().text(),
                HasSubstr("argument NI of gemm(float*, int, float, Args, long long, unsigned short) is "
                          "missing: give --arg NI=VALUE"));
    EXPECT_THAT(require_data(kernel(), *parse({"NI=4"})).error().text(), HasSubstr("args+4"));
    EXPECT_TRUE(require_data(kernel(), *parse({"1=4", "args+4=1"})));
}

TEST(Arguments, BadOnesAreRefusedInOneLine) {
    EXPECT_THAT(error_of({"NK=3"}), HasSubstr("did you mean \"NI\"?"));
    EXPECT_THAT(error_of({"17=3"}), HasSubstr("no such parameter"));
    EXPECT_THAT(error_of({"NI"}), HasSubstr("write NAME=VALUE"));
    EXPECT_THAT(error_of({"=3"}), HasSubstr("write NAME=VALUE"));
    EXPECT_THAT(error_of({"NI="}), HasSubstr("\"\" is no u32"));
    EXPECT_THAT(error_of({"NI=3.5"}), HasSubstr("\"3.5\" is no u32"));
    EXPECT_THAT(error_of({"NI=12abc"}), HasSubstr("is no u32"));
    EXPECT_THAT(error_of({"NI=4294967296"}), HasSubstr("is no u32"));
    EXPECT_THAT(error_of({"NI=-2147483649"}), HasSubstr("is no u32"));
    EXPECT_THAT(error_of({"s=65536"}), HasSubstr("is no u16"));
    EXPECT_THAT(error_of({"alpha=x"}), HasSubstr("is no f32"));
    EXPECT_THAT(error_of({"args=3"}), HasSubstr("cannot be given as one number"));
    EXPECT_EQ(error_of({"NI=-2147483648"}), "");
}

TEST(Dimensions, AreOneToThreeWholeNumbers) {
    const auto values = [](std::string_view text) {
        const auto dim = parse_dim3(text, "--extent");
        return dim ? std::array<std::uint32_t, 3>{dim->x, dim->y, dim->z} : std::array<std::uint32_t, 3>{};
    };
    EXPECT_EQ(values("512"), (std::array<std::uint32_t, 3>{512, 1, 1}));
    EXPECT_EQ(values("512,256"), (std::array<std::uint32_t, 3>{512, 256, 1}));
    EXPECT_EQ(values("8x4x2"), (std::array<std::uint32_t, 3>{8, 4, 2}));
    for (const char* bad : {"", "0", "1,", ",1", "1,2,3,4", "-1", "a", "1,2,3,", "4294967296", "1 2"}) {
        ASSERT_FALSE(parse_dim3(bad, "--extent")) << bad;
        EXPECT_THAT(parse_dim3(bad, "--extent").error().text(), HasSubstr("--extent"));
    }
}

TEST(Candidates, AreBlocksBetweenSemicolons) {
    const auto list = parse_candidates("32,8;64,4;256");
    ASSERT_TRUE(list);
    ASSERT_EQ(list->size(), 3u);
    EXPECT_EQ((*list)[1].x, 64u);
    EXPECT_EQ((*list)[1].y, 4u);
    EXPECT_EQ((*list)[2].y, 1u);
    EXPECT_TRUE(parse_candidates("")->empty());
    EXPECT_TRUE(parse_candidates("32,8;")->size() == 1);
    EXPECT_FALSE(parse_candidates("32,8;oops"));
}

}  // namespace
}  // namespace trimtab::tools
