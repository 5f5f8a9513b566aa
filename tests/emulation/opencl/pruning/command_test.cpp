// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `trimtab prune` as users meet it.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/process.h"
#include "core/base/temporary_folder.h"

namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using trimtab::base::Capture;
using trimtab::base::Outcome;

struct PruneCommand : testing::Test {
    trimtab::base::TemporaryFolder folder = trimtab::base::TemporaryFolder::make().value();

    [[nodiscard]] Outcome prune(std::vector<std::string> words, Capture capture = Capture::output) const {
        words.insert(words.begin(), {TRIMTAB_BINARY_DIR "/bin/trimtab", "prune"});
        return trimtab::base::run(
                   {.words = std::move(words), .environment = {{"XDG_CACHE_HOME", folder.path()}}}, capture)
            .value();
    }
    static std::string bench(const std::string& name) { return TRIMTAB_SOURCE_DIR "/bench/pruning/" + name; }
};

TEST_F(PruneCommand, ChoosesAmongTheSizesThatAreLegal) {
    const std::vector<std::string> asked{bench("nn.cl"), "--device",     "k620",   "--global", "131072",
                                         "--arg",        "count=131072", "--json", "--all"};
    const Outcome outcome = prune(asked);
    ASSERT_EQ(outcome.exit_code, 0);
    const Json json = Json::parse(outcome.captured);
    EXPECT_EQ(json["verdict"], "covering");
    EXPECT_EQ(json["sizes"].size(), 1024u);
    EXPECT_EQ(json["launchable"], 1024);
    EXPECT_LE(json["simulated"], 8 + 2);  // and 64 and 256 items, which it is shown beside
    EXPECT_EQ(json["ranking"][0]["x"], json["chosen"]["x"]);
    EXPECT_EQ(json["chosen"]["fate"], "simulated");
    // What the few simulated ones are chosen from is near the best of all; in the order of bounds nothing better is left out.
    const auto by = [&](const char* method) {
        auto words = asked;
        words.insert(words.end(), {"--method", method});
        return Json::parse(prune(words).captured);
    };
    const Json exhaustive = by("exhaustive"), ordered = by("ordered");
    const double best = exhaustive["chosen"]["ns"];
    EXPECT_LE(json["chosen"]["ns"].get<double>(), 1.05 * best);
    EXPECT_LE(ordered["chosen"]["ns"].get<double>(), 1.01 * best);
    EXPECT_EQ(exhaustive["simulated"], 1024);
    // Counts of runs in the place of static ones, of a few sizes.
    auto emulated = asked;
    emulated.insert(emulated.end(), {"--metrics", "emulated", "--sizes", "64,1;256,1;1000,1"});
    EXPECT_EQ(Json::parse(prune(emulated).captured)["launchable"], 3);
}

TEST_F(PruneCommand, KeepsToWhatDividesWhereAKernelIsNotCovering) {
    const Json json =
        Json::parse(prune({bench("backprop.cl"), "--kernel", "layer_forward", "--device", "k600", "--global",
                           "100,1600", "--arg", "hidden=100", "--local-per-item", "4", "--json", "--all"})
                        .captured);
    EXPECT_EQ(json["verdict"], "fixed");
    for (const Json& size : json["sizes"]) {
        EXPECT_EQ(100 % size["x"].get<int>(), 0);
        EXPECT_EQ(1600 % size["y"].get<int>(), 0);
    }
}

TEST_F(PruneCommand, ShowsWholeGroupsAndOtherSizesBesideTheChosenOne) {
    const Json json = Json::parse(prune({bench("nn.cl"), "--device", "k620", "--global", "10007", "--arg",
                                         "count=10007", "--block", "96", "--json"})
                                      .captured);
    const unsigned chosen = json["chosen"]["x"];
    EXPECT_EQ(json["global_padded"][0], (10007 + chosen - 1) / chosen * chosen);
    ASSERT_EQ(json["others"].size(), 3u);
    EXPECT_EQ(json["others"][0]["what"], "as written");
    EXPECT_EQ(json["others"][0]["x"], 96);
    EXPECT_EQ(json["others"][1]["x"], 64);
    EXPECT_EQ(json["others"][2]["x"], 256);
    for (const Json& other : json["others"])
        EXPECT_GE(other["ns"].get<double>(), json["chosen"]["ns"].get<double>()) << other["what"];
}

