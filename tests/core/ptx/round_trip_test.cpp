// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptxas as the judge of the parser: PTX printed from a Module alone must give the machine code of the text
// that was parsed, byte for byte.
#include <map>

#include "core/ptx/elf.h"
#include "fixtures.h"
#include "printer.h"

namespace trimtab::ptx {
namespace {

std::map<std::string, std::vector<std::byte>> code_of(const std::string& cubin) {
    std::map<std::string, std::vector<std::byte>> out;
    const auto elf = ElfFile::open(cubin);
    EXPECT_TRUE(elf) << (elf ? "" : elf.error().text());
    if (!elf) return out;
    for (const ElfSection& section : elf->sections()) {
        // Code, constants (which hold branch tables) and initial values.
        if (section.name.starts_with(".text") || section.name.starts_with(".nv.constant") ||
            section.name.starts_with(".nv.global")) {
            out[section.name] = *elf->contents(section);
        }
    }
    return out;
}

void expect_same_code(const std::string& text) {
    const std::string ptxas = cuda_tool("ptxas");
    const TemporaryDirectory scratch;
    const Module module = parse_ok(text);
    write_text(scratch.path("a.ptx"), text);
    write_text(scratch.path("b.ptx"), print(module));
    for (const char* name : {"a", "b"}) {
        const std::string file = scratch.path(name);
        const CommandResult made =
            run_command(ptxas + " -arch=" + module.target + " " + file + ".ptx -o " + file + ".cubin");
        ASSERT_EQ(made.status, 0) << made.output << read_text(file + ".ptx");
    }
    const auto before = code_of(scratch.path("a.cubin")), after = code_of(scratch.path("b.cubin"));
    EXPECT_GE(before.size(), 1u);
    for (const auto& [name, bytes] : before)
        EXPECT_TRUE(after.contains(name) && after.at(name) == bytes) << name;
}

// Pragmas, which Module does not keep, change how ptxas unrolls.
std::string without_pragmas(std::string text) {
    for (std::size_t at = 0; (at = text.find(".pragma", at)) != std::string::npos;) {
        text.erase(at, text.find('\n', at) - at);
    }
    return text;
}

class RoundTrip : public testing::Test {
  protected:
    void SetUp() override {
        if (cuda_tool("ptxas").empty()) GTEST_SKIP() << "no ptxas";
    }
};

TEST_F(RoundTrip, Nvcc) {
    expect_same_code(without_pragmas(read_text(data_path("features_nvcc_lineinfo.ptx"))));
}

TEST_F(RoundTrip, Clang) {
    const TemporaryDirectory scratch;
    for (const std::string_view flags : {"-O0 --cuda-gpu-arch=sm_75", "-O3 --cuda-gpu-arch=sm_90"}) {
        const std::string out = scratch.path("features.ptx");
        const CommandResult compiled = run_command(
            clang(std::string(flags) + " --cuda-device-only -S -o " + out + " " + data_path("features.cu")));
        ASSERT_EQ(compiled.status, 0) << compiled.output;
        expect_same_code(without_pragmas(read_text(out)));
    }
}

TEST_F(RoundTrip, WhatCompilersSeldomWrite) {
    expect_same_code(kernel_text(R"(
        .reg .v4 .f32 v; .reg .pred q; .local .align 8 .b8 stack[32];
        ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1;
        t: .branchtargets A, B, C;
        setp.gt.u32 %p1, %r1, 2; @%p1 bra END; brx.idx %r1, t;
        A: { .reg .pred q; setp.lt.and.s32 q|%p2, %r1, 5+3*2, !%p1; @q bra DONE; st.global.u32 [%rd2+0x10], %r1;
             @%p2 st.global.u32 [%rd2+-4+8], 0x7fffffffU; DONE: } bra END;
        B: { .reg .b32 q; mov.b64 {q, _}, %rd2; mov.b64 %rd3, {q, %r1}; st.global.b64 [%rd2], %rd3;
             shf.l.wrap.b32 %r2, q, %r1, 7; prmt.b32.f4e %r3, q, %r2, 3; lop3.b32 %r4, %r1, %r2, %r3, 0x96;
             st.global.v2.b32 [%rd2+8], {%r3, %r4}; } bra END;
        C: ld.global.nc.v4.f32 v, [%rd2]; fma.rn.f32 v.x, v.y, v.z, 0f40490FDB; add.f32 v.w, v.w, 1.5;
           st.volatile.shared.v4.f32 [staging+16], v; bar.sync 0; ld.shared.f32 %f1, [staging+20];
           vote.sync.ballot.b32 %r5, %p1, -1; shfl.sync.bfly.b32 %r6|q, %r5, 1, 31, 0xffffffff;
           @q atom.global.add.u32 %r7, [%rd2+32], %r6; red.global.add.f32 [table+4], %f1;
           cvt.rzi.s32.f32 %r8, %f1; selp.b32 %r9, %r8, -1, q; mov.u64 %rd5, table+8; st.global.u64 [%rd2+40], %rd5;
           ld.local.u32 %r10, [stack+4]; mad.wide.u32 %rd6, %r9, %r10, %rd5; st.global.u64 [%rd2+48], %rd6;
        END: ret;)"));
}

}  // namespace
}  // namespace trimtab::ptx
