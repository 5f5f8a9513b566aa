// What is nearly legal: see README.md.
#include <cassert>
#include <cstdint>
#include <cstdio>
#define GX (blockIdx.x * blockDim.x + threadIdx.x)
#define GY (blockIdx.y * blockDim.y + threadIdx.y)

// --- indices that are not the global index ---
//= fixed 1 "threadIdx.x"
__global__ void asm_thread_index(int* o, int n) {
    unsigned t;
    asm("mov.u32 %0, %%tid.x;" : "=r"(t));
    if (GX < n) o[GX] = t;
}
//= fixed 1 "threadIdx.x"
__global__ void thread_index_alone(int* o, int n) {
    int i = threadIdx.x;
    if (i < n) o[i] = 1;
}
//= fixed 1 "256"
__global__ void built_in_block(int* o, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) o[i] = 1;
}
//= fixed 1 ""
__global__ void swizzled_blocks(int* o, int n) {
    int i = (blockIdx.x ^ 1) * blockDim.x + threadIdx.x;
    if (i < n) o[i] = 1;
}
//= fixed 1 ""
__global__ void reversed_blocks(int* o, int n) {
    int i = (gridDim.x - 1 - blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) o[i] = i;
}
//= fixed 1 ""
__global__ void mixed_dimensions(int* o, int n) {
    int i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i < n) o[i] = 1;
}
//= fixed 1 ""
__global__ void wrong_block_dimension(int* o, int n) {
    int i = blockIdx.x * blockDim.y + threadIdx.x;
    if (i < n) o[i] = threadIdx.y;
}
//= fixed 1 ""
__global__ void index_minus_block(int* o, int n) {
    int i = GX;
    if (i < n) o[i] = i - blockIdx.x * blockDim.x;
}
//= fixed 1 "blockDim.x"
__global__ void block_size_as_step(int* o, int n) {
    int i = GX;
    if (i + blockDim.x < n) o[i + blockDim.x] = 1;
}
//= fixed 1 ""
__global__ void grid_size_as_bound(int* o) {
    int i = GX;
    if (i < gridDim.x) o[i] = 1;
}
//= fixed 1 ""
__global__ void leader_of_each_block(int* o, int n) {
    if (threadIdx.x == 0 && blockIdx.x < n) o[blockIdx.x] = 1;
}
//= fixed 1 ""
__global__ void two_elements_apart(float* o, int n) {
    int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    if (i < n) o[i] = 1;
    if (i + blockDim.x < n) o[i + blockDim.x] = 2;
}
//= covering
__global__ void row_of_threads(float* o, int w) {
    for (int x = threadIdx.x; x < w; x += blockDim.x) o[blockIdx.x * w + x] = 1;
}
__device__ __noinline__ int lane() {
    return threadIdx.x & 31;
}
//= covering
__global__ void lane_in_a_function(int* o, int n) {
    if (GX < n) o[GX] = lane();
}
__device__ __noinline__ int passed(int i) {
    return i * 2;
}
//= fixed 1 "threadIdx.x"
__global__ void lane_as_an_argument(int* o, int n) {
    if (GX < n) o[GX] = passed(threadIdx.x);
}
//= fixed 1 ""
__global__ void twenty_bits(int* o, unsigned n) {
    unsigned i = (blockIdx.x & 0xfffff) * blockDim.x + threadIdx.x;
    if (i < n) o[i] = 1;
}
//= fixed 1 ""
__global__ void narrow_block_index(int* o, int n) {
    unsigned char b = blockIdx.x;
    int i = b * blockDim.x + threadIdx.x;
    if (i < n) o[i] = 1;
}
//= fixed 1 ""
__global__ void chosen_by_block(int* o, int n) {
    int i = GX;
    if (i < n) o[i] = blockIdx.x & 1 ? i : -i;
}

