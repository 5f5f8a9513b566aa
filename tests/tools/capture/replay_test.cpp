// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch that is captured and made again leaves the bytes that it left in its own program, and has its counters.
#include "tests/tools/capture/capture_fixture.h"

namespace {

std::string hexadecimal(std::span<const std::byte> bytes) {
    constexpr const char* digits = "0123456789abcdef";
    std::string out;
    for (const std::byte byte : bytes) {
        out += digits[static_cast<unsigned>(byte) >> 4];
        out += digits[static_cast<unsigned>(byte) & 15];
    }
    return out;
}

TEST_F(Replay, LeavesTheBytesAndCountersOfTheProgram) {
    const Outcome first = captured("step", "1", "TRIMTAB_PROFILES=" + file("program.jsonl"));
    ASSERT_EQ(first.status, 0) << first.output;
    EXPECT_THAT(first.output, HasSubstr("TRIMTAB_CAPTURE: launch 1 of step("));
    const Outcome again = run("TRIMTAB_DEVICE=k20c TRIMTAB_PROFILES=" + file("replay.jsonl") + " " + replay +
                              " " + file("a.capture") + " " + file("after.capture"));
    ASSERT_EQ(again.status, 0) << again.output;
    const auto before = capture::read(file("a.capture")), after = capture::read(file("after.capture"));
    ASSERT_TRUE(before) << before.error().text();
    ASSERT_TRUE(after) << after.error().text();

    std::istringstream lines(first.output);
    int compared = 0;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name, address, bytes;
        words >> name >> address >> bytes;
        if (!address.starts_with("0x")) continue;
        ++compared;
        const auto at = std::stoull(address, nullptr, 16);
        std::string then, now;
        if (name == "count") {
            then = hexadecimal(
                std::ranges::find(before->capture.variables, name, &capture::Variable::name)->region.bytes);
            now = hexadecimal(
                std::ranges::find(after->capture.variables, name, &capture::Variable::name)->region.bytes);
        } else {
            then = hexadecimal(
                std::ranges::find(before->capture.allocations, at, &capture::Region::address)->bytes);
            now = hexadecimal(
                std::ranges::find(after->capture.allocations, at, &capture::Region::address)->bytes);
        }
        EXPECT_EQ(now, bytes) << line;
        EXPECT_NE(then, bytes) << line;
    }
    EXPECT_EQ(compared, 7);
    auto program_profile = nlohmann::json::parse(profile_in("program.jsonl")),
         replay_profile = nlohmann::json::parse(profile_in("replay.jsonl"));
    // The second argument is the address of a variable, which may lie elsewhere.
    for (auto* const profile : {&program_profile, &replay_profile}) {
        auto& bytes = profile->at("parameters");
        ASSERT_EQ(bytes.size(), 26u);
        bytes.erase(bytes.begin() + 8, bytes.begin() + 16);
    }
    EXPECT_EQ(replay_profile, program_profile);
}

