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
    EXPECT_LE(json["simulated"], 8);
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
