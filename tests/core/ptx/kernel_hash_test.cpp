// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixtures.h"

namespace trimtab::ptx {
namespace {

std::string hash(const std::string& text, std::string_view kernel = "k") {
    const Module module = parse_ok(text);
    const Function* f = module.function(kernel);
    EXPECT_NE(f, nullptr);
    return f == nullptr ? "" : kernel_hash(module, *f);
}

const std::string base = R"(.version 8.8
.target sm_80
.address_size 64
.global .u32 used = 1;
.global .u32 unused = 1;
.global .u64 table[1] = {indirect};
.func indirect() { ret; }
.func callee() { trap; ret; }
.func stranger() { ret; }
.entry k() { .reg .b32 r; .reg .b64 d;
.loc 1 2 3
call callee; ld.global.u32 r, [used]; mov.u64 d, table; add.s32 r, r, 1; ret; }
)";

std::string changed(const std::string& from, const std::string& to) {
    std::string text = base;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(KernelHash, IsSixteenDigitsAndStays) {
    EXPECT_EQ(hash(base).size(), 16u);
    EXPECT_EQ(hash(base).find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_EQ(hash(base), hash(base));
}

TEST(KernelHash, DoesNotSeeBlanksCommentsLinesOrStrangers) {
    EXPECT_EQ(hash(base), hash(changed("add.s32 r, r, 1;", "add.s32\tr,r ,1 ; // one more\n")));
    EXPECT_EQ(hash(base), hash(changed(".loc 1 2 3\n", "")));
    EXPECT_EQ(hash(base),
              hash(changed(".loc 1 2 3", ".loc 2 66 27, function_name $L__info0 + 4, inlined_at 1 10 68")));
    EXPECT_EQ(hash(base), hash(changed("unused = 1", "unused = 2")));
    EXPECT_EQ(hash(base), hash(changed("stranger() { ret; }", "stranger() { trap; }")));
    EXPECT_EQ(hash(base), hash(changed(".version 8.8", ".version 8.7")));
}

TEST(KernelHash, SeesWhatTheKernelDoes) {
    const std::vector<std::pair<std::string, std::string>> edits = {
        {"add.s32 r, r, 1;", "add.s32 r, r, 2;"},
        {"trap; ret;", "ret;"},
        {"used = 1", "used = 3"},
        {"indirect() { ret; }", "indirect() { trap; }"},
        {"sm_80", "sm_90"},
        {".entry k()", ".entry k(.param .u32 n)"},
        {".global .u32 used", ".global .align 8 .u32 used"}};
    for (const auto& [from, to] : edits) EXPECT_NE(hash(base), hash(changed(from, to))) << from;
}

TEST(KernelHash, TellsStaticKernelsOfOneNameApart) {
    const std::string other = changed("add.s32 r, r, 1;", "add.s32 r, r, 5;");
    const auto linked = link({parse_ok(base), parse_ok(other)});
    ASSERT_TRUE(linked) << linked.error().text();
    ASSERT_EQ(linked->kernels().size(), 2u);
    EXPECT_NE(kernel_hash(*linked, *linked->kernels()[0]), kernel_hash(*linked, *linked->kernels()[1]));
    EXPECT_EQ(kernel_hash(*linked, *linked->kernels()[0]), hash(base));
}

}  // namespace
}  // namespace trimtab::ptx
