// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The trimtab command as its users meet it: exit codes, one-line errors, text and JSON, on files that
// trimtab++ and clang++ make.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/tools/command_fixture.h"
#include "trimtab/section.h"

namespace trimtab::tools::test {

namespace {

using testing::MatchesRegex;
using trimtab::record_magic;

TEST_F(Command, HelpAndVersionAreAnswers) {
    EXPECT_EQ(trimtab("--version").code, 0);
    EXPECT_THAT(trimtab("--version").out, StartsWith("trimtab "));
    for (const char* subcommand : {"", "devices", "inspect", "select", "predict", "run"}) {
        const Outcome outcome = trimtab(std::string(subcommand) + " --help");
        EXPECT_EQ(outcome.code, 0);
        EXPECT_THAT(outcome.out, HasSubstr("Usage: "));
    }
}

TEST_F(Command, HelpFitsAScreen) {
    const std::string help = trimtab("--help").out;
    std::size_t at = 0;
    for (const char* group : {"\nRun ", "\nUnderstand ", "\nChoose ", "\nMake safe ", "\nSet up "}) {
        at = help.find(group, at);
        ASSERT_NE(at, std::string::npos) << group << help;
    }
    std::vector<std::string> commands;
    std::istringstream lines(help);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        EXPECT_LE(line.size(), 80u) << line;
        // "Run         run        Run a program ...": a verb.
        if (count < 2 || line.size() < 25 || line[12] != ' ' || line[23] != ' ') continue;
        commands.push_back(line.substr(13, line.find(' ', 13) - 13));
        EXPECT_NE(std::isupper(static_cast<unsigned char>(line[24])), 0) << line;
    }
    EXPECT_LE(count, 24);
    EXPECT_EQ(commands.size(), 19u);
    for (const std::string& command : commands) {
        const std::string own = trimtab(command + " --help").out;
        EXPECT_THAT(own, HasSubstr("\nUsage: trimtab " + command)) << own;
        EXPECT_THAT(own, HasSubstr("\n  -h, --help ")) << own;
        std::istringstream own_lines(own);
        for (std::string line; std::getline(own_lines, line);) EXPECT_LE(line.size(), 80u) << command << line;
    }
    const std::string verify = trimtab("verify --help").out;
    EXPECT_THAT(verify, HasSubstr("[OPTION]... -- PROGRAM [ARGUMENT]..."));
    EXPECT_THAT(verify, HasSubstr("default 60)"));
    EXPECT_THAT(verify, HasSubstr("Example: trimtab verify -- ./program arguments"));
}

TEST_F(Command, WrongUsageIsTwo) {
    expect_failure("", 2, "subcommand is required");
    expect_failure("slect program", 2, "did you mean \"select\"?");
    expect_failure("devices --bogus", 2, "--bogus");
    expect_failure("inspect", 2, "BINARY is required");
    expect_failure("inspect program --driver --json", 2, "excludes");
    expect_failure("inspect program --flowchart", 2, "--kernel");
    expect_failure("predict program --kernel scale --block 32", 2, "--grid is required");
    expect_failure("run", 2, "it takes a program, after --, or --capture FILE");
}

TEST_F(Command, BadFilesAreThree) {
    expect_failure("inspect nosuch", 3, "nosuch: no such file");
    expect_failure("inspect .", 3, "is a folder");
    expect_failure("inspect kernels.txt", 3, "no such file");
    std::ofstream(folder_ / "notes.txt") << "nothing";
    expect_failure("inspect notes.txt", 3, "neither a CUDA source");
    std::ofstream(folder_ / "broken.ptx") << text_of(folder_ / "kernels.ptx").substr(0, 2000);
    expect_failure("inspect broken.ptx", 3, "broken.ptx:");
    const std::string program = text_of(folder_ / "program");
    for (const std::size_t kept : {program.size() / 2, program.size() / 4, std::size_t{100}}) {
        std::ofstream(folder_ / "cut", std::ios::binary) << program.substr(0, kept);
        expect_failure("inspect cut", 3, "cut: ");
    }
    std::string damaged = program;
    const std::size_t magic = damaged.find(record_magic);
    ASSERT_NE(magic, std::string::npos);
    damaged[magic + 28] = '\x01';
    std::ofstream(folder_ / "damaged", std::ios::binary) << damaged;
    expect_failure("inspect damaged", 3,
                   "damaged: section trimtab_data, byte 0: the record is no JSON object");
}

TEST_F(Command, DevicesListsAndShowsThem) {
    EXPECT_THAT(trimtab("devices").out, HasSubstr("rtx2070super"));
    const Json list = trimtab("devices --json").json();
    ASSERT_TRUE(list.is_array());
    EXPECT_GE(list.size(), 17u);
    const Json one = trimtab("devices GTX1080Ti --json").json();
    EXPECT_EQ(one["slug"], "gtx1080ti");
    EXPECT_EQ(one["values"]["sm_count"]["value"], 28);
    EXPECT_FALSE(one["values"]["sm_count"]["source"].get<std::string>().empty());
    EXPECT_THAT(trimtab("devices gtx1080ti").out, HasSubstr("dram_bytes_per_s"));
    EXPECT_THAT(trimtab("devices gtx1080ti").out, HasSubstr("architecture pascal\n  latency_integer_cycles"));
    EXPECT_EQ(one["architecture"], "pascal");
    EXPECT_EQ(one["architecture_values"]["gap_l2_port_cycles"]["value"], 0.86);
    expect_failure("devices gtx1080", 3, "did you mean");
}

TEST_F(Command, InspectTellsWhatIsKnownAndWhyAKernelIsLeftAlone) {
    const Outcome text = trimtab("inspect program");
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("void scale<float>(float const*, float*, float, int, int)"));
    EXPECT_THAT(text.out, HasSubstr("kernels.cu:"));
    EXPECT_THAT(text.out, HasSubstr("exits where"));
    EXPECT_THAT(text.out, HasSubstr("load_sectors = "));
    EXPECT_THAT(text.out, HasSubstr("held out"));
    EXPECT_THAT(text.out, HasSubstr("verdict    fixed"));
    EXPECT_THAT(text.out, HasSubstr("rule 2"));

