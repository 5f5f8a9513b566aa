// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reports and rules that are not as they should be, and numbers of the device worked by hand.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/advice/kernel_numbers.h"
#include "tools/advice/report.h"
#include "tools/advice/rules.h"
#include "tools/advice/run_findings.h"

namespace trimtab::advice {
namespace {

TEST(Reports, NoGainIsToldFinerThanItIsKnown) {
    EXPECT_EQ(factor_text(1.5), "1.50");
    EXPECT_EQ(factor_text(9.994), "9.99");
    EXPECT_EQ(factor_text(9.996), "10");
    EXPECT_EQ(factor_text(107.88), "108");
}

TEST(Reports, ThatAreBrokenAreNamed) {
    EXPECT_NE(former_report("{\"advice\": 1, \"kern", "old.json").error().text().find("old.json"),
              std::string::npos);
    EXPECT_NE(former_report(R"({"advice": 7})", "old.json").error().text().find("another version"),
              std::string::npos);
    EXPECT_NE(former_report(R"({"advice": 1, "kernels": [{"mangled": "k"}]})", "old.json")
                  .error()
                  .text()
                  .find("kernels[0]"),
              std::string::npos);
    EXPECT_NE(emulator::launch_profile_from_json(nlohmann::json{{"version", 99}}, "p")
                  .error()
                  .text()
                  .find("another version"),
              std::string::npos);
}

TEST(Rules, AreData) {
    EXPECT_EQ(rules().size(), 16);
    for (const std::string_view name : remedy_names()) EXPECT_NE(remedy_named(name), nullptr);
    EXPECT_EQ(remedy_named("magic"), nullptr);
    const auto broken = parse_rules(
        R"({"rules": [{"id": "x", "ask": "magic", "least_gain": 1, "by": "you", "title": "", "remedy": "", "from": ""}]})",
        "rules.json");
    ASSERT_FALSE(broken);
    EXPECT_NE(broken.error().text().find("rules[0].ask"), std::string::npos) << broken.error().text();
}

emulator::RunRecord run_of(double sent_again_ns) {
    emulator::RunRecord run;
    run.device = "h100";
    run.to_device = {.count = 10, .bytes = 4e6, .ns = 600};
    run.to_host = {.count = 1, .bytes = 4e5, .ns = 100};
    run.sent_again = {.count = 9, .bytes = 3.6e6, .ns = sent_again_ns};
    run.serial.push_back({.kernels = {"_Z4turnPfii", "b"}, .launches = 5, .ns = 200, .together_ns = 50});
    return run;
}

// 300 ns of kernels, 700 ns of copies, of which 500 are not needed; 150 ns of launches that could overlap.
TEST(RunFindings, WinWhatIsLeftOut) {
    const std::vector<Finding> found = run_findings(run_of(500), 300);
    ASSERT_EQ(found.size(), 2);
    EXPECT_EQ(found[0].rule, "redundant-transfers");
    EXPECT_DOUBLE_EQ(found[0].gain, 1000.0 / 500);
    EXPECT_DOUBLE_EQ(found[0].least, 1000.0 / 750);
    EXPECT_NE(found[0].evidence[0].text.find("9 of 10 copies"), std::string::npos);
    EXPECT_EQ(found[1].rule, "serial-launches");
    EXPECT_DOUBLE_EQ(found[1].gain, 1000.0 / 850);
    EXPECT_EQ(found[1].least, 1);
    EXPECT_NE(found[1].evidence[0].text.find("turn, b"), std::string::npos) << found[1].evidence[0].text;
    EXPECT_TRUE(run_findings({}, 300).empty());
    // Too little to speak of.
    EXPECT_EQ(run_findings(run_of(1), 1e6).size(), 0);
}

TEST(Benefits, AreShownOnlyNearTheTimeThatEmulationGives) {
    const auto held = [](double executed_ns, double time_ns, double overhead_ns) {
        KernelAdvice kernel;
        kernel.benefits = {{"T_exec", executed_ns}, {"B_fp", 1}};
        hold_benefits_against(kernel, "emulated", time_ns, overhead_ns);
        EXPECT_EQ(kernel.benefits.empty(), !kernel.no_benefits.empty());
        return kernel.no_benefits;
    };
    EXPECT_EQ(held(1900, 1000, 0), "");
    EXPECT_EQ(held(510, 1000, 0), "");
    EXPECT_EQ(held(100, 1000, 450), "") << "launches take their start, too";
    EXPECT_EQ(held(3100, 1000, 0), "GPUPerf's equations give 3.1 times the emulated time");
    EXPECT_EQ(held(250, 1000, 0), "GPUPerf's equations give 0.25 times the emulated time");
    KernelAdvice without;
    hold_benefits_against(without, "measured", 1000, 0);
    EXPECT_EQ(without.no_benefits, "");
}

TEST(RunRecords, AreTheSameAfterAJourneyThroughJson) {
    const nlohmann::json json = emulator::to_json(run_of(500));
    ASSERT_TRUE(emulator::is_run_record(json));
    const auto read = emulator::run_record_from_json(json, "p");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(emulator::to_json(*read), json);
    nlohmann::json other = json, cut = json;
    other["run_record"] = 9;
    EXPECT_NE(emulator::run_record_from_json(other, "p").error().text().find("another version"),
              std::string::npos);
    cut["serial"][0].erase("ns");
    EXPECT_NE(emulator::run_record_from_json(cut, "p").error().text().find("run.serial[0]"),
              std::string::npos);
    EXPECT_FALSE(emulator::is_run_record(nlohmann::json::array()));
}

TEST(ProgramRules, AreData) {
    EXPECT_EQ(program_rules().size(), 2);
    const auto broken = parse_program_rules(
        R"({"program": [{"id": "x", "looks_at": "magic", "least_gain": 1, "title": "", "remedy": "", "from": ""}]})",
        "rules.json");
    ASSERT_FALSE(broken);
    EXPECT_NE(broken.error().text().find("program[0].looks_at"), std::string::npos) << broken.error().text();
}

// 40 SMs at 1.77 GHz, four schedulers, 64 lanes for floats, 2 for doubles; 448 GB/s.
TEST(Rooflines, AreWorkOverRate) {
    using enum model::Metric;
    Question question;
    question.device = model::find_device("rtx2070super")->values;
    question.block = {.x = 256, .y = 1, .z = 1};
    question.grid = {.x = 4000, .y = 1, .z = 1};
    question.image.registers_per_thread = 20;
    question[warp_instructions] = 400;
    question[fp32_instructions] = 100;
    question[fp64_instructions] = 10;
    question[active_warps] = 8;
    question[active_blocks] = 4000;
    question[active_lanes] = 32;
    question[instruction_parallelism] = 2;
    question[footprint_sectors] = 1;
    const double clocks = question.device.sm_clock_hz * 40, warps = 32000;
    const Rooflines lines = rooflines(question, 1e6);
    EXPECT_NEAR(lines.of("issue").ns, 400 * warps / (4 * clocks) * 1e9, 1e-6);
    EXPECT_NEAR(lines.of("fp32").ns, 100 * warps / (2 * clocks) * 1e9, 1e-6);
    EXPECT_NEAR(lines.of("fp64").ns, 10 * warps / (2 / 32.0 * clocks) * 1e9, 1e-6);
    EXPECT_EQ(lines.busiest().name, "fp64");
    EXPECT_NEAR(lines.headroom(), 1e6 / lines.of("fp64").ns, 1e-9);
    // A warp instruction every clock and scheduler, but 10 doubles take 16 clocks each.
    EXPECT_NEAR(mix_cap(question).overlapped, 100 / 160.0, 1e-12);
    EXPECT_NEAR(mix_cap(question).serial, 100 / (50 + 160 + 290 / 4.0), 1e-12);
}

// Little: 448 GB/s for as long as a load takes.
TEST(BytesInFlight, AreLatencyTimesBandwidth) {
    using enum model::Metric;
    Question question;
    question.device = model::find_device("rtx2070super")->values;
    question.block = {.x = 256, .y = 1, .z = 1};
    question.grid = {.x = 1000, .y = 1, .z = 1};
    question.image.registers_per_thread = 20;
    question[active_warps] = 8;
    question[active_blocks] = 1000;
    question[load_sectors] = 16;
    question[dependent_rounds] = 4;
    const trimtab_device& device = question.device;
    const BytesInFlight bytes = bytes_in_flight(question);
    EXPECT_NEAR(bytes.needed, device.latency_dram_cycles / device.sm_clock_hz * device.dram_bytes_per_s,
                1e-6);
    // Four blocks of 8 warps on each of 40 SMs, each with 16 / 4 sectors under way.
    EXPECT_NEAR(bytes.at_most, 4 * 40 * 8 * 4 * 32, 1e-6);
}

}  // namespace
}  // namespace trimtab::advice
