// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which __shared__ variables clang refused, and the copy of the source that it takes.
#include "tools/trimtab++/shared_variables.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace trimtab::wrapper {
namespace {

std::string changed(const std::string& text, std::vector<SourcePlace> places) {
    return with_unconstructed_variables(text, std::move(places)).value_or("refused");
}

TEST(SharedVariables, AreDeclaredAsStorage) {
    EXPECT_EQ(
        changed("int a;\n  __shared__ cuda::barrier<s> b;\n", {{2, 31}}),
        "int a;\n  __shared__  trimtab_unconstructed<cuda::barrier<s> > trimtab_storage_of_b; auto& b = "
        "trimtab_storage_of_b.value;\n");
    EXPECT_EQ(changed("__shared__ alignas(16) std::pair<T, int>\n x[N][f(1, 2)], y ;", {{2, 2}, {2, 19}}),
              "__shared__ alignas(16) trimtab_unconstructed<std::pair<T, int> [N][f(1, 2)]> "
              "trimtab_storage_of_x; auto& x = trimtab_storage_of_x.value; __shared__ alignas(16) "
              "trimtab_unconstructed<std::pair<T, int> > trimtab_storage_of_y; auto& y = "
              "trimtab_storage_of_y.value;\n");
    // Two on one line: the text before each place stays.
    EXPECT_EQ(
        changed("__shared__ A a; __shared__ B b;", {{1, 14}, {1, 30}}),
        "__shared__  trimtab_unconstructed<A > trimtab_storage_of_a; auto& a = "
        "trimtab_storage_of_a.value; __shared__  trimtab_unconstructed<B > trimtab_storage_of_b; auto& b "
        "= trimtab_storage_of_b.value;");
}

TEST(SharedVariables, OfOtherFormsAreLeftToClang) {
    EXPECT_EQ(changed("__shared__ int a = 3;", {{1, 16}}), "refused");
    EXPECT_EQ(changed("__shared__ struct { int x; } a;", {{1, 30}}), "refused");
    EXPECT_EQ(changed("SHARED(a);", {{1, 8}}), "refused");
    EXPECT_EQ(changed("__shared__ A a", {{1, 14}}), "refused");
    EXPECT_EQ(changed("__shared__ A a;", {{7, 14}}), "refused");
    EXPECT_EQ(changed("__shared__ a;", {{1, 12}}), "refused");
}

TEST(SharedVariables, AreFoundInClangsMessages) {
    const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "refused shared.cu";
    std::ofstream(file) << "x";
    const std::string path = std::filesystem::canonical(file).string();
    const std::string error = "error: initialization is not supported for __shared__ variables\n";
    const PlacesByFile found =
        refused_shared_variables("a.cu:1:2: warning: w\n\x1b[1m" + path + ":12:34: \x1b[0m" + error + path +
                                 ":5:6: " + error + "/no/such/file:1:2: " + error + error + ":: " + error);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.at(path), (std::vector<SourcePlace>{{12, 34}, {5, 6}}));
    EXPECT_TRUE(refused_shared_variables("").empty());
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace trimtab::wrapper
