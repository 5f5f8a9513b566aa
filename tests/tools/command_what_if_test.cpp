// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --set, hit rates and caches that are off, as emulate, search and advise take them.
#include "tests/tools/command_fixture.h"

namespace trimtab::tools::test {

namespace {

// 64 of 20480 rows a warp, each lane its own: segments of L2 are what it waits for (command_test.cpp).
const std::string launch =
    " program --kernel row_sums --device rtx2070super --arg columns=2000 --arg rows=20480 ";

TEST_F(Command, EmulateAnswersForOtherNumbers) {
    const std::string emulate = "emulate" + launch + "--grid 80 --block 256 --bypass-l1 --no-sensitivity ";
    const Outcome usual = trimtab(emulate + "--json"), other = trimtab(emulate + "--json --set l2.gap=6.4");
    ASSERT_EQ(other.code, 0) << other.err;
    EXPECT_EQ(usual.json()["set"], Json::object());
    EXPECT_EQ(other.json()["set"], Json({{"l2.gap", 6.4}}));
    EXPECT_EQ(other.json()["resources"]["l2"]["gap_cycles"]["value"], 6.4);
    EXPECT_NEAR(other.json()["cycles"].get<double>() / usual.json()["cycles"].get<double>(), 2, 0.2);

    const Json without = trimtab(emulate + "--json --no-caches").json();
    EXPECT_EQ(without["set"], Json({{"caches", false}}));
    EXPECT_GT(without["cycles"], usual.json()["cycles"]);
    const Json hits = trimtab(emulate + "--json --l1-hit-rate 0 --l2-hit-rate 1").json();
    EXPECT_EQ(hits["set"], Json({{"l1_hit_rate", 0}, {"l2_hit_rate", 1}}));
    EXPECT_LT(hits["resources"].value("dram", Json::object()).value("utilisation", 0.0), 0.01);

    EXPECT_THAT(trimtab(emulate + "--set dram.gap=2 --set dram.latency=100 --l2-hit-rate 0.25").out,
                HasSubstr("  what if: dram.gap 2 cycles, dram.latency 100 cycles, L2 hit rate 25 %\n"));
    // What machine code itself states is not changed in it.
    EXPECT_THAT(trimtab(emulate + "--set integer.latency=9").out,
                HasSubstr("not of machine code: integer.latency is set"));

    expect_failure(emulate + "--set drma.gap=2", 2, "drma: there is no such resource, but fp32, fp64, fp16");
    expect_failure(emulate + "--set dram.gap=-2", 2, "not a number of cycles");
    expect_failure(emulate + "--set dram.gap", 2, "RESOURCE.gap=V");
    expect_failure(emulate + "--set issue.latency=3", 2, "issue has only a gap");
    expect_failure(emulate + "--l1-hit-rate 1.5", 2, "--l1-hit-rate");
    expect_failure(emulate + "--l1-hit-rate half", 2, "--l1-hit-rate");
    expect_failure(emulate + "--no-caches --l2-hit-rate 0.5", 2, "--l2-hit-rate");
}

TEST_F(Command, SearchAndAdviseAnswerForOtherNumbers) {
    const std::string search = "search" + launch + "--extent 20480 --candidates 64,1\\;256,1 --json ";
    const Json usual = trimtab(search).json(), other = trimtab(search + "--set l2.gap=6.4").json();
    EXPECT_FALSE(usual.contains("set"));
    EXPECT_EQ(other["set"], Json({{"l2.gap", 6.4}}));
    EXPECT_GT(other["best"]["ns"], usual["best"]["ns"]);
    expect_failure(search + "--set nothing=1", 2, "RESOURCE.gap=V");

    // The closed form takes what a description has, and emulation all of it.
    const std::string advise = "advise" + launch + "--grid 80 --block 256 --json ";
    const Outcome slower = trimtab(advise + "--set dram.gap=60 --set l2.gap=40 --l1-hit-rate 0");
    ASSERT_EQ(slower.code, 0) << slower.err;
    const Json before = trimtab(advise).json(), after = slower.json();
    EXPECT_FALSE(before.contains("set"));
    EXPECT_EQ(after["set"], Json({{"dram.gap", 60}, {"l2.gap", 40}, {"l1_hit_rate", 0}}));
    EXPECT_GT(after["total_ns"], before["total_ns"]);
    EXPECT_THAT(after["notes"].dump(), HasSubstr("what if: dram.gap 60 cycles"));
    expect_failure(advise + "--l2-hit-rate 2", 2, "--l2-hit-rate");
}

}  // namespace

}  // namespace trimtab::tools::test
