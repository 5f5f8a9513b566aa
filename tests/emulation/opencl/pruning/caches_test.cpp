// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Coalescing and reuse distance against the plainest way to count.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>
#include <set>

#include "emulation/opencl/pruning/coalescing.h"
#include "emulation/opencl/pruning/components.h"
#include "emulation/opencl/pruning/reuse_distance.h"

namespace trimtab::pruning {
namespace {

class Random {
  public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    std::int64_t between(std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
    }

  private:
    std::mt19937_64 engine_;
};

TEST(ReuseCache, HitsWhereFewerLinesThanItHoldsLieBetween) {
    Random random(7);
    for (const std::uint64_t capacity : {std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{64}}) {
        ReuseCache cache(capacity);
        for (int again = 0; again < 3; ++again) {
            cache.clear();
            std::vector<std::uint64_t> history;
            for (int i = 0; i < 2000; ++i) {
                const auto line = static_cast<std::uint64_t>(random.between(0, random.between(1, 130)));
                std::set<std::uint64_t> since;
                std::size_t at = history.size();
                while (at > 0 && history[at - 1] != line) since.insert(history[--at]);
                const bool hits = at > 0 && since.size() < capacity;
                ASSERT_EQ(cache.missing(line, 1), hits ? 0u : 1u) << i;
                history.push_back(line);
            }
        }
    }
}

TEST(ReuseCache, FetchesSectorsOneByOne) {
    ReuseCache cache(2);
    EXPECT_EQ(cache.missing(3, 0b0011), 0b0011u);
    EXPECT_EQ(cache.missing(3, 0b0110), 0b0100u);
    EXPECT_EQ(cache.missing(4, 0b1111), 0b1111u);
    EXPECT_EQ(cache.missing(5, 0b1111), 0b1111u);  // puts out line 3
    EXPECT_EQ(cache.missing(3, 0b0001), 0b0001u);
    ReuseCache none(0);
    EXPECT_EQ(none.missing(1, 1), 1u);
    EXPECT_EQ(none.missing(1, 1), 1u);
}

TEST(TouchedLines, AreThoseOfEachLane) {
    Random random(11);
    for (int i = 0; i < 4000; ++i) {
        const std::array<std::uint32_t, 3> group{static_cast<std::uint32_t>(random.between(1, 70)),
                                                 static_cast<std::uint32_t>(random.between(1, 8)), 1};
        const WarpLanes lanes = WarpLanes::of(
            group, static_cast<std::uint32_t>(random.between(0, (group[0] * group[1] - 1) / 32)));
        const std::int64_t strides[] = {0, 1, 4, 8, 12, 32, 64, 400, -4, -128};
        const WarpValue sum{.kind = WarpValue::Kind::sum,
                            .base = random.between(100'000, 101'000),
                            .x = strides[random.between(0, 9)],
                            .y = strides[random.between(0, 9)] * random.between(1, 9),
                            .z = 0};
        const auto bytes = static_cast<std::uint32_t>(1 << random.between(0, 4));
        const auto mask = static_cast<std::uint32_t>(random.between(0, 3) == 0 ? random.between(0, 0xffffffff)
                                                                               : 0xffffffff);
        LaneNumbers numbers;
        numbers_of({.value = sum}, ptx::Type::s64, lanes, numbers);
        std::map<std::uint64_t, std::uint32_t> expected;
        for (unsigned lane = 0; lane < warp_lanes; ++lane)
            if ((mask & lanes.present) >> lane & 1)
                for (std::uint32_t b = 0; b < bytes; ++b) {
                    const std::uint64_t at = static_cast<std::uint64_t>(numbers[lane]) + b;
                    expected[at / line_bytes] |= 1u << (at % line_bytes / sector_bytes);
                }
        for (const bool lane_by_lane : {false, true}) {
            std::vector<TouchedLine> out;
            const WarpValue apart{.kind = WarpValue::Kind::lanes};
            touched_lines({.value = lane_by_lane ? apart : sum, .lanes = &numbers}, bytes, mask, lanes, out);
            std::map<std::uint64_t, std::uint32_t> found;
            for (const TouchedLine& line : out) ASSERT_TRUE(found.emplace(line.line, line.sectors).second);
            ASSERT_EQ(found, expected) << sum.x << " " << sum.y << " " << bytes << " " << lane_by_lane;
        }
    }
}

TEST(TouchedLines, OfAGroupAreThoseOfItsWarps) {
    Random random(13);
    for (int i = 0; i < 2000; ++i) {
        const std::array<std::uint32_t, 3> group{static_cast<std::uint32_t>(random.between(1, 70)),
                                                 static_cast<std::uint32_t>(random.between(1, 8)),
                                                 static_cast<std::uint32_t>(random.between(1, 3))};
        const std::int64_t strides[] = {0, 1, 4, 8, 12, 32, 64, 400, -4, -128};
        const WarpValue sum{.kind = WarpValue::Kind::sum,
                            .base = random.between(100'000, 101'000),
                            .x = strides[random.between(0, 9)],
                            .y = strides[random.between(0, 9)] * random.between(1, 9),
                            .z = strides[random.between(0, 9)] * random.between(1, 9)};
        const auto bytes = static_cast<std::uint32_t>(1 << random.between(0, 4));
        std::map<std::uint64_t, std::uint32_t> expected, found;
        std::vector<TouchedLine> out;
        for (std::uint32_t warp = 0; warp * warp_lanes < group[0] * group[1] * group[2]; ++warp)
            touched_lines({.value = sum}, bytes, ~0u, WarpLanes::of(group, warp), out);
        for (const TouchedLine& line : out) expected[line.line] |= line.sectors;
        out.clear();
        lines_of_group(sum, bytes, group, out);
        for (const TouchedLine& line : out) found[line.line] |= line.sectors;
        ASSERT_EQ(found, expected) << sum.x << " " << sum.y << " " << sum.z << " " << bytes;
    }
}

TEST(LocalPasses, AreTheWordsOfTheFullestBank) {
    const WarpLanes lanes = WarpLanes::of({32, 1, 1}, 0);
    const auto passes = [&](std::int64_t stride, std::uint32_t bytes = 4) {
        return local_passes({.value = {.kind = WarpValue::Kind::sum, .base = 0, .x = stride, .y = 0, .z = 0}},
                            bytes, ~0u, lanes);
    };
    EXPECT_EQ(passes(0), 1u);
    EXPECT_EQ(passes(4), 1u);
    EXPECT_EQ(passes(8), 2u);
    EXPECT_EQ(passes(132), 1u);
    EXPECT_EQ(passes(128), 32u);
    EXPECT_EQ(passes(8, 8), 2u);
}

}  // namespace
}  // namespace trimtab::pruning
