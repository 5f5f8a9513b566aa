// What is proved of the corpus' kernels stands up to the second opinion, from every compiler at every level.
#include <gtest/gtest.h>

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
    std::map<std::string, unsigned> accepted, rejected;
    const folders::path corpus = std::getenv("TMPC") ? folders::path(std::getenv("TMPC")) : folders::path(TRIMTAB_SOURCE_DIR) / "tests/analysis/corpus";
    for (const auto& entry : folders::directory_iterator(corpus)) {
        if (entry.path().extension() != ".cu") continue;
        const std::string text = level == "nvcc" ? analysis::test::compile_by_nvcc(entry.path())
                                                 : analysis::test::compile_cuda_file(entry.path(), level);
        if (text.empty()) GTEST_SKIP() << "there is no nvcc";
        const auto module = ptx::parse(text, entry.path());
        ASSERT_TRUE(module) << module.error().message;
        for (const ptx::Function* kernel : module->kernels()) {
            analysis::SymbolTable table;
            const bool sums = entry.path().filename().string().starts_with("sums");
            const analysis::Proof proof = analysis::prove(table, *module, *kernel, sums);
            std::string kind = std::string(analysis::name(proof.verdict));
            if (proof.verdict == analysis::Verdict::fixed) continue;
            if (!proof.strides.empty()) kind += ", loops";
            if (!proof.exchanges.empty()) kind += ", exchange";
            if (proof.tables) kind += ", tables";
            if (proof.assumed.any(analysis::Assumed::whole_warps)) kind += ", warps";
            std::string wrong;
            for (const Certificate& certificate : analysis::certificates(proof, *kernel))
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
            (wrong.empty() ? accepted : rejected)[kind]++;
            EXPECT_EQ(wrong, "") << entry.path().filename() << " " << kernel->name << ", " << kind;
        }
    }
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
