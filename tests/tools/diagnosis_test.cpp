// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/diagnosis.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace trimtab::tools {
namespace {

using testing::Contains;
using testing::HasSubstr;

// Puts a variable back as it was.
class Variable {
  public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old;
        setenv(name, value.c_str(), 1);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() { old_.empty() ? unsetenv(name_) : setenv(name_, old_.c_str(), 1); }

  private:
    const char* name_;
    std::string old_;
};

auto finding(const std::string& subject, Health health, const std::string& text) {
    return testing::AllOf(testing::Field(&Finding::subject, subject),
                          testing::Field(&Finding::health, health),
                          testing::Field(&Finding::text, HasSubstr(text)));
}

TEST(Diagnosis, CountersAreAdministratorsWhereTheDriverSaysSo) {
    const std::string restricted = "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n";
    EXPECT_EQ(diagnose_counters(restricted, false).health, Health::note);
    EXPECT_EQ(diagnose_counters(restricted, true).health, Health::good);
    EXPECT_EQ(diagnose_counters("RmProfilingAdminOnly: 0\n", false).health, Health::good);
    EXPECT_EQ(diagnose_counters("", false).health, Health::good);  // a driver before the restriction
}

TEST(Diagnosis, ATemporaryFolderThatIsNotThereIsMissing) {
    const Variable temporary("TMPDIR", "/nowhere/at/all");
    EXPECT_THAT(diagnose_surroundings(),
                Contains(finding("temporary files", Health::missing, "/nowhere/at/all")));
}

TEST(Diagnosis, ACacheThatCannotBeMadeIsNoted) {
    const std::string file = testing::TempDir() + "/diagnosis_test_file";
    std::ofstream(file) << "no folder";
    const Variable cache("XDG_CACHE_HOME", file);
    EXPECT_THAT(diagnose_surroundings(), Contains(finding("cache", Health::note, file)));
    std::filesystem::remove(file);
}

TEST(Diagnosis, ASharedStoreThatCannotBeUsedIsNoted) {
    EXPECT_THAT(diagnose_surroundings(), Not(Contains(testing::Field(&Finding::subject, "shared store"))));
    const Variable store("TRIMTAB_STORE", "redis://127.0.0.1:1");  // nobody listens there
    EXPECT_THAT(diagnose_surroundings(),
                Contains(finding("shared store", Health::note, "TRIMTAB_STORE_KEY")));
    const std::string secret = testing::TempDir() + "/diagnosis_test_secret";
    std::ofstream(secret) << std::string(64, 'a');
    std::filesystem::permissions(secret,
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    const Variable key("TRIMTAB_STORE_KEY", secret);
    EXPECT_THAT(diagnose_surroundings(), Contains(finding("shared store", Health::note, "127.0.0.1:1")));
    std::filesystem::remove(secret);
}

TEST(Diagnosis, AMisspeltVariableIsNoted) {
    const Variable misspelt("TRIMTAB_REPROT", "1");
    const Variable bad("TRIMTAB", "perhaps");
    const auto findings = diagnose_surroundings();
    EXPECT_THAT(findings, Contains(finding("environment", Health::note, "TRIMTAB_REPORT")));
    EXPECT_THAT(findings, Contains(finding("environment", Health::note, "TRIMTAB=perhaps")));
}

TEST(Diagnosis, AToolkitWithoutAVersionIsMissing) {
    const std::filesystem::path root = testing::TempDir() + "/diagnosis_test_toolkit";
    std::filesystem::create_directories(root / "include");
    std::ofstream(root / "include/cuda_runtime_api.h") << "\n";
    const Variable home("CUDA_HOME", root.string());
    const Variable path("CUDA_PATH", root.string());
    EXPECT_THAT(diagnose_build(), Contains(finding("CUDA toolkit", Health::missing, root.string())));
    std::ofstream(root / "include/cuda.h") << "#define CUDA_VERSION 12040\n";
    EXPECT_THAT(diagnose_build(), Contains(finding("CUDA toolkit", Health::note, "CUDA 12.4")));
    std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace trimtab::tools
