// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// __shared__ variables that clang refused, as the copy of the source that it takes has them.
#include "tools/trimtab++/shared_variables.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

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

TEST(SharedVariables, MayBeDeclaredByAMacro) {
    EXPECT_EQ(changed("#define SHARED __shared__\nvoid k() {\n    SHARED C t[64], u;\n}", {{3, 14}}),
              "#define SHARED __shared__\nvoid k() {\n    SHARED  trimtab_unconstructed<C [64]> "
              "trimtab_storage_of_t; auto& t = trimtab_storage_of_t.value; SHARED  trimtab_unconstructed<C > "
              "trimtab_storage_of_u; auto& u = trimtab_storage_of_u.value;\n}");
}

TEST(SharedVariables, OfOtherFormsAreLeftToClang) {
    EXPECT_EQ(changed("__shared__ int a = 3;", {{1, 16}}), "refused");
    EXPECT_EQ(changed("__shared__ struct { int x; } a;", {{1, 30}}), "refused");
    EXPECT_EQ(changed("SHARED(a);", {{1, 8}}), "refused");
    EXPECT_EQ(changed("__shared__ A a", {{1, 14}}), "refused");
    EXPECT_EQ(changed("__shared__ A a;", {{7, 14}}), "refused");
    EXPECT_EQ(changed("__shared__ a;", {{1, 12}}), "refused");
}

}  // namespace
}  // namespace trimtab::wrapper
