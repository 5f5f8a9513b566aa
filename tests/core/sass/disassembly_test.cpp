// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/disassembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/core/sass/fixtures.h"

namespace trimtab::sass {
namespace {

using testing::HasSubstr;

TEST(SassDisassembly, Gather) {
    const Disassembly read = gather(75);
    EXPECT_EQ(read.architecture, 75u);
    ASSERT_EQ(read.functions.size(), 1u);
    const Function* function = read.function("gather");
    ASSERT_NE(function, nullptr);
    EXPECT_EQ(function->registers, 25u);
    EXPECT_EQ(function->code_bytes(), 0x600u);  // .size counts the padding
    EXPECT_TRUE(function->subroutines.empty());
    // "/*0150*/ LDG.E.SYS R11, [R10] ;", made of line 22 of the PTX.
    const Instruction& load = function->instructions[0x150 / 16];
    EXPECT_EQ(load.text(), "LDG.E.SYS R11, [R10]");
    EXPECT_EQ(load.line, 22u);
    const Instruction& branch = function->instructions[0x330 / 16];
    EXPECT_EQ(branch.text(), "@!P1 BRA `(.L_x_2)");
    EXPECT_EQ(branch.target, 0xd0u);
    EXPECT_EQ(branch.line, 30u);
    EXPECT_EQ(read.function("other"), nullptr);
}

// Three of 8 bytes each behind a control word; of a pair, the second's encoding comes in a line of its own.
TEST(SassDisassembly, GatherInGroups) {
    const Disassembly read = gather(61);
    EXPECT_EQ(read.architecture, 61u);
    ASSERT_EQ(read.functions.size(), 1u);
    const Function& function = read.functions.at(0);
    EXPECT_EQ(function.registers, 25u);
    EXPECT_EQ(function.instructions.size(), 138u);
    EXPECT_EQ(function.code_bytes(), 0x5c0u);
    EXPECT_TRUE(function.subroutines.empty());
    // "/*00e8*/ { IADD R12.CC, R9, c[0x0][0x150] ;" and "/*00f0*/ LDG.E R5, [R4] }", line 22 of the PTX.
    const Instruction& first = function.instructions[function.index_at(0xe8)];
    EXPECT_EQ(first.text(), "IADD R12.CC, R9, c[0x0][0x150]");
    EXPECT_EQ(first.line, 21u);
    EXPECT_EQ(first.encoding.low, 0x4c1080000547090cu);
    EXPECT_TRUE(first.control.issues_with_next);
    const Instruction& load = function.instructions[function.index_at(0xf0)];
    EXPECT_EQ(load.text(), "LDG.E R5, [R4]");
    EXPECT_EQ(load.line, 22u);
    EXPECT_EQ(load.encoding.low, 0xeed4200000070405u);
    EXPECT_EQ(load.control.write_barrier, 5);
    EXPECT_EQ(load.control.read_barrier, 1);
    // The label stands before the encoding of the branch before it, and before its group's control word.
    const Instruction& branch = function.instructions[function.index_at(0x70)];
    EXPECT_EQ(branch.text(), "@!P1 BRA `(.L_x_1)");
    EXPECT_EQ(branch.target, 0x348u);
}

TEST(SassDisassembly, PoppedTargetsAreThoseThatNvdisasmFound) {
    constexpr const char* text = R"sass(
	.headerflags	@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM52 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM52)"
	.section	.text.k,"ax",@progbits
k:
.text.k:
                                                               /* 0x001ffc00ffe007f0 */
        /*0008*/         {         MOV R1, c[0x0][0x20] ;      /* 0x4c98078000870001 */
        /*0010*/              @!P0 SYNC            (*"BRANCH_TARGETS .L_x_0"*)        }
                                                               /* 0xf0f800000008000f */
.L_x_0:
        /*0018*/                   EXIT ;                      /* 0xe30000000007000f */
)sass";
    const auto read = read_disassembly(text, "x");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->architecture, 52u);
    const Instruction& sync = read->functions.at(0).instructions.at(1);
    EXPECT_EQ(sync.text(), "@!P0 SYNC");
    EXPECT_EQ(sync.target, 0x18u);
}

