// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX of made-up kernels, for tests that have no compiler.
#pragma once

#include <string>

namespace trimtab::tests {

// `count` kernels, kernel_0 and so on: y[i] = x[i] summed up a number of times, each its own, for i < n.
inline std::string ptx_of_kernels(int count, int first_turns = 1) {
    std::string text = ".version 8.0\n.target sm_75\n.address_size 64\n";
    for (int i = 0; i < count; ++i) {
        const std::string name = "kernel_" + std::to_string(i), turns = std::to_string(first_turns + i);
        text += ".visible .entry " + name + "(.param .u64 " + name + "_x, .param .u64 " + name +
                "_y, .param .u32 " + name + R"(_n) {
    .reg .pred %p<4>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<8>;
    .reg .f32 %f<4>;
    ld.param.u64 %rd1, [)" +
                name + R"(_x];
    ld.param.u64 %rd2, [)" +
                name + R"(_y];
    ld.param.u32 %r1, [)" +
                name + R"(_n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mul.wide.s32 %rd5, %r5, 4;
    add.s64 %rd6, %rd3, %rd5;
    add.s64 %rd7, %rd4, %rd5;
    ld.global.f32 %f1, [%rd6];
    mov.f32 %f2, 0f00000000;
    mov.u32 %r6, 0;
LOOP:
    add.f32 %f2, %f2, %f1;
    add.s32 %r6, %r6, 1;
    setp.lt.s32 %p2, %r6, )" +
                turns + R"(;
    @%p2 bra LOOP;
    st.global.f32 [%rd7], %f2;
DONE:
    ret;
}
)";
    }
    return text;
}

}  // namespace trimtab::tests
