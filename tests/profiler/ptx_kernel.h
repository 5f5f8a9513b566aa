// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel of one dimension in PTX, for tests that run it under a description of their own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/ptx/module.h"
#include "emulation/emulator/exec/launch.h"

namespace trimtab::profiler::testing {

// k(o, a, n): `body` begins with the global index in %i, n in %n, blockDim in %d, threadIdx in %t, and the addresses of
// element i in %o and %a. After it stands DONE:, to which threads from n on have gone unless `guarded` is false.
inline std::string ptx_kernel(const std::string& body, bool guarded = true) {
    return R"(.version 8.0
.target sm_75
.address_size 64
.global .align 4 .u32 counter;
.visible .entry k(.param .u64 k_o, .param .u64 k_a, .param .u32 k_n) {
    .reg .pred %p<8>;
    .reg .b32 %i, %n, %d, %t, %c, %r<16>;
    .reg .b64 %o, %a, %rd<16>;
    .reg .f32 %f<8>;
    ld.param.u64 %rd1, [k_o];
    ld.param.u64 %rd2, [k_a];
    ld.param.u32 %n, [k_n];
    mov.u32 %c, %ctaid.x;
    mov.u32 %d, %ntid.x;
    mov.u32 %t, %tid.x;
    mad.lo.s32 %i, %c, %d, %t;
    setp.ge.s32 %p1, %i, %n;
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mul.wide.s32 %rd5, %i, 4;
    add.s64 %o, %rd3, %rd5;
    add.s64 %a, %rd4, %rd5;
)" + std::string(guarded ? "    @%p1 bra DONE;\n" : "") +
           body + "\nDONE:\n    ret;\n}\n";
}

inline std::shared_ptr<emulator::Program> program_of(const std::string& text) {
    auto module = ptx::parse(text, "test.ptx");
    EXPECT_TRUE(module) << (module ? "" : module.error().text());
    if (!module) return nullptr;
    auto program = emulator::load_program(std::move(*module));
    EXPECT_TRUE(program) << (program ? "" : program.error().text());
    return program ? *program : nullptr;
}

}  // namespace trimtab::profiler::testing
