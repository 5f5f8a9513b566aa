// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers between frames and rooms: what each kind stands for, lane by lane, and whose lanes stay.
#include "emulation/emulator/jit/register_copies.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace trimtab::emulator::jit {
namespace {

struct Tables {
    std::array<RegisterCopy, 5> copies{};
    std::array<std::uint64_t, warp_lanes> offsets{};
};

constexpr std::uint32_t word = sizeof(std::uint32_t) * warp_lanes;  // bytes of a 32-bit register

// A frame of five registers: 32 bits general, uniform, pattern and in runs of 8, and a predicate.
Tables tables() {
    Tables made;
    const std::uint32_t pattern = offsetof(Tables, offsets);
    using Kind = RegisterCopy::Kind;
    made.copies = {RegisterCopy{0, 0, 0, 4, Kind::general, 0},
                   {word, 128, 0, 4, Kind::uniform, 0},
                   {2 * word, 136, pattern, 4, Kind::pattern, 0},
                   {3 * word, 144, pattern, 4, Kind::runs, 8},
                   {4 * word, 160, 0, 0, Kind::general, 0}};
    for (unsigned lane = 0; lane < warp_lanes; lane++) made.offsets[lane] = lane % 8 * 4;
    return made;
}

struct Frame {
    std::uint32_t general[warp_lanes], uniform[warp_lanes], pattern[warp_lanes], runs[warp_lanes], predicate;
};
struct Room {
    std::uint32_t general[warp_lanes], uniform, unused, pattern, unused_too, runs[4], predicate;
};

constexpr std::uint32_t every[] = {5, 0, 1, 2, 3, 4};

void expect_saved(std::uint32_t lanes) {
    const Tables given = tables();
    Room room{};
    for (unsigned lane = 0; lane < warp_lanes; lane++) room.general[lane] = 1000 + lane;
    room.uniform = 7, room.pattern = 50, room.predicate = 0x0f0f0f0f;
    for (unsigned run = 0; run < 4; run++) room.runs[run] = 100 * run;
    Frame frame;
    std::memset(&frame, 0xee, sizeof frame);
    save_registers(reinterpret_cast<std::byte*>(&frame), lanes, reinterpret_cast<const std::byte*>(&room),
                   given.copies.data(), every);
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        const bool is_copied = ((lanes >> lane) & 1) != 0;
        const std::uint32_t offset = lane % 8 * 4;
        EXPECT_EQ(frame.general[lane], is_copied ? 1000 + lane : 0xeeeeeeeeu);
        EXPECT_EQ(frame.uniform[lane], is_copied ? 7 : 0xeeeeeeeeu);
        EXPECT_EQ(frame.pattern[lane], is_copied ? 50 + offset : 0xeeeeeeeeu);
        EXPECT_EQ(frame.runs[lane], is_copied ? lane / 8 * 100 + offset : 0xeeeeeeeeu);
    }
    EXPECT_EQ(frame.predicate, (0x0f0f0f0fu & lanes) | (0xeeeeeeeeu & ~lanes));
}

TEST(RegisterCopies, OnlyThePathsLanesAreSaved) {
    for (const std::uint32_t lanes : {all_lanes, 1u, 0x80000000u, 0x00010100u, 0xfffffffeu, 0x55555555u})
        expect_saved(lanes);
}

TEST(RegisterCopies, ALaneOfThePathTellsWhatAllHave) {
    const Tables given = tables();
    Frame frame;
    std::memset(&frame, 0xee, sizeof frame);
    // Lanes 9 and 26 are on the path.
    for (const unsigned lane : {9u, 26u}) {
        frame.general[lane] = lane;
        frame.uniform[lane] = 7;
        frame.pattern[lane] = 50 + lane % 8 * 4;
        frame.runs[lane] = lane / 8 * 100 + lane % 8 * 4;
    }
    frame.predicate = 1u << 26;
    Room room{};
    restore_registers(reinterpret_cast<const std::byte*>(&frame), 1u << 9 | 1u << 26,
                      reinterpret_cast<std::byte*>(&room), given.copies.data(), every);
    EXPECT_EQ(room.general[9], 9u);
    EXPECT_EQ(room.general[26], 26u);
    EXPECT_EQ(room.uniform, 7u);
    EXPECT_EQ(room.pattern, 50u);
    EXPECT_EQ(room.runs[1], 100u);
    EXPECT_EQ(room.runs[3], 300u);
    EXPECT_EQ(room.predicate, 1u << 26);
}

TEST(RegisterCopies, ListsChoose) {
    const Tables given = tables();
    const std::uint32_t one[] = {1, 1};
    Frame frame{};
    Room room{};
    room.uniform = 3, room.pattern = 4;
    save_registers(reinterpret_cast<std::byte*>(&frame), all_lanes, reinterpret_cast<const std::byte*>(&room),
                   given.copies.data(), one);
    EXPECT_EQ(frame.uniform[31], 3u);
    EXPECT_EQ(frame.pattern[0], 0u);
}

}  // namespace
}  // namespace trimtab::emulator::jit