    const Json json = trimtab("inspect program --json").json();
    EXPECT_EQ(json["instrumented"], true);
    ASSERT_EQ(json["kernels"].size(), 3u);
    std::size_t fitted = 0;
    for (const Json& kernel : json["kernels"]) {
        EXPECT_EQ(kernel["description"]["verdict"] == "fixed", !kernel.contains("fits"));
        EXPECT_EQ(kernel.contains("fits"), kernel.contains("driver_source"));
        fitted += kernel.contains("fits") ? 1 : 0;
    }
    EXPECT_EQ(fitted, 2u);
    EXPECT_EQ(trimtab("inspect program --kernel row_sums --json").json()["kernels"].size(), 1u);
    EXPECT_THAT(trimtab("inspect program --kernel row_sums --profile").out, HasSubstr("held out"));
    expect_failure("inspect program --kernel row_sum", 3, "did you mean \"row_sums\"?");
    expect_failure("inspect /bin/true", 1, "holds no CUDA kernels");
}

TEST_F(Command, InspectDescribesWhatTrimtabDidNotBuild) {
    for (const char* file : {"plain.o", "kernels.ptx"}) {
        const Json json = trimtab(std::string("inspect --json ") + file).json();
        EXPECT_EQ(json["instrumented"], false) << file;
        ASSERT_EQ(json["kernels"].size(), 3u) << file;
        for (const Json& kernel : json["kernels"]) EXPECT_FALSE(kernel.contains("fits")) << file;
    }
    expect_failure("inspect plain.o --driver", 1, "no driver program");
}

