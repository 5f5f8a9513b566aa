// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/selection_quality/kernel_list.h"

#include <gmock/gmock.h>

#include <fstream>

#include "core/base/temporary_folder.h"

namespace trimtab::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Sizes, SumsOfProducts) {
    EXPECT_EQ(evaluate_size("n", 7), 7);
    EXPECT_EQ(evaluate_size("2*n*n - 3 + n", 5), 52);
    EXPECT_EQ(evaluate_size("500", 5), 500);
    for (const char* bad : {"", "n +", "m", "2n", "* n", "n - -1"})
        EXPECT_FALSE(evaluate_size(bad, 5)) << bad;
}

TEST(Launches, AFewStandForAll) {
    const ListedKernel kernel{
        .app = "3d_conv",
        .kernel = "k",
        .source = {},
        .symbol = "k",
        .extent = {"n"},
        .block = {256},
        .arguments = {{"NI", "n"}},
        .launches = ListedKernel::Launches{.argument = "i", .from = "1", .to = "n - 2"}};
    // 1..10 in three parts: 1..3, 4..6, 7..10.
    const auto launches = launches_at(kernel, 12, 3);
    ASSERT_EQ(launches.size(), 3u);
    double weights = 0;
    for (const auto& launch : launches) weights += launch.weight;
    EXPECT_DOUBLE_EQ(weights, 10);
    EXPECT_THAT(launches[0].texts, ElementsAre("NI=12", "i=2"));
    EXPECT_THAT(launches[2].texts, ElementsAre("NI=12", "i=8"));
    EXPECT_EQ(launches_at(kernel, 12, 100).size(), 10u);
    EXPECT_TRUE(launches_at(kernel, 2, 3).empty());
}

TEST(KernelList, TheOneOfThePolybenchTablesIsWhole) {
    const auto kernels = read_kernel_list(TRIMTAB_SOURCE_DIR "/bench/selection_quality/polybench.json");
    ASSERT_TRUE(kernels) << kernels.error().text();
    for (const ListedKernel& kernel : *kernels) {
        std::ifstream stream(kernel.source);
        const std::string text{std::istreambuf_iterator<char>(stream), {}};
        EXPECT_THAT(text, HasSubstr(" " + kernel.symbol + "(")) << kernel.source;
        for (const auto& [name, value] : kernel.arguments)
            EXPECT_THAT(text, HasSubstr(" " + name)) << kernel.symbol;
    }
    EXPECT_NE(find_kernel(*kernels, "3DCONV", "convolution3D_kernel"), nullptr);
    EXPECT_NE(find_kernel(*kernels, "3d_conv", "convolution3D_kernel"), nullptr);
    EXPECT_EQ(find_kernel(*kernels, "GEMM", "syrk_kernel"), nullptr);
}

TEST(KernelList, ErrorsNameTheEntry) {
    const auto folder = base::TemporaryFolder::make().value();
    const std::string path = folder.file("kernels.json");
    const auto expect = [&](const std::string& text, const std::string& message) {
        std::ofstream(path) << text;
        const auto kernels = read_kernel_list(path);
        ASSERT_FALSE(kernels) << text;
        EXPECT_THAT(kernels.error().text(), HasSubstr(message));
    };
    expect("{}", "kernels is not a list");
    expect("[{\"app\": \"A\"}]", "kernels[0] has no member");
    expect(R"([{"app": "A", "kernel": "k", "source": "k.cu", "symbol": "k", "extent": ["n"], "block": [1, 2],
               "arguments": {}}])",
           "kernels[0] has not one or two extents");
    expect(R"([{"app": "A", "kernel": "k", "source": "k.cu", "symbol": "k", "extent": ["n/2"], "block": [1],
               "arguments": {}}])",
           "kernels[0].extent[0] is \"n/2\", which is no sum");
}

}  // namespace
}  // namespace trimtab::bench
