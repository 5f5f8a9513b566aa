// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes that threads load again and again (reuse.cu): what is said of the plain kernel is held against what was made of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "core/analysis/launches/legal_blocks.h"
#include "core/base/temporary_folder.h"
#include "emulation/emulator/exec/memory.h"
#include "emulation/emulator/metrics/result_work.h"
#include "tests/emulation/emulator/compile.h"
#include "tools/advice/advise.h"
#include "tools/advice/tile.h"
#include "tools/trimtab/emulated_opinion.h"
#include "tools/trimtab/kernel_facts.h"
#include "tools/trimtab/measured_launch.h"

namespace trimtab::tools {
namespace {

using advice::Finding;

std::string source() {
    std::ifstream file(TRIMTAB_SOURCE_DIR "/tests/tools/advice/reuse.cu");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// As the PTX names it.
std::string line_of(const std::string& kernel) {
    std::istringstream lines(source());
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number)
        if (line.ends_with("// here: " + kernel)) return "kernels.cu:" + std::to_string(number);
    return "no line";
}

const KernelFile& kernels() {
    static const KernelFile file = [] {
        const auto folder = base::TemporaryFolder::make().value();
        const std::string path = folder.file("reuse.ptx");
        std::ofstream(path) << emulator::test::compile_cuda(source(), "-O3 -gline-tables-only");
        auto loaded = load_kernels(path);
        EXPECT_TRUE(loaded) << loaded.error().text();
        return loaded ? *loaded : KernelFile{};
    }();
    return file;
}

struct Launch {
    std::string kernel;
    std::vector<std::string> arguments;
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
};

emulator::LaunchProfile profile_of(const Launch& launch, const model::Device& device) {
    const auto index = find_kernel(kernels(), launch.kernel);
    EXPECT_TRUE(index) << index.error().text();
    const auto& description = kernels().kernels[*index].record.description;
    auto arguments = parse_arguments(description, launch.arguments, &emulator::SparseMemory::region_base);
    EXPECT_TRUE(arguments) << arguments.error().text();
    const LaunchQuestion question{.file = kernels(),
                                  .kernel = *index,
                                  .device = device,
                                  .arguments = *arguments,
                                  .image = analysis::to_driver_image(
                                      analysis::image_for(description, device.values.compute_capability)),
                                  .registers_from = "estimated"};
    const auto measured = measure_launch(question, launch.grid, launch.block, 0);
    EXPECT_TRUE(measured) << measured.error().text();
    return measured->profile;
}

advice::KernelAdvice advice_on(const Launch& launch, const std::string& device_name) {
    const auto device = model::find_device(device_name);
    EmulatedOpinion opinion(kernels(), *device);
    const auto index = find_kernel(kernels(), launch.kernel);
    return advice::advise({profile_of(launch, *device)}, *device,
                          {{launch.kernel, facts_of(kernels().kernels[*index].record.description)}}, {},
                          &opinion)
        .kernels.front();
}

Launch product(const std::string& kernel, std::uint32_t per_block) {
    constexpr std::uint32_t n = 1024;
    return {.kernel = kernel,
            .arguments = {"3=" + std::to_string(n)},
            .grid = {n / per_block, n / per_block, 1},
            .block = {16, 16, 1}};
}

class Reuse : public testing::TestWithParam<std::string> {};

// The twin that was written by hand gains what the finding says, within its bounds, and near what is promised.
TEST_P(Reuse, IsFoundFirstInAProductAndGainsWhatTheTilesGain) {
    const advice::KernelAdvice plain = advice_on(product("product", 16), GetParam()),
                               tiled = advice_on(product("product_in_registers", 64), GetParam());
    ASSERT_FALSE(plain.findings.empty());
    const Finding& found = plain.findings.front();
    ASSERT_EQ(found.rule, "reuse");
    EXPECT_GE(found.gain, 3);
    EXPECT_LE(found.least, found.gain);
    EXPECT_GE(found.most, found.gain);
    ASSERT_TRUE(plain.emulated_ns) << plain.not_emulated;
    ASSERT_FALSE(found.evidence.empty());
    EXPECT_TRUE(found.evidence.front().source.ends_with(line_of("product"))) << found.evidence.front().source;
    EXPECT_NE(found.change.find("results per thread"), std::string::npos) << found.change;
    EXPECT_FALSE(plain.is_close && plain.bottleneck.contains("little left"));
    // Registers are those of sm_75, more than a thread of the oldest GPU has.
    if (tiled.not_emulated.contains("does not fit")) return;
    ASSERT_TRUE(tiled.emulated_ns) << tiled.not_emulated;
    for (const double gain : {*plain.emulated_ns / *tiled.emulated_ns, plain.time_ns / tiled.time_ns}) {
        EXPECT_LE(found.least, gain);
        EXPECT_GE(found.most, gain);
        EXPECT_NEAR(found.gain / gain, 1, 0.5) << "the twin is " << gain << " times as fast";
    }
}

TEST_P(Reuse, IsNotAdvisedAgain) {
    for (const Launch& launch : {product("product_in_tiles", 16), product("product_in_registers", 64),
                                 Launch{"added", {"3=1048576"}, {4096, 1, 1}, {256, 1, 1}},
                                 Launch{"gathered", {"3=1048576"}, {4096, 1, 1}, {256, 1, 1}}})
        for (const Finding& finding : advice_on(launch, GetParam()).findings)
            EXPECT_NE(finding.rule, "reuse") << launch.kernel << ": " << finding.gain;
}

INSTANTIATE_TEST_SUITE_P(Devices, Reuse, testing::Values("rtx2070super", "c2050", "gtx960", "h100"));

TEST(ReuseOfWindows, IsFoundAcrossIterations) {
    const advice::KernelAdvice kernel =
        advice_on({"windows", {"3=1048576", "4=64"}, {4096, 1, 1}, {256, 1, 1}}, "gtx1080ti");
    const auto found = std::ranges::find(kernel.findings, "reuse", &Finding::rule);
    ASSERT_NE(found, kernel.findings.end());
    EXPECT_TRUE(found->evidence.front().source.ends_with(line_of("windows")))
        << found->evidence.front().source;
}

// What later iterations load again is in no register meanwhile: the promise is what shared memory gains.
TEST(ReuseOfOwnValues, PromisesWhatTheTileGains) {
    const auto launch = [](const std::string& kernel) {
        return Launch{kernel, {"2=8192", "3=64"}, {128, 1, 1}, {64, 1, 1}};
    };
    const advice::KernelAdvice plain = advice_on(launch("repeated"), "c2050"),
                               tiled = advice_on(launch("repeated_in_tiles"), "c2050");
    const auto found = std::ranges::find(plain.findings, "reuse", &Finding::rule);
    ASSERT_NE(found, plain.findings.end());
    EXPECT_TRUE(found->evidence.front().source.ends_with(line_of("repeated")))
        << found->evidence.front().source;
    EXPECT_NE(found->change.find("bytes of shared memory"), std::string::npos) << found->change;
    ASSERT_TRUE(plain.emulated_ns) << plain.not_emulated;
    ASSERT_TRUE(tiled.emulated_ns) << tiled.not_emulated;
    const double gain = *plain.emulated_ns / *tiled.emulated_ns;
    EXPECT_NEAR(found->gain / gain, 1, 0.5)
        << found->change << ": the twin is " << gain << " times as fast, " << found->gain << " are promised";
    EXPECT_LE(found->least, gain);
    EXPECT_GE(found->most, gain);
}

// A box's distinct bytes, one by one.
TEST(Tile, TouchesWhatItsThreadsTouch) {
    struct Case {
        std::array<std::int64_t, 3> stride;
        std::vector<std::uint64_t> addresses;
        std::uint32_t bytes;
    };
    for (const Case& one : {Case{{4, 0, 0}, {4096, 8192, 12288}, 4},
                            Case{{4, 400, 40000}, {40404, 40408, 40400, 40804, 40004}, 4},
                            Case{{0, 400, 0}, {4096, 4100, 4104}, 4}, Case{{12, -8, 36}, {4096, 4200}, 8},
                            Case{{0, 0, 0}, {4096}, 16}}) {
        const emulator::LoadPattern pattern{
            .instruction = 0, .bytes = one.bytes, .stride = one.stride, .addresses = one.addresses};
        advice::LoadGroup group;
        group.loads = {&pattern};
        for (const advice::Extents& box :
             {advice::Extents{1, 1, 1}, advice::Extents{16, 4, 1}, advice::Extents{5, 3, 7}}) {
            std::set<std::int64_t> bytes, sectors;
            for (std::int64_t z = 0; z < box[2]; ++z)
                for (std::int64_t y = 0; y < box[1]; ++y)
                    for (std::int64_t x = 0; x < box[0]; ++x)
                        for (const std::uint64_t address : one.addresses)
                            for (std::int64_t byte = 0; byte < one.bytes; ++byte) {
                                const std::int64_t at = static_cast<std::int64_t>(address) + byte +
                                                        x * one.stride[0] + y * one.stride[1] +
                                                        z * one.stride[2];
                                bytes.insert(at);
                                sectors.insert(at / 32);
                            }
            const auto touched = group.touched(box, 64);
            ASSERT_TRUE(touched);
            EXPECT_EQ(touched->bytes, static_cast<double>(bytes.size()));
            EXPECT_EQ(touched->sectors, static_cast<double>(sectors.size()));
        }
    }
}

// Where addresses go: linear ones as they are, others not at all; and what is done for results, not for the way.
TEST(Patterns, FollowTheThread) {
    const auto device = model::find_device("rtx2070super");
    EmulatedOpinion opinion(kernels(), *device);
    const auto profile = profile_of(product("product", 16), *device);
    const auto patterns = opinion.patterns(profile);
    ASSERT_TRUE(patterns) << patterns.error();
    std::set<std::array<std::int64_t, 3>> strides;
    for (const auto& load : patterns->accesses.loads) strides.insert(load.stride);
    EXPECT_EQ(strides, (std::set<std::array<std::int64_t, 3>>{{0, 4096, 0}, {4, 0, 0}}));
    double multiplied = 0, counted = 0;
    for (const auto& one : profile.instructions) {
        if (one.kind == emulator::InstructionClass::fp32) {
            multiplied += 1;
            EXPECT_TRUE(patterns->works[one.index]) << one.text;
        }
        // The addresses' and the loop's; zero is where a sum begins.
        if (one.text.starts_with("add.s") || one.text.starts_with("mad.") || one.text.contains("bra")) {
            counted += 1;
            EXPECT_FALSE(patterns->works[one.index]) << one.text;
        }
    }
    EXPECT_GT(multiplied, 0);
    EXPECT_GT(counted, 0);
    const auto scattered = profile_of({"gathered", {"3=1048576"}, {4096, 1, 1}, {256, 1, 1}}, *device);
    const auto known = opinion.patterns(scattered);
    ASSERT_TRUE(known) << known.error();
    EXPECT_EQ(known->accesses.loads.size(), 1);  // the indices
}

}  // namespace
}  // namespace trimtab::tools
