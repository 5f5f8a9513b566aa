// A launch that is captured and made again leaves the bytes that it left in its own program, and has its counters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "base/temporary_folder.h"
#include "emulator/capture/capture.h"
#include "tests/shell_command.h"

namespace {

namespace capture = trimtab::emulator::capture;
using ::testing::AllOf;
using ::testing::HasSubstr;

using trimtab::test::Outcome;

Outcome run(const std::string& command) {
    return trimtab::test::run("-u TRIMTAB_DEVICE", command);
}

const std::string trimtab = TRIMTAB_BINARY_DIR "/bin/trimtab",
                  replay = TRIMTAB_BINARY_DIR "/libexec/trimtab-replay";

class Replay : public ::testing::Test {
  protected:
    std::string file(const std::string& name) const { return folder_->file(name); }
    Outcome captured(const std::string& which, const std::string& arguments,
                     const std::string& more = "") const {
        return run("TRIMTAB_DEVICE=k20c TRIMTAB_CAPTURE=" + which + " TRIMTAB_CAPTURE_FILE=" +
                   file("a.capture") + " " + more + " " TRIMTAB_PROGRAM " " + arguments);
    }
    // Of the kernel `step`.
    std::string profile_in(const std::string& name) const {
        std::ifstream lines(file(name));
        for (std::string line; std::getline(lines, line);)
            if (line.find("_Z4step") != std::string::npos) return line;
        return "";
    }

    std::expected<trimtab::base::TemporaryFolder, trimtab::Error> folder_ =
        trimtab::base::TemporaryFolder::make();
};

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
    EXPECT_EQ(emulated["work"]["blocks_run"], 5);
    EXPECT_EQ(emulated_short["device"], "t4");
    EXPECT_LT(emulated_short["work"]["warp_instructions_run"].get<double>(),
              emulated["work"]["warp_instructions_run"].get<double>());
    EXPECT_EQ(ask(" emulate --no-sensitivity --grid 2 --block 64", "a.capture")["work"]["blocks_run"], 2);
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
    expect(captured("look", "texture"),
           "launch 1 of look(unsigned long long, float*) is not captured: it reads textures");
    expect(captured("step:3", "2"), "launch 3 of step was not captured: there were 2");
    expect(captured("step:0", "1"), "TRIMTAB_CAPTURE=step:0: the launch's number is not one from 1");
    expect(captured("step", "1", "TRIMTAB_CAPTURE_BYTES=100"), "TRIMTAB_CAPTURE_BYTES allows 100");
    expect(captured("step", "1", "TRIMTAB_CAPTURE_FILE=/nowhere/at/all"),
           "is not captured: /nowhere/at/all: ");
}

}  // namespace
