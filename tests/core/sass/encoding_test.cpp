// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/encoding.h"

#include <gtest/gtest.h>

#include <map>

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

INSTANTIATE_TEST_SUITE_P(Gather, SassEncodingOf, testing::Values(75u, 90u));

}  // namespace
}  // namespace trimtab::sass
