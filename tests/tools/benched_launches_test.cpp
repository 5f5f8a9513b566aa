// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a benchmark's lines add up to, and how it is told.
#include "tools/trimtab/benched_launches.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/temporary_folder.h"
#include "tools/trimtab/bench_report.h"
#include "tools/trimtab/tuner_files.h"

namespace trimtab::tools {
namespace {

using testing::Contains;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* begun =
    R"({"launch":"a1","kernel":"_Z4gemmPfi","object":"./a","device":"h100","grid":[4,8,1],"block":[16,16,1],"data":{"n":64},)"
    R"("description":"d","emulated":false,"shared_bytes":0,"launches":4,"repetitions":3,)"
    R"("chosen":{"grid":[2,16,1],"block":[32,8,1],"shared_bytes":0},"occupancy_block":[32,32,1],"common_blocks":[[16,16,1],[8,8,1]]})";

std::string sample(const char* grid, const char* block, double ns, const char* more = "") {
    return fmt::format(R"({{"launch":"a1","round":0,"grid":[{}],"block":[{}],"shared_bytes":0,"ns":{}{}}})"
                       "\n",
                       grid, block, ns, more);
}

std::string lines() {
    return std::string(R"({"bench":1,"program":["./a","64"],"device":"gpu"})"
                       "\n") +
           begun + "\n" + sample("4,8,1", "16,16,1", 3000, R"(,"sm_mhz":1700,"celsius":50)") +
           sample("2,16,1", "32,8,1", 2000) + sample("4,8,1", "16,16,1", 9000) +
           sample("4,8,1", "16,16,1", 4000, R"(,"sm_mhz":1500,"celsius":60,"slowed_by":"power cap")") +
           sample("1,8,1", "64,16,1", 1000) + sample("1,8,1", "64,16,1", 2500) +
           R"({"launch":"a1","round":0,"grid":[1,1,1],"block":[32,32,1],"shared_bytes":0,"failed":"cudaErrorLaunchOutOfResources"})"
           "\n"
           R"({"kernel":"_Z4scanPi","object":"./a","skipped":"no other block is legal"})"
           "\n"
           R"({"launch":"a1","round":1,"grid":[2,16,)";  // killed
}

TEST(BenchedLaunches, TakeMediansAndCompareThem) {
    const Bench bench = read_bench(lines());
    EXPECT_THAT(bench.program, ElementsAre("./a", "64"));
    EXPECT_EQ(bench.unreadable_lines, 0);
    ASSERT_EQ(bench.launches.size(), 1);
    const BenchedLaunch& launch = bench.launches[0];
    EXPECT_EQ(launch.demangled, "gemm(float*, int)");
    EXPECT_EQ(launch.timed_count(), 3);
    // 3000, 4000 and 9000; 1000 and 2500.
    ASSERT_NE(launch.best(), nullptr);
    EXPECT_THAT(launch.best()->median_ns(), DoubleEq(1750));
    EXPECT_EQ(launch.best()->block, (BlockSize{64, 16, 1}));
    std::vector<std::string> told;
    for (const ComparedShape& one : compared_shapes(launch))
        told.push_back(fmt::format("{} {}", one.name, one.shape == nullptr ? 0 : one.shape->median_ns()));
    EXPECT_THAT(told, ElementsAre("best 1750", "as written 4000", "chosen 2000", "occupancy API 0",
                                  "16 x 16 x 1 4000", "8 x 8 x 1 0"));
    EXPECT_EQ(launch.shapes[0].least_sm_mhz, 1500u);
    EXPECT_EQ(launch.shapes[0].most_sm_mhz, 1700u);
    EXPECT_THAT(launch.shapes[0].slowed_by, ElementsAre("power cap"));
    EXPECT_EQ(bench.skipped[0].second, "no other block is legal");
}

TEST(BenchedLaunches, AreToldAsTextTableAndPage) {
    const Bench bench = read_bench(lines());
    const std::string text = to_text(bench);
    EXPECT_THAT(text, HasSubstr("gemm(float*, int) on h100: n=64\n  3 of 4 shapes timed, 1 failed to launch\n"
                                "  SMs at 1500 to 1700 MHz, held down by power cap\n"));
    EXPECT_THAT(text, HasSubstr("as written     16 x 16 x 1              4 us  0.438 of the best's speed"));
    EXPECT_THAT(text, HasSubstr("occupancy API  32 x 32 x 1         not legal"));
    EXPECT_THAT(text,
                HasSubstr("chosen: 0.875 of the best's speed, geometric mean of 1 launch; least 0.875"));
    EXPECT_THAT(text, HasSubstr("scan(int*) is not timed: no other block is legal"));
    const std::string csv = to_csv(bench);
    EXPECT_THAT(
        csv,
        HasSubstr(
            R"csv("gemm(float*, int)","h100","n=64",64,16,1,1,8,1,0,2,1750,1000,2500,0,0,"",,"best")csv"));
    EXPECT_THAT(csv, HasSubstr(R"csv(,0,,,,0,0,"",cudaErrorLaunchOutOfResources,"")csv"));
    const nlohmann::ordered_json json = to_json(bench);
    EXPECT_EQ(json["launches"][0]["compared"]["chosen"]["share_of_best"], 0.875);
    EXPECT_TRUE(json["launches"][0]["compared"]["occupancy API"]["median_ns"].is_null());
    const std::string page = bench_page(bench);
    EXPECT_THAT(page, HasSubstr("<h2>gemm(float*, int) on h100: n=64</h2>"));
    EXPECT_THAT(page, HasSubstr("Measured time over blocks"));
    EXPECT_THAT(page, Not(HasSubstr("Predicted")));
}

TEST(BenchedLaunches, GoToAutoTunersAndComeBack) {
    const auto folder = base::TemporaryFolder::make();
    ASSERT_TRUE(folder);
    const std::string path = folder->file("gemm.t4.json");
    {
        std::ofstream file(path);
        file << to_t4(read_bench(lines()).launches[0]);
    }
    const auto read = read_t4(path, {"block_size_x", "block_size_y", "block_size_z"});
    ASSERT_TRUE(read) << read.error().text();
    ASSERT_EQ(read->size(), 3);  // what failed is no result
    EXPECT_EQ(read->front().values.at("block_size_x"), 64);
    EXPECT_THAT(read->front().ms, DoubleEq(0.00175));
}

TEST(BenchedLaunches, LinesOfAnotherKindAreCounted) {
    const Bench bench = read_bench("[]\n{\"launch\":\"b\",\"round\":0}\nnot JSON\n" + lines());
    EXPECT_EQ(bench.unreadable_lines, 3);
    EXPECT_EQ(bench.launches.size(), 1);
    EXPECT_THAT(to_text(bench), HasSubstr("3 lines could not be read"));
}

}  // namespace
}  // namespace trimtab::tools
