// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every space of memory, faults, and what kernels call of the device's runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "core/ptx/module.h"
#include "tests/emulation/emulator/compile.h"
#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::test {
namespace {

using testing::HasSubstr;

constexpr const char* source = R"(
#include <assert.h>
#include <stdio.h>
#define KERNEL extern "C" __global__ void

__device__ int table[4] = {3, 1, 4, 1};
__device__ int* middle = &table[2];
__constant__ float factors[8] = {1, 2, 3, 4, 5, 6, 7, 8};
struct Node { int value; Node* next; };
__device__ Node last = {30, nullptr};
__device__ Node first = {12, &last};

KERNEL variables(int* out) {
    int sum = 0;
    for (Node* node = &first; node; node = node->next) sum += node->value;
    out[threadIdx.x] = sum + *middle * 100 + table[threadIdx.x % 4] * 1000 + (int)factors[threadIdx.x % 8] * 10000;
}

__device__ __noinline__ int sum_of(const int* data, int n) {  // a generic address: of whatever space
    int sum = 0;
    for (int i = 0; i < n; i++) sum += data[i];
    return sum;
}
KERNEL generic(const int* global, int* out) {
    __shared__ int shared[4];
    int local[4];
    if (threadIdx.x < 4) shared[threadIdx.x] = threadIdx.x + 1;
    for (int i = 0; i < 4; i++) local[i] = i * (int)threadIdx.x;
    __syncthreads();
    const int* choice = threadIdx.x % 3 == 0 ? global : threadIdx.x % 3 == 1 ? shared : local;
    out[threadIdx.x] = sum_of(choice, 4) + (__isGlobal(choice) ? 1000 : __isShared(choice) ? 2000 : 3000);
}

KERNEL sizes(const signed char* c, const short* s, const long long* l, double2* d, float4* f, int n) {
    int i = threadIdx.x;
    d[i] = make_double2(c[i] + s[i], (double)l[i]);
    float4 v = f[i];
    f[i] = make_float4(v.w, v.z, v.y, v.x + n);
}

KERNEL local_array(int* out, int n) {
    int data[50];
    for (int i = 0; i < 50; i++) data[i] = i * n + threadIdx.x;
    int at = threadIdx.x % 50;
    for (int i = 0; i < n; i++) { int next = data[at] % 50; data[at]++; at = next; }
    out[threadIdx.x] = at;
}

extern __shared__ char dynamic[];
KERNEL shared_layout(long long* out, int n) {
    __shared__ int fixed[10];
    double* doubles = (double*)dynamic;
    fixed[threadIdx.x % 10] = n;
    doubles[threadIdx.x] = threadIdx.x + 0.5;
    __syncthreads();
    unsigned total, size;
    asm("mov.u32 %0, %%total_smem_size;" : "=r"(total));
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    out[threadIdx.x] = (long long)(doubles[blockDim.x - 1 - threadIdx.x] * 2) + fixed[3] + total * 1000000ll + size * 1000ll;
}

KERNEL atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d, int* old) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    old[t] = atomicAdd(&i[0], 1);
    atomicSub(&i[1], 2);
    atomicMin(&i[2], -t);
    atomicMax(&i[3], t);
    atomicAnd(&u[0], ~(1u << (t % 32)));
    atomicOr(&u[1], 1u << (t % 32));
    atomicXor(&u[2], t);
    atomicInc(&u[3], 6);
    atomicDec(&u[4], 4);
    atomicAdd(&l[0], 1ull << 33);
    atomicMax(&l[1], (unsigned long long)t << 40);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    if (t == 5) { atomicExch(&i[4], 77); atomicCAS(&i[5], 0, 88); atomicCAS(&i[6], 1, 99); }
}

KERNEL special(unsigned* out, unsigned long long* clocks) {
    unsigned values[10];
    asm("mov.u32 %0, %%laneid;" : "=r"(values[0]));
    asm("mov.u32 %0, %%warpid;" : "=r"(values[1]));
    asm("mov.u32 %0, %%nwarpid;" : "=r"(values[2]));
    asm("mov.u32 %0, %%smid;" : "=r"(values[3]));
    asm("mov.u32 %0, %%nsmid;" : "=r"(values[4]));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(values[5]));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(values[6]));
    values[7] = threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z;
    values[8] = blockIdx.x + 100 * blockIdx.y + 10000 * blockIdx.z;
    values[9] = gridDim.x + 10 * gridDim.y + 100 * gridDim.z + 1000 * warpSize;
    long long start = clock64();
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    t += b * blockDim.x * blockDim.y * blockDim.z;
    for (int i = 0; i < 10; i++) out[10 * t + i] = values[i];
    clocks[t] = clock64() - start;
}

