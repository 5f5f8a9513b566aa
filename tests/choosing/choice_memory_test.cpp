// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/choices/choice_memory.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

namespace trimtab::choosing {
namespace {

using Key = std::array<std::uint64_t, 3>;

RememberedChoice choice_for(std::uint64_t number) {
    const auto n = static_cast<std::uint32_t>(number);
    return {
        .launch = {.grid = {n, n + 1, n + 2}, .block = {n + 3, n + 4, n + 5}, .dynamic_shared_bytes = n + 8},
        .body = n & 0x7fffffff,
        .awaits_check = n % 3 == 0,
        .reason = n + 6,
        .by = n + 7,
        .written_ns = static_cast<double>(n) + 0.5,
        .chosen_ns = static_cast<double>(n) + 0.25};
}

bool matches(const RememberedChoice& choice, std::uint64_t number) {
    const RememberedChoice expected = choice_for(number);
    return choice.launch == expected.launch && choice.body == expected.body &&
           choice.awaits_check == expected.awaits_check && choice.reason == expected.reason &&
           choice.by == expected.by && choice.written_ns == expected.written_ns &&
           choice.chosen_ns == expected.chosen_ns;
}

TEST(ChoiceMemory, GivesBackWhatWasRememberedForExactlyThatKey) {
    ChoiceMemory memory(3);
    RememberedChoice found;
    const Key first{1, 2, 3};
    EXPECT_FALSE(memory.find(first, ChoiceMemory::hash(first), found, true));
    memory.remember(first, ChoiceMemory::hash(first), choice_for(7));
    ASSERT_TRUE(memory.find(first, ChoiceMemory::hash(first), found, true));
    EXPECT_TRUE(matches(found, 7));
    // Another key with the same hash is another key.
    const Key other{1, 2, 4};
    EXPECT_FALSE(memory.find(other, ChoiceMemory::hash(first), found, true));
    memory.remember(other, ChoiceMemory::hash(first), choice_for(8));
    ASSERT_TRUE(memory.find(other, ChoiceMemory::hash(first), found, true));
    EXPECT_TRUE(matches(found, 8));
    ASSERT_TRUE(memory.find(first, ChoiceMemory::hash(first), found, true));
    EXPECT_TRUE(matches(found, 7));
    memory.remember(first, ChoiceMemory::hash(first), choice_for(9));
    ASSERT_TRUE(memory.find(first, ChoiceMemory::hash(first), found, true));
    EXPECT_TRUE(matches(found, 9));
}

TEST(ChoiceMemory, KeepsThousandsAndNeverAnswersWrong) {
    ChoiceMemory memory(3);
    constexpr std::uint64_t count = 10 * ChoiceMemory::max_entries;
    for (std::uint64_t i = 0; i < count; ++i) {
        const Key key{i, i * i, 5};
        memory.remember(key, ChoiceMemory::hash(key), choice_for(i));
    }
    std::uint64_t found_count = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const Key key{i, i * i, 5};
        RememberedChoice found;
        if (!memory.find(key, ChoiceMemory::hash(key), found, true)) continue;
        ++found_count;
        EXPECT_TRUE(matches(found, i));
    }
    EXPECT_LE(found_count, ChoiceMemory::max_entries);
    EXPECT_GT(found_count, ChoiceMemory::max_entries / 2);
}

TEST(ChoiceMemory, ReadersNeverSeeHalfAnEntry) {
    ChoiceMemory memory(3);
    std::atomic<bool> stop = false;
    std::atomic<int> wrong = 0;
    std::atomic<std::uint64_t> hits = 0;
    std::vector<std::jthread> readers;
    for (int t = 0; t < 4; ++t) {
        readers.emplace_back([&] {
            for (std::uint64_t i = 0; !stop; i = (i + 1) % 5000) {
                const Key key{i, ~i, 5};
                RememberedChoice found;
                if (!memory.find(key, ChoiceMemory::hash(key), found, true)) continue;
                ++hits;
                if (!matches(found, i)) ++wrong;
            }
        });
    }
    // More keys than fit, so that entries are replaced under the readers.
    for (std::uint64_t round = 0; round < 20 || hits < 10000; ++round) {
        for (std::uint64_t i = 0; i < 5000; ++i) {
            const Key key{i, ~i, 5};
            memory.remember(key, ChoiceMemory::hash(key), choice_for(i));
        }
    }
    stop = true;
    readers.clear();
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace trimtab::choosing
