// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/encoding.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "core/sass/counter_waits.h"
#include "tests/core/sass/fixtures.h"

namespace trimtab::sass {
namespace {

// Worked by hand: 0x000e220000002500 >> 41 is 0111 0001 0001: read barrier 7 (none), write barrier 0, the
// switch bit, one cycle.
TEST(SassEncoding, FieldsWorkedByHand) {
    EXPECT_EQ(control_fields({.low = 0x0000000000007919, .high = 0x000e220000002500}),
              (ControlFields{.stall_cycles = 1, .may_switch = false, .write_barrier = 0}));
    // 0x041fe400... : reuse of the first operand, wait for barrier 0.
    EXPECT_EQ(control_fields({.low = 0, .high = 0x041fe40003f04070}),
              (ControlFields{.stall_cycles = 2, .may_switch = false, .wait_mask = 1, .reuse_mask = 1}));
    // 0x02afc6 >> 1 is 101 0101 1111 0001 1: waits for barriers 1, 3 and 5; the switch bit is 0, which asks
    // for a switch; three cycles.
    EXPECT_EQ(control_fields({.low = 0, .high = 0x02afc60000000000}),
              (ControlFields{.stall_cycles = 3, .may_switch = true, .wait_mask = 0b101010}));
}

// The first control words of gather's code for sm_61, worked by hand. 0x001c5800fe0007f6 holds, from the lowest 21 bits on,
// 0x7f6 (111 111 1 0110: no barriers, no switch, six cycles), 0x7f0 (no cycles: a pair) and 0x716 (111 000 1 0110: write
// barrier 0).
TEST(SassEncoding, ControlWordsWorkedByHand) {
    constexpr std::uint64_t first = 0x001c5800fe0007f6;
    EXPECT_EQ(control_fields(first, 0), (ControlFields{.stall_cycles = 6, .may_switch = false}));
    EXPECT_EQ(control_fields(first, 1), (ControlFields{.may_switch = false, .issues_with_next = true}));
    EXPECT_EQ(control_fields(first, 2),
              (ControlFields{.stall_cycles = 6, .may_switch = false, .write_barrier = 0}));
    // Above the lowest 42 bits, 0x005fc000fc4007f6 has 0x17f0: waits for barrier 1.
    EXPECT_EQ(control_fields(0x005fc000fc4007f6, 2),
              (ControlFields{.may_switch = false, .wait_mask = 2, .issues_with_next = true}));
    // And 0x081fc400fc2007ec has 0x207f1: the first operand is kept.
    EXPECT_EQ(control_fields(0x081fc400fc2007ec, 2),
              (ControlFields{.stall_cycles = 1, .may_switch = false, .reuse_mask = 1}));
    // 0x7e0 of padding: no cycles, but a switch; no pair.
    EXPECT_FALSE(control_fields(0x001f8000fc0007e0, 0).issues_with_next);
    EXPECT_EQ(control_fields(0x001f8000fc0007e0, 0).issue_cycles(), 1);
    EXPECT_EQ(control_fields(first, 1).issue_cycles(), 0);
}

TEST(SassEncoding, AddressesOfBothLayouts) {
    const std::uint32_t grouped[] = {0x8, 0x10, 0x18, 0x28, 0x30, 0x38, 0x48};
    for (std::uint32_t n = 0; n < 7; ++n) {
        EXPECT_EQ(address_of(Layout::grouped, n), grouped[n]);
        EXPECT_EQ(index_at(Layout::grouped, grouped[n]), n);
        EXPECT_EQ(address_of(Layout::whole, n), 16 * n);
        EXPECT_EQ(index_at(Layout::whole, 16 * n), n);
    }
    EXPECT_EQ(index_at(Layout::grouped, 0x40), 6u);  // a control word
}

TEST(SassEncoding, FieldsOfTheLowWordAndAcrossBoth) {
    const Encoding encoding{.low = 0xf000000000007919, .high = 0x5};
    EXPECT_EQ(field(encoding, {"opcode", 0, 12}), 0x919u);
    EXPECT_EQ(field(encoding, {"across", 60, 7}), 0x5fu);
}

class SassEncodingOf : public testing::TestWithParam<unsigned> {};

// nvdisasm writes one of the fields into its text: .reuse.
TEST_P(SassEncodingOf, ReuseIsAsTheTextSays) {
    int marked = 0;
    for (const Function& function : gather(GetParam()).functions)
        for (const Instruction& i : function.instructions) {
            EXPECT_EQ(__builtin_popcount(i.control.reuse_mask), i.reused_operands) << i.text();
            marked += i.reused_operands;
        }
    EXPECT_GT(marked, 0);
}

// What a wrong barrier, mask or register would break: no register is read before its load's barrier was
// waited for.
TEST_P(SassEncodingOf, NoLoadIsReadBeforeItsBarrier) {
    int waited = 0;
    for (const Function& function : gather(GetParam()).functions) {
        std::map<std::uint16_t, std::uint8_t> pending;  // by register: the barrier of its load
        for (const Instruction& i : function.instructions) {
            std::erase_if(pending, [&](const auto& one) {
                const bool waits = i.control.waits_for(one.second);
                waited += waits ? 1 : 0;
                return waits;
            });
            for (const RegisterRange& range : i.reads)
                for (std::uint16_t r = range.first; r < range.first + range.count; ++r)
                    EXPECT_FALSE(range.file == RegisterFile::general && pending.contains(r)) << i.text();
            if (i.is_load() && i.is_global()) {
                EXPECT_LT(i.control.write_barrier, barrier_count) << i.text();
                for (const RegisterRange& range : i.writes)
                    for (std::uint16_t r = range.first; r < range.first + range.count; ++r)
                        pending[r] = i.control.write_barrier;
            }
        }
    }
    EXPECT_GE(waited, 20);  // each of its 21 loads, or nearly
}

// Fixed-latency arithmetic takes at least four cycles on Volta and later (Jia et al., 2018 and 2019), which the
// stall counts between writer and reader must cover.
TEST_P(SassEncodingOf, StallsCoverTheLatencyOfArithmetic) {
    int pairs = 0;
    for (const Function& function : gather(GetParam()).functions) {
        std::map<std::uint16_t, unsigned> written;  // by register: the cycle
        unsigned cycle = 0;
        for (const Instruction& i : function.instructions) {
            for (const RegisterRange& range : i.reads)
                for (std::uint16_t r = range.first; r < range.first + range.count; ++r)
                    if (const auto at = written.find(r);
                        range.file == RegisterFile::general && at != written.end()) {
                        EXPECT_GE(cycle - at->second, 4u) << i.text();
                        ++pairs;
                    }
            for (const RegisterRange& range : i.writes) {
                if (range.file != RegisterFile::general) continue;
                for (std::uint16_t r = range.first; r < range.first + range.count; ++r) {
                    written.erase(r);
                    if (i.control.write_barrier == no_barrier) written[r] = cycle;
                }
            }
            cycle += i.control.stall_cycles;
        }
    }
    EXPECT_GT(pairs, 20);
}

INSTANTIATE_TEST_SUITE_P(Gather, SassEncodingOf, testing::Values(70u, 75u, 90u));

class SassGrouped : public testing::TestWithParam<unsigned> {
  protected:
    const Disassembly read_ = gather(GetParam());
    const std::vector<Instruction>& code_ = read_.functions.at(0).instructions;
};

TEST_P(SassGrouped, ReuseAndPairsAreAsTheTextSays) {
    const std::string text = data_text("gather.sm_" + std::to_string(GetParam()) + ".sass");
    std::size_t marked = 0, pairs = 0;
    for (const Instruction& i : code_) {
        EXPECT_EQ(__builtin_popcount(i.control.reuse_mask), i.reused_operands) << i.text();
        marked += i.reused_operands;
        // "/*0010*/         {         MOV R7, c[0x0][0x160] ;"
        const std::size_t line = text.find(fmt::format("/*{:04x}*/", i.address));
        ASSERT_NE(line, std::string::npos);
        const std::size_t brace = text.find_first_not_of(' ', line + 8);
        EXPECT_EQ(text[brace] == '{', i.control.issues_with_next) << i.text();
        pairs += i.control.issues_with_next ? 1 : 0;
    }
    EXPECT_GT(marked, 5u);
    EXPECT_GT(pairs, 10u);
}

// Loads end in the order of their issue, so that a barrier that the last of several sets stands for all of them, and DEPBAR
// waits until no more than the last so many are under way.
TEST_P(SassGrouped, NoLoadIsReadBeforeItsBarrierOrThatOfALaterOne) {
    struct Load {
        std::uint16_t to;
        std::uint8_t barrier;
    };
    std::vector<Load> pending;
    int waited = 0;
    for (const Instruction& i : code_) {
        for (const CounterWait& wait : counter_waits(i)) {
            int left = wait.left;
            for (std::size_t last = pending.size(); last-- > 0;) {
                if (pending[last].barrier != wait.counter || left-- > 0) continue;
                waited += static_cast<int>(last) + 1;
                pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(last) + 1);
                break;
            }
        }
        for (const RegisterRange& range : i.reads)
            for (const Load& load : pending)
                EXPECT_FALSE(range.file == RegisterFile::general && load.to >= range.first &&
                             load.to < range.first + range.count)
                    << i.text();
        if (i.is_load() && i.is_global())
            pending.push_back({.to = i.writes.at(0).first, .barrier = i.control.write_barrier});
    }
    EXPECT_TRUE(pending.empty());
    EXPECT_EQ(waited, 21);  // its loads
}

// Six cycles on Maxwell and Pascal (Jia et al., 2018, table 4.1); an access to memory reads its registers four cycles after its
// issue (Gray, "maxas").
TEST_P(SassGrouped, StallsCoverTheLatencyOfArithmetic) {
    int pairs = 0;
    std::map<std::uint16_t, unsigned> written;  // by register: the cycle
    unsigned cycle = 0;
    for (const Instruction& i : code_) {
        for (const RegisterRange& range : i.reads)
            for (std::uint16_t r = range.first; r < range.first + range.count; ++r)
                if (const auto at = written.find(r);
                    range.file == RegisterFile::general && at != written.end()) {
                    EXPECT_GE(cycle - at->second, i.pipe() == Pipe::load_store ? 2u : 6u) << i.text();
                    ++pairs;
                }
        for (const RegisterRange& range : i.writes) {
            if (range.file != RegisterFile::general) continue;
            for (std::uint16_t r = range.first; r < range.first + range.count; ++r) {
                written.erase(r);
                if (i.space() == Space::none && i.control.write_barrier == no_barrier) written[r] = cycle;
            }
        }
        cycle += i.control.issue_cycles();
    }
    EXPECT_GT(pairs, 20);
}

INSTANTIATE_TEST_SUITE_P(Gather, SassGrouped, testing::Values(52u, 61u));

TEST(SassCounterWaits, MaskAndDepbar) {
    Instruction i = read_instruction("DEPBAR.LE SB5, 0x12, {4,3}").value();
    i.control.wait_mask = 1;
    EXPECT_EQ(counter_waits(i),
              (std::vector<CounterWait>{
                  {.counter = 0}, {.counter = 5, .left = 18}, {.counter = 4}, {.counter = 3}}));
    EXPECT_EQ(counter_waits(read_instruction("DEPBAR {1}").value()),
              std::vector<CounterWait>{{.counter = 1}});
    EXPECT_TRUE(counter_waits(read_instruction("DEPBAR.LE SB9, 0x0").value()).empty());
    EXPECT_TRUE(counter_waits(read_instruction("MOV R0, R1").value()).empty());
}

}  // namespace
}  // namespace trimtab::sass
