// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --capture FILE in the place of a kernel's file or a program: predict, emulate, verify and suggest.
#include "tests/tools/capture/capture_fixture.h"

namespace {

// How often the kernel's loops turn is in memory alone.
TEST_F(Replay, PredictAndEmulateFindTheCapturedMemory) {
    ASSERT_EQ(captured("step", "1", "TRIMTAB_PROFILES=" + file("program.jsonl")).status, 0);
    const auto profile = nlohmann::json::parse(profile_in("program.jsonl"));
    auto read = capture::read(file("a.capture"));
    ASSERT_TRUE(read);
    // The same launch with rows of no length.
    auto shorter = read->capture;
    std::vector<std::byte> rows;
    for (auto& region : shorter.allocations) {
        if (region.bytes.size() != 80) continue;
        rows.assign(region.bytes.begin(), region.bytes.end());
        for (std::size_t row = 0; row < 5; ++row) std::fill_n(rows.begin() + 16 * row + 8, 8, std::byte{0});
        region.bytes = rows;
    }
    ASSERT_FALSE(rows.empty());
    ASSERT_TRUE(capture::write(file("short.capture"), shorter));
    const auto ask = [&](const std::string& command, const std::string& name) {
        const Outcome outcome = run(trimtab + command + " --json --capture " + file(name));
        EXPECT_EQ(outcome.status, 0) << outcome.output;
        return nlohmann::json::parse(outcome.output, nullptr, false);
    };
    const auto predicted = ask(" predict", "a.capture"), of_short = ask(" predict", "short.capture");
    ASSERT_TRUE(predicted.is_object() && of_short.is_object());
    EXPECT_EQ(predicted["device"], "k20c");
    EXPECT_EQ(predicted["grid"], nlohmann::json({5, 1, 1}));
    EXPECT_EQ(predicted["block"], nlohmann::json({32, 1, 1}));
    EXPECT_EQ(predicted["by"], "emulation");
    std::size_t compared = 0;
    for (const auto& [metric, value] : predicted["metrics"].items()) {
        if (!profile["metrics"].contains(metric)) continue;
        EXPECT_DOUBLE_EQ(value.get<double>(), profile["metrics"][metric].get<double>()) << metric;
        ++compared;
    }
    EXPECT_GT(compared, 5u) << profile.dump();
    EXPECT_LT(of_short["ns"].get<double>(), predicted["ns"].get<double>());
    const auto emulated = ask(" emulate --no-sensitivity", "a.capture"),
               emulated_short = ask(" emulate --no-sensitivity --device t4", "short.capture");
    EXPECT_EQ(emulated["grid"], nlohmann::json({5, 1, 1}));
    EXPECT_EQ(emulated_short["device"], "t4");
    EXPECT_LT(emulated_short["work"]["warp_instructions_run"].get<double>(),
              emulated["work"]["warp_instructions_run"].get<double>());
    const auto otherwise = ask(" emulate --no-sensitivity --grid 2 --block 16", "a.capture");
    EXPECT_EQ(otherwise["grid"], nlohmann::json({2, 1, 1}));
    EXPECT_EQ(otherwise["block"], nlohmann::json({16, 1, 1}));
    EXPECT_GT(otherwise["ns"].get<double>(), emulated["ns"].get<double>())
        << "half the threads for the same rows";
    // The launch's dynamic shared memory holds 32 floats: a wider block would write past it.
    const Outcome wider =
        run(trimtab + " emulate --no-sensitivity --block 64 --capture " + file("a.capture") + " 2>&1");
    EXPECT_EQ(wider.status, 3) << wider.output;
    EXPECT_THAT(wider.output, HasSubstr("shared"));
    for (const std::string command : {" predict", " emulate"}) {
        EXPECT_EQ(run(trimtab + command).status, 2);
        EXPECT_EQ(run(trimtab + command + " x.ptx --capture " + file("a.capture")).status, 2);
        EXPECT_EQ(run(trimtab + command + " --arg n=1 --capture " + file("a.capture")).status, 2);
        EXPECT_EQ(run(trimtab + command + " x.ptx").status, 2);
        EXPECT_EQ(run(trimtab + command + " --capture " + file("none")).status, 3);
    }
}

TEST_F(Replay, StandsForAProgramInVerifyAndSuggest) {
    ASSERT_EQ(captured("step", "1").status, 0);
    const Outcome verified = run(trimtab + " verify --json --capture " + file("a.capture") + " 2>/dev/null");
    EXPECT_EQ(verified.status, 0) << verified.output;
    EXPECT_THAT(verified.output, HasSubstr("_Z4step"));
    const Outcome suggested =
        run(trimtab + " suggest --quiet --seconds 5 --json --capture " + file("a.capture") + " 2>/dev/null");
    EXPECT_LE(suggested.status, 1) << suggested.output;
    EXPECT_THAT(suggested.output, HasSubstr("_Z4step"));
    for (const std::string command : {" verify", " suggest"}) {
        EXPECT_EQ(run(trimtab + command).status, 2);
        EXPECT_EQ(run(trimtab + command + " --capture " + file("a.capture") + " -- true").status, 2);
        EXPECT_EQ(run(trimtab + command + " --capture " + file("none")).status, 3);
    }
}

// Its kernel may have other blocks: they are tried, though nothing was prepared.
TEST_F(Replay, OtherBlocksAreTriedWithItsMemory) {
    ASSERT_EQ(captured("scale", "scale").status, 0);
    const auto ask = [&](const std::string& command) {
        return trimtab::test::run("-u TRIMTAB_DEVICE",
                                  "env -u TRIMTAB_MODULES XDG_CACHE_HOME=" + file("cache") + " " + trimtab +
                                      command + " --capture " + file("a.capture"));
    };
    const Outcome verified = ask(" verify"), profiled = ask(" profile --quiet --replace"),
                  benched = ask(" bench --quiet --seconds 5 -o " + file("bench"));
    EXPECT_EQ(verified.status, 0) << verified.output;
    EXPECT_THAT(verified.output, HasSubstr("1 launch checked in"));
    EXPECT_EQ(profiled.status, 0) << profiled.output;
    EXPECT_THAT(profiled.output, HasSubstr("kept, for builds and tools to take"));
    EXPECT_EQ(benched.status, 0) << benched.output;
}

}  // namespace
