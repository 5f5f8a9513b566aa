// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels from their PTX, traced.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <expected>
#include <memory>
#include <string>

#include "core/ptx/parser.h"
#include "emulation/emulator/exec/memory.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/schedule/traced_launch.h"

namespace trimtab::schedule {

struct Traced {
    std::shared_ptr<emulator::Program> program;
    TracedLaunch launch;
};

// A kernel of one pointer and one count; its body may use %rd1 (the pointer), %r1 (the count), %r2 (tid.x), %r3
// (ctaid.x), %rd4 to %rd9, %r4 to %r15, %f1 to %f9, %p1, %p2.
inline std::expected<Traced, Error> trace(const std::string& body, std::uint32_t count,
                                          trimtab_dim3 grid = {1, 1, 1}, trimtab_dim3 block = {32, 1, 1},
                                          const model::Device& device = *model::find_device("rtx2070super"),
                                          std::uint32_t resident = 1, bool every_iteration = false,
                                          const Settings& settings = {}) {
    auto module = ptx::parse(fmt::format(R"(
.version 7.8
.target sm_75
.address_size 64
.visible .entry kernel(.param .u64 kernel_0, .param .u32 kernel_1)
{{
    .shared .align 4 .b8 buffer[8192];
    .reg .pred %p<4>; .reg .f32 %f<10>; .reg .b32 %r<16>; .reg .b64 %rd<10>; .reg .f64 %d<4>;
    ld.param.u64 %rd1, [kernel_0];
    ld.param.u32 %r1, [kernel_1];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
{}
    ret;
}}
)",
                                         body),
                             "kernel.ptx");
    if (!module) return std::unexpected(module.error());
    auto program = emulator::load_program(std::move(*module));
    if (!program) return std::unexpected(program.error());
    std::array<std::byte, 12> parameters{};
    const std::uint64_t address = emulator::SparseMemory::region_base(0);
    std::memcpy(parameters.data(), &address, 8);
    std::memcpy(parameters.data() + 8, &count, 4);
    emulator::SparseMemory memory;
    auto launch = trace_launch({.program = program->get(),
                                .memory = &memory,
                                .kernel = "kernel",
                                .grid = grid,
                                .block = block,
                                .parameters = parameters,
                                .device = &device,
                                .resident = resident,
                                .instruction_budget = 10'000'000,
                                .settings = settings,
                                .runs_every_iteration = every_iteration});
    if (!launch) return std::unexpected(launch.error());
    return Traced{.program = *program, .launch = std::move(*launch)};
}

inline std::expected<Traced, Error> trace(const std::string& body, std::uint32_t count, trimtab_dim3 grid,
                                          trimtab_dim3 block, std::string_view device,
                                          std::uint32_t resident = 1, bool every_iteration = false) {
    return trace(body, count, grid, block, *model::find_device(device), resident, every_iteration);
}

inline const std::string fma_loop = R"(
    mov.u32 %r4, 0;
$L:
    fma.rn.f32 %f1, %f1, %f1, %f1;
    fma.rn.f32 %f1, %f1, %f1, %f1;
    fma.rn.f32 %f1, %f1, %f1, %f1;
    fma.rn.f32 %f1, %f1, %f1, %f1;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, %r1;
    @%p1 bra $L;
)";

}  // namespace trimtab::schedule
