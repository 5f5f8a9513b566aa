// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the layer adds to a launch, over a driver that does nothing: nothing, a remembered choice, a new one; and what a launch
// takes on PoCL, a driver that does something. The driver programs are made by `trimtab prepare`, which the first launch waits
// for (TRIMTAB_MODULES=wait).
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "emulation/opencl/layer/layer.h"
#ifdef TRIMTAB_HAS_OPENCL
#include "tests/emulation/opencl/platform/host.h"
#endif

namespace {

// Handles are never looked into.
template <class Handle>
Handle handle(std::uintptr_t number) {
    return reinterpret_cast<Handle>(number * 64);
}
const auto described = handle<cl_device_id>(1), unknown = handle<cl_device_id>(2);
const auto described_queue = handle<cl_command_queue>(1), unknown_queue = handle<cl_command_queue>(2);
const auto program = handle<cl_program>(1);
const auto kernel = handle<cl_kernel>(1);

cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t, void* value, size_t*) {
    switch (what) {
        case CL_DEVICE_NAME:
            std::strcpy(static_cast<char*>(value), device == described ? "Quadro K620" : "some processor");
            return CL_SUCCESS;
        case CL_DEVICE_ADDRESS_BITS: {
            const cl_uint bits = 64;
            std::memcpy(value, &bits, sizeof bits);
            return CL_SUCCESS;
        }
        default:
            return CL_INVALID_VALUE;
    }
}
cl_int CL_API_CALL kernel_info(cl_kernel, cl_kernel_info, size_t, void* value, size_t*) {
    const cl_uint count = 3;
    std::memcpy(value, &count, sizeof count);
    return CL_SUCCESS;
}
size_t& last_local() {
    static size_t size = 0;
    return size;
}
cl_int CL_API_CALL enqueue(cl_command_queue, cl_kernel, cl_uint, const size_t*, const size_t*,
                           const size_t* local, cl_uint, const cl_event*, cl_event*) {
    last_local() = local[0];
    benchmark::ClobberMemory();
    return CL_SUCCESS;
}

cl_icd_dispatch make_driver() {
    cl_icd_dispatch table{};
    table.clGetDeviceInfo = device_info;
    table.clGetKernelInfo = kernel_info;
    table.clEnqueueNDRangeKernel = enqueue;
    table.clCreateCommandQueue = [](cl_context, cl_device_id device, cl_command_queue_properties, cl_int*) {
        return device == described ? described_queue : unknown_queue;
    };
    table.clCreateBuffer = [](cl_context, cl_mem_flags, size_t, void*, cl_int*) {
        static std::uintptr_t next = 1;
        return handle<cl_mem>(next++);
    };
    table.clCreateProgramWithSource = [](cl_context, cl_uint, const char**, const size_t*, cl_int*) {
        return program;
    };
    table.clBuildProgram = [](cl_program, cl_uint, const cl_device_id*, const char*,
                              void(CL_CALLBACK*)(cl_program, void*), void*) -> cl_int { return CL_SUCCESS; };
    table.clCreateKernel = [](cl_program, const char*, cl_int*) { return kernel; };
    table.clSetKernelArg = [](cl_kernel, cl_uint, size_t, const void*) -> cl_int { return CL_SUCCESS; };
    return table;
}

// A program as it meets the layer: a matrix's product with a vector, guarded.
const cl_icd_dispatch& layer() {
    static const cl_icd_dispatch* table = [] {
        static const cl_icd_dispatch driver = make_driver();
        cl_uint count = 0;
        const cl_icd_dispatch* made = nullptr;
        static_cast<void>(trimtab::opencl::put_layer(sizeof driver / sizeof(void*), &driver, &count, &made));
        cl_int error = 0;
        for (const cl_device_id device : {described, unknown})
            made->clCreateCommandQueue(nullptr, device, 0, &error);
        const char* source =
            "kernel void rows(global const float* a, global float* y, int n) { int i = get_global_id(0);"
            "  if (i < n) { float s = 0; for (int j = 0; j < n; ++j) s += a[i * n + j]; y[i] = s; } }";
        made->clCreateProgramWithSource(nullptr, 1, &source, nullptr, &error);
        made->clBuildProgram(program, 0, nullptr, "", nullptr, nullptr);
        made->clCreateKernel(program, "rows", &error);
        for (const cl_uint index : {0u, 1u}) {
            cl_mem memory = made->clCreateBuffer(nullptr, 0, 1 << 24, nullptr, &error);
            made->clSetKernelArg(kernel, index, sizeof memory, &memory);
        }
        return made;
    }();
    return *table;
}