// --- what belongs to a block, a warp, or an order of threads ---
//= fixed 2 "shared memory"
__global__ void shared_tile(float* o, int n) {
    __shared__ float tile[1024];
    int i = GX;
    if (i < n) tile[threadIdx.x] = o[i];
    __syncthreads();
    if (i < n) o[i] = tile[blockDim.x - 1 - threadIdx.x];
}
extern __shared__ float dynamic_tile[];
//= fixed 2 "shared memory"
__global__ void dynamic_shared(float* o) {
    dynamic_tile[threadIdx.x] = o[GX];
    __syncthreads();
    o[GX] = dynamic_tile[threadIdx.x ^ 1];
}
__device__ __noinline__ float shared_inside(float v) {
    __shared__ float kept[32];
    kept[(int)v & 31] = v;
    return kept[((int)v + 1) & 31];
}
//= fixed 2 "shared memory"
__global__ void shared_in_a_function(float* o, int n) {
    if (GX < n) o[GX] = shared_inside(o[GX]);
}
// Barriers that order nothing: private_hostile.cu has those that do.
//= covering
__global__ void returns_then_waits(int* o, int n) {
    int i = GX;
    if (i >= n) return;
    __syncthreads();
    o[i] = 1;
}
//= covering
__global__ void asm_barrier(int* o, int n) {
    if (GX < n) o[GX] = 1;
    asm volatile("bar.sync 0;");
}
//= fixed 2 ""
__global__ void warp_synchronous(float* o, int n) {
    __shared__ volatile float s[64];
    s[threadIdx.x] = o[GX];
    if (threadIdx.x < 16) s[threadIdx.x] += s[threadIdx.x + 16];
    if (threadIdx.x == 0) o[blockIdx.x] = s[0];
}
//= dividing 3 "no test of the index in x"
__global__ void shuffle(float* o, int n) {
    int i = GX;
    float v = i < n ? o[i] : 0;
    v += __shfl_xor_sync(~0u, v, 1);
    if (i < n) o[i] = v;
}
//= dividing 3 "no test of the index in x"
__global__ void ballot(unsigned* o, int n) {
    int i = GX;
    unsigned votes = __ballot_sync(~0u, i < n);
    if (i < n) o[i] = votes;
}
//= fixed 2 "within a warp"
__global__ void active_lanes(unsigned* o, int n) {
    int i = GX;
    if (i < n) o[i] = __activemask();
}
//= covering; -O0 dividing
__global__ void warp_barrier(int* o, int n) {
    int i = GX;
    if (i < n) o[i] = 1;
    __syncwarp();
}
//= covering
__global__ void asm_lane(unsigned* o, int n) {
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    if (GX < n) o[GX] = lane;
}
//= fixed 2 "which lane, warp or multiprocessor"
__global__ void asm_multiprocessor(unsigned* o, int n) {
    unsigned sm;
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    if (GX < n) o[GX] = sm;
}
//= fixed 2 "clock"
__global__ void reads_clock(long long* o, int n) {
    if (GX < n) o[GX] = clock64();
}
//= fixed 2 "prints"
__global__ void prints(int n) {
    int i = GX;
    if (i < n) printf("%d\n", i);
}
//= fixed 2 "assert"
__global__ void asserts(int* o, int n) {
    int i = GX;
    assert(n > 0);
    if (i < n) o[i] = 1;
}
//= fixed 2 "trap"
__global__ void traps(int* o, int n) {
    int i = GX;
    if (i > n) __trap();
    if (i < n) o[i] = 1;
}
//= fixed 2 "malloc"
__global__ void allocates(int** o, int n) {
    int i = GX;
    if (i < n) o[i] = (int*)malloc(4);
}
//= fixed 2 "memory fence"
__global__ void fences(int* o, int n) {
    int i = GX;
    if (i < n) {
        o[i] = 1;
        __threadfence();
        o[i + n] = 2;
    }
}
//= fixed 2 "result"
__global__ void queue(int* tail, int* o, int n) {
    int i = GX;
    if (i < n) o[atomicAdd(tail, 1)] = i;
}
//= fixed 2 "order of threads"
__global__ void last_one_wins(int* last, int n) {
    int i = GX;
    if (i < n) atomicExch(last, i);
}
//= fixed 2 "order of threads"
__global__ void wraps_at_a_bound(unsigned* c, int n) {
    int i = GX;
    if (i < n) atomicInc(c, 7);
}
//= fixed 2 ""
__global__ void locks(int* lock, int* o, int n) {
    int i = GX;
    if (i >= n) return;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    o[0] += i;
    atomicExch(lock, 0);
}
//= fixed 2 "within a block only"
__global__ void block_atomics(int* c, int n) {
    if (GX < n) atomicAdd_block(c, 1);
}
//= fixed 2 "through a pointer"
__global__ void through_pointer(int (*f)(int), int* o, int n) {
    int i = GX;
    if (i < n) o[i] = f(i);
}

