// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses that come and go: what is found is what was put there last, and memory does not grow with them.
#include "choosing/pointer_map.h"

#include <gtest/gtest.h>

#include <thread>

namespace trimtab::choosing {
namespace {

const void* address(std::size_t number) {
    return reinterpret_cast<const void*>(16 * (number + 1));
}

TEST(PointerMap, FindsWhatIsThere) {
    PointerMap<int> map;
    int one = 1, two = 2;
    EXPECT_EQ(map.find(address(1)), nullptr);
    EXPECT_EQ(map.find(nullptr), nullptr);
    map.set(address(1), &one);
    map.set(address(2), &two);
    EXPECT_EQ(map.find(address(1)), &one);
    map.set(address(1), &two);
    EXPECT_EQ(map.find(address(1)), &two);
    map.set(address(1), nullptr);
    EXPECT_EQ(map.find(address(1)), nullptr);
    EXPECT_EQ(map.find(address(2)), &two);
}

TEST(PointerMap, MemoryFollowsTheKeysThatAreThere) {
    PointerMap<int> map;
    int value = 0;
    for (std::size_t i = 0; i < 100; ++i) map.set(address(i), &value);
    const std::size_t slots = map.slots();
    for (std::size_t i = 100; i < 1000000; ++i) {
        map.set(address(i), &value);
        map.set(address(i), nullptr);
    }
    EXPECT_LE(map.slots(), 4 * slots);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(map.find(address(i)), &value);
    for (std::size_t i = 100; i < 100000; ++i) map.set(address(i), &value);
    for (std::size_t i = 0; i < 100000; ++i) ASSERT_EQ(map.find(address(i)), &value) << i;
}

// A key never shows another key's value, whatever moves around it.
TEST(PointerMap, ReadersSeeTheirOwnKeysOnly) {
    PointerMap<const std::size_t> map;
    std::vector<std::size_t> values(512);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = i;
    for (std::size_t i = 0; i < 16; ++i) map.set(address(i), &values[i]);
    std::atomic<bool> done = false;
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> readers;
    for (int t = 0; t < 4; ++t) {
        readers.emplace_back([&] {
            for (std::size_t i = 0; !done; i = (i + 1) % values.size()) {
                const std::size_t* found = map.find(address(i));
                if (i < 16 ? found != &values[i] : found != nullptr && *found != i) ++wrong;
            }
        });
    }
    for (int round = 0; round < 200; ++round) {
        for (std::size_t i = 16; i < values.size(); ++i) map.set(address(i), &values[i]);
        for (std::size_t i = 16; i < values.size(); ++i) map.set(address(i), nullptr);
    }
    done = true;
    readers.clear();
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace trimtab::choosing