void set_size(cl_int n, const cl_icd_dispatch& table = layer()) {
    table.clSetKernelArg(kernel, 2, sizeof n, &n);
}

cl_int launch(const cl_icd_dispatch& table, cl_command_queue queue, size_t global) {
    const size_t local = 256;
    return table.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr);
}

const cl_icd_dispatch& driver_alone() {
    static const cl_icd_dispatch driver = make_driver();
    const cl_icd_dispatch* table = &driver;
    benchmark::DoNotOptimize(table);
    return *table;
}

void TheDriverAlone(benchmark::State& state) {
    const cl_icd_dispatch& table = driver_alone();
    for (auto _ : state) benchmark::DoNotOptimize(launch(table, described_queue, 1024));
}
BENCHMARK(TheDriverAlone);

void TheDriverAloneAndAnArgument(benchmark::State& state) {
    const cl_icd_dispatch& table = driver_alone();
    for (auto _ : state) {
        set_size(1000, table);
        benchmark::DoNotOptimize(launch(table, described_queue, 1024));
    }
}
BENCHMARK(TheDriverAloneAndAnArgument);

void ADeviceThatIsLeftAlone(benchmark::State& state) {
    set_size(1000);
    for (auto _ : state) benchmark::DoNotOptimize(launch(layer(), unknown_queue, 1024));
}
BENCHMARK(ADeviceThatIsLeftAlone);

// Without a driver program there would be no choice to remember.
void tell_choice(benchmark::State& state) {
    if (last_local() == 256) state.SkipWithError("nothing was chosen: the work-group is as written");
    state.counters["work_group"] = static_cast<double>(last_local());
}

void ARememberedChoice(benchmark::State& state) {
    set_size(1000);
    launch(layer(), described_queue, 1024);
    for (auto _ : state) benchmark::DoNotOptimize(launch(layer(), described_queue, 1024));
    tell_choice(state);
}
BENCHMARK(ARememberedChoice);

void ARememberedChoiceAndAnArgument(benchmark::State& state) {
    set_size(1000);
    launch(layer(), described_queue, 1024);
    for (auto _ : state) {
        set_size(1000);
        benchmark::DoNotOptimize(launch(layer(), described_queue, 1024));
    }
    tell_choice(state);
}
BENCHMARK(ARememberedChoiceAndAnArgument);

void ANewChoice(benchmark::State& state) {
    cl_int n = 2000;
    double changed = 0;
    launch(layer(), described_queue, 1024);
    for (auto _ : state) {
        set_size(n);
        const auto whole = static_cast<size_t>((n + 255) / 256) * 256;
        benchmark::DoNotOptimize(launch(layer(), described_queue, whole));
        changed += last_local() != 256 ? 1 : 0;
        n = n < 4'000'000 ? n + 1 : 2000;
    }
    state.counters["changed"] = benchmark::Counter(changed, benchmark::Counter::kAvgIterations);
}
BENCHMARK(ANewChoice);

#ifdef TRIMTAB_HAS_OPENCL
// Beside them: the least that a launch takes on a driver of which there is one on every machine.
void ALaunchOnPocl(benchmark::State& state) {
    using namespace trimtab::opencl::test;
    constexpr const char* pocl = "Portable Computing Language";
    if (find_device(pocl) == nullptr) return state.SkipWithError("PoCL is not installed");
    const Host host(pocl);
    const Program nothing = host.build("kernel void nothing(int n) {}");
    const Kernel its = host.kernel(nothing, "nothing");
    set_arguments(its, cl_int{1});
    for (auto _ : state) {
        benchmark::DoNotOptimize(host.run(its, {256}, {256}));
        clFinish(host.queue());
    }
}
BENCHMARK(ALaunchOnPocl)->UseRealTime();
#endif

}  // namespace

int main(int count, char** words) {
    setenv("TRIMTAB_MODULES", "wait", 0);
    benchmark::Initialize(&count, words);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
