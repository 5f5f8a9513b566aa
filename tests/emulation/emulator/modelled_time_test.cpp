// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One launch, three ways to its modelled time: fitted counters in the driver program, counters of sampled
// blocks (trimtab predict --measure), counters of the run itself (events on the emulator). They must agree.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr double agreement = 0.25;

struct KernelLaunch {
    std::string sample, kernel, arguments, grid, block;
    int run_size = 0;  // the program's N, where the program is run too
};

void PrintTo(const KernelLaunch& launch, std::ostream* out) {
    *out << launch.kernel << " " << launch.grid;
}

class ModelledTime : public testing::TestWithParam<KernelLaunch> {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / ("trimtab_modelled_time_" + std::to_string(::getpid()));
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    }
    void TearDown() override { fs::remove_all(folder_); }

    // Standard output; nothing where the command fails.
    [[nodiscard]] std::optional<std::string> output_of(const std::string& command) const {
        const std::string line = "cd '" + folder_.string() + "' && " + command + " 2>errors.txt";
        FILE* pipe = popen(line.c_str(), "r");
        if (pipe == nullptr) return {};
        std::string text;
        std::array<char, 4096> part;
        for (std::size_t got = 0; (got = fread(part.data(), 1, part.size(), pipe)) > 0;)
            text.append(part.data(), got);
        if (pclose(pipe) == 0) return text;
        return {};
    }
    [[nodiscard]] double predicted_ns(const std::string& command, const std::string& by) const {
        const auto text = output_of(command);
        if (!text) return 0;
        const auto prediction = nlohmann::json::parse(*text, nullptr, false);
        if (!prediction.is_object() || prediction.value("by", "") != by) return 0;
        return prediction.value("ns", 0.0);
    }

    fs::path folder_;
    const std::string bin_ = std::string(TRIMTAB_BINARY_DIR) + "/bin/";
};

TEST_P(ModelledTime, OfFitsSamplesAndRunsAgree) {
    const KernelLaunch& launch = GetParam();
    ASSERT_TRUE(output_of("'" + bin_ + "trimtab++' -O3 '" TRIMTAB_SOURCE_DIR "/samples/polybench/" +
                          launch.sample + ".cu' -o program"));
    for (const std::string device : {"rtx2070super", "gtx1080ti"}) {
        SCOPED_TRACE(device);
        std::string predict = "'" + bin_ + "trimtab' predict --json program --kernel " + launch.kernel +
                              " --device " + device + " --grid " + launch.grid + " --block " + launch.block;
        std::istringstream arguments(launch.arguments);
        for (std::string argument; arguments >> argument;) predict += " --arg " + argument;
        const double fitted = predicted_ns(predict, "driver"),
                     measured = predicted_ns(predict + " --measure", "emulation");
        ASSERT_GT(fitted, 0) << predict;
        ASSERT_GT(measured, 0) << predict;
        EXPECT_NEAR(measured / fitted, 1, agreement) << "measured " << measured << " ns";
        if (launch.run_size == 0) continue;

        const auto run = output_of("TRIMTAB=off TRIMTAB_DEVICE=" + device + " ./program " +
                                   std::to_string(launch.run_size));
        ASSERT_TRUE(run);
        const std::size_t line = run->find(launch.kernel + " ");
        ASSERT_NE(line, std::string::npos) << *run;
        const double event_ns = std::strtod(run->c_str() + line + launch.kernel.size(), nullptr) * 1e6;
        EXPECT_NEAR(event_ns / fitted, 1, agreement) << "events " << event_ns << " ns";
    }
}

INSTANTIATE_TEST_SUITE_P(
    Samples, ModelledTime,
    testing::Values(
        KernelLaunch{"gemm", "gemm_kernel", "NI=512 NJ=512 NK=512", "16,64", "32,8", 512},
        KernelLaunch{"syrk", "syrk_kernel", "alpha=1.25 beta=0.75 M=512 N=512", "16,64", "32,8", 512},
        KernelLaunch{"atax", "atax_kernel1", "NX=512 NY=512", "2", "256", 512},
        KernelLaunch{"atax", "atax_kernel2", "NX=512 NY=512", "2", "256", 512},
        // Neither the wave nor the launch is affordable.
        KernelLaunch{"syrk", "syrk_kernel", "alpha=1.25 beta=0.75 M=2048 N=2048", "64,256", "32,8"},
        // One thread does all.
        KernelLaunch{"gramschm", "gramschmidt_kernel1", "k=5 M=2048 N=2048", "1", "256"}));

}  // namespace