TEST_F(Command, InspectPrintsADriverProgramThatCompiles) {
    const Outcome driver = trimtab("inspect program --kernel row_sums --driver -o driver.c");
    EXPECT_EQ(driver.code, 0) << driver.err;
    EXPECT_TRUE(driver.out.empty());
    const Outcome compiled =
        shell("cc -std=c99 -ffp-contract=off -c driver.c -o driver.o -I" TRIMTAB_SOURCE_DIR "/include");
    EXPECT_EQ(compiled.code, 0) << compiled.err;
    expect_failure("inspect program --kernel block_sums --driver", 1, "no driver program for block_sums");
    expect_failure("inspect program --kernel row_sums --driver -o /nosuch/x.c", 3, "/nosuch/x.c");
}

TEST_F(Command, InspectDrawsTheFlowChart) {
    const Outcome dot = trimtab("inspect program --kernel row_sums --dot");
    EXPECT_THAT(dot.out, StartsWith("digraph"));
    EXPECT_THAT(dot.out, HasSubstr("row_sums"));
    EXPECT_THAT(dot.out, HasSubstr("columns"));  // of a fitted function
    if (shell("dot -V").code != 0) GTEST_SKIP() << "Graphviz is not installed";
    const Outcome svg = trimtab("inspect program --kernel row_sums --flowchart -o chart.svg");
    EXPECT_EQ(svg.code, 0) << svg.err;
    EXPECT_THAT(text_of(folder_ / "chart.svg"), HasSubstr("</svg>"));
    EXPECT_THAT(trimtab("inspect kernels.ptx --kernel block_sums --flowchart").out, HasSubstr("</svg>"));
}

TEST_F(Command, PredictUsesTheDriverOrEmulates) {
    const std::string scale =
        "predict program --kernel scale --device gtx1080ti --arg rows=1000 --arg columns=3000 --grid 94,125 "
        "--block 32,8 --json ";
    const Json driver = trimtab(scale).json(), measured = trimtab(scale + "--measure").json();
    EXPECT_EQ(driver["by"], "driver");
    EXPECT_EQ(measured["by"], "emulation");
    EXPECT_GT(measured["blocks_emulated"], 1);
    EXPECT_EQ(driver["occupancy"]["blocks_per_sm"], 8);
    // Two ways to the same metrics.
    EXPECT_NEAR(driver["ns"].get<double>() / measured["ns"].get<double>(), 1, 0.25);
    for (const char* exact : {"load_requests", "store_requests", "load_lines"})
        EXPECT_NEAR(driver["metrics"][exact].get<double>(), measured["metrics"][exact].get<double>(), 0.05);

    // Fixed kernels too; more data, more time.
    double last = 0;
    for (const int blocks : {100, 10000, 100000}) {
        const Outcome sums = trimtab(
            "predict program --kernel block_sums --device h100 --arg n=" + std::to_string(blocks * 256) +
            " --grid " + std::to_string(blocks) + " --block 256 --json");
        ASSERT_EQ(sums.code, 0) << sums.err;
        EXPECT_EQ(sums.json()["by"], "emulation");
        EXPECT_GT(sums.json()["metrics"]["barriers"], 8);
        EXPECT_GT(sums.json()["ns"], last);
        last = sums.json()["ns"];
    }
}

// With and without nvdisasm: the answer says which it was.
TEST_F(Command, MachineCodeIsShownWhereItCanBeHad) {
    const Outcome shown = trimtab("inspect program --kernel block_sums --sass --device h100 --json");
    const std::string predict =
        "predict program --kernel block_sums --device h100 --arg n=25600 --grid 100 --block 256 --json";
    const Json predicted = trimtab(predict + " --sass").json(), plain = trimtab(predict).json();
    EXPECT_TRUE(plain["sass"].is_null());
    EXPECT_EQ(predicted["ns"], plain["ns"]);
    expect_failure("inspect program --sass --driver", 2, "excludes");
    expect_failure("inspect program --sass --device nonesuch", 3, "nonesuch");
    if (shown.code == 1) {
        EXPECT_THAT(shown.err, HasSubstr("is installed"));
        EXPECT_THAT(predicted["no_sass"].get<std::string>(), HasSubstr("is installed"));
        return;
    }
    ASSERT_EQ(shown.code, 0) << shown.err;
    const Json code = shown.json()["kernels"][0]["sass"];
    EXPECT_EQ(code["architecture"], "sm_90");
    EXPECT_GT(code["registers"], 4);
    EXPECT_EQ(predicted["sass"]["registers"], code["registers"]);
    EXPECT_GT(predicted["sass"]["warp"]["instructions"], 20);
    EXPECT_EQ(predicted["sass"]["matched"]["trusted"], true);
}

