// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/device/heap.h"

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
    EXPECT_THAT(memory.explain(address(&on_stack)), HasSubstr("a host pointer?"));
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

// The host's byte that an access outside meets; null: none.
std::byte* met_at(HeapMemory& memory, std::uint64_t at) {
    const auto range = memory.mapped_outside(at);
    if (range.host == nullptr) return nullptr;
    EXPECT_LE(range.first, at);
    EXPECT_GT(range.end, at);
    return range.host + (at - range.first);
}

TEST(Heap, PastAnEndLiesWhatTheDriverPutThere) {
    Heap heap;
    std::byte* first = heap.allocate(1024, MemoryKind::device, 0, 0);
    std::byte* second = heap.allocate(1000, MemoryKind::device, 0, 0);
    std::byte* third = heap.allocate(512, MemoryKind::device, 0, 0);
    std::byte* others = heap.allocate(512, MemoryKind::device, 1, 0);
    third[8] = std::byte{7};
    HeapMemory memory(heap);
    // Multiples of 512 bytes, side by side.
    EXPECT_EQ(met_at(memory, address(first) + 1024), second);
    EXPECT_EQ(met_at(memory, address(first) + 1024 + 999), second + 999);
    EXPECT_EQ(met_at(memory, address(first) + 2048 + 8), third + 8);
    EXPECT_EQ(met_at(memory, address(third) - 4), second + 1020);
    // What rounding up leaves is its own, and follows it on the host, too.
    EXPECT_EQ(met_at(memory, address(second) + 1000), second + 1000);
    EXPECT_EQ(met_at(memory, address(second) + 1024 + 8), third + 8);
    // Behind the last one its granule goes on, with zeroes, the same from wherever it is reached.
    std::byte* const rest = met_at(memory, address(third) + 600);
    ASSERT_NE(rest, nullptr);
    EXPECT_EQ(*rest, std::byte{0});
    *rest = std::byte{9};
    EXPECT_EQ(*met_at(memory, address(second) + 1024 + 600), std::byte{9});
    EXPECT_NE(met_at(memory, address(others) + 512), first) << "no device reaches another's memory so";
    // Before the first granule there is nothing, and no allocation is near to the null pointer.
    EXPECT_EQ(met_at(memory, address(first) - 4), nullptr);
    EXPECT_EQ(met_at(memory, 0), nullptr);
    int on_stack = 0;
    EXPECT_EQ(met_at(memory, address(&on_stack)), nullptr);
}

TEST(Heap, LargeAllocationsHaveGranulesOfTheirOwn) {
    constexpr std::uint64_t granule = DriverLayout::granule_bytes;
    Heap heap;
    std::byte* large = heap.allocate(granule - 4096, MemoryKind::device, 0, 0);
    HeapMemory alone(heap);
    EXPECT_EQ(met_at(alone, address(large) + granule - 4096), large + granule - 4096);
    EXPECT_EQ(met_at(alone, address(large) + granule - 1), large + granule - 1);
    EXPECT_EQ(met_at(alone, address(large) + granule), nullptr) << "the next granule is not mapped";
    std::byte* next = heap.allocate(granule, MemoryKind::device, 0, 0);
    EXPECT_EQ(met_at(alone, address(large) + granule + 16), next + 16);
    ASSERT_TRUE(heap.release(next));
    EXPECT_EQ(met_at(alone, address(large) + granule + 16), nullptr);
    EXPECT_EQ(met_at(alone, address(next)), nullptr) << "and freed, it is unmapped";
}

TEST(Heap, AGranuleIsMappedWhileAnAllocationLiesInIt) {
    Heap heap;
    std::byte* freed = heap.allocate(1024, MemoryKind::device, 0, 0);
    std::byte* kept = heap.allocate(1024, MemoryKind::device, 0, 0);
    freed[100] = std::byte{5};
    ASSERT_TRUE(heap.release(freed));
    HeapMemory memory(heap);
    ASSERT_NE(met_at(memory, address(freed) + 100), nullptr);
    EXPECT_EQ(*met_at(memory, address(freed) + 100), std::byte{5}) << "nobody has cleared it";
    EXPECT_EQ(met_at(memory, address(kept) - 8), met_at(memory, address(freed) + 1016));
    std::byte* again = heap.allocate(1024, MemoryKind::device, 0, 0);
    EXPECT_EQ(met_at(memory, address(freed) + 100), again + 100) << "it has the place now";
    ASSERT_TRUE(heap.release(again));
    ASSERT_TRUE(heap.release(kept));
    EXPECT_EQ(met_at(memory, address(freed) + 100), nullptr);
}

TEST(Heap, WritesPastAnEndDoNotOutliveTheAllocation) {
    Heap heap;
    for (int i = 0; i < 3000; ++i) {
        std::byte* start = heap.allocate(1000, MemoryKind::device, 0, 0);
        ASSERT_EQ(start[1001], std::byte{0});
        start[1001] = std::byte{1};
        ASSERT_TRUE(heap.release(start));
    }
}

}  // namespace
}  // namespace trimtab::emulator
