// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/base/nearest_name.h"

#include <gtest/gtest.h>

namespace trimtab::base {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
    EXPECT_EQ(edit_distance("", ""), 0u);
    EXPECT_EQ(edit_distance("", "abc"), 3u);
    EXPECT_EQ(edit_distance("abc", ""), 3u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
    EXPECT_EQ(edit_distance("sm_cuont", "sm_count"), 1u);  // one swap
    EXPECT_EQ(edit_distance("RTX3090", "rtx3090"), 0u);    // letter case aside
}

TEST(NearestName, TakesTheNearestAndTheFirstAmongEquals) {
    const std::vector<std::string> names{"gemm_kernel", "syrk_kernel", "syr2k_kernel"};
    EXPECT_EQ(nearest_name("gem_kernel", names), "gemm_kernel");
    EXPECT_EQ(nearest_name("syr2kk_kernel", names), "syr2k_kernel");
    EXPECT_EQ(nearest_name("b", std::vector<std::string>{"a", "c"}), "a");
    EXPECT_EQ(nearest_name("a", std::vector<std::string>{}), "");
}

TEST(Suggestion, IsMadeOnlyOfANameThatIsNear) {
    const std::vector<std::string> names{"rtx3090", "gtx1080ti", "gemm_kernel"};
    EXPECT_EQ(suggestion("gtx1080t", names), "; did you mean \"gtx1080ti\"?");
    EXPECT_EQ(suggestion("gemm", names), "; did you mean \"gemm_kernel\"?");
    EXPECT_EQ(suggestion("banana", names), "");
    EXPECT_EQ(suggestion("", names), "");
    EXPECT_EQ(suggestion("x", std::vector<std::string>{}), "");
}

}  // namespace
}  // namespace trimtab::base