// What follows sees a value through the carry flag alone, which no register holds.
#define CARRY_OF_SUM(carry, a, b)                          \
    unsigned carry;                                        \
    {                                                      \
        unsigned low;                                      \
        asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, 0, 0;" \
            : "=r"(low), "=r"(carry)                       \
            : "r"((unsigned)(a)), "r"((unsigned)(b)));     \
    }
//= fixed 2 "result"
__global__ void ticket_by_carry(unsigned* tickets, int* o, int n) {
    int i = GX;
    if (i >= n) return;
    CARRY_OF_SUM(late, atomicAdd(tickets, 1u), 0xfffffff0u);
    o[i] = late;
}
//= fixed 2 "result"
__global__ void ticket_by_borrow(unsigned* tickets, int* o, int n) {
    int i = GX;
    if (i >= n) return;
    unsigned low, early;
    asm("sub.cc.u32 %0, %2, 16;\n\tsubc.u32 %1, 0, 0;"
        : "=r"(low), "=r"(early)
        : "r"(atomicAdd(tickets, 1u)));
    o[i] = early;
}
//= fixed 2 "result"
__global__ void ticket_in_128_bits(unsigned long long* tickets, uint64_t* o, uint64_t high, int n) {
    int i = GX;
    if (i >= n) return;
    unsigned __int128 sum = (unsigned __int128)high << 64 | ~15ull;
    sum += (unsigned __int128)high << 64 | atomicAdd(tickets, 1ull);
    o[i] = sum >> 64;
}
//= fixed 2 "loop that goes on until memory"
__global__ void spins_by_carry(unsigned* flags, int* o, int n) {
    int i = GX;
    if (i >= n) return;
    flags[i] = 1;
    for (int k = 0; k < 1000000; k++) {
        CARRY_OF_SUM(set, flags[(i + 1) % n], 0xffffffffu);
        if (set) break;
        o[i] = k;
    }
}
//= fixed 1 "threadIdx.x"
__global__ void thread_by_carry(int* o, int n) {
    int i = GX;
    CARRY_OF_SUM(upper, threadIdx.x, 0xfffffff0u);
    if (i < n) o[i] = upper;
}
__device__ __noinline__ unsigned waits_once_more(const unsigned* flag, unsigned depth) {
    const unsigned seen = __ldcg(flag);
    return seen != 0 ? seen : waits_once_more(flag, depth * 5 + 1) * 3u ^ depth;
}
//= fixed 2 "other threads may have to run first"
__global__ void waits_by_recursion(unsigned* o, unsigned* flags, int n) {
    if (GX >= n) return;
    flags[GX] = 1;
    o[GX] = waits_once_more(flags + (GX ^ 1), 0);
}
__device__ unsigned waits_by_turns(const unsigned* flag, unsigned seen);
__device__ __noinline__ unsigned looks_again(const unsigned* flag) {
    return waits_by_turns(flag, __ldcg(flag)) * 7u ^ 1u;
}
__device__ __noinline__ unsigned waits_by_turns(const unsigned* flag, unsigned seen) {
    return seen > 8 ? seen : looks_again(flag) * 3u ^ seen;
}
//= fixed 2 "other threads may have to run first"
__global__ void waits_by_two_functions(unsigned* o, unsigned* flags, int n) {
    if (GX >= n) return;
    flags[GX] = 9;
    o[GX] = waits_by_turns(flags + (GX ^ 1), 0);
}
// Loads that not every thread makes of one place.
//= dividing 3 "no test of the index in x"
__global__ void done_for_some(int* o, const int* done, int n) {
    int i = GX;
    if (i > 3 && *done == 12345) return;
    if (i < n) o[i] = i;
}
//= dividing 3 "no test of the index in x"
__global__ void done_twice(int* o, const int* done, const int* also, int n) {
    if (*done == 12345 && *also == 12345) return;
    int i = GX;
    if (i < n) o[i] = i;
}
//= dividing 3 "no test of the index in x"
__global__ void done_by_index(int* o, const int* done, int n) {
    int i = GX;
    if (done[i / 64] == 12345) return;
    if (i < n) o[i] = i;
}
//= covering
__global__ void an_index_or_none(int* o, int n, int which) {
    int i = which > 2 ? GX : 0;
    if (i < n) o[i] = 7;
}
// The number of threads where it is not seen at once.
//= dividing 3 "gridDim.x"
__global__ void picked_by_the_total(int* o, int n) {
    const int picked = gridDim.x * blockDim.x > 64 ? 1 : 2;
    int i = GX;
    if (i < n) o[i] = picked;
}
//= dividing 3 "gridDim.x"
__global__ void turns_of_the_total(int* o, int n) {
    int i = GX, sum = 0;
    for (int k = 0; k < int(gridDim.x * blockDim.x) && k < 9; k++) sum += k;
    if (i < n) o[i] = sum;
}
//= dividing 3 "gridDim.x"
__global__ void half_of_the_total(int* o, int n) {
    int i = GX;
    const float half = 0.5f * (gridDim.x * blockDim.x);
    if (i < n) o[i] = half > i;
}
