// bench/schedule_speed: warp instructions a second of the scheduler, beside those of the functional emulator that
// made its trace, on the same machine in the same run.
#include <benchmark/benchmark.h>

#include <array>
#include <cstring>
#include <ctime>

#include "emulator/exec/launch.h"
#include "schedule/estimate.h"

namespace trimtab::bench {

namespace {

// c[y][x] += a[y][k] * b[k][x] for k < n, the sum in memory, as the PolyBench samples have it.
constexpr const char* matrix_product = R"(
.version 7.8
.target sm_75
.address_size 64
.visible .entry product(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
    .reg .pred %p<2>; .reg .f32 %f<5>; .reg .b32 %r<12>; .reg .b64 %rd<12>;
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [c];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    mov.u32 %r6, %ctaid.y;
    mov.u32 %r7, %ntid.y;
    mov.u32 %r8, %tid.y;
    mad.lo.s32 %r9, %r6, %r7, %r8;
    mul.lo.s32 %r10, %r9, %r1;
    mul.wide.s32 %rd4, %r10, 4;
    add.s64 %rd5, %rd1, %rd4;
    mul.wide.s32 %rd6, %r5, 4;
    add.s64 %rd7, %rd2, %rd6;
    add.s64 %rd8, %rd3, %rd4;
    add.s64 %rd8, %rd8, %rd6;
    mul.wide.s32 %rd9, %r1, 4;
    ld.global.f32 %f1, [%rd8];
    mov.u32 %r11, 0;
$L:
    ld.global.f32 %f2, [%rd5];
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f1, %f2, %f3, %f1;
    st.global.f32 [%rd8], %f1;
    add.s64 %rd5, %rd5, 4;
    add.s64 %rd7, %rd7, %rd9;
    add.s32 %r11, %r11, 1;
    setp.lt.s32 %p1, %r11, %r1;
    @%p1 bra $L;
    ret;
}
)";
constexpr std::uint32_t size = 4096;

// Of the processor: on a machine that others use, nothing else says anything.
double seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// A block of 32 by 8 of the product at N = 4096 on the RTX 2070 SUPER: traced and estimated.
void product(benchmark::State& state) {
    auto module = ptx::parse(matrix_product, "product.ptx");
    if (!module) return state.SkipWithError(module.error().text().c_str());
    auto program = emulator::load_program(std::move(*module));
    const auto device = model::find_device("rtx2070super");
    if (!program || !device) return state.SkipWithError("the kernel cannot be loaded");
    std::array<std::byte, 28> parameters{};
    for (std::uint32_t i = 0; i < 3; ++i) {
        const std::uint64_t address = emulator::SparseMemory::region_base(i);
        std::memcpy(parameters.data() + 8 * std::size_t{i}, &address, sizeof address);
    }
    std::memcpy(parameters.data() + 24, &size, sizeof size);
    double tracing = 0, scheduling = 0, run = 0, scheduled = 0;
    for (auto _ : state) {
        emulator::SparseMemory memory;
        const double start = seconds();
        const auto traced = schedule::trace_launch({.program = program->get(),
                                                    .memory = &memory,
                                                    .kernel = "product",
                                                    .grid = {size / 32, size / 8, 1},
                                                    .block = {32, 8, 1},
                                                    .parameters = parameters,
                                                    .device = &*device,
                                                    .resident = 4});
        if (!traced) return state.SkipWithError(traced.error().message.c_str());
        const double middle = seconds();
        const schedule::Estimate estimate = schedule::estimate(*traced);
        benchmark::DoNotOptimize(estimate.cycles);
        scheduling += seconds() - middle;
        tracing += middle - start;
        run += static_cast<double>(traced->warp_instructions);
        scheduled += static_cast<double>(estimate.emulated_warp_instructions);
    }
    const auto count = static_cast<double>(state.iterations());
    state.counters["trace_ms"] = tracing / count * 1e3;
    state.counters["schedule_ms"] = scheduling / count * 1e3;
    state.counters["run_a_s"] = run / tracing;
    state.counters["scheduled_a_s"] = scheduled / scheduling;
    state.counters["ratio"] = scheduled / scheduling / (run / tracing);
}
BENCHMARK(product)->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace trimtab::bench

BENCHMARK_MAIN();