// Objects of linear, pitched and array memory, layers, mipmap levels and a variable; handles lie in memory, too.
TEST_F(Replay, TexturesAndSurfacesAreWhatTheyWere) {
    const Outcome first = captured("look", "texture", "TRIMTAB_PROFILES=" + file("program.jsonl"));
    ASSERT_EQ(first.status, 0) << first.output;
    EXPECT_THAT(first.output, HasSubstr("TRIMTAB_CAPTURE: launch 1 of look("));
    const Outcome again = run("TRIMTAB_DEVICE=k20c TRIMTAB_PROFILES=" + file("replay.jsonl") + " " + replay +
                              " " + file("a.capture") + " " + file("after.capture"));
    ASSERT_EQ(again.status, 0) << again.output;
    const auto before = capture::read(file("a.capture")), after = capture::read(file("after.capture"));
    ASSERT_TRUE(before) << before.error().text();
    ASSERT_TRUE(after) << after.error().text();
    EXPECT_EQ(before->capture.textures.size(), 6u) << "and none whose memory is gone";
    ASSERT_EQ(before->capture.surfaces.size(), 1u);
    std::istringstream lines(first.output);
    int compared = 0;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name, address, bytes;
        words >> name >> address >> bytes;
        if (!address.starts_with("0x")) continue;
        ++compared;
        // The surface's array is known by its object alone.
        const auto at =
            name == "surface"
                ? reinterpret_cast<std::uint64_t>(before->capture.surfaces.front().surface.image.host)
                : std::stoull(address, nullptr, 16);
        const auto bytes_of = [at](const auto& read) {
            return hexadecimal(
                std::ranges::find(read->capture.allocations, at, &capture::Region::address)->bytes);
        };
        EXPECT_EQ(bytes_of(after), bytes) << name;
        EXPECT_NE(bytes_of(before), bytes) << name;
    }
    EXPECT_EQ(compared, 2);
    const auto program_profile = nlohmann::json::parse(profile_in("program.jsonl", "_Z4look")),
               replay_profile = nlohmann::json::parse(profile_in("replay.jsonl", "_Z4look"));
    EXPECT_EQ(replay_profile, program_profile);
    for (const std::string command : {" predict", " emulate --no-sensitivity"}) {
        const Outcome outcome = run(trimtab + command + " --json --capture " + file("a.capture"));
        EXPECT_EQ(outcome.status, 0) << outcome.output;
        EXPECT_THAT(outcome.output, HasSubstr("look("));
    }
}

// A launch that a release before textures captured, and what it left then.
TEST_F(Replay, ReadsTheCapturesOfEarlierReleases) {
    int read = 0;
    for (const auto& release :
         std::filesystem::directory_iterator(TRIMTAB_SOURCE_DIR "/tests/compatibility/data")) {
        const auto then = capture::read((release.path() / "launch-after.capture").string());
        if (!std::filesystem::exists(release.path() / "launch.capture")) continue;
        ASSERT_TRUE(then) << then.error().text();
        const Outcome again =
            run(replay + " " + (release.path() / "launch.capture").string() + " " + file("now.capture"));
        ASSERT_EQ(again.status, 0) << again.output;
        const auto now = capture::read(file("now.capture"));
        ASSERT_TRUE(now) << now.error().text();
        ASSERT_EQ(now->capture.allocations.size(), then->capture.allocations.size());
        for (std::size_t i = 0; i < then->capture.allocations.size(); ++i)
            EXPECT_EQ(hexadecimal(now->capture.allocations[i].bytes),
                      hexadecimal(then->capture.allocations[i].bytes));
        ++read;
    }
    EXPECT_GT(read, 0);
}

// The second launch finds what the first one left.
TEST_F(Replay, TakesTheLaunchThatIsAskedFor) {
    const Outcome two = captured("step:2", "2");
    ASSERT_EQ(two.status, 0) << two.output;
    const auto read = capture::read(file("a.capture"));
    ASSERT_TRUE(read) << read.error().text();
    const auto& capture = read->capture;
    EXPECT_EQ(capture.grid[0], 5u);
    EXPECT_EQ(capture.block[0], 32u);
    EXPECT_EQ(capture.dynamic_shared_bytes, 128u);
    EXPECT_EQ(capture.device, "k20c");
    const auto count = std::ranges::find(capture.variables, "count", &capture::Variable::name);
    ASSERT_NE(count, capture.variables.end());
    // 5 blocks, by threes, on 10, 20, 30, 40.
    EXPECT_EQ(hexadecimal(count->region.bytes),
              "0c000000"
              "16000000"
              "1f000000"
              "28000000");
}