KERNEL print(int n, const char* text) {
    if (threadIdx.x < 2)
        printf("%d|%5.2f|%-6s|%c|%x|%lld|%%|%s|%*d|%p\n", n + threadIdx.x, 3.14159, "ab", 'z', 255u, 1ll << 40, text, 4, 7, (void*)0x10);
}
KERNEL heap(int* out) {
    int* mine = (int*)malloc(100 * sizeof(int));
    int* volatile nothing = (int*)malloc(1ull << 40);
    for (int i = 0; i < 100; i++) mine[i] = i * threadIdx.x;
    int sum = 0;
    for (int i = 0; i < 100; i++) sum += mine[i];
    out[threadIdx.x] = sum + (nothing == nullptr);
    free(mine);
}
KERNEL checked(int n) { assert(threadIdx.x < n); }
KERNEL trapped(int n) { if (threadIdx.x == n) __trap(); }
KERNEL out_of_bounds(int* data, int n) { data[blockIdx.x * blockDim.x + threadIdx.x + n] = 1; }
KERNEL misaligned(const char* data, int* out, int n) { out[threadIdx.x] = *(const int*)(data + 4 * threadIdx.x + n); }
KERNEL shared_overrun(int* out, int n) {
    __shared__ int data[32];
    data[threadIdx.x + n] = 1;
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x];
}
KERNEL null_pointer(const int* nothing, int* out) { out[0] = nothing[threadIdx.x]; }
)";

// With the compiler's flags as parameter: code that is not optimised keeps everything in local memory and
// passes parameters by address.
class Memory : public testing::TestWithParam<const char*> {
  protected:
    static void TearDownTestSuite() { programs_.clear(); }
    void SetUp() override {
        auto [at, is_new] = programs_.try_emplace(GetParam());
        if (is_new) at->second = load(compile_cuda(source, GetParam()));
        program_ = at->second;
        ASSERT_NE(program_, nullptr);
    }

    Fault fault_of(const char* kernel, const Grid& grid, const Parameters& parameters) {
        auto result = try_run(*program_, memory_, kernel, grid, parameters);
        if (result) {
            ADD_FAILURE() << kernel << " did not fault";
            return {};
        }
        EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
        return result.error();
    }
    static Grid block(std::uint32_t threads) { return {{1, 1, 1}, {threads, 1, 1}}; }

    static std::map<std::string, std::shared_ptr<Program>> programs_;
    std::shared_ptr<Program> program_;
    HostMemory memory_;
};
std::map<std::string, std::shared_ptr<Program>> Memory::programs_;

INSTANTIATE_TEST_SUITE_P(Flags, Memory, testing::Values("-O2 -gline-tables-only", "-O0 -gline-tables-only"),
                         [](const auto& info) { return std::string(info.param).substr(1, 2); });

TEST_P(Memory, VariablesAndTheirInitialisers) {
    std::vector<int> out(32);
    run(*program_, memory_, "variables", block(32), Parameters(memory_.add(out)));
    const int table[] = {3, 1, 4, 1};
    for (int i = 0; i < 32; i++) EXPECT_EQ(out[i], 42 + 400 + table[i % 4] * 1000 + (i % 8 + 1) * 10000);
    // What the host writes, kernels see: cudaMemcpyToSymbol.
    const auto storage = variable_storage(*program_, "table");
    ASSERT_TRUE(storage);
    EXPECT_EQ(storage->size_bytes, 16u);
    EXPECT_EQ(storage->address, reinterpret_cast<std::uint64_t>(storage->host));
    const int changed[] = {9, 9, 9, 9};
    std::memcpy(storage->host, changed, sizeof changed);
    run(*program_, memory_, "variables", block(32), Parameters(out.data()));
    EXPECT_EQ(out[0], 42 + 900 + 9000 + 10000);
    std::memcpy(storage->host, table, sizeof table);
    EXPECT_FALSE(variable_storage(*program_, "no_such"));
}

TEST_P(Memory, GenericAddresses) {
    std::vector<int> global = {10, 20, 30, 40}, out(64);
    run(*program_, memory_, "generic", block(64), Parameters(memory_.add(global), memory_.add(out)));
    for (int i = 0; i < 64; i++) {
        const int expected[] = {1100, 2010, 3000 + 6 * i};
        EXPECT_EQ(out[i], expected[i % 3]) << i;
    }
}

