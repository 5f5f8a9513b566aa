// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/instruction.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace trimtab::sass {
namespace {

std::string text(const std::vector<RegisterRange>& ranges) {
    std::string out;
    std::vector<RegisterRange> sorted = ranges;
    std::ranges::sort(sorted, {}, [](const RegisterRange& r) { return std::pair(r.file, r.first); });
    for (const RegisterRange& range : sorted) {
        constexpr const char* letters[] = {"R", "P", "UR", "UP"};
        out +=
            fmt::format("{}{}{}", out.empty() ? "" : " ", letters[static_cast<int>(range.file)], range.first);
        if (range.count > 1) out += fmt::format("+{}", range.count);
    }
    return out;
}

struct Case {
    const char* text;
    const char* writes;
    const char* reads;
    Pipe pipe = Pipe::integer;
    std::uint32_t bytes = 0;
};

// Texts of nvdisasm; what they read and write, by the CUDA Binary Utilities' descriptions.
TEST(SassInstruction, RegistersAndPipes) {
    using enum Pipe;
    const Case cases[] = {
        {"IMAD R3, R8, c[0x0][0x184], R7", "R3", "R7 R8", multiply_add},
        {"IMAD.WIDE R6, R3.reuse, R21, c[0x0][0x170]", "R6+2", "R3 R21", multiply_add},
        {"IMAD.WIDE.U32 R4, P1, R0, R5, R8", "R4+2 P1", "R0 R5 R8+2", multiply_add},
        {"IADD3 R14, P1, R4, 0x10, RZ", "R14 P1", "R4"},
        {"IADD3.X R21, ~R0, R21, R7, P0, P1", "R21", "R0 R7 R21 P0 P1"},
        {"ISETP.LT.OR P0, PT, R3, c[0x0][0x180], P0", "P0", "R3 P0"},
        {"@!P1 DSETP.NEU.AND P2, P3, |R16|, +INF , PT", "P2 P3", "R16+2 P1", fp64},
        {"DFMA R2, R6, -UR4, R34", "R2+2", "R6+2 R34+2 UR4+2", fp64},
        {"SEL R0, R0, R9, !P0", "R0", "R0 R9 P0"},
        {"LOP3.LUT P1, RZ, R4, 0x3, RZ, 0xc0, !PT", "P1", "R4"},
        {"PLOP3.LUT P0, PT, PT, PT, PT, 0x8, 0x0", "P0", ""},
        {"LEA R12, P0, R13, c[0x0][0x160], 0x2", "R12 P0", "R13"},
        {"LDG.E.SYS R14, [R4+-0x8]", "R14", "R4+2", load_store, 4},
        {"@P0 LDG.E.128 R4, [R2.64+0x10]", "R4+4", "R2+2 P0", load_store, 16},
        {"LDG.E.U8 R4, desc[UR6][R2.64+0x10]", "R4", "R2+2 UR6+2", load_store, 1},
        {"LDG.E.64 R8, [UR4]", "R8+2", "UR4+2", load_store, 8},
        {"STG.E.64 desc[UR6][R2.64], R18", "", "R2+2 R18+2 UR6+2", load_store, 8},
        {"STL.64 [R19+-0x78], R20", "", "R19 R20+2", load_store, 8},
        {"LDL R21, [R1+0x8]", "R21", "R1", load_store, 4},
        {"LDS.U.128 R4, [R7.X4+0x10]", "R4+4", "R7", load_store, 16},
        {"LDSM.16.M88.4 R16, [R15]", "R16+4", "R15", load_store, 16},
        {"LDGSTS.E.BYPASS.128 [R15], desc[UR4][R2.64]", "", "R2+2 R15 UR4+2", load_store, 16},
        {"ATOMG.E.ADD.STRONG.GPU PT, R7, [UR4], R0", "R7", "R0 UR4+2", load_store, 4},
        {"ATOMG.E.CAS.64.STRONG.SYS PT, R2, [R2], R4, R6", "R2+2", "R2+2 R4+2 R6+2", load_store, 8},
        {"ATOMS.ADD RZ, [R5], R6", "", "R5 R6", load_store, 4},
        {"RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R4", "", "R2+2 R4", load_store, 4},
        {"SHFL.DOWN P1, R0, R3, 0x10, 0x1f", "R0 P1", "R3", load_store},
        {"VOTE.ANY R6, PT, !P1", "R6", "P1"},
        {"VOTE.ALL P0, P1", "P0", "P1"},
        {"R2P PR, R11, 0x3", "P0 P1", "R11"},
        {"P2R R4, PR, RZ, 0x4", "R4", "P2"},
        {"F2F.F64.F32 R10, R8", "R10+2", "R8", special_function},
        {"F2F.F32.F64 R7, R16", "R7", "R16+2", special_function},
        {"F2I.F64.TRUNC R0, R4", "R0", "R4+2", special_function},
        {"I2F.F64 R2, R0", "R2+2", "R0", special_function},
        {"MUFU.RCP R5, -|R0|", "R5", "R0", special_function},
        {"FFMA R5, R6, R12, R5", "R5", "R5 R6 R12", fp32},
        {"HADD2 R4, -RZ.H0_H0, c[0x2] [0x4].F32", "R4", "", fp16},
        {"HMMA.16816.F32 R8, R4, R12, R8", "R8+4", "R4+4 R8+4 R12+2", tensor},
        {"HMMA.16816.F16 R16, R16, R12.reuse, R4", "R16+2", "R4+2 R12+2 R16+4", tensor},
        {"HMMA.1688.F32.TF32 R8, R4, R12, R8", "R8+4", "R4+4 R8+4 R12+2", tensor},
        {"IMMA.16832.S8.S8 R8, R4, R12, R8", "R8+4", "R4+4 R8+4 R12+2", tensor},
        {"UIADD3.X UR9, URZ, UR9, URZ, UP0, !UPT", "UR9", "UR9 UP0", uniform},
        {"R2UR UR4, R8", "UR4", "R8", uniform},
        {"LDC.64 R10, c[0x2][R8]", "R10+2", "R8", load_store, 8},
        {"CS2R R2, SRZ", "R2+2", ""},
        {"S2R R0, SR_TID.X", "R0", "", other},
        {"BAR.SYNC.DEFER_BLOCKING 0x0", "", "", other},
        {"RET.REL.NODEC R32 `(_Z7computeIdEvPKT_PS0_ii)", "", "R32+2", branch},
        {"@!P0 BRA `(.L_x_0)", "", "P0", branch},
        // Maxwell and Pascal.
        {"XMAD.PSL.CBCC R6, R6.H1, R4.H1, R3", "R6", "R3 R4 R6", multiply_add},
        {"XMAD.MRG R4, R6, c[0x0] [0x8].H1, RZ", "R4", "R6", multiply_add},
        {"IADD R12.CC, R9, c[0x0][0x150]", "R12", "R9"},
        {"IADD.X R5, R15, c[0x0][0x154]", "R5", "R15"},
        {"IADD32I R5, R2, 0x1", "R5", "R2"},
        {"ISCADD R2.CC, R6, c[0x0][0x148], 0x2", "R2", "R6"},
        {"BFE.U32 R0, R1, 0x1008", "R0", "R1"},
        {"BFI R0, R1, 0x510, R2", "R0", "R1 R2"},
        {"LOP.AND.NZ P0, RZ, R2, R3", "P0", "R2 R3"},
        {"LOP32I.AND R7, R0, 0x3", "R7", "R0"},
        {"ICMP.GT R2, R3, R4, R5", "R2", "R3 R4 R5"},
        {"PSETP.AND.AND P0, PT, !P1, PT, PT", "P0", "P1"},
        {"FMUL32I R0, R1, 0.5", "R0", "R1", fp32},
        {"RRO.SINCOS R0, R1", "R0", "R1", special_function},
        {"DMNMX R0, R2, R4, !PT", "R0+2", "R2+2 R4+2", fp64},
        {"LDG.E.CI.64 R4, [R2]", "R4+2", "R2+2", load_store, 8},
        {"RED.E.ADD.U64 [R2], R4", "", "R2+2 R4+2", load_store, 8},
        {"@P0 BRK", "", "P0", branch},
    };
    for (const Case& one : cases) {
        const auto read = read_instruction(one.text);
        ASSERT_TRUE(read) << one.text << ": " << read.error().text();
        EXPECT_NE(read->info, nullptr) << one.text;
        EXPECT_EQ(text(read->writes), one.writes) << one.text;
        EXPECT_EQ(text(read->reads), one.reads) << one.text;
        EXPECT_EQ(read->pipe(), one.pipe) << one.text;
        EXPECT_EQ(read->access_bytes, one.bytes) << one.text;
    }
}

TEST(SassInstruction, TextIsKept) {
    const auto read = read_instruction("@!UP1 FSEL R25, R25.reuse, -0.0825, !P1 ");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->text(), "@!UP1 FSEL R25, R25, -0.0825, !P1");
    EXPECT_EQ(read->reused_operands, 1);
    EXPECT_TRUE(read_instruction("LDG.E.64.SYS R2, [R4]")->has_modifier("64"));
    EXPECT_FALSE(read_instruction("LDG.E.64.SYS R2, [R4]")->has_modifier("6"));
}

TEST(SassInstruction, UnknownOpcodesAreKept) {
    const auto read = read_instruction("FROBNICATE.X R4, R5, [R6]");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->info, nullptr);
    EXPECT_EQ(read->pipe(), Pipe::other);
    EXPECT_EQ(text(read->writes), "R4");
    EXPECT_EQ(text(read->reads), "R5 R6");
}

TEST(SassInstruction, WhatIsNoneIsRefused) {
    for (const char* wrong : {"", "@P9 MOV R1, R2", "@ MOV R1, R2", "lower R1", "@P0", "0x12 R1"})
        EXPECT_FALSE(read_instruction(wrong)) << wrong;
}

}  // namespace
}  // namespace trimtab::sass