TEST_F(PruneCommand, RefusesSizesThatGoPastTheKernelsLocalMemory) {
    const std::string file = folder.file("tile.cl");
    std::ofstream(file) << R"(__kernel void shifted(__global const float *in, __global float *out) {
    __local float tile[256];
    int l = get_local_id(0);
    tile[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[l ^ 1];
})";
    const Json json =
        Json::parse(prune({file, "--device", "k620", "--global", "8192", "--sizes",
                           "128,1;256,1;257,1;512,1;1024,1", "--method", "exhaustive", "--json", "--all"})
                        .captured);
    for (const Json& size : json["sizes"])
        EXPECT_EQ(size["fate"], size["x"] > 256 ? "refused" : "simulated") << size["x"];
    EXPECT_EQ(json["contradicted"]["sizes"], 3);
    EXPECT_THAT(json["contradicted"]["at"][0].get<std::string>(), HasSubstr("tile.cl:"));
    // Local memory that the launch gives has any size.
    std::ofstream(file) << R"(__kernel void given(__global float *out, __local float *tile) {
    tile[get_local_id(0)] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[0];
})";
    EXPECT_EQ(Json::parse(prune({file, "--device", "k620", "--global", "8192", "--sizes", "64,1;512,1",
                                 "--local-per-item", "4", "--json"})
                              .captured)["contradicted"]["sizes"],
              0);
}

// Branches that arrays decide are those of the program's own data (section 5.3).
TEST_F(PruneCommand, TakesTheLaunchesOfAProgramWithTheirData) {
    const std::string source = folder.file("rows.cu"), program = folder.file("rows");
    std::ofstream(source) << R"(#include <cstdio>
__global__ void rows(const int *lengths, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < lengths[i]; ++k) sum += sqrtf(float(k + i));
    out[i] = sum;
}
int main(int argc, char **) {
    const int n = 4096;
    int *lengths;
    float *out;
    cudaMallocManaged(&lengths, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(float));
    for (int i = 0; i < n; ++i) lengths[i] = argc > 1 ? 1000 : 1;
    rows<<<n / 256, 256>>>(lengths, out, n);
    cudaDeviceSynchronize();
}
)";
    ASSERT_EQ(trimtab::base::run({.words = {TRIMTAB_BINARY_DIR "/bin/trimtab++", "-O2", "--trimtab-quiet",
                                            source, "-o", program},
                                  .environment = {{"XDG_CACHE_HOME", folder.path()}}})
                  .value()
                  .exit_code,
              0);
    const auto times = [&](std::vector<std::string> words) {
        const Outcome outcome = prune(std::move(words));
        EXPECT_EQ(outcome.exit_code, 0) << outcome.captured;
        return Json::parse(outcome.captured);
    };
    const Json little = times({"--device", "rtx2070super", "--json", "--", program})[0];
    const Json much =
        times({"--device", "rtx2070super", "--json", "--kernel", "rows", "--", program, "much"})[0];
    EXPECT_EQ(little["global"][0], 4096);
    EXPECT_EQ(little["metrics"], "emulated");
    EXPECT_EQ(little["others"][0]["x"], 256);
    EXPECT_GT(much["chosen"]["ns"].get<double>(), 2 * little["chosen"]["ns"].get<double>());

    const std::string capture = folder.file("rows.capture");
    ASSERT_EQ(trimtab::base::run({.words = {program, "much"},
                                  .environment = {{"TRIMTAB_CAPTURE", "rows"},
                                                  {"TRIMTAB_CAPTURE_FILE", capture},
                                                  {"TRIMTAB_DEVICE", "rtx2070super"},
                                                  {"TRIMTAB", "off"}}})
                  .value()
                  .exit_code,
              0);
    EXPECT_EQ(times({"--capture", capture, "--json"})["chosen"]["ns"], much["chosen"]["ns"]);
    // Of the code alone nobody knows how long a row is.
    const Json walked = times({"--capture", capture, "--metrics", "static", "--json"});
    EXPECT_EQ(walked["assumed"]["loops"].size(), 1u);
    EXPECT_LT(walked["chosen"]["ns"].get<double>(), much["chosen"]["ns"].get<double>());

    const Outcome both = prune({"--capture", capture, "--kernel", "rows"}, Capture::messages);
    EXPECT_EQ(both.exit_code, 2);
    const Outcome none = prune({"--kernel", "columns", "--", program}, Capture::messages);
    EXPECT_EQ(none.exit_code, 3);
    EXPECT_THAT(none.captured, HasSubstr("columns"));
}

TEST_F(PruneCommand, RefusesInOneLine) {
    EXPECT_EQ(prune({bench("nn.cl"), "--device", "k620"}, Capture::messages).exit_code, 2);  // no --global
    const Outcome missing = prune({bench("nn.cl"), "--device", "k620", "--global", "64"}, Capture::messages);
    EXPECT_EQ(missing.exit_code, 3);
    EXPECT_THAT(missing.captured, HasSubstr("give --arg count=VALUE"));
    EXPECT_EQ(prune({bench("nn.cl"), "--device", "nothing", "--global", "64", "--arg", "count=64"},
                    Capture::messages)
                  .exit_code,
              3);
    EXPECT_EQ(
        prune({bench("nn.cl"), "--device", "k620", "--global", "0", "--arg", "count=64"}, Capture::messages)
            .exit_code,
        3);
    // A size that no device has: the answer is no.
    const Outcome refused = prune(
        {bench("nn.cl"), "--device", "k620", "--global", "64", "--arg", "count=64", "--sizes", "2048,1"},
        Capture::messages);
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.captured, HasSubstr("cannot be launched"));
}

}  // namespace