TEST_P(Memory, WidthsAndVectors) {
    std::vector<signed char> c(32);
    std::vector<short> s(32);
    std::vector<long long> l(32);
    std::vector<double> d(64);
    std::vector<float> f(128);
    std::iota(c.begin(), c.end(), -16);
    std::iota(s.begin(), s.end(), -300);
    std::iota(l.begin(), l.end(), -5);
    std::iota(f.begin(), f.end(), 0.0f);
    run(*program_, memory_, "sizes", block(32),
        Parameters(memory_.add(c), memory_.add(s), memory_.add(l), memory_.add(d), memory_.add(f), 1000));
    for (int i = 0; i < 32; i++) {
        EXPECT_EQ(d[2 * i], i - 16 + i - 300);
        EXPECT_EQ(d[2 * i + 1], i - 5);
        EXPECT_EQ(f[4 * i], 4 * i + 3);
        EXPECT_EQ(f[4 * i + 3], 4 * i + 1000);
    }
}

TEST_P(Memory, LocalArrays) {
    std::vector<int> out(96);
    run(*program_, memory_, "local_array", block(96), Parameters(memory_.add(out), 37));
    for (int t = 0; t < 96; t++) {
        int data[50];
        for (int i = 0; i < 50; i++) data[i] = i * 37 + t;
        int at = t % 50;
        for (int i = 0; i < 37; i++) {
            const int next = data[at] % 50;
            data[at]++;
            at = next;
        }
        EXPECT_EQ(out[t], at);
    }
}

TEST_P(Memory, SharedMemoryStaticAndDynamic) {
    std::vector<long long> out(64);
    Grid grid = block(64);
    grid.shared_bytes = 512;
    run(*program_, memory_, "shared_layout", grid, Parameters(memory_.add(out), 5));
    const KernelInfo* info = kernel_info(*program_, "shared_layout");
    ASSERT_NE(info, nullptr);
    EXPECT_EQ(info->static_shared_bytes, 48u);  // 40, and the dynamic part is aligned to 16
    for (int i = 0; i < 64; i++) EXPECT_EQ(out[i], 2 * (63 - i) + 1 + 5 + 560 * 1000000ll + 512 * 1000);
}

TEST_P(Memory, AtomicsOfManyBlocks) {
    for (const unsigned threads : {1u, 4u}) {
        std::vector<int> i(7), old(512);
        std::vector<unsigned> u = {~0u, 0, 0, 0, 0};
        std::vector<unsigned long long> l(2);
        std::vector<float> f(1);
        std::vector<double> d(1);
        memory_.clear();
        run(*program_, memory_, "atomics", {{8, 1, 1}, {64, 1, 1}, 0, threads},
            Parameters(memory_.add(i), memory_.add(u), memory_.add(l), memory_.add(f), memory_.add(d),
                       memory_.add(old)));
        EXPECT_EQ(i, (std::vector<int>{512, -1024, -511, 511, 77, 88, 0}));
        unsigned all = 0;
        for (unsigned t = 0; t < 512; t++) all ^= t;
        EXPECT_EQ(u, (std::vector<unsigned>{0, ~0u, all, 512 % 7, (5 - 512 % 5) % 5}));
        EXPECT_EQ(l, (std::vector<unsigned long long>{512ull << 33, 511ull << 40}));
        EXPECT_EQ(f[0], 256);
        EXPECT_EQ(d[0], 128);
        std::sort(old.begin(), old.end());
        for (int t = 0; t < 512; t++) EXPECT_EQ(old[t], t);
    }
}

