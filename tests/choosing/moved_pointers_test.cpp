// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What pointers become in a launch that is emulated beside the program: see choosing/crosscheck/moved_pointers.h.
#include "choosing/crosscheck/moved_pointers.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace trimtab::choosing {
namespace {

TEST(MovedPointers, KeepTheirDistancesAndAlignmentAndNull) {
    analysis::KernelDescription description;
    for (std::uint32_t i = 0; i < 4; ++i)
        description.parameters.push_back({.index = i,
                                          .name = "p",
                                          .offset = 8 * i,
                                          .size = 8,
                                          .type = {},
                                          .ptx_type = "u64",
                                          .pointee = {}});
    description.parameters[0].is_pointer = description.parameters[1].is_pointer =
        description.parameters[2].is_pointer = true;
    const auto moved = [&](std::array<std::uint64_t, 4> values) {
        std::vector<std::byte> bytes(sizeof values);
        std::memcpy(bytes.data(), values.data(), sizeof values);
        bytes = with_moved_pointers(description, std::move(bytes));
        std::memcpy(values.data(), bytes.data(), sizeof values);
        return values;
    };
    const std::uint64_t base = 0x7f1234567000;
    const auto first = moved({base + 0x10030, 0, base + 0x1c, 77});
    EXPECT_EQ(first[0] - first[2], 0x10030u - 0x1c);
    EXPECT_EQ(first[1], 0u);
    EXPECT_EQ(first[2] % 512, 0x1cu);
    EXPECT_EQ(first[3], 77u);
    // Wherever the system puts them.
    EXPECT_EQ(moved({base + 0x5000 + 0x10030, 0, base + 0x5000 + 0x1c, 77}), first);
}

}  // namespace
}  // namespace trimtab::choosing
