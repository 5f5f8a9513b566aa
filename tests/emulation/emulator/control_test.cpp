// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Divergence, calls, barriers, collectives, and waiting lanes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "tests/emulation/emulator/compile.h"
#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::test {
namespace {

constexpr const char* source = R"(
#define KERNEL extern "C" __global__ void

// Nested ifs, loops with break and continue, early returns.
__device__ __noinline__ int walk(int x) {
    int sum = 0;
    for (int i = 0; i < x; i++) {
        if (i % 3 == 0) continue;
        if (i > 40) break;
        if (x & 1) { if (i & 2) sum += i; else sum -= 1; }
        else sum += 2 * i;
        if (sum > 300) return -sum;
    }
    return sum;
}
KERNEL paths(int* out) { out[threadIdx.x] = walk(threadIdx.x) + (threadIdx.x > 50 ? walk(threadIdx.x / 2) : 7); }

KERNEL converge(unsigned* out) {
    unsigned before = __activemask();
    unsigned inside = 0;
    if (threadIdx.x % 3 == 0) inside = __activemask();
    else if (threadIdx.x % 3 == 1) inside = __activemask();
    unsigned after = __activemask();
    out[3 * threadIdx.x] = before;
    out[3 * threadIdx.x + 1] = inside;
    out[3 * threadIdx.x + 2] = after;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
KERNEL recursion(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 15); }

__device__ int endless(int n) { volatile int deep[64]; deep[n & 63] = n; return n < 0 ? deep[n & 1] : endless(n + 1) + deep[n & 63]; }
KERNEL overflow(int* out) { out[threadIdx.x] = endless(threadIdx.x); }

typedef double (*Function)(double, int);
__device__ __noinline__ double twice(double x, int) { return 2 * x; }
__device__ __noinline__ double power(double x, int n) { double r = 1; while (n-- > 0) r *= x; return r; }
__device__ __noinline__ double minus(double x, int n) { return x - n; }
__device__ Function functions[3] = {twice, power, minus};
KERNEL pointers(double* out, int n) { out[threadIdx.x] = functions[(threadIdx.x + n) % 3](threadIdx.x, threadIdx.x % 5); }

struct Shape { virtual __device__ int area(int x) const { return x; } int side; };
struct Square : Shape { __device__ int area(int x) const override { return side * side + x; } };
struct Line : Shape { __device__ int area(int x) const override { return -side - x; } };
KERNEL virtuals(int* out) {
    Square square; Line line;
    square.side = threadIdx.x; line.side = threadIdx.x;
    const Shape* shape = threadIdx.x & 1 ? (const Shape*)&square : (const Shape*)&line;
    out[threadIdx.x] = shape->area(3);
}

struct Wide { double a; int b[3]; char c; };
__device__ __noinline__ Wide make(Wide in, char c) { in.a *= 2; in.b[1] += in.b[0]; in.c = c; return in; }
KERNEL structs(double* out, Wide given) {
    Wide w = make(given, threadIdx.x);
    out[threadIdx.x] = w.a + w.b[1] + w.c;
}

KERNEL cases(int* out) {
    int r = 0;
    switch (threadIdx.x % 9) {
        case 0: r = 5; break;
        case 1: r = 17; // falls through
        case 2: r += threadIdx.x; break;
        case 3: r = -3; break;
        case 4: r = __popc(threadIdx.x) * 11; break;
        case 5: r = threadIdx.x << 3; break;
        case 6: r = 1 - (int)threadIdx.x; break;
        case 7: r = 99; break;
    }
    out[threadIdx.x] = r;
}

// Barriers.
KERNEL reverse(int* data) {
    __shared__ int copy[1024];
    copy[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
}
KERNEL split_barrier(int* out) {
    __shared__ int step[64];
    if (threadIdx.x < 40) { step[threadIdx.x] = 1; __syncthreads(); out[threadIdx.x] = step[63 - threadIdx.x]; }
    else { step[threadIdx.x] = 2; __syncthreads(); out[threadIdx.x] = step[63 - threadIdx.x]; }
}
KERNEL early_exit_barrier(int* out, int n) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    if (threadIdx.x >= n) return;
    atomicAdd(&sum, 1);
    __syncthreads();
    out[threadIdx.x] = sum;
}
KERNEL barrier_votes(int* out) {
    out[3 * threadIdx.x] = __syncthreads_count(threadIdx.x % 3 == 0);
    out[3 * threadIdx.x + 1] = __syncthreads_and(threadIdx.x < 1000);
    out[3 * threadIdx.x + 2] = __syncthreads_or(threadIdx.x == 77);
}
KERNEL named_barriers(int* out) {  // producers and consumers, two warps each
    __shared__ int box[64];
    if (threadIdx.x < 64) {
        box[threadIdx.x] = threadIdx.x * 3;
        asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 128;" ::: "memory");
        out[threadIdx.x - 64] = box[127 - threadIdx.x];
    }
}
KERNEL lost_barrier(int n) {
    if (threadIdx.x < n) asm volatile("bar.sync 1, 96;");
    else asm volatile("bar.sync 2, 96;");
}

// Collectives.
KERNEL shuffles(int* out) {
    int x = threadIdx.x * 10, base = threadIdx.x * 4;
    out[base] = __shfl_up_sync(~0u, x, 3);
    out[base + 1] = __shfl_xor_sync(~0u, x, 5);
    out[base + 2] = __shfl_sync(~0u, x, 2, 8);
    out[base + 3] = __shfl_down_sync(~0u, x, 4, 16);
}
KERNEL votes(unsigned* out) {
    unsigned* o = out + 6 * threadIdx.x;
    int odd = threadIdx.x & 1;
    o[0] = __ballot_sync(~0u, odd);
    o[1] = __any_sync(~0u, threadIdx.x == 9);
    o[2] = __all_sync(~0u, threadIdx.x < 32);
    if (odd) o[3] = __ballot_sync(0xaaaaaaaau, threadIdx.x > 10);
    else o[3] = __ballot_sync(0x55555555u, threadIdx.x > 20);
    o[4] = __match_any_sync(~0u, threadIdx.x / 5);
    int all;
    o[5] = __match_all_sync(~0u, 42, &all) + all;
}
// The halves of a warp come by different ways; the members of the collective wait for each other.
KERNEL meet_in_loop(int* out) {
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        if (threadIdx.x % 2) sum += i;
        else sum -= i;
        __syncwarp();
        sum += __shfl_xor_sync(~0u, sum, 1);
    }
    out[threadIdx.x] = sum;
}
KERNEL unsynchronised_lanes(int* out) {  // lane 0 leaves; the others name all lanes
    if (threadIdx.x == 0) return;
    out[threadIdx.x] = __shfl_xor_sync(~0u, threadIdx.x, 1);
}

