// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The corpus: every kernel gets the verdict that stands before it, from every compiler at every level, and
// every legal one leaves the same memory under every legal block (corpus/README.md).
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <regex>
#include <sstream>
#include <tuple>

#include "cuda_compiler.h"
#include "kernel_trial.h"
#include "profiler/plan.h"

namespace trimtab::analysis::test {
namespace {

// The fewest kernels of a file, and those of them that run.
const std::map<std::string, std::pair<std::size_t, unsigned>> least_kernels{
    {"legal", {40, 25}},
    {"hostile", {40, 12}},
    {"guards_hostile", {30, 25}},
    {"waiting_hostile", {9, 0}},
    {"strides_legal", {25, 25}},
    {"strides_hostile", {40, 25}},
    {"strides_sums_hostile", {15, 12}},
    {"strides_between_hostile", {20, 15}},
    {"strides_first_hostile", {16, 12}},
    {"block_strides_legal", {20, 18}},
    {"block_strides_hostile", {35, 1}},
    {"block_strides_first_hostile", {16, 1}},
    {"warps_legal", {16, 16}},
    {"warps_hostile", {20, 3}},
    {"blocks_legal", {18, 18}},
    {"blocks_hostile", {25, 1}},
    {"blocks_exchanges_hostile", {12, 1}},
    {"sums_legal", {8, 7}},
    {"sums_hostile", {17, 1}},
    {"tables_legal", {13, 13}},
    {"tables_hostile", {35, 0}},
    {"tables_own_hostile", {15, 1}},
    {"launch_sums_legal", {9, 9}},
    {"launch_sums_hostile", {20, 2}},
    {"private_legal", {10, 1}},
    {"private_hostile", {20, 1}}};

// As large as lets every block be tried.
constexpr unsigned max_threads = 40, most_of_warps = 160;

struct Expectation {
    std::string verdict;
    unsigned rule = 0;
    std::string text;
    bool runs = true;
};

std::map<std::string, Expectation> expectations(const std::string& source, const std::string& level) {
    std::map<std::string, Expectation> result;
    const std::regex form(
        "//= (covering|dividing|fixed)(?: ([0-9]) \"([^\"]*)\")?( alone)?((?:; \\S+ \\S+)*)"),
        kernel("__global__ void (?:__launch_bounds__\\(\\d+\\) )?(\\w+(?:<[^(]*>)?)\\(");
    std::istringstream lines(source);
    std::optional<Expectation> next;
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (std::regex_match(line, match, form)) {
            next = Expectation{.verdict = match[1],
                               .rule = match[2].matched ? static_cast<unsigned>(std::stoul(match[2])) : 0,
                               .text = match[3],
                               .runs = !match[4].matched};
            const std::string others = match[5];
            if (const std::size_t at = others.find("; " + level + " "); at != std::string::npos) {
                const std::size_t start = at + level.size() + 3;
                next = Expectation{
                    .verdict = others.substr(start, std::min(others.find(';', start), others.size()) - start),
                    .text = "",
                    .runs = next->runs};
            }
        } else if (next && std::regex_search(line, match, kernel)) {
            EXPECT_TRUE(result.emplace(match[1], *next).second) << match[1];
            next.reset();
        } else {
            EXPECT_FALSE(line.starts_with("//=")) << line;
        }
    }
    return result;
}

// "void by_template<double, 3>(double*, ...)" -> "by_template<double, 3>"
std::string short_name(const KernelDescription& kernel) {
    std::string name = kernel.demangled;
    if (name.starts_with("void ")) name.erase(0, 5);
    return name.substr(0, name.find('('));
}

std::string compile(const std::string& path, const std::string& level) {
    return level == "nvcc" ? compile_by_nvcc(path) : compile_cuda_file(path, level);
}

class Corpus : public testing::TestWithParam<std::tuple<const char*, const char*>> {
  protected:
    void SetUp() override {
        const auto [file, level] = GetParam();
        const std::string path =
            std::string(TRIMTAB_SOURCE_DIR) + "/tests/core/analysis/corpus/" + file + ".cu";
        // Trees and slots are run with every number of threads: -O3 and nvcc show what -O1 would.
        if (shares(file) && level == std::string("-O1")) GTEST_SKIP();
        // Both tests look at the same.
        static std::map<std::string, std::pair<std::string, std::vector<KernelDescription>>> described;
        const auto [at, is_new] = described.try_emplace(path + level);
        if (is_new) {
            const bool sums = std::string(file).starts_with("sums");
            at->second.first = compile(path, level);
            at->second.second = describe_ptx(at->second.first, "sm_75", {.reassociate = sums});
        }
        std::tie(ptx, kernels) = at->second;
        if (ptx.empty() && level == std::string("nvcc")) GTEST_SKIP() << "there is no nvcc";
        expected = expectations(read_file(path), level);
    }

    // What threads tell each other.
    static bool shares(const std::string& file) {
        return file.starts_with("blocks_") || file.starts_with("sums") || file.starts_with("tables") ||
               file.starts_with("launch_sums");
    }

