// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels against the proof: what gets a verdict other than fixed leaves the same memory under every
// block that the verdict admits.
//
// TRIMTAB_GENERATED_KERNELS=N tries N of them instead of a few hundred, from TRIMTAB_GENERATED_SEED on. A
// failure names its seed and prints the kernel, shrunk; TRIMTAB_GENERATED_LOG=FILE keeps them. N = 1 prints
// the kernel of the seed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <ostream>
#include <string>
#include <string_view>

#include "cuda_compiler.h"
#include "generator/block_trial.h"
#include "generator/kernel_kinds.h"
#include "generator/kernel_text.h"
#include "generator/random_cuda.h"
#include "trimtab/body_name.h"

namespace trimtab::analysis::test {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* const value = std::getenv(name);
    return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

struct Tally {
    std::array<unsigned, 6> outcomes{};
    std::map<std::string, unsigned> undefined;  // by why
    unsigned accepted = 0, compared = 0;

    void add(const TrialResult& result, std::uint64_t seed) {
        outcomes[static_cast<std::size_t>(result.outcome)]++;
        accepted += result.verdict != Verdict::fixed ? 1 : 0;
        compared += result.compared;
        // The proof and its check are of one mind.
        if (result.outcome == Outcome::fixed)
            EXPECT_EQ(result.text.find("a bug in Trimtab"), std::string::npos)
                << "seed " << seed << ": " << result.text;
        if (result.outcome == Outcome::undefined) undefined[result.text]++;
    }
    [[nodiscard]] unsigned of(Outcome outcome) const { return outcomes[static_cast<std::size_t>(outcome)]; }
    [[nodiscard]] unsigned read() const {
        unsigned sum = 0;
        for (const unsigned count : outcomes) sum += count;
        return sum - of(Outcome::unreadable);
    }
    [[nodiscard]] std::string text() const {
        std::string text = fmt::format(
            "{} kernels ({} more unreadable): {} fixed, {} with a verdict; of those {} not run, {} same, {} "
            "undefined, {} different; {} launches compared",
            read(), of(Outcome::unreadable), of(Outcome::fixed), accepted, of(Outcome::not_run),
            of(Outcome::same), of(Outcome::undefined), of(Outcome::different), compared);
        for (const auto& [why, count] : undefined) text += fmt::format("; {} {}", count, why);
        return text;
    }
};

void report(const KernelText& kernel, std::uint64_t seed, const TrialResult& found) {
    const KernelText least = shrunk(kernel, [&](const KernelText& less) {
        return try_blocks(less.text(), seed).outcome == Outcome::different;
    });
    const std::string text = fmt::format("seed {}: {}\n{}\nshrunk: {}\n{}", seed, found.text, kernel.text(),
                                         try_blocks(least.text(), seed).text, least.text());
    if (const char* const log = std::getenv("TRIMTAB_GENERATED_LOG"); log != nullptr)
        std::ofstream(log, std::ios::app) << text << "\n";
    ADD_FAILURE() << text;
}

Tally try_all(std::string_view kind, std::uint64_t otherwise) {
    const std::uint64_t first = from_environment("TRIMTAB_GENERATED_SEED", 1),
                        count = from_environment("TRIMTAB_GENERATED_KERNELS", otherwise);
    const KernelSource source(kind);
    Tally tally;
    for (std::uint64_t seed = first; seed < first + count; seed++) {
        KernelText kernel = source.of_seed(seed);
        // One alone is shown, whatever becomes of it.
        if (count == 1) fmt::print("{}", kernel.text()), std::fflush(stdout);
        const TrialResult result = tried(kernel, seed);
        if (count == 1) fmt::print("outcome {} {}\n", static_cast<unsigned>(result.outcome), result.text);
        tally.add(result, seed);
        if (result.outcome == Outcome::different) report(kernel, seed, result);
        if (count >= 5000 && (seed - first + 1) % 1000 == 0)
            fmt::print("{} {}\n", kind, tally.text()), std::fflush(stdout);
    }
    fmt::print("{} from seed {}: {}\n", kind, first, tally.text());
    return tally;
}

struct Kind {
    const char* name;
    std::uint64_t count = 0;   // unless the environment says otherwise
    unsigned accepted_of = 0;  // one in so many has a verdict other than fixed; else it tests nothing
    unsigned readable_of = 4;  // at most one in so many is not readable
    unsigned same_of = 0;      // one in so many is compared and equal; 0: not asked
};
void PrintTo(const Kind& kind, std::ostream* out) {
    *out << kind.name;
}
// Most changes of an instruction end a verdict.
constexpr std::array<Kind, 11> kinds = {
    {{.name = "ptx", .count = 300, .accepted_of = 4, .readable_of = 1, .same_of = 5},
     {.name = "nvcc", .count = 200, .accepted_of = 4, .readable_of = 1},
     {.name = "cuda", .count = 200, .accepted_of = 5},
     {.name = "blocks", .count = 80, .accepted_of = 8},
     {.name = "tables", .count = 80, .accepted_of = 8},
     {.name = "sums", .count = 80, .accepted_of = 8},
     {.name = "loops", .count = 160, .accepted_of = 8},
     {.name = "planes", .count = 60, .accepted_of = 8},
     {.name = "exchanges", .count = 60, .accepted_of = 8},
     {.name = "setups", .count = 120, .accepted_of = 8},
     {.name = "near", .count = 120, .accepted_of = 4}}};

class GeneratedKernels : public testing::TestWithParam<Kind> {};

TEST_P(GeneratedKernels, LeaveTheSameUnderEveryBlock) {
    const Kind& kind = GetParam();
    const Tally tally = try_all(kind.name, kind.count);
    if (std::getenv("TRIMTAB_GENERATED_FROM") == nullptr) {
        EXPECT_GE(tally.accepted * kind.accepted_of, tally.read());
    }
    EXPECT_LE(tally.of(Outcome::unreadable) * kind.readable_of, tally.read());
    if (kind.same_of != 0) {
        EXPECT_GE(tally.of(Outcome::same) * kind.same_of, tally.read());
    }
}
INSTANTIATE_TEST_SUITE_P(Kinds, GeneratedKernels, testing::ValuesIn(kinds),
                         [](const auto& kind) { return std::string(kind.param.name); });

// Of a kernel whose block is built in, and the body that the plugin makes of it: a launch of that block must leave what
// the body leaves under every block that it admits, and under that one.
TEST(GeneratedBodies, WithBuiltInBlocksLeaveWhatTheirOtherBodiesLeave) {
    constexpr std::uint64_t kernels_a_file = 40;
    if (std::string_view(TRIMTAB_PASS).empty())
        GTEST_SKIP() << "clang loads no plugin that is built with a sanitizer";
    const std::string sources = std::string(testing::TempDir()) + "/generated_built_in.json";
    setenv("TRIMTAB_BUILT_IN_BLOCKS", "1", 1);
    setenv("TRIMTAB_KERNEL_SOURCES", sources.c_str(), 1);
    const std::uint64_t first = from_environment("TRIMTAB_GENERATED_SEED", 1),
                        count = from_environment("TRIMTAB_GENERATED_KERNELS", 120);
    constexpr std::array<const char*, 3> levels = {"-O3", "-O2", "-O1"};
    constexpr std::array<unsigned, 3> sizes = {32, 64, 1};  // 64: parts of it occur
    const auto replace_all = [](std::string& text, const std::string& from, const std::string& by) {
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += by.size())
            text.replace(at, from.size(), by);
    };
    Tally tally;
    std::map<std::string, KernelText> kernels;
    std::uint64_t compiled_from = ~std::uint64_t{0};
    for (std::uint64_t seed = first; seed < first + count; seed++) {
        const std::uint64_t file = seed / kernels_a_file;
        const unsigned built_in = sizes[file % sizes.size()];
        if (file != compiled_from) {
            std::string source = random_cuda_prelude;
            for (std::uint64_t i = 0; i < kernels_a_file; i++) {
                Draw one(file * kernels_a_file + i + 3'000'000);
                source += one.chance(40) ? random_block_kernel(one, fmt::format("k{}", i))
                                         : random_cuda_kernel(one, fmt::format("k{}", i));
            }
            replace_all(source, "blockDim.x", fmt::format("{}u", built_in));
            if (built_in == 1) replace_all(source, "threadIdx.x", "0u");
            kernels.clear();
            for (KernelText& kernel :
                 kernels_of(compile_cuda(source, std::string(levels[file / sizes.size() % levels.size()]) +
                                                     " -Wno-c++11-narrowing -fpass-plugin=" TRIMTAB_PASS))) {
                const std::string text = kernel.text();
                const std::size_t name = text.find(".entry ") + 7;
                kernels.emplace(text.substr(name, text.find('(', name) - name), std::move(kernel));
            }
            compiled_from = file;
        }
        const std::string prefix =
            fmt::format("_Z{}k{}", seed % kernels_a_file < 10 ? 2 : 3, seed % kernels_a_file);
        const auto written = std::ranges::find_if(kernels, [&](const auto& kernel) {
            return kernel.first.starts_with(prefix + "P") && !kernel.first.contains('$');
        });
        std::string body_name =
            written == kernels.end() ? "" : built_in_body_name(written->first, {built_in, 0, 0});
        if (written != kernels.end() && built_in == 1 && !kernels.contains(body_name))
            body_name = built_in_body_name(written->first, {1, 1, 0});
        const auto body = kernels.find(body_name);
        TrialResult result;
        result.outcome = written == kernels.end() ? Outcome::unreadable : Outcome::fixed;
        if (body != kernels.end()) {
            std::string text = body->second.text();
            replace_all(text, body_name, written->first);
            const BuiltInKernel as_written{written->second.text(), built_in};
            if (count == 1) fmt::print("{}{}", as_written.ptx, text), std::fflush(stdout);
            result = try_blocks(text, as_written, seed);
            if (result.outcome == Outcome::different)
                ADD_FAILURE() << "seed " << seed << ": " << result.text << "\n"
                              << as_written.ptx << "\n"
                              << text;
        }
        tally.add(result, seed);
    }
    unsetenv("TRIMTAB_BUILT_IN_BLOCKS");
    unsetenv("TRIMTAB_KERNEL_SOURCES");
    fmt::print("built in from seed {}: {}\n", first, tally.text());
    // Else it tests nothing.
    EXPECT_GE(tally.accepted * 8, tally.read());
    EXPECT_LE(tally.of(Outcome::unreadable) * 4, tally.read());
}

