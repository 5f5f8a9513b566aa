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

// Every opcode of the samples of both architectures is in the table.
TEST(SassDisassembly, TableKnowsTheOpcodes) {
    for (const unsigned architecture : {75u, 90u})
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
    other.replace(other.find("sm_75"), 5, "sm_61");
    EXPECT_THAT(refused(other), HasSubstr("sm_61 has another encoding"));
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
