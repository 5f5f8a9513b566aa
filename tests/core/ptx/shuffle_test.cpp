// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lane that shfl.sync reads, worked by hand from the PTX ISA's description.
#include "core/ptx/shuffle.h"

#include <gtest/gtest.h>

namespace trimtab::ptx {
namespace {

struct ShuffleCase {
    ShuffleMode mode;
    std::uint32_t lane, b, c, from;
    bool is_in_range;
};

TEST(Shuffle, ReadsTheLaneThatTheIsaSays) {
    // What __shfl_*_sync passes as c: (32 - width) << 8, and 31 but for up.
    const std::uint32_t whole = 0x001f, eights = 0x181f, eights_up = 0x1800;
    const ShuffleCase cases[] = {
        {ShuffleMode::up, 5, 2, 0, 3, true},
        {ShuffleMode::up, 1, 2, 0, 1, false},  // below lane 0
        {ShuffleMode::up, 17, 1, eights_up, 16, true},
        {ShuffleMode::up, 16, 1, eights_up, 16, false},  // the first of its segment
        {ShuffleMode::down, 30, 1, whole, 31, true},
        {ShuffleMode::down, 31, 1, whole, 31, false},
        {ShuffleMode::down, 14, 1, eights, 15, true},
        {ShuffleMode::down, 15, 1, eights, 15, false},
        {ShuffleMode::bfly, 6, 5, whole, 3, true},
        {ShuffleMode::bfly, 6, 16, 0x000f, 6, false},  // above the clamp
        {ShuffleMode::bfly, 22, 16, 0x000f, 6, true},
        {ShuffleMode::bfly, 3, 8, eights, 3, false},  // a later segment
        {ShuffleMode::bfly, 11, 8, eights, 3, true},  // an earlier one can be read
        {ShuffleMode::idx, 29, 7, whole, 7, true},
        {ShuffleMode::idx, 29, 7, eights, 31, true},
        {ShuffleMode::idx, 29, 39, whole, 7, true},     // five bits of b count
        {ShuffleMode::idx, 2, 9, 0x0007, 2, false},     // above the clamp
        {ShuffleMode::idx, 2, 9, 0xffff001f, 9, true},  // nor the upper bits of c
    };
    for (const ShuffleCase& expected : cases) {
        const ShuffleSource got = shuffle_source(expected.mode, expected.lane, expected.b, expected.c);
        EXPECT_EQ(got.lane, expected.from) << "case " << &expected - cases;
        EXPECT_EQ(got.is_in_range, expected.is_in_range) << "case " << &expected - cases;
    }
}

}  // namespace
}  // namespace trimtab::ptx