TEST_F(Replay, StandsForAProgramInRun) {
    ASSERT_EQ(captured("step", "1").status, 0);
    const Outcome outcome = run("TRIMTAB_PROFILES=" + file("run.jsonl") + " " + trimtab + " run --report " +
                                file("report.jsonl") + " --capture " + file("a.capture"));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_THAT(profile_in("run.jsonl"), HasSubstr("k20c"));
    std::ifstream report(file("report.jsonl"));
    const std::string text{std::istreambuf_iterator<char>(report), std::istreambuf_iterator<char>()};
    EXPECT_THAT(text, HasSubstr("_Z4step"));
    EXPECT_EQ(run(trimtab + " run --device h100 --capture " + file("a.capture")).status, 0);
}

TEST_F(Replay, StandsForAProgramInAdvise) {
    ASSERT_EQ(captured("step", "1").status, 0);
    for (const std::string command : {" advise --json --capture ", " run --advise --json --capture "}) {
        const Outcome outcome = run(trimtab + command + file("a.capture") + " 2>/dev/null");
        EXPECT_EQ(outcome.status, 0) << outcome.output;
        const auto advice = nlohmann::json::parse(outcome.output, nullptr, false);
        ASSERT_FALSE(advice.is_discarded()) << outcome.output;
        EXPECT_EQ(advice.at("kernels").size(), 1u);
        EXPECT_THAT(advice.dump(), AllOf(HasSubstr("k20c"), HasSubstr("_Z4step")));
    }
    EXPECT_EQ(run(trimtab + " advise").status, 2);
    EXPECT_EQ(run(trimtab + " advise --capture " + file("none")).status, 3);
}

TEST_F(Replay, BadInputIsOneLine) {
    ASSERT_EQ(captured("step", "1").status, 0);
    const std::string cut = file("cut.capture");
    std::filesystem::copy_file(file("a.capture"), cut);
    std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 5);
    const Outcome outcome = run(trimtab + " run --capture " + cut);
    EXPECT_EQ(outcome.status, 3);
    EXPECT_THAT(outcome.output, HasSubstr("trimtab: " + cut + ": byte 24: "));
    EXPECT_EQ(std::ranges::count(outcome.output, '\n'), 1);
    EXPECT_EQ(run(replay + " " + cut).status, 3);
    EXPECT_EQ(run(trimtab + " run --capture " + cut + " -- true").status, 2);
    EXPECT_EQ(run(trimtab + " run").status, 2);
    EXPECT_EQ(run(trimtab + " run --device gpu --capture " + file("a.capture")).status, 3);

    // Where nothing of a process can be.
    auto read = capture::read(file("a.capture"));
    ASSERT_TRUE(read);
    auto wild = read->capture;
    wild.allocations.push_back({.address = 0xffff800000000000, .bytes = wild.arguments});
    ASSERT_TRUE(capture::write(file("wild.capture"), wild));
    const Outcome unmapped = run(trimtab + " run --capture " + file("wild.capture"));
    EXPECT_EQ(unmapped.status, 3) << unmapped.output;
    EXPECT_THAT(unmapped.output,
                HasSubstr("wild.capture: its memory cannot be mapped at 0xffff800000000000"));
}

TEST_F(Replay, WhatCannotBeCapturedIsSaidAndTheProgramRuns) {
    const auto expect = [&](const Outcome& outcome, const std::string& why) {
        EXPECT_EQ(outcome.status, 0) << outcome.output;
        EXPECT_THAT(outcome.output, HasSubstr(why));
        EXPECT_FALSE(std::filesystem::exists(file("a.capture")));
    };
    expect(captured("allocate:2", "heap"),
           "launch 2 of allocate(int**) is not captured: its module has memory from malloc() in kernels");
    expect(captured("step:3", "2"), "launch 3 of step was not captured: there were 2");
    expect(captured("step:0", "1"), "TRIMTAB_CAPTURE=step:0: the number of the launch must be 1 or more");
    expect(captured("step", "1", "TRIMTAB_CAPTURE_BYTES=100"), "TRIMTAB_CAPTURE_BYTES allows 100");
    expect(captured("step", "1", "TRIMTAB_CAPTURE_FILE=/nowhere/at/all"),
           "is not captured: /nowhere/at/all: ");
}

}  // namespace
