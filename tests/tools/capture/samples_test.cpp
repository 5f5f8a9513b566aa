// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first launch of each kernel of every sample, captured and made again: equal bytes and counters.
#include <map>

#include "tests/tools/capture/capture_fixture.h"

namespace {

const std::string source = TRIMTAB_SOURCE_DIR;

// Lines of samples/programs.txt: a sample and its arguments.
std::vector<std::string> samples() {
    std::vector<std::string> out;
    std::ifstream lines(source + "/samples/programs.txt");
    for (std::string line; std::getline(lines, line);)
        if (!line.empty() && line.front() != '#') out.push_back(line);
    return out;
}

class Samples : public Replay, public ::testing::WithParamInterface<std::string> {
  protected:
    // Mangled, of all that the program launches, and which of its launches is the first of that kernel's, from 1.
    std::map<std::string, int> kernels_in(const std::string& report) const {
        std::map<std::string, int> out;
        std::ifstream lines(file(report));
        int number = 0;
        for (std::string line; std::getline(lines, line);)
            out.emplace(nlohmann::json::parse(line).at("kernel"), ++number);
        return out;
    }
    // The counters of that launch of its kernel's: of those with its arguments, in its grid. Sums over all of them aside.
    nlohmann::json counters_of(const std::string& profiles, const capture::Capture& launch) const {
        std::ifstream lines(file(profiles));
        for (std::string line; std::getline(lines, line);) {
            auto json = nlohmann::json::parse(line);
            if (json.value("kernel", "") != launch.kernel || json["grid"] != nlohmann::json(launch.grid))
                continue;
            const auto arguments = json["parameters"].get<std::vector<std::uint8_t>>();
            if (!std::ranges::equal(std::as_bytes(std::span(arguments)), launch.arguments)) continue;
            for (const char* const sum : {"launches", "total_ns"}) json.erase(sum);
            return json;
        }
        return {};
    }
};

TEST_P(Samples, LeaveTheBytesAndCountersThatTheyLeftInTheirPrograms) {
    const std::string path = GetParam().substr(0, GetParam().find(' ')),
                      arguments = GetParam().substr(path.size());
    const Outcome built =
        run(source + "/tests/build_once.sh " TRIMTAB_BINARY_DIR " " + source + "/samples/" + path);
    ASSERT_EQ(built.status, 0) << built.output;
    const std::string folder = built.output.substr(0, built.output.find('\n'));
    const std::string program = folder + "/" + std::filesystem::path(path).stem().string() + arguments;
    const std::string on = "TRIMTAB=off TRIMTAB_PROFILES_BY=arguments TRIMTAB_DEVICE=rtx2070super ";
    const auto capturing = [&](const std::string& which, const std::string& name) {
        return on + "TRIMTAB_CAPTURE='" + which + "' TRIMTAB_CAPTURE_FILE=" + file(name) + " ";
    };
    ASSERT_EQ(run("TRIMTAB=observe TRIMTAB_DEVICE=rtx2070super TRIMTAB_REPORT=" + file("report.jsonl") + " " +
                  program)
                  .status,
              0);
    const std::map<std::string, int> kernels = kernels_in("report.jsonl");
    ASSERT_FALSE(kernels.empty());
    for (const auto& [kernel, number] : kernels) {
        SCOPED_TRACE(kernel);
        ASSERT_EQ(run("TRIMTAB_PROFILES=" + file("captured.jsonl") + " " +
                      capturing(kernel + ":1", "a.capture") + program)
                      .status,
                  0);
        // Made twice, and captured as the second one finds what the first one left.
        (void)run(capturing(kernel + ":2", "then.capture") + "REPEAT_LAUNCHES=2 REPEAT_ONLY=" +
                  std::to_string(number) + " LD_PRELOAD=" TRIMTAB_REPEAT " " + program);
        const Outcome again = run(on + "TRIMTAB_PROFILES=" + file("replay.jsonl") + " " + replay + " " +
                                  file("a.capture") + " " + file("now.capture"));
        ASSERT_EQ(again.status, 0) << again.output;
        const auto then = capture::read(file("then.capture")), now = capture::read(file("now.capture"));
        ASSERT_TRUE(then) << then.error().text();
        ASSERT_TRUE(now) << now.error().text();
        ASSERT_EQ(now->capture.allocations.size(), then->capture.allocations.size());
        for (std::size_t i = 0; i < now->capture.allocations.size(); ++i)
            EXPECT_TRUE(
                std::ranges::equal(now->capture.allocations[i].bytes, then->capture.allocations[i].bytes))
                << i;
        ASSERT_EQ(now->capture.variables.size(), then->capture.variables.size());
        for (std::size_t i = 0; i < now->capture.variables.size(); ++i)
            EXPECT_TRUE(std::ranges::equal(now->capture.variables[i].region.bytes,
                                           then->capture.variables[i].region.bytes))
                << i;
        const auto of_program = counters_of("captured.jsonl", now->capture),
                   of_replay = counters_of("replay.jsonl", now->capture);
        EXPECT_TRUE(of_program.contains("metrics"));
        EXPECT_EQ(nlohmann::json::diff(of_program, of_replay).dump(), "[]");
        for (const char* const name :
             {"a.capture", "then.capture", "now.capture", "captured.jsonl", "replay.jsonl"})
            std::filesystem::remove(file(name));
    }
}

INSTANTIATE_TEST_SUITE_P(Every, Samples, ::testing::ValuesIn(samples()), [](const auto& sample) {
    std::string name = std::filesystem::path(sample.param.substr(0, sample.param.find(' '))).stem().string();
    std::erase_if(name, [](char c) { return c == '_'; });
    return name;
});

}  // namespace
