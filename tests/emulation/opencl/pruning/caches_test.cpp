// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reuse distance against the plainest way to count.
#include <gtest/gtest.h>

#include <random>
#include <set>

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

}  // namespace
}  // namespace trimtab::pruning