TEST_F(Command, PredictSaysWhatCannotBeLaunched) {
    const std::string sums = "predict program --kernel block_sums --device h100 ";
    expect_failure(sums + "--grid 4 --block 256", 3, "give --arg n=VALUE");
    expect_failure(sums + "--arg n=4 --grid 4 --block 2048", 1, "2048 threads");
    expect_failure(sums + "--arg n=4 --grid 4 --block 256 --dynamic-shared 400000", 1, "does not fit");
    expect_failure(sums + "--arg n=4 --grid 4,70000 --block 256", 1, "limits");
    expect_failure(sums + "--arg n=4 --grid 0 --block 256", 3, "--grid");
}

TEST_F(Command, EmulateTimesALaunchAndSaysWhatLimitsIt) {
    const std::string sums = "emulate program --kernel row_sums --device rtx2070super --arg columns=2000 ";
    const Outcome outcome =
        trimtab(sums + "--arg rows=20480 --grid 80 --block 256 --bypass-l1 --trace warps.json --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json emulated = outcome.json();
    // By hand: 16 warps on each of 40 SMs ask 2000 times for a row of each lane, 32 segments of 3.2 cycles.
    EXPECT_NEAR(emulated["cycles"].get<double>() / (20480 / 32 * 2000 / 40 * 32 * 3.2), 1, 0.35);
    EXPECT_GT(emulated["resources"]["l2"]["utilisation"], 0.5);
    EXPECT_THAT(emulated["resources"]["l2"]["gap_cycles"]["source"].get<std::string>(),
                HasSubstr("l2_bytes_per_clock"));
    ASSERT_FALSE(emulated["sensitivity"].empty());
    EXPECT_GT(emulated["sensitivity"][0]["sensitivity"], 0.3);
    const Json events = Json::parse(text_of(folder_ / "warps.json"))["traceEvents"];
    EXPECT_GT(std::ranges::count(events, "X", [](const Json& event) { return event["ph"]; }), 1000);

    expect_failure(sums + "--grid 4 --block 256", 3, "give --arg rows=VALUE");
    expect_failure(sums + "--arg rows=4 --grid 4 --block 2048", 1, "2048 threads");
    expect_failure(sums + "--arg rows=4 --grid 4,70000 --block 256", 1, "limits");
    expect_failure(sums + "--arg rows=4 --grid 4 --block 256 --policy fifo", 2, "--policy");
    expect_failure(sums + "--arg rows=4 --grid 4 --block 256 --trace nowhere/warps.json", 3,
                   "cannot be written");
}

TEST_F(Command, RunChoosesAndReports) {
    const Outcome outcome = trimtab("run --device gtx1080ti --report report.jsonl -- ./program 7");
    EXPECT_EQ(outcome.code, 7) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("NVIDIA GeForce GTX 1080 Ti: no error"));
    const std::string report = text_of(folder_ / "report.jsonl");
    EXPECT_EQ(std::ranges::count(report, '\n'), 2) << report;
    EXPECT_THAT(report, HasSubstr("\"by\":\"driver\""));

    EXPECT_EQ(trimtab("run --device h100 --report report.html -- ./program").code, 0);
    const std::string page = text_of(folder_ / "report.html");
    EXPECT_THAT(page, HasSubstr("2 launches"));
    EXPECT_THAT(page, HasSubstr("h100"));
    EXPECT_THAT(page, HasSubstr("</html>"));
}