TEST_P(Memory, SpecialRegisters) {
    const Grid grid{{2, 3, 2}, {5, 4, 3}};
    const unsigned threads = 60, blocks = 12;
    std::vector<unsigned> out(10 * threads * blocks);
    std::vector<unsigned long long> clocks(threads * blocks);
    LaunchRequest request;
    const Parameters parameters(memory_.add(out), memory_.add(clocks));
    request.kernel = "special";
    request.grid = grid.grid;
    request.block = grid.block;
    request.parameters = parameters.bytes();
    request.sm_count = 5;
    ASSERT_TRUE(launch(*program_, memory_, request));
    for (unsigned b = 0; b < blocks; b++) {
        for (unsigned t = 0; t < threads; t++) {
            const unsigned* o = &out[10 * (b * threads + t)];
            EXPECT_EQ(o[0], t % 32);
            EXPECT_EQ(o[1], t / 32);
            EXPECT_EQ(o[2], 2u);
            EXPECT_EQ(o[3], b % 5);
            EXPECT_EQ(o[4], 5u);
            EXPECT_EQ(o[5], (1u << t % 32) - 1);
            EXPECT_EQ(o[6], ~((1u << t % 32) - 1));
            EXPECT_EQ(o[7], t % 5 + 100 * (t / 5 % 4) + 10000 * (t / 20));
            EXPECT_EQ(o[8], b % 2 + 100 * (b / 2 % 3) + 10000 * (b / 6));
            EXPECT_EQ(o[9], 2u + 30 + 200 + 32000);
            EXPECT_GT(clocks[b * threads + t], 0u);
            EXPECT_LT(clocks[b * threads + t], 100000u);
        }
    }
}

TEST_P(Memory, Printing) {
    std::vector<char> text = {'h', 'i', '\0'};
    LaunchRequest request;
    const Parameters parameters(5, memory_.add(text));
    std::string printed;
    request.kernel = "print";
    request.block = {32, 1, 1};
    request.parameters = parameters.bytes();
    request.print = [&](std::string_view part) { printed += part; };
    ASSERT_TRUE(launch(*program_, memory_, request));
    EXPECT_EQ(printed,
              "5| 3.14|ab    |z|ff|1099511627776|%|hi|   7|0x10\n"
              "6| 3.14|ab    |z|ff|1099511627776|%|hi|   7|0x10\n");
}

TEST_P(Memory, DeviceHeap) {
    std::vector<int> out(64);
    run(*program_, memory_, "heap", {{1, 1, 1}, {64, 1, 1}}, Parameters(memory_.add(out)));
    for (int i = 0; i < 64; i++) EXPECT_EQ(out[i], 4950 * i + 1);
}

// Memory of 400 bytes with a granule around it, as a driver maps it.
class Granule : public HostMemory {
  public:
    [[nodiscard]] Range mapped_outside(std::uint64_t address) override {
        const std::uint64_t first = reinterpret_cast<std::uint64_t>(array) + 400;
        if (address < first || address >= first + sizeof(behind)) return {};
        return {.first = first, .end = first + sizeof(behind), .host = behind};
    }
    int* array = nullptr;
    std::byte behind[4 * 64] = {};
};

TEST_P(Memory, WhatIsMappedBehindAnArrayIsMetIfTheCallerSaysSo) {
    std::vector<int> data(100);
    Granule memory;
    memory.array = memory.add(data);
    const Parameters parameters(memory.array, 42);
    std::vector<std::string> told;
    LaunchRequest request;
    request.kernel = "out_of_bounds";
    request.parameters = parameters.bytes();
    request.block = {32, 1, 1};
    request.grid = {3, 1, 1};  // elements 42 to 137
    request.outside = [&](const std::string& line) { told.push_back(line); };
    EXPECT_TRUE(launch(*program_, memory, request));
    for (int i = 0; i < 100; i++) EXPECT_EQ(data[i], i < 42 ? 0 : 1) << i;
    std::vector<int> behind(64);
    std::memcpy(behind.data(), memory.behind, sizeof memory.behind);
    for (int i = 0; i < 64; i++) EXPECT_EQ(behind[i], i < 38 ? 1 : 0) << i;
    ASSERT_EQ(told.size(), 1u);
    EXPECT_THAT(told[0], HasSubstr("kernel out_of_bounds: out of bounds: a write of 4 bytes at 0x"));
    EXPECT_THAT(told[0], HasSubstr(" of an allocation of 400 bytes"));
    request.grid = {4, 1, 1};
    const auto beyond = launch(*program_, memory, request);
    ASSERT_FALSE(beyond) << "the granule has an end";
    EXPECT_EQ(beyond.error().kind, Fault::Kind::illegal_address);
    request.outside = {};
    request.grid = {3, 1, 1};
    EXPECT_FALSE(launch(*program_, memory, request));
}