// Waiting.
__device__ int lock = 0, counter = 0;
KERNEL spin_lock(int* out, int rounds) {
    for (int i = 0; i < rounds; i++) {
        bool done = false;
        while (!done) {
            if (atomicCAS(&lock, 0, 1) == 0) {
                counter = counter + 1;
                __threadfence();
                atomicExch(&lock, 0);
                done = true;
            }
        }
    }
}
KERNEL naive_lock(int* data) {  // hangs on GPUs before Volta: the holder waits for those who wait for it
    while (atomicCAS(&lock, 0, 1) != 0);
    data[0] = data[0] + 1;
    __threadfence();
    atomicExch(&lock, 0);
}
KERNEL flags_between_warps(volatile int* flags, int* out) {
    int warp = threadIdx.x / 32;
    if (warp < blockDim.x / 32 - 1) while (flags[warp + 1] == 0);
    if (threadIdx.x % 32 == 0) { out[warp] = flags[warp + 1] + 1; flags[warp] = out[warp]; }
}
KERNEL flags_between_blocks(volatile int* flags, int* out) {  // each waits for the one that starts after it
    if (blockIdx.x + 1 < gridDim.x) while (flags[blockIdx.x + 1] == 0);
    if (threadIdx.x == 0) { out[blockIdx.x] = flags[blockIdx.x + 1] + 1; __threadfence(); flags[blockIdx.x] = out[blockIdx.x]; }
}
KERNEL forever(volatile int* flag) { while (*flag == 0); }
)";

// With the compiler's flags as parameter: code that is not optimised keeps everything in local memory and
// passes parameters by address.
class Control : public testing::TestWithParam<const char*> {
  protected:
    static void TearDownTestSuite() { programs_.clear(); }
    void SetUp() override {
        auto [at, is_new] = programs_.try_emplace(GetParam());
        if (is_new) at->second = load(compile_cuda(source, GetParam()));
        program_ = at->second;
        ASSERT_NE(program_, nullptr);
    }

    template <class T, class... Arguments>
    std::vector<T> output(const char* kernel, std::size_t size, const Grid& grid,
                          const Arguments&... arguments) {
        std::vector<T> out(size);
        run(*program_, memory_, kernel, grid, Parameters(memory_.add(out), arguments...));
        memory_.clear();
        return out;
    }
    static Grid block(std::uint32_t threads) { return {{1, 1, 1}, {threads, 1, 1}}; }

