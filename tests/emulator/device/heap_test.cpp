// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/device/heap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace trimtab::emulator {
namespace {

using ::testing::HasSubstr;

std::uint64_t address(const void* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

TEST(Heap, RangesEndWhereTheAllocationDoes) {
    Heap heap;
    std::byte* small = heap.allocate(400, MemoryKind::device, 0, 0);
    std::byte* large = heap.allocate(1 << 20, MemoryKind::managed, 0, 0);
    ASSERT_NE(small, nullptr);
    ASSERT_NE(large, nullptr);
    EXPECT_EQ(address(small) % 256, 0u);
    HeapMemory memory(heap);
    const auto range = memory.range_of(address(small) + 399, Access::read);
    EXPECT_EQ(range.host, small);
    EXPECT_EQ(range.first, address(small));
    EXPECT_EQ(range.end, address(small) + 400);
    EXPECT_EQ(memory.range_of(address(small) + 400, Access::read).host, nullptr);
    EXPECT_EQ(memory.range_of(address(small) - 1, Access::read).host, nullptr);
    EXPECT_EQ(memory.range_of(address(large) + (1 << 20), Access::write).host, nullptr);
    EXPECT_EQ(memory.range_of(address(large) + (1 << 20) - 1, Access::write).host, large);
    EXPECT_EQ(memory.range_of(0, Access::read).host, nullptr);
    EXPECT_THAT(memory.explain(address(small) + 412),
                HasSubstr("12 bytes past the end of an allocation of 400"));
    EXPECT_THAT(memory.explain(address(small) - 4), HasSubstr("4 bytes before an allocation of 400"));
    EXPECT_THAT(memory.explain(8), HasSubstr("null pointer"));
    int on_stack = 0;
    EXPECT_THAT(memory.explain(address(&on_stack)), HasSubstr("pointer of the host"));
}

TEST(Heap, MemoryIsZeroAgainWhenItIsReused) {
    Heap heap;
    for (const std::uint64_t size : {std::uint64_t{100}, std::uint64_t{1} << 20}) {
        for (int i = 0; i < 3000; ++i) {
            std::byte* start = heap.allocate(size, MemoryKind::device, 0, 0);
            ASSERT_NE(start, nullptr);
            ASSERT_EQ(start[0], std::byte{0});
            ASSERT_EQ(start[size - 1], std::byte{0});
            start[0] = start[size - 1] = std::byte{1};
            ASSERT_TRUE(heap.release(start));
        }
    }
}

TEST(Heap, AFreedAllocationIsNotHandedOutAtOnce) {
    Heap heap;
    std::byte* first = heap.allocate(1024, MemoryKind::device, 0, 0);
    ASSERT_TRUE(heap.release(first));
    EXPECT_FALSE(heap.release(first));
    EXPECT_NE(heap.allocate(1024, MemoryKind::device, 0, 0), first);
    EXPECT_THAT(heap.explain(address(first) + 16), HasSubstr("16 bytes into an allocation of 1024 bytes"));
    EXPECT_THAT(heap.explain(address(first) + 16), HasSubstr("was freed"));
}

TEST(Heap, AllocationsNeverOverlap) {
    Heap heap;
    std::mt19937 random(1);
    std::vector<std::pair<std::byte*, std::uint64_t>> live;
    for (int i = 0; i < 5000; ++i) {
        if (!live.empty() && random() % 2 == 0) {
            const std::size_t which = random() % live.size();
            ASSERT_TRUE(heap.release(live[which].first));
            live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
            continue;
        }
        const std::uint64_t size = random() % 3 == 0 ? 70000 + random() % 100000 : 1 + random() % 5000;
        std::byte* start = heap.allocate(size, MemoryKind::device, 0, 0);
        ASSERT_NE(start, nullptr);
        live.emplace_back(start, size);
    }
    std::sort(live.begin(), live.end());
    for (std::size_t i = 1; i < live.size(); ++i)
        ASSERT_LT(live[i - 1].first + live[i - 1].second, live[i].first);
}

TEST(Heap, RegisteredMemoryIsFoundAndMayNotOverlap) {
    Heap heap;
    std::vector<std::byte> own(1000);
    EXPECT_TRUE(heap.add_registered(own.data() + 100, 500, 0, 0));
    EXPECT_FALSE(heap.add_registered(own.data(), 101, 0, 0));
    EXPECT_FALSE(heap.add_registered(own.data() + 599, 10, 0, 0));
    EXPECT_TRUE(heap.add_registered(own.data() + 600, 10, 0, 0));
    HeapMemory memory(heap);
    EXPECT_EQ(memory.range_of(address(own.data()) + 100, Access::read).host, own.data() + 100);
    EXPECT_EQ(memory.range_of(address(own.data()) + 99, Access::read).host, nullptr);
    EXPECT_FALSE(heap.release(own.data() + 100)) << "it is not ours to free";
    EXPECT_TRUE(heap.remove_registered(own.data() + 100));
    EXPECT_FALSE(heap.remove_registered(own.data() + 100));
}

TEST(Heap, AResetFreesOneDevicesMemory) {
    Heap heap;
    std::byte* first = heap.allocate(100, MemoryKind::device, 0, 0);
    std::byte* second = heap.allocate(100, MemoryKind::device, 1, 0);
    heap.release_device(0);
    EXPECT_FALSE(heap.find(first));
    EXPECT_TRUE(heap.find(second));
}

}  // namespace
}  // namespace trimtab::emulator