TEST_P(Memory, FaultsSayWhatWhoAndWhere) {
    std::vector<int> data(100), out(64);
    int* pointer = memory_.add(data);
    int* result = memory_.add(out);
    const Fault bounds = fault_of("out_of_bounds", {{2, 1, 1}, {32, 1, 1}}, Parameters(pointer, 42));
    EXPECT_EQ(bounds.kind, Fault::Kind::illegal_address);
    EXPECT_THAT(
        bounds.message,
        testing::MatchesRegex("kernel out_of_bounds: illegal address 0x[0-9a-f]+ .0 bytes past the end of an "
                              "allocation of 400 bytes. by thread .26,0,0. of block .1,0,0. at "
                              ".*kernels.cu:[0-9]+: st[.].*"));
    const Fault misaligned = fault_of("misaligned", block(32), Parameters(pointer, result, 2));
    EXPECT_EQ(misaligned.kind, Fault::Kind::misaligned_address);
    EXPECT_THAT(misaligned.message, HasSubstr("(it must be a multiple of 4) by thread (0,0,0)"));
    const Fault overrun = fault_of("shared_overrun", block(32), Parameters(result, 1));
    EXPECT_EQ(overrun.kind, Fault::Kind::illegal_address);
    EXPECT_THAT(overrun.message, HasSubstr("(byte 128 of 128 bytes of shared memory) by thread (31,0,0)"));
    const Fault null = fault_of("null_pointer", block(3), Parameters(static_cast<int*>(nullptr), result));
    EXPECT_EQ(null.kind, Fault::Kind::illegal_address);
    EXPECT_THAT(null.message, HasSubstr("illegal address 0x0 (below every allocation) by thread (0,0,0)"));
    const Fault trap = fault_of("trapped", block(64), Parameters(40));
    EXPECT_EQ(trap.kind, Fault::Kind::trap);
    EXPECT_THAT(trap.message, HasSubstr("by thread (40,0,0)"));
    const Fault assertion = fault_of("checked", block(64), Parameters(50));
    EXPECT_EQ(assertion.kind, Fault::Kind::assertion);
    EXPECT_THAT(assertion.message, HasSubstr("assertion `threadIdx.x < n` failed by thread (50,0,0)"));
}

// A launch that goes out in another shape: who it would have been as it was written.
TEST(MemoryText, FaultsNameTheThreadThatWasWritten) {
    const auto program = load(R"(.version 7.8
.target sm_75
.address_size 64
.visible .entry _Z5storePfi(.param .u64 out, .param .u32 wrong) {
.reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<3>;
ld.param.u64 %rd1, [out]; ld.param.u32 %r5, [wrong];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
setp.eq.u32 %p1, %r4, %r5;
@%p1 st.global.u32 [%rd1], %r1;
ret;
})");
    ASSERT_NE(program, nullptr);
    const auto message = [&](const trimtab_dim3& grid, const trimtab_dim3& block, std::uint32_t wrong) {
        HostMemory memory;
        const Parameters parameters(std::uint64_t{16}, wrong);
        LaunchRequest request;
        request.kernel = "_Z5storePfi";
        request.grid = grid;
        request.block = block;
        request.written = WrittenShape{{4, 1, 1}, {100, 1, 1}};
        request.parameters = parameters.bytes();
        const auto result = launch(*program, memory, request);
        return result ? "" : result.error().message;
    };
    EXPECT_THAT(
        message({7, 1, 1}, {64, 1, 1}, 257),
        HasSubstr(
            "kernel store(float*, int): illegal address 0x10 (below every allocation) by thread (1,0,0) of "
            "block (4,0,0) (as written: thread (57,0,0) of block (2,0,0) of <<<(4,1,1), (100,1,1)>>>) at "));
    EXPECT_THAT(
        message({7, 1, 1}, {64, 1, 1}, 400),
        HasSubstr("by thread (16,0,0) of block (6,0,0) (as written: none, past the end of <<<(4,1,1), "
                  "(100,1,1)>>>) at "));
    EXPECT_THAT(
        message({4, 1, 1}, {50, 1, 1}, 60),
        HasSubstr("by thread (10,0,0) of block (1,0,0) (as written: of <<<(4,1,1), (100,1,1)>>>) at "));
}

TEST_P(Memory, ImpossibleLaunches) {
    const auto message = [&](const char* kernel, const Grid& grid, const Parameters& parameters) {
        const Fault fault = fault_of(kernel, grid, parameters);
        EXPECT_EQ(fault.kind, Fault::Kind::invalid_launch);
        return fault.message;
    };
    EXPECT_THAT(message("trapped", block(1025), Parameters(0)), HasSubstr("a block of 1025x1x1 threads"));
    EXPECT_THAT(message("trapped", {{0, 1, 1}, {32, 1, 1}}, Parameters(0)),
                HasSubstr("a grid of 0x1x1 blocks"));
    EXPECT_THAT(message("trapped", block(32), Parameters()),
                HasSubstr("0 bytes of parameters were passed; the kernel needs 4"));
    EXPECT_THAT(message("no_such", block(32), Parameters()), HasSubstr("no such kernel"));
}