// Of a kernel, and the bodies that the plugin makes of it in which a thread does the work of several: what a launch leaves,
// each launch of theirs must leave that may take its place.
TEST(GeneratedBodies, WhoseThreadsDoTheWorkOfSeveralLeaveTheSame) {
    constexpr std::uint64_t kernels_a_file = 40;
    if (std::string_view(TRIMTAB_PASS).empty())
        GTEST_SKIP() << "clang loads no plugin that is built with a sanitizer";
    const std::string sources = std::string(testing::TempDir()) + "/generated_coarsened.json";
    setenv("TRIMTAB_KERNEL_SOURCES", sources.c_str(), 1);
    const std::uint64_t first = from_environment("TRIMTAB_GENERATED_SEED", 1),
                        count = from_environment("TRIMTAB_GENERATED_KERNELS", 120);
    constexpr std::array<const char*, 3> levels = {"-O3", "-O2", "-O1"}, elements = {"2,4", "3,8", "2,5"};
    Tally tally;
    unsigned with_body = 0;
    std::map<std::string, std::string> kernels;
    std::uint64_t compiled_from = ~std::uint64_t{0};
    for (std::uint64_t seed = first; seed < first + count; seed++) {
        const std::uint64_t file = seed / kernels_a_file;
        if (file != compiled_from) {
            setenv("TRIMTAB_COARSEN", elements[file % elements.size()], 1);
            std::string source = random_cuda_prelude;
            for (std::uint64_t i = 0; i < kernels_a_file; i++) {
                Draw one(file * kernels_a_file + i + 4'000'000);
                source += random_cuda_kernel(one, fmt::format("k{}", i));
            }
            kernels.clear();
            for (const KernelText& kernel :
                 kernels_of(compile_cuda(source, std::string(levels[file % levels.size()]) +
                                                     " -Wno-c++11-narrowing -fpass-plugin=" TRIMTAB_PASS))) {
                const std::string text = kernel.text();
                const std::size_t name = text.find(".entry ") + 7;
                kernels.emplace(text.substr(name, text.find('(', name) - name), text);
            }
            compiled_from = file;
        }
        const std::string prefix =
            fmt::format("_Z{}k{}P", seed % kernels_a_file < 10 ? 2 : 3, seed % kernels_a_file);
        const auto written = std::ranges::find_if(kernels, [&](const auto& kernel) {
            return kernel.first.starts_with(prefix) && !kernel.first.contains('$');
        });
        if (written == kernels.end()) continue;
        bool has_body = false;
        for (const auto& [name, text] : kernels) {
            const auto body = read_coarsened_body(name);
            if (!body || body->kernel != written->first) continue;
            has_body = true;
            const TrialResult result = try_coarsened(written->second, text, seed);
            if (count == 1)
                fmt::print("{}{}outcome {} {}\n", written->second, text,
                           static_cast<unsigned>(result.outcome), result.text);
            if (result.outcome == Outcome::different)
                ADD_FAILURE() << "seed " << seed << ": " << result.text << "\n"
                              << written->second << "\n"
                              << text;
            tally.add(result, seed);
        }
        with_body += has_body ? 1 : 0;
    }
    unsetenv("TRIMTAB_COARSEN");
    unsetenv("TRIMTAB_KERNEL_SOURCES");
    fmt::print("more work a thread from seed {}: {} kernels with bodies; {}\n", first, with_body,
               tally.text());
    // Else it tests nothing.
    EXPECT_GE(with_body * 8, count);
    EXPECT_GE(tally.accepted * 4, tally.read());
    EXPECT_GE(tally.of(Outcome::same) * 8, tally.read());
}

}  // namespace
}  // namespace trimtab::analysis::test