    static std::map<std::string, std::shared_ptr<Program>> programs_;
    std::shared_ptr<Program> program_;
    HostMemory memory_;
};
std::map<std::string, std::shared_ptr<Program>> Control::programs_;

INSTANTIATE_TEST_SUITE_P(Flags, Control, testing::Values("-O3", "-O0"),
                         [](const auto& info) { return std::string(info.param).substr(1, 2); });

int walk(int x) {
    int sum = 0;
    for (int i = 0; i < x; i++) {
        if (i % 3 == 0) continue;
        if (i > 40) break;
        if (x & 1)
            sum += i & 2 ? i : -1;
        else
            sum += 2 * i;
        if (sum > 300) return -sum;
    }
    return sum;
}

TEST_P(Control, NestedPaths) {
    const auto out = output<int>("paths", 100, block(100));
    for (int i = 0; i < 100; i++) EXPECT_EQ(out[i], walk(i) + (i > 50 ? walk(i / 2) : 7)) << i;
}

TEST_P(Control, LanesComeTogetherAgain) {
    const auto out = output<unsigned>("converge", 96, block(32));
    unsigned thirds[3] = {};
    for (unsigned i = 0; i < 32; i++) thirds[i % 3] |= 1u << i;
    for (unsigned i = 0; i < 32; i++) {
        EXPECT_EQ(out[3 * i], ~0u);
        EXPECT_EQ(out[3 * i + 1], i % 3 == 2 ? 0 : thirds[i % 3]);
        EXPECT_EQ(out[3 * i + 2], ~0u);
    }
}

TEST_P(Control, Recursion) {
    const auto out = output<int>("recursion", 45, block(45));
    const int fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377};
    for (int i = 0; i < 45; i++) EXPECT_EQ(out[i], fibonacci[i % 15]);
}

TEST_P(Control, EndlessRecursionIsAFault) {
    std::vector<int> out(32);
    const auto result = try_run(*program_, memory_, "overflow", block(32), Parameters(memory_.add(out)));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, Fault::Kind::stack);
    EXPECT_THAT(result.error().message, testing::HasSubstr("kernel overflow: stack overflow"));
}

TEST_P(Control, IndirectCalls) {
    const auto out = output<double>("pointers", 40, block(40), 1);
    for (int i = 0; i < 40; i++) {
        double expected = 2.0 * i;
        if ((i + 1) % 3 == 1) expected = std::pow(i, i % 5);
        if ((i + 1) % 3 == 2) expected = i - i % 5;
        EXPECT_EQ(out[i], expected) << i;
    }
    const auto areas = output<int>("virtuals", 32, block(32));
    for (int i = 0; i < 32; i++) EXPECT_EQ(areas[i], i & 1 ? i * i + 3 : -i - 3);
}

TEST_P(Control, StructuresByValue) {
    struct Wide {
        double a;
        int b[3];
        char c;
    };
    const auto out = output<double>("structs", 32, block(32), Wide{1.5, {10, 20, 30}, 1});
    for (int i = 0; i < 32; i++) EXPECT_EQ(out[i], 3 + 30 + i);
}

TEST_P(Control, Switches) {
    const auto out = output<int>("cases", 64, block(64));
    for (int i = 0; i < 64; i++) {
        const int expected[] = {5,      17 + i, i,  -3, __builtin_popcount(static_cast<unsigned>(i)) * 11,
                                i << 3, 1 - i,  99, 0};
        EXPECT_EQ(out[i], expected[i % 9]) << i;
    }
}

TEST_P(Control, Barriers) {
    for (const int threads : {1, 31, 33, 256, 1000, 1024}) {
        std::vector<int> data(static_cast<std::size_t>(threads));
        std::iota(data.begin(), data.end(), 0);
        run(*program_, memory_, "reverse", block(static_cast<std::uint32_t>(threads)),
            Parameters(memory_.add(data)));
        for (int i = 0; i < threads; i++) ASSERT_EQ(data[i], threads - 1 - i);
        memory_.clear();
    }
    // Lanes of one warp meet the barrier at two places.
    const auto split = output<int>("split_barrier", 64, block(64));
    for (int i = 0; i < 64; i++) EXPECT_EQ(split[i], 63 - i < 40 ? 1 : 2) << i;
    // Those who have left are not waited for.
    const auto rest = output<int>("early_exit_barrier", 128, block(128), 50);
    for (int i = 0; i < 128; i++) EXPECT_EQ(rest[i], i < 50 ? 50 : 0) << i;
    const auto votes = output<int>("barrier_votes", 300, block(100));
    for (int i = 0; i < 100; i++) {
        EXPECT_EQ(votes[3 * i], 34);
        EXPECT_EQ(votes[3 * i + 1], 1);
        EXPECT_EQ(votes[3 * i + 2], 1);
    }
    const auto boxes = output<int>("named_barriers", 64, block(128));
    for (int i = 0; i < 64; i++) EXPECT_EQ(boxes[i], (63 - i) * 3);
}