TEST(MemoryText, WhatIsMissingStopsOneKernelAlone) {
    const auto program = load(R"(.version 8.0
.target sm_75
.address_size 64
.extern .func elsewhere (.param .b32 x);
.visible .entry strange() {
    .reg .b32 %r<3>;
    mov.u32 %r1, 1;
    frobnicate.b32 %r2, %r1;
    ret;
}
.visible .entry calling() {
    { .param .b32 p; st.param.b32 [p], 1; call elsewhere, (p); }
    ret;
}
.visible .entry fine() { ret; }
)");
    ASSERT_NE(program, nullptr);
    EXPECT_EQ(kernels(*program).size(), 3u);
    EXPECT_THAT(
        kernel_info(*program, "strange")->error,
        HasSubstr("PTX line 8 of test.ptx: the emulator does not have the instruction 'frobnicate.b32"));
    EXPECT_THAT(kernel_info(*program, "calling")->error,
                HasSubstr("it calls 'elsewhere', which is not defined"));
    EXPECT_EQ(kernel_info(*program, "fine")->error, "");
    HostMemory memory;
    const auto strange = try_run(*program, memory, "strange", {}, Parameters());
    ASSERT_FALSE(strange);
    EXPECT_EQ(strange.error().kind, Fault::Kind::illegal_instruction);
    run(*program, memory, "fine", {}, Parameters());
    EXPECT_EQ(kernel_info(*program, "none"), nullptr);
}

TEST(MemoryText, SparsePagesAreFilledFromTheirAddresses) {
    SparseMemory memory(std::uint64_t{1} << 20), again;
    memory.set_fill(1, SparseMemory::Fill::integer);
    memory.set_fill(2, SparseMemory::Fill::f64);
    memory.set_fill(3, SparseMemory::Fill::f16);
    memory.set_fill(4, SparseMemory::Fill::integer64);
    const auto at = [](SparseMemory& from, std::uint32_t region, std::int64_t offset) {
        const std::uint64_t address = SparseMemory::region_base(region) + static_cast<std::uint64_t>(offset);
        const auto range = from.range_of(address, Access::read);
        EXPECT_NE(range.host, nullptr);
        EXPECT_TRUE(range.first <= address && address < range.end);
        return range.host + (address - range.first);
    };
    float f = 0, same = 0;
    std::memcpy(&f, at(memory, 0, -40000), 4);
    std::memcpy(&same, at(again, 0, -40000), 4);
    EXPECT_EQ(f, same);
    double sum = 0;
    for (int i = 0; i < 1000; i++) {
        std::uint64_t wide = 0;
        std::memcpy(&wide, at(memory, 4, 8 * i), 8);
        EXPECT_LT(wide, 16u);
        std::memcpy(&f, at(memory, 0, 4 * i), 4);
        EXPECT_TRUE(f >= 0.5f && f < 1.5f);
        sum += f;
        std::int32_t n = 0;
        std::memcpy(&n, at(memory, 1, 4 * i), 4);
        EXPECT_TRUE(n >= 0 && n < 16);
        double d = 0;
        std::memcpy(&d, at(memory, 2, 8 * i), 8);
        EXPECT_TRUE(d >= 0.5 && d < 1.5);
    }
    EXPECT_NEAR(sum / 1000, 1, 0.05);
    std::uint16_t half = 0;
    std::memcpy(&half, at(memory, 3, 10), 2);
    EXPECT_TRUE(half >= 0x3800 && half < 0x3e00);
    // 256 pages are the limit; eight are taken. What is there stays.
    for (int i = 1; i <= 248; i++) (void)at(memory, 4, i << 16);
    EXPECT_EQ(memory.range_of(SparseMemory::region_base(5), Access::write).host, nullptr);
    EXPECT_THAT(memory.explain(SparseMemory::region_base(5)), HasSubstr("1 MiB"));
    EXPECT_EQ(again.range_of(64, Access::read).host, nullptr);
}

}  // namespace
}  // namespace trimtab::emulator::test
