// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every bad text gets one line that says where and what.
#include "fixtures.h"

namespace trimtab::ptx {
namespace {

const std::string head = ".version 8.8\n.target sm_80\n.address_size 64\n";

TEST(ParseErrors, SayWhereAndWhat) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"", "test.ptx:1:1: the text ends inside the header: there is no .version"},
        {"int main() {}", "test.ptx:1:1: expected a directive, found 'int'"},
        {".target sm_80", "test.ptx:1:1: this is no PTX: .version must come first"},
        {head + ".frobnicate x;", "test.ptx:4:1: unknown directive '.frobnicate'"},
        {head + ".visible banana;", "test.ptx:4:10: expected a declaration, found 'banana'"},
        {head + ".entry k() { mov.u32 %r1, 0; }", "test.ptx:4:22: register '%r1' is not declared"},
        {head + ".entry k() {\n.reg .b32 %r<4>;\n  mov.u32 %r4, 0;\n}",
         "test.ptx:6:11: register '%r4' is not declared"},
        {head + ".entry k() { .reg .b32 r; @q mov.u32 r, 0; }",
         "test.ptx:4:28: register 'q' is not declared"},
        {head + ".entry k() { .reg .b64 r; mov.u64 r, nowhere; }",
         "test.ptx:4:38: 'nowhere' is not declared"},
        {head + ".entry k() { bra L; }", "test.ptx:4:18: label 'L' is not declared"},
        {head + ".entry k() { { L: } bra L; }", "test.ptx:4:25: label 'L' is not declared"},
        {head + ".entry k() { L: L: ret; }", "test.ptx:4:17: label 'L' is declared twice"},
        {head + ".entry k() { call f; }", "test.ptx:4:19: function 'f' is not declared"},
        {head + ".entry k() { .reg .b32 r; brx.idx r, t; }",
         "test.ptx:4:38: 't' is no list of branch targets"},
        {head + ".entry k() { .reg .b32 r; .reg .b64 r; }", "test.ptx:4:37: register 'r' is declared twice"},
        {head + ".entry k() { .shared .b8 a; .shared .b8 a; }",
         "test.ptx:4:41: variable 'a' is declared twice"},
        {head + ".entry k() { ret; } .entry k() { ret; }", "test.ptx:4:28: function 'k' is defined twice"},
        {head + ".global .u32 x; .global .u32 x;", "test.ptx:4:30: variable 'x' is declared twice"},
        {head + ".entry k() { .reg .b32 r; mov.u32 r, 0x; }", "test.ptx:4:38: '0x' is no number"},
        {head + ".entry k() { .reg .f32 f; mov.f32 f, 0f3F80; }", "test.ptx:4:38: '0f3F80' is no number"},
        {head + ".entry k() { .reg .b32 r; mov.u32 r, 99999999999999999999; }",
         "test.ptx:4:38: '99999999999999999999' is no number"},
        {head + ".entry k() { .reg .b32 r; mov.u32 r, 1/0; }",
         "test.ptx:4:39: division by zero in a constant expression"},
        {head + ".global .u32 x = 089;", "test.ptx:4:18: '089' is no number"},
        {head + ".global .u32 x[2] = {1, 2, 3};", "test.ptx:4:29: too many initial values"},
        {head + ".global .align 3 .u32 x;", "test.ptx:4:16: the alignment is no power of two"},
        {head + ".global .b8 x[2000000000000];", "test.ptx:4:15: no size of an array"},
        {head + ".global .b8 x[1000000][1000000][8];", "test.ptx:4:33: an array of more than 1 TiB"},
        {head + ".global .b8 x[-1];", "test.ptx:4:15: no size of an array"},
        {head + ".global .b8 x = y;", "test.ptx:4:18: an element of this type cannot hold an address"},
        {head + ".alias a, b;", "test.ptx:4:11: function 'b' is not defined"},
        {head + ".entry k( .u32 x) {}", "test.ptx:4:11: expected a parameter, found '.u32'"},
        {head + ".entry k() .maxntid 4294967296 { }",
         "test.ptx:4:21: a block's size must be a number from 0 to 4294967295"},
        {head + ".entry k() { ret }", "test.ptx:4:18: expected an operand, found '}'"},
        {head + ".entry k() { bar.sync {}; }", "test.ptx:4:24: expected an operand, found '}'"},
        {head + ".entry k() { /* open ", "test.ptx:4:14: a comment has no end"},
        {head + ".file 1 \"open\n", "test.ptx:4:9: a string has no end on its line"},
        {head + ".entry k() { \x01 }", "test.ptx:4:14: expected an instruction, found '?'"},
        {".version 8.8 .target sm_80 .address_size 16",
         "test.ptx:1:42: the address size is neither 32 nor 64"},
    };
    for (const auto& [text, expected] : cases) EXPECT_EQ(parse_error(text), expected);
}

TEST(ParseErrors, ATextCutShortNamesWhatItEndsInside) {
    EXPECT_EQ(parse_error(head + ".visible .entry first(.param .u64 p)\n{\n ret;\n"),
              "test.ptx:7:1: the text ends inside kernel first");
    EXPECT_EQ(parse_error(head + ".func g() { .reg .b32 %r<"),
              "test.ptx:4:26: the text ends inside function g");
    EXPECT_EQ(parse_error(head + ".global .u32 x = {1, "),
              "test.ptx:4:22: the text ends inside a declaration");
    EXPECT_EQ(parse_error(head + ".section .debug_info { .b8 1"),
              "test.ptx:4:29: the text ends inside a .section");
}

TEST(ParseErrors, EveryCutInsideAKernelIsFound) {
    const std::string text = kernel_text("@%p1 bra L; ld.global.v2.f32 {%f1, %f2}, [%rd1+8]; L: ret;");
    const std::size_t body = text.find('{');
    for (std::size_t length = body + 1; length < text.rfind('}'); ++length) {
        EXPECT_FALSE(parse(text.substr(0, length), "cut")) << length;
    }
}

TEST(ParseErrors, DeepNestingIsRefusedNotFollowed) {
    const std::string many(100'000, '(');
    EXPECT_NE(parse_error(head + ".global .u32 x = " + many).find("nested too deep"), std::string::npos);
    EXPECT_NE(parse_error(head + ".global .u32 x = " + std::string(100'000, '-')).find("nested too deep"),
              std::string::npos);
    EXPECT_NE(parse_error(head + ".global .u32 x[4] = " + std::string(100'000, '{')).find("nested too deep"),
              std::string::npos);
    EXPECT_NE(parse_error(head + ".entry k() " + std::string(100'000, '{')).find("nested too deep"),
              std::string::npos);
}

TEST(ParseErrors, HugeInitialisedVariablesAreRefused) {
    EXPECT_NE(parse_error(head + ".global .b8 x[1000000000] = {1};").find("256 MiB"), std::string::npos);
}

}  // namespace
}  // namespace trimtab::ptx