TEST_F(Command, RunPreloadsAfterWhatTheUserPreloads) {
    const std::string words = " run -- sh -c 'echo $LD_PRELOAD'";
    EXPECT_THAT(trimtab("run -- sh -c 'echo $LD_PRELOAD'").out, MatchesRegex("/[^:]*/libtrimtab.so\n"));
    EXPECT_THAT(shell("LD_PRELOAD=libm.so.6 " TRIMTAB_BINARY_DIR "/bin/trimtab" + words).out,
                MatchesRegex("libm.so.6:/[^:]*/libtrimtab.so\n"));
}

TEST_F(Command, RunSaysWhatIsWrong) {
    expect_failure("run -- ./nosuch", 3, "./nosuch: no such program");
    expect_failure("run -- ./kernels.cu", 3, "no such program");  // not executable
    expect_failure("run --device h10 -- ./program", 3, "did you mean \"h100\"?");
    EXPECT_EQ(trimtab("run -- /bin/sh -c 'exit 9'").code, 9);
    const Outcome killed = trimtab("run -- /bin/sh -c 'kill -SEGV $$'");
    EXPECT_EQ(killed.code, 128 + 11);
    EXPECT_THAT(killed.err, HasSubstr("trimtab: /bin/sh: was ended by signal 11 (Segmentation fault)"));
    // Before the program runs.
    for (const char* kind :
         {"run --report /nowhere/r.html", "run --report /nowhere/r.jsonl",
          "run --check=memory --report /nowhere/r.json", "verify --report /nowhere/r.json"}) {
        expect_failure(std::string(kind) + " -- /bin/sh -c 'touch it-ran'", 3,
                       "the report cannot be written: No such file or directory");
        EXPECT_FALSE(fs::exists(folder_ / "it-ran")) << kind;
    }
    EXPECT_THAT(
        shell("TMPDIR=/nowhere " TRIMTAB_BINARY_DIR "/bin/trimtab run --report r.html -- ./program").err,
        StartsWith("trimtab: /nowhere: no temporary folder can be made here: No such file or directory"));
    expect_failure("inspect program --kernel banana", 3,
                   "has no kernel banana; it has row_sums, block_sums, scale");
    expect_failure("devices banana", 3, "is not known; `trimtab devices` lists those that are");
}

TEST_F(Command, ReportsStandApartFromWhatTheProgramPrints) {
    const Outcome checked = trimtab("run --check=memory --json -- ./program");
    EXPECT_EQ(checked.code, 0) << checked.err;
    EXPECT_FALSE(checked.json().is_discarded()) << checked.out;
    EXPECT_THAT(checked.err, HasSubstr("no error"));
    const Outcome to_file = trimtab("run --check=memory --report check.json -- ./program");
    EXPECT_THAT(to_file.out, HasSubstr("no error"));
    EXPECT_FALSE(Json::parse(text_of(folder_ / "check.json"), nullptr, false).is_discarded());
    const Outcome verified = trimtab("verify --blocks 1 --launches 1 --json -- ./program");
    EXPECT_EQ(verified.code, 0) << verified.err;
    EXPECT_TRUE(verified.json().is_object()) << verified.out;
    const Outcome in_file = trimtab("verify --blocks 1 --launches 1 --report verified.json -- ./program");
    EXPECT_THAT(in_file.out, HasSubstr("no error"));
    EXPECT_EQ(Json::parse(text_of(folder_ / "verified.json"), nullptr, false)["kernels"],
              verified.json()["kernels"]);
}

TEST_F(Command, TotalsAreSaidAtTheEnd) {
    const Outcome outcome = shell("TRIMTAB_LOG=summary TRIMTAB_DEVICE=gtx1080ti ./program");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(
        outcome.err,
        MatchesRegex("trimtab: 2 launches of 2 kernels, [01] changed; predicted [0-9.]+ us instead of "
                     "[0-9.]+ us, -?[0-9]+ % less \\(of 1 launches that have a prediction\\)\n"));
    EXPECT_THAT(shell("TRIMTAB_LOG=summary TRIMTAB_DEVICE=h100 TRIMTAB=off ./program").err,
                HasSubstr("2 launches of 2 kernels, 0 changed; none has a prediction\n"));
}

}  // namespace

}  // namespace trimtab::tools::test
