// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Damaged texts: whatever comes in, parse() answers, and what it accepts holds together.
#include <algorithm>
#include <chrono>
#include <random>

#include "core/ptx/ssa.h"
#include "fixtures.h"

namespace trimtab::ptx {
namespace {

// Everything later stages index with must be in range.
bool in_range(const Function& f, const Operand& operand) {
    const bool has_register = operand.kind == Operand::Kind::reg ||
                              (operand.kind == Operand::Kind::address && operand.reg != no_index);
    if (has_register && operand.reg >= f.registers.size()) return false;
    if (operand.kind == Operand::Kind::label && operand.target != no_index && operand.target > f.body.size())
        return false;
    return std::all_of(operand.elements.begin(), operand.elements.end(),
                       [&](const Operand& element) { return in_range(f, element); });
}

void expect_consistent(const Module& module) {
    for (const Function& f : module.functions) {
        for (const Instruction& i : f.body) {
            ASSERT_LE(i.destination_count, i.operands.size());
            ASSERT_TRUE(i.guard == no_index || i.guard < f.registers.size());
            for (const Operand& operand : i.operands) ASSERT_TRUE(in_range(f, operand));
        }
        for (const auto& [name, targets] : f.branch_targets) {
            for (const std::uint32_t target : targets) ASSERT_LE(target, f.body.size());
        }
        if (f.body.empty()) continue;
        if (const auto flow = control_flow(f)) (void)build_ssa(f, *flow);
    }
    for (const Variable& v : module.variables) {
        ASSERT_TRUE(v.initial.empty() || v.initial.size() == v.size_bytes);
    }
}

TEST(ParseMutations, NeverCrashHangOrBreakTheirOwnRules) {
    const std::vector<std::string> texts = {
        read_text(data_path("features_nvcc_lineinfo.ptx")),
        kernel_text(R"(.reg .v2 .f32 v; { .param .b64 p0; st.param.b64 [p0+0], %rd1; }
            t: .branchtargets A, B; brx.idx %r1, t; A: @%p1 bra B; setp.lt.and.s32 %p1|%p2, %r1, 0x10, !%p3;
            tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f5, v.x}]; mov.f64 %fd1, 0d3FF0000000000000; B: ret;)"),
        R"(.version 8.8 .target sm_80 .address_size 64 .func f(.param .b32 a); .file 1 "x" .global .u32 c[2][2] = {{1},{2,3}};
           .global .u64 p[] = {generic(c)+8, f, 0}; .global .align 1 .b8 q[8] = {0xFF(c), 0xFF00(c), 1};
           .visible .func (.param .align 8 .b8 r[16]) g(.param .b32 a) { .reg .b32 %r<3>; .loc 1 2 3
           { .param .b32 x; call f, (x); } ret; } .alias f, g; .section .debug_str { .b8 1 })",
    };
    const std::vector<std::string> pieces = {"{",
                                             "}",
                                             "(",
                                             ")",
                                             "[",
                                             "]",
                                             ";",
                                             ",",
                                             ".",
                                             ":",
                                             "::",
                                             "@",
                                             "!",
                                             "%",
                                             "|",
                                             "<",
                                             ">",
                                             "\"",
                                             "/*",
                                             "//",
                                             "\n",
                                             "-",
                                             "+",
                                             "0x",
                                             "0f",
                                             "4294967295",
                                             "1e999",
                                             ".reg .b32 %r<99>;",
                                             ".v4",
                                             ".param",
                                             "_",
                                             "$",
                                             "\\",
                                             "\xff",
                                             "{{{{{{",
                                             "((((((",
                                             ".branchtargets",
                                             "call",
                                             "bra",
                                             "%tid.x",
                                             "generic(",
                                             "=",
                                             "0xFF00("};
    std::mt19937 random(12345);  // NOLINT(bugprone-random-generator-seed): the same cases each time
    const auto pick = [&](std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
    };
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    unsigned accepted = 0;
    for (unsigned round = 0; round < 6000 && std::chrono::steady_clock::now() < deadline; ++round) {
        std::string text = texts[pick(round % 10 == 0 ? 1 : texts.size())];
        if (text.size() > 4000) {
            // The head and the last kernels of the long text, so that each round is quick.
            const std::string kernel = "\n.visible .entry";
            const std::size_t first = text.find(kernel), last = text.rfind(kernel);
            const std::size_t from = text.find(kernel, first + pick(last - first));
            text.erase(first, from - first);
        }
        for (std::size_t edits = 1 + pick(4); edits > 0; --edits) {
            const std::size_t at = pick(text.size() + 1);
            switch (pick(5)) {
                case 0:
                    text.insert(at, pieces[pick(pieces.size())]);
                    break;
                case 1:
                    text.erase(at, pick(12));
                    break;
                case 2:
                    if (at < text.size()) text[at] = static_cast<char>(pick(256));
                    break;
                case 3: {
                    const std::size_t from = pick(text.size() + 1);
                    text.insert(at, text.substr(from, pick(60)));
                    break;
                }
                default:
                    if (pick(4) == 0) text.resize(at);
                    break;
            }
            if (text.empty()) text = " ";
        }
        const auto module = parse(text, "mutated.ptx");
        if (module) {
            ++accepted;
            expect_consistent(*module);
            if (HasFatalFailure()) FAIL() << text;
        } else {
            ASSERT_GT(module.error().line, 0u) << text;
            ASSERT_GT(module.error().column, 0u) << text;
            ASSERT_FALSE(module.error().message.empty()) << text;
            ASSERT_EQ(module.error().message.find('\n'), std::string::npos) << module.error().message;
        }
    }
    EXPECT_GT(accepted, 100u);  // some edits leave PTX: both ways are exercised
}

}  // namespace
}  // namespace trimtab::ptx