TEST_P(Control, DeadlockIsAFault) {
    const auto result = try_run(*program_, memory_, "lost_barrier", block(128), Parameters(64));
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message,
                testing::HasSubstr("deadlock: barrier 1 waits for 96 threads; 64 arrived"));
}

TEST_P(Control, Shuffles) {
    const auto out = output<int>("shuffles", 128, block(32));
    for (int i = 0; i < 32; i++) {
        EXPECT_EQ(out[4 * i], 10 * (i >= 3 ? i - 3 : i));
        EXPECT_EQ(out[4 * i + 1], 10 * (i ^ 5));
        EXPECT_EQ(out[4 * i + 2], 10 * (i / 8 * 8 + 2));
        EXPECT_EQ(out[4 * i + 3], 10 * (i % 16 + 4 < 16 ? i + 4 : i));
    }
}

TEST_P(Control, Votes) {
    const auto out = output<unsigned>("votes", 192, block(32));
    for (unsigned i = 0; i < 32; i++) {
        const unsigned* o = &out[6 * i];
        EXPECT_EQ(o[0], 0xaaaaaaaau);
        EXPECT_EQ(o[1], 1u);
        EXPECT_EQ(o[2], 1u);
        EXPECT_EQ(o[3], i & 1 ? 0xaaaaaaaau & ~0u << 11 : 0x55555555u & ~0u << 21);
        const unsigned first = i / 5 * 5, last = std::min(first + 5, 32u);
        EXPECT_EQ(o[4], static_cast<unsigned>((1ull << last) - (1ull << first)));
        EXPECT_EQ(o[5], 0u);  // all lanes, plus one
    }
}

TEST_P(Control, MembersWaitForEachOther) {
    const auto out = output<int>("meet_in_loop", 32, block(32));
    int even = 0, odd = 0;
    for (int i = 0; i < 4; i++) {
        even -= i;
        odd += i;
        const int both = even + odd;
        even = odd = both;
    }
    for (int i = 0; i < 32; i++) EXPECT_EQ(out[i], i % 2 ? odd : even);
    const auto others = output<int>("unsynchronised_lanes", 32, block(32));
    for (int i = 2; i < 32; i++) EXPECT_EQ(others[i], i ^ 1);
}

TEST_P(Control, LocksWithinAWarp) {
    const auto counter = variable_storage(*program_, "counter");
    ASSERT_TRUE(counter);
    for (const unsigned threads : {1u, 3u}) {
        std::memset(counter->host, 0, 4);
        Grid grid{{3, 1, 1}, {64, 1, 1}, 0, threads};
        (void)output<int>("spin_lock", 1, grid, 2);
        int count = 0;
        std::memcpy(&count, counter->host, 4);
        EXPECT_EQ(count, 3 * 64 * 2);
        EXPECT_EQ(output<int>("naive_lock", 1, grid)[0], 3 * 64);
    }
}

TEST_P(Control, WarpsAndBlocksThatWaitForLaterOnes) {
    std::vector<int> flags(9), out(8);
    int* pointer = memory_.add(flags);
    run(*program_, memory_, "flags_between_warps", block(256), Parameters(pointer, memory_.add(out)));
    for (int i = 0; i < 8; i++) EXPECT_EQ(out[i], 8 - i);
    for (const unsigned threads : {1u, 2u}) {
        std::fill(flags.begin(), flags.end(), 0);
        std::fill(out.begin(), out.end(), 0);
        run(*program_, memory_, "flags_between_blocks", {{8, 1, 1}, {32, 1, 1}, 0, threads},
            Parameters(pointer, memory_.add(out)));
        for (int i = 0; i < 8; i++) EXPECT_EQ(out[i], 8 - i);
    }
}

TEST_P(Control, EndlessLoopsReachTheLimit) {
    std::vector<int> flag(1);
    LaunchRequest request;
    const Parameters parameters(memory_.add(flag));
    request.kernel = "forever";
    request.parameters = parameters.bytes();
    request.instruction_limit = 100000;
    const auto result = launch(*program_, memory_, request);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, Fault::Kind::limit);
    EXPECT_THAT(result.error().message,
                testing::HasSubstr("the limit of 100000 warp instructions is reached"));
}

}  // namespace
}  // namespace trimtab::emulator::test
