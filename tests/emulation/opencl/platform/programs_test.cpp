// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole OpenCL programs in processes of their own: on Trimtab's platform, on PoCL, and on PoCL behind the layer.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/base/installation.h"
#include "core/base/process.h"
#include "core/base/temporary_folder.h"

namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using trimtab::base::Capture;
using trimtab::base::Outcome;
using Environment = std::vector<std::pair<std::string, std::string>>;

constexpr const char* source = TRIMTAB_SOURCE_DIR "/tests/emulation/opencl/programs/polybench.cl";
constexpr const char* pocl = "Portable Computing Language";

struct OpenClPrograms : testing::Test {
    trimtab::base::TemporaryFolder folder = trimtab::base::TemporaryFolder::make().value();

    [[nodiscard]] Outcome run(std::vector<std::string> words, Environment environment) const {
        environment.emplace_back("XDG_CACHE_HOME", folder.path());
        return trimtab::base::run({.words = std::move(words), .environment = std::move(environment)},
                                  Capture::output)
            .value();
    }
    [[nodiscard]] Outcome polybench(const char* platform, const std::string& results,
                                    Environment environment) const {
        return run({TRIMTAB_POLYBENCH, platform, source, folder.file(results)}, std::move(environment));
    }
    // With driver programs, reported in `report`. A program waits for them for some time only, and on a machine that others
    // use that may not do: they are still being prepared, and one that is started again finds more of them.
    [[nodiscard]] Outcome prepared_polybench(const char* platform, const std::string& results,
                                             const std::string& report, Environment environment) const {
        environment.emplace_back("TRIMTAB_MODULES", "wait");
        environment.emplace_back("TRIMTAB_REPORT", folder.file(report));
        for (int tries = 1;; ++tries) {
            std::filesystem::remove(folder.file(report));
            Outcome outcome = polybench(platform, results, environment);
            if (outcome.exit_code != 0 || tries == 5 || changed(launches(report)) > 0) return outcome;
        }
    }
    [[nodiscard]] std::string read(const std::string& name) const {
        std::ifstream file(folder.file(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    // Of each launch, as TRIMTAB_REPORT has it.
    [[nodiscard]] std::vector<Json> launches(const std::string& name) const {
        std::vector<Json> all;
        std::ifstream file(folder.file(name));
        for (std::string line; std::getline(file, line);) all.push_back(Json::parse(line));
        return all;
    }
    static std::size_t changed(const std::vector<Json>& launches) {
        return static_cast<std::size_t>(std::ranges::count_if(
            launches, [](const Json& launch) { return launch.at("written") != launch.at("chosen"); }));
    }
};

const Environment on_the_platform{{"OCL_ICD_VENDORS", TRIMTAB_PLATFORM}, {"TRIMTAB_DEVICE", "k620"}};

// What is chosen changes no byte.
TEST_F(OpenClPrograms, PolybenchOnThePlatformWithAndWithoutChoices) {
    Environment environment = on_the_platform;
    environment.emplace_back("TRIMTAB", "off");
    const Outcome plain = polybench("Trimtab", "plain", environment);
    ASSERT_EQ(plain.exit_code, 0) << plain.captured;
    EXPECT_THAT(plain.captured, HasSubstr("21 of 21"));
    const Outcome chosen = prepared_polybench("Trimtab", "chosen", "report", on_the_platform);
    ASSERT_EQ(chosen.exit_code, 0) << chosen.captured;
    EXPECT_EQ(read("plain"), read("chosen"));
    const auto all = launches("report");
    EXPECT_GT(all.size(), 200u);
    EXPECT_GT(changed(all), all.size() / 4) << "most have better ones";
    for (const Json& launch : all) EXPECT_EQ(launch.at("device"), "k620");
}

TEST_F(OpenClPrograms, PolybenchOnPoclWithAndWithoutTheLayer) {
    const Outcome plain = polybench(pocl, "plain", {});
    if (plain.exit_code == 3) GTEST_SKIP() << "PoCL is not installed";
    ASSERT_EQ(plain.exit_code, 0) << plain.captured;
    // A CPU has no description: nothing is changed, and the report says so.
    const Environment layer{{"OPENCL_LAYERS", TRIMTAB_LAYER}, {"TRIMTAB_REPORT", folder.file("alone")}};
    const Outcome alone = polybench(pocl, "left alone", layer);
    ASSERT_EQ(alone.exit_code, 0) << alone.captured;
    EXPECT_EQ(read("plain"), read("left alone"));
    const auto left = launches("alone");
    EXPECT_GT(left.size(), 200u);
    EXPECT_EQ(changed(left), 0u);
    for (const Json& launch : left) EXPECT_THAT(launch.at("reason"), HasSubstr("has no description"));
    // Taken for a GPU, it gets that one's work-groups: other sizes, larger global sizes, the same bytes.
    const Outcome as_gpu = prepared_polybench(pocl, "as a GPU", "chosen",
                                              {{"OPENCL_LAYERS", TRIMTAB_LAYER}, {"TRIMTAB_DEVICE", "k620"}});
    ASSERT_EQ(as_gpu.exit_code, 0) << as_gpu.captured;
    EXPECT_EQ(read("plain"), read("as a GPU"));
    const auto all = launches("chosen");
    EXPECT_GT(changed(all), 0u);
    EXPECT_TRUE(std::ranges::any_of(all, [](const Json& launch) {
        const auto items = [&](const char* which, std::size_t d) {
            return launch.at(which).at("grid").at(d).get<int>() *
                   launch.at(which).at("block").at(d).get<int>();
        };
        return items("chosen", 0) > items("written", 0) || items("chosen", 1) > items("written", 1);
    })) << "a global size has grown";
}

// What a source makes of __OPENCL_VERSION__ is decided by the driver's device: there every kernel reads its work-group's size,
// and no other one is proved to leave the results alone.
TEST_F(OpenClPrograms, TheLayerReadsASourceAsItsDriverDoes) {
    const std::string asking = folder.file("asking.cl");
    std::ofstream(asking) << "#if __OPENCL_VERSION__ >= 120\n"
                             "size_t seen(uint d) { return get_global_id(d) + (get_local_size(d) == 7); }\n"
                             "#define get_global_id seen\n"
                             "#endif\n"
                          << std::ifstream(source).rdbuf();
    const Outcome outcome = run({TRIMTAB_POLYBENCH, pocl, asking, folder.file("results"), "9"},
                                {{"OPENCL_LAYERS", TRIMTAB_LAYER},
                                 {"TRIMTAB_DEVICE", "k620"},
                                 {"TRIMTAB_MODULES", "wait"},
                                 {"TRIMTAB_REPORT", folder.file("report")}});
    if (outcome.exit_code == 3) GTEST_SKIP() << "PoCL is not installed";
    ASSERT_EQ(outcome.exit_code, 0) << outcome.captured;
    const auto all = launches("report");
    EXPECT_GT(all.size(), 50u);
    EXPECT_EQ(changed(all), 0u);
    for (const Json& launch : all)
        EXPECT_THAT(launch.at("reason"), HasSubstr("blockDim")) << "it was read, not left alone";
}

// Two programs that meet at an empty cache.
TEST_F(OpenClPrograms, TwoAtOnceOnAColdCache) {
    Environment environment = on_the_platform;
    environment.emplace_back("TRIMTAB_MODULES", "background");
    environment.emplace_back("XDG_CACHE_HOME", folder.path());
    std::vector<std::future<Outcome>> both;
    for (const char* results : {"first", "second"})
        both.push_back(std::async(std::launch::async, [&, results] {
            return trimtab::base::run(
                       {.words = {TRIMTAB_POLYBENCH, "Trimtab", source, folder.file(results), "17"},
                        .environment = environment},
                       Capture::output)
                .value();
        }));
    for (auto& one : both) {
        const Outcome outcome = one.get();
        EXPECT_EQ(outcome.exit_code, 0) << outcome.captured;
    }
    EXPECT_EQ(read("first"), read("second"));
}

TEST_F(OpenClPrograms, RunFindsThePlatformOfTheDevice) {
    const Outcome outcome = run({TRIMTAB_BINARY_DIR "/bin/trimtab", "run", "--device", "k20c", "--report",
                                 folder.file("report.jsonl"), "--", TRIMTAB_POLYBENCH, "Trimtab", source,
                                 folder.file("results"), "9"},
                                {{"TRIMTAB_MODULES", "off"}});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.captured;
    const auto all = launches("report.jsonl");
    EXPECT_GT(all.size(), 50u);
    for (const Json& launch : all) EXPECT_EQ(launch.at("device"), "k20c");
}

TEST_F(OpenClPrograms, ClinfoReadsThePlatformWhole) {
    const auto clinfo = trimtab::base::find_program("clinfo");
    if (!clinfo) GTEST_SKIP() << "clinfo is not installed";
    const Outcome outcome = run({*clinfo}, on_the_platform);
    ASSERT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.captured, HasSubstr("Trimtab"));
    EXPECT_THAT(outcome.captured, HasSubstr("K620"));
    EXPECT_THAT(outcome.captured, testing::Not(HasSubstr("error -"))) << "a question without an answer";
    const Outcome refused =
        run({*clinfo}, {{"OCL_ICD_VENDORS", TRIMTAB_PLATFORM}, {"TRIMTAB_DEVICE", "k621"}});
    EXPECT_EQ(refused.exit_code, 0) << "a platform without devices";
}

}  // namespace