    std::string ptx;
    std::map<std::string, Expectation> expected;
    std::vector<KernelDescription> kernels;
};
INSTANTIATE_TEST_SUITE_P(
    Files, Corpus,
    testing::Combine(testing::Values("legal", "hostile", "guards_hostile", "waiting_hostile", "strides_legal",
                                     "strides_sums_hostile", "strides_hostile", "strides_between_hostile",
                                     "strides_first_hostile", "block_strides_legal", "block_strides_hostile",
                                     "block_strides_first_hostile", "warps_legal", "warps_hostile",
                                     "blocks_legal", "blocks_hostile", "blocks_exchanges_hostile",
                                     "sums_legal", "sums_hostile", "tables_legal", "tables_hostile",
                                     "tables_own_hostile", "launch_sums_legal", "launch_sums_hostile",
                                     "private_legal", "private_hostile"),
                     testing::Values("-O0", "-O1", "-O3", "nvcc")),
    [](const auto& info) {
        const std::string level = std::get<1>(info.param);
        return std::string(std::get<0>(info.param)) + "_" + (level[0] == '-' ? level.substr(1) : level);
    });

// Sizes of profiles grow from level to level, and no level is there without a reason.
void expect_levels_that_grow(const KernelDescription& kernel) {
    const auto levels = profiler::Planner(kernel, {}).levels();
    for (std::size_t level = 0; level < levels.size(); level++) {
        EXPECT_NE(levels[level].why, "") << short_name(kernel);
        // Extents follow from the guards: n / 4 + n % 4.
        for (std::size_t i = 0; level > 0 && i < kernel.data.size(); i++)
            if (!kernel.data[i].is_extent)
                EXPECT_GE(levels[level].data[i], levels[level - 1].data[i])
                    << short_name(kernel) << ": " << kernel.data[i].name << " at level " << level;
    }
}

TEST_P(Corpus, GetsTheVerdictsThatItNames) {
    EXPECT_GE(expected.size(), least_kernels.at(std::get<0>(GetParam())).first);
    EXPECT_EQ(kernels.size(), expected.size());
    for (const KernelDescription& kernel : kernels) {
        const auto wanted = expected.find(short_name(kernel));
        ASSERT_NE(wanted, expected.end()) << short_name(kernel);
        std::string reasons;
        bool has_reason = wanted->second.rule == 0;
        for (const Reason& reason : kernel.reasons) {
            std::ostringstream line;
            line << "\n  " << reason;
            reasons += line.str();
            has_reason |= reason.rule == wanted->second.rule && reason.text.contains(wanted->second.text);
        }
        EXPECT_EQ(std::string(name(kernel.verdict)), wanted->second.verdict) << short_name(kernel) << reasons;
        EXPECT_TRUE(has_reason) << short_name(kernel) << " lacks: " << wanted->second.text << reasons;
        expect_levels_that_grow(kernel);
    }
}

TEST_P(Corpus, LegalBlocksLeaveTheSameBytes) {
    auto module = ptx::parse(ptx, "corpus.ptx");
    ASSERT_TRUE(module.has_value());
    std::map<std::string, std::uint32_t> parameter_bytes;
    for (const ptx::Function* kernel : module->kernels())
        parameter_bytes[kernel->name] = kernel->parameter_bytes();
    const auto program = emulator::load_program(std::move(*module));
    ASSERT_TRUE(program.has_value()) << program.error().text();
    std::mt19937 random(99);
    unsigned compared = 0, kernel_count = 0, totals = 0;
    const std::string file = std::get<0>(GetParam());
    // These are run with other totals as well.
    const bool strides = file.starts_with("strides");
    const bool of_warps = file.starts_with("warps") || shares(file);
    const unsigned most = of_warps ? most_of_warps : max_threads;
    for (const KernelDescription& kernel : kernels) {
        const bool has_scalars =
            std::ranges::all_of(kernel.parameters, [](const auto& parameter) { return parameter.size <= 8; });
        if (kernel.verdict == Verdict::fixed || !expected[short_name(kernel)].runs || !has_scalars) continue;
        kernel_count++;
        for (unsigned launch = 0; launch < (strides || shares(file) ? 1 : 2); launch++) {
            Trial trial(**program, kernel, parameter_bytes.at(kernel.name), random, most);
            compared += trial.run(all_blocks(most), 10000, most);
            totals += trial.run_other_totals(all_blocks(most), 20);
        }
        compared +=
            Trial(**program, kernel, parameter_bytes.at(kernel.name), random).run(assorted_blocks(), 6);
    }
    // What compilers leave on the stack at -O0 is no table.
    if (!shares(file) || std::get<1>(GetParam()) != std::string("-O0")) {
        EXPECT_GE(kernel_count, least_kernels.at(file).second);
    }
    // Arguments forbid other blocks to what little of these runs; of whole warps there are few.
    if (kernel_count > 2 && file != "block_strides_hostile" && file != "private_hostile" &&
        file != "blocks_hostile" && file != "sums_hostile" && file != "tables_hostile" &&
        file != "launch_sums_hostile") {
        EXPECT_GE(compared, kernel_count * (shares(file) ? 2 : of_warps ? 4 : 8));
    }
    if (file == "strides_legal") {
        EXPECT_GE(totals, kernel_count * 10);
    }
    RecordProperty("totals", static_cast<int>(totals));
    RecordProperty("kernels", static_cast<int>(kernel_count));
    RecordProperty("blocks", static_cast<int>(compared));
}

}  // namespace
}  // namespace trimtab::analysis::test