TEST(SassDisassembly, CutGroupsAreRefused) {
    const std::string whole = data_text("gather.sm_61.sass");
    const auto refused = [](const std::string& text) {
        const auto read = read_disassembly(text, "x.sass");
        return read ? std::string("read") : read.error().text();
    };
    const auto without_line = [&](std::string_view of) {
        const std::size_t at = whole.find(of), begin = whole.rfind('\n', at) + 1;
        return whole.substr(0, begin) + whole.substr(whole.find('\n', at) + 1);
    };
    EXPECT_THAT(refused(without_line("0x001c5800fe0007f6")), HasSubstr("without a control word"));
    // The next control word is taken for the encoding.
    EXPECT_THAT(refused(without_line("0xf0c8000002170000")), HasSubstr("without a control word"));
    EXPECT_THAT(refused(without_line("/*0008*/")), HasSubstr("0x10 where 0x8 comes next"));
    EXPECT_THAT(refused(whole.substr(0, whole.find('}') + 2)), HasSubstr("within an instruction"));
    for (std::size_t cut = 0; cut < whole.size(); cut += 997) (void)refused(whole.substr(0, cut));
}

// Every opcode of the samples of these architectures is in the table.
TEST(SassDisassembly, TableKnowsTheOpcodes) {
    for (const unsigned architecture : {52u, 61u, 70u, 75u, 90u})
        for (const Function& function : gather(architecture).functions)
            for (const Instruction& i : function.instructions) EXPECT_NE(i.info, nullptr) << i.text();
}

TEST(SassDisassembly, WhatIsCutOrChangedIsRefusedWithItsLine) {
    const std::string whole = data_text("gather.sm_75.sass");
    const auto refused = [](const std::string& text) {
        const auto read = read_disassembly(text, "x.sass");
        return read ? std::string("read") : read.error().text();
    };
    EXPECT_THAT(refused(""), HasSubstr("no .target"));
    const std::size_t first = whole.find("/*0010*/");
    EXPECT_THAT(refused(whole.substr(0, whole.find('\n', first) + 1)), HasSubstr("within an instruction"));
    std::string other = whole;
    other.replace(first, 8, "/*0020*/");
    EXPECT_THAT(refused(other), HasSubstr("0x20 where 0x10 comes next"));
    other = whole;
    other.replace(other.find("sm_75"), 5, "sm_35");
    EXPECT_THAT(refused(other), HasSubstr("sm_35 has another encoding"));
    other.replace(other.find("sm_35"), 5, "sm_61");
    EXPECT_THAT(refused(other), HasSubstr("an instruction without a control word"));
    other = whole;
    other.replace(other.find("`(.L_x_2)"), 9, "`(.L_x_9)");
    EXPECT_THAT(refused(other), HasSubstr("a branch to .L_x_9"));
    // Whatever is cut: an answer, never a crash.
    for (std::size_t cut = 0; cut < whole.size(); cut += 997) (void)refused(whole.substr(0, cut));
}

TEST(SassDisassembly, SubroutinesAreNoPartOfTheKernelsFlow) {
    constexpr const char* text = R"(
	.target	sm_75
	.section	.text.k,"ax",@progbits
k:
.text.k:
	//## File ".nv_debug_ptx_txt", line 7
        /*0000*/                   CALL.REL.NOINC `($slow) ;  /* 0x0000004000007944 */
                                                               /* 0x004fea0003c00000 */
        /*0010*/                   EXIT ;                      /* 0x000000000000794d */
                                                               /* 0x000fea0003800000 */
        .weak           $slow
        .type           $slow,@function
$slow:
        /*0020*/                   RET.REL.NODEC R2 `(k) ;     /* 0xffffffe002007950 */
                                                               /* 0x000fea0003c3ffff */
)";
    const auto read = read_disassembly(text, "x");
    ASSERT_TRUE(read) << read.error().text();
    const Function& function = read->functions.at(0);
    EXPECT_EQ(function.subroutines, std::vector<std::uint32_t>{0x20});
    EXPECT_EQ(function.instructions[0].target, 0x20u);
    EXPECT_EQ(function.instructions[0].line, 7u);
}

}  // namespace
}  // namespace trimtab::sass
