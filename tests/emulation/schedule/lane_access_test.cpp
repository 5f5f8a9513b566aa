// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a warp's access touches, against the plainest way to count.
#include "emulation/schedule/lane_access.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace trimtab::schedule {
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

// Rows of lanes, some of them absent.
LaneAccess rows(Random& random) {
    const std::int64_t strides[] = {0, 1, 4, 8, 12, 32, 64, 400, -4, -128};
    const std::int64_t base = random.between(100'000, 101'000), x = strides[random.between(0, 9)],
                       y = strides[random.between(0, 9)] * random.between(1, 9);
    const auto width = static_cast<unsigned>(random.between(1, 32));
    const auto mask =
        static_cast<std::uint32_t>(random.between(0, 3) == 0 ? random.between(1, 0xffffffff) : 0xffffffff);
    LaneAccess out;
    for (unsigned lane = 0; lane < 32; ++lane)
        if ((mask >> lane & 1) != 0)
            out.add(lane, static_cast<std::uint64_t>(base + x * (lane % width) + y * (lane / width)));
    return out;
}

TEST(LaneAccess, TouchesTheLinesOfEachLane) {
    Random random(11);
    for (int i = 0; i < 4000; ++i) {
        const LaneAccess lanes = rows(random);
        const auto bytes = static_cast<unsigned>(1 << random.between(0, 4));
        std::map<std::uint64_t, unsigned> expected, found;
        unsigned sectors = 0;
        for (unsigned l = 0; l < lanes.count; ++l)
            for (unsigned b = 0; b < bytes; ++b) {
                const std::uint64_t at = lanes.address[l] + b;
                unsigned& line = expected[at / 128];
                sectors += (line >> (at % 128 / 32) & 1) == 0 ? 1 : 0;
                line |= 1u << (at % 128 / 32);
            }
        std::vector<Line> lines(3);  // those of requests before
        Request request;
        touch_lines(lanes, bytes, lines, request);
        EXPECT_EQ(request.first_line, 3u);
        for (std::size_t l = 3; l < lines.size(); ++l)
            ASSERT_TRUE(found.emplace(lines[l].number, lines[l].sectors).second);
        ASSERT_EQ(found, expected) << i;
        EXPECT_EQ(request.lines, expected.size());
        EXPECT_EQ(request.sectors, sectors);
    }
}

TEST(LaneAccess, PassesSharedMemoryAsOftenAsTheFullestBankHasWords) {
    const auto passes = [](std::int64_t stride, unsigned bytes = 4) {
        LaneAccess lanes;
        for (unsigned lane = 0; lane < 32; ++lane) lanes.add(lane, static_cast<std::uint64_t>(stride * lane));
        return shared_passes(lanes, bytes, false);
    };
    EXPECT_EQ(passes(0), 1u);
    EXPECT_EQ(passes(4), 1u);
    EXPECT_EQ(passes(8), 2u);
    EXPECT_EQ(passes(132), 1u);
    EXPECT_EQ(passes(128), 32u);
    EXPECT_EQ(passes(8, 8), 2u);
}

}  // namespace
}  // namespace trimtab::schedule
