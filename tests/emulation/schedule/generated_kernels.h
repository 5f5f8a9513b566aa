// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of every kind of work, and devices of any number of SMs, for what must hold of all of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "emulation/schedule/bounds.h"
#include "emulation/schedule/estimate.h"
#include "tests/emulation/schedule/traced_kernel.h"

namespace trimtab::schedule {

struct GeneratedKernel {
    std::string name, body;
};

// So many iterations of a loop, after `before`; %r4 counts them.
inline std::string loop(const std::string& before, const std::string& iteration,
                        const std::string& limit = "%r1") {
    return before + "    mov.u32 %r4, 0;\n$L:\n" + iteration +
           "    add.u32 %r4, %r4, 1;\n    setp.lt.u32 %p1, %r4, " + limit + ";\n    @%p1 bra $L;\n";
}

// %rd4: the address of the thread's own float.
inline std::string own_float(std::uint32_t block) {
    return fmt::format(
        "    mad.lo.u32 %r5, %r3, {}, %r2;\n    mul.wide.u32 %rd4, %r5, 4;\n    add.s64 %rd4, %rd1, %rd4;\n",
        block);
}

// The map of three floating-point instructions an iteration, between a load and a store.
inline std::string map_kernel(std::uint32_t block) {
    return own_float(block) + "    ld.global.f32 %f1, [%rd4];\n" +
           loop("",
                "    mul.f32 %f2, %f1, %f1;\n    mul.f32 %f3, %f1, 0fBF000000;\n"
                "    fma.rn.f32 %f1, %f2, 0f406CCCCD, %f3;\n") +
           "    st.global.f32 [%rd4], %f1;\n";
}

// Of `iterations` a loop has %r1.
inline std::vector<GeneratedKernel> generated_kernels(std::uint32_t block) {
    std::string parallel;
    for (int i = 1; i < 7; ++i) parallel += fmt::format("    fma.rn.f32 %f{0}, %f{0}, %f{0}, %f{0};\n", i);
    const std::string own = own_float(block),
                      shared =
                          "    mov.u32 %r5, buffer;\n    and.b32 %r6, %r2, 255;\n    shl.b32 %r6, %r6, 2;\n"
                          "    add.u32 %r6, %r5, %r6;\n";
    return {
        {"a chain", fma_loop},
        {"six chains", loop("", parallel)},
        {"a map", map_kernel(block)},
        {"a copy", own + "    ld.global.f32 %f1, [%rd4];\n    st.global.f32 [%rd4+536870912], %f1;\n"},
        {"a stream", loop(own,
                          "    ld.global.f32 %f2, [%rd4];\n    add.f32 %f1, %f1, %f2;\n    add.s64 %rd4, "
                          "%rd4, 4194304;\n")},
        {"rows",
         loop("    mad.lo.u32 %r5, %r3, 256, %r2;\n    mul.wide.u32 %rd4, %r5, 65536;\n    add.s64 %rd4, "
              "%rd1, %rd4;\n",
              "    ld.global.f32 %f2, [%rd4];\n    add.f32 %f1, %f1, %f2;\n    add.s64 %rd4, %rd4, 4;\n")},
        {"shared memory",
         loop(shared,
              "    ld.shared.f32 %f2, [%r6];\n    add.f32 %f1, %f1, %f2;\n    st.shared.f32 [%r6], %f1;\n")},
        {"bank conflicts", loop("    mov.u32 %r5, buffer;\n    and.b32 %r6, %r2, 31;\n    shl.b32 %r6, %r6, "
                                "7;\n    add.u32 %r6, %r5, %r6;\n",
                                "    ld.shared.f32 %f2, [%r6];\n    add.f32 %f1, %f1, %f2;\n")},
        {"atomics", loop(own, "    atom.global.add.u32 %r7, [%rd4], 1;\n    add.u32 %r8, %r8, %r7;\n")},
        {"atomics on one word", loop("", "    red.global.add.u32 [%rd1], 1;\n")},
        {"barriers", loop(shared,
                          "    st.shared.f32 [%r6], %f1;\n    bar.sync 0;\n    ld.shared.f32 %f2, [%r5];\n"
                          "    fma.rn.f32 %f1, %f1, %f2, %f2;\n    bar.sync 0;\n")},
        {"sines", loop("", "    sin.approx.f32 %f1, %f1;\n")},
        {"doubles", loop("", "    fma.rn.f64 %d1, %d1, %d1, %d1;\n")},
        {"a triangle",
         loop("    mad.lo.u32 %r7, %r2, 3, 1;\n", "    fma.rn.f32 %f1, %f1, %f1, %f1;\n", "%r7")},
        {"halves that part", loop("", R"(    and.b32 %r7, %r2, 16;
    setp.eq.u32 %p2, %r7, 0;
    @%p2 bra $A;
    fma.rn.f32 %f1, %f1, %f1, %f1;
    fma.rn.f32 %f1, %f1, %f1, %f1;
    bra.uni $B;
$A:
    mul.f32 %f2, %f2, %f2;
$B:
)")},
        {"a loop in a loop",
         "    mov.u32 %r9, 0;\n$O:\n    mul.f32 %f3, %f3, %f3;\n" + loop("", parallel) +
             "    add.u32 %r9, %r9, 1;\n    setp.lt.u32 %p2, %r9, 90;\n    @%p2 bra $O;\n"},
    };
}

// The device with another number of SMs, each with the same share of L2 and DRAM.
inline model::Device with_sms(std::string_view slug, double count) {
    model::Device device = *model::find_device(slug);
    const double factor = count / device.values.sm_count;
    device.values.sm_count = count;
    device.values.dram_bytes_per_s *= factor;
    device.values.l2_bytes_per_clock *= factor;
    device.values.l2_bytes *= factor;
    return device;
}

// Of blocks of so many threads that need nothing else.
inline std::uint32_t resident_blocks(const model::Device& device, std::uint32_t threads) {
    return static_cast<std::uint32_t>(std::min<double>(
        device.values.max_blocks_per_sm, device.values.max_threads_per_sm / std::max(threads, 32u)));
}

// What the emulation itself gave.
inline double emulated_cycles(const Estimate& answer) {
    return answer.crossed ? answer.crossed->emulated_cycles : answer.cycles;
}

// Every kernel's answer, on `blocks` blocks on each of the device's SMs, against what its counts allow.
inline void answers_keep_within(const model::Device& device, std::uint32_t threads,
                                std::uint64_t blocks_an_sm, std::uint32_t iterations) {
    const auto grid =
        static_cast<std::uint32_t>(device.values.sm_count) * static_cast<std::uint32_t>(blocks_an_sm);
    for (const GeneratedKernel& kernel : generated_kernels(threads)) {
        SCOPED_TRACE(fmt::format("{} on {} of {} SMs, {} blocks of {} threads on each", kernel.name,
                                 device.slug, device.values.sm_count, blocks_an_sm, threads));
        const auto traced = trace(kernel.body, iterations, {grid, 1, 1}, {threads, 1, 1}, device,
                                  resident_blocks(device, threads));
        ASSERT_TRUE(traced) << traced.error().text();
        const Bounds allowed = bounds(traced->launch);
        const Estimate answer = estimate(traced->launch);
        EXPECT_GT(allowed.least_cycles, 0);
        EXPECT_GE(emulated_cycles(answer), (1 - bound_tolerance) * allowed.least_cycles) << allowed.least_by;
        EXPECT_LE(emulated_cycles(answer), allowed.most_cycles);
        EXPECT_GE(answer.cycles, allowed.least_cycles);
        for (std::size_t r = 0; r < resource_count; ++r)
            EXPECT_LE(answer.utilisation[r], 1 + bound_tolerance) << name(static_cast<Resource>(r));
    }
}

}  // namespace trimtab::schedule
