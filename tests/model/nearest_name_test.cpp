#include "model/nearest_name.h"

#include <gtest/gtest.h>

namespace trimtab::model {
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

}  // namespace
}  // namespace trimtab::model
