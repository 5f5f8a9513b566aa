// What is proved of the corpus' kernels stands up to the second opinion, from every compiler at every level.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <map>

#include "analysis/certify.h"
#include "checker/check.h"
#include "ptx/module.h"
#include "tests/analysis/cuda_compiler.h"

namespace trimtab::checker {
namespace {

namespace folders = std::filesystem;

class CheckedCorpus : public testing::TestWithParam<std::string> {};

TEST_P(CheckedCorpus, StandsUp) {
    const std::string level = GetParam();
    std::chrono::nanoseconds tp{}, tc{}, tk{};
    std::map<std::string, unsigned> accepted, rejected;
    const folders::path corpus = std::getenv("TMPC") ? folders::path(std::getenv("TMPC")) : folders::path(TRIMTAB_SOURCE_DIR) / "tests/analysis/corpus";
    for (const auto& entry : folders::directory_iterator(corpus)) {
        if (entry.path().extension() != ".cu" && entry.path().extension() != ".ptx") continue;
        const std::string text = entry.path().extension() == ".ptx" ? analysis::test::read_file(entry.path()) : level == "nvcc" ? analysis::test::compile_by_nvcc(entry.path())
                                                 : analysis::test::compile_cuda_file(entry.path(), level);
        if (text.empty()) continue;
        const auto module = ptx::parse(text, entry.path());
        ASSERT_TRUE(module) << module.error().message;
        for (const ptx::Function* kernel : module->kernels()) {
            analysis::SymbolTable table;
            const bool sums = entry.path().filename().string().starts_with("sums");
            const auto t0 = std::chrono::steady_clock::now();
            const analysis::Proof proof = analysis::prove(table, *module, *kernel, sums);
            const auto t1 = std::chrono::steady_clock::now();
            std::string kind = std::string(analysis::name(proof.verdict));
            if (proof.verdict == analysis::Verdict::fixed) continue;
            if (!proof.strides.empty()) kind += ", loops";
            if (!proof.exchanges.empty()) kind += ", exchange";
            if (proof.tables) kind += ", tables";
            if (proof.assumed.any(analysis::Assumed::whole_warps)) kind += ", warps";
            std::string wrong;
            const auto cs = analysis::certificates(proof, *kernel); const auto t2 = std::chrono::steady_clock::now();
            for (const Certificate& certificate : cs)
                if (const auto objection = check(certificate); objection && wrong.empty())
                    {
                    std::istringstream lines(text);
                    std::string line;
                    for (std::uint32_t n = 0; n < objection->line; n++) std::getline(lines, line);
                    wrong = objection->text + ": " + line;
                    if (std::getenv("DUMP"))
                        for (const auto& made : certificate.function->body) {
                            std::printf("%u %s", made.line, made.mnemonic.c_str());
                            for (const auto& o : made.operands) std::printf(" %d:%s%s+%ld#%lx", (int)o.kind, o.reg == ptx::no_index ? "" : certificate.function->registers[o.reg].name.c_str(), o.text.c_str(), o.offset, o.bits);
                            std::printf("\n");
                        }
                }
            const auto t3 = std::chrono::steady_clock::now();
            tp += t1 - t0; tc += t2 - t1; tk += t3 - t2;
            if (t3 - t1 > std::chrono::milliseconds(20)) std::printf("slow %s: proof %.1f ms certify %.1f check %.1f (%zu)\n", kernel->name.c_str(), (t1-t0).count()/1e6, (t2-t1).count()/1e6, (t3-t2).count()/1e6, kernel->body.size());
            (wrong.empty() ? accepted : rejected)[kind]++;
            EXPECT_EQ(wrong, "") << entry.path().filename() << " " << kernel->name << ", " << kind;
        }
    }
    std::printf("proof %.1f ms certify %.1f ms check %.1f ms\n", tp.count()/1e6, tc.count()/1e6, tk.count()/1e6);
    for (const auto& [kind, count] : accepted)
        std::printf("%s: %s accepted %u\n", level.c_str(), kind.c_str(), count);
    for (const auto& [kind, count] : rejected)
        std::printf("%s: %s rejected %u\n", level.c_str(), kind.c_str(), count);
}
INSTANTIATE_TEST_SUITE_P(Levels, CheckedCorpus, testing::Values("-O0", "-O1", "-O3", "nvcc"),
                         [](const auto& info) {
                             return info.param[0] == '-' ? info.param.substr(1) : info.param;
                         });

}  // namespace
}  // namespace trimtab::checker
