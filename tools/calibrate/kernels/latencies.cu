// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One warp, each instruction waiting for the one before.
#include "measured_part.cuh"

#define CHAIN(name, count, type, body)                                                                \
    extern "C" __global__ void name##_##count(Clocks* clocks, type* out, type a, type b, int turns) { \
        type x = out[threadIdx.x];                                                                    \
        __syncthreads();                                                                              \
        const long long begin = clock64();                                                            \
        _Pragma("unroll 1") for (int turn = 0; turn < turns; ++turn) {                                \
            _Pragma("unroll") for (int i = 0; i < count; ++i) {                                       \
                body;                                                                                 \
            }                                                                                         \
        }                                                                                             \
        const long long end = clock64();                                                              \
        out[threadIdx.x] = x;                                                                         \
        note(clocks, begin, end);                                                                     \
    }
#define CHAINS(name, type, body) CHAIN(name, 64, type, body) CHAIN(name, 192, type, body)

CHAINS(latency_fp32, float, x = __fmaf_rn(x, a, b))
CHAINS(latency_fp64, double, x = __fma_rn(x, a, b))
// Two integer instructions that no compiler makes one of.
CHAINS(latency_integer, unsigned, x = (x ^ a) + b)
CHAINS(latency_special_function, float, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x)); (void)a;
       (void)b)
CHAINS(latency_shuffle, unsigned, x = __shfl_xor_sync(0xffffffffu, x, 1); (void)a; (void)b)

// A ring of addresses in shared memory.
#define SHARED_CHASE(count)                                                                          \
    extern "C" __global__ void latency_shared_##count(Clocks* clocks, unsigned* out, int turns) {    \
        __shared__ unsigned ring[64];                                                                \
        const unsigned first = static_cast<unsigned>(__cvta_generic_to_shared(ring));                \
        for (unsigned i = threadIdx.x; i < 64; i += blockDim.x) ring[i] = first + (i + 1) % 64 * 4;  \
        __syncthreads();                                                                             \
        unsigned at = first + threadIdx.x * 4;                                                       \
        const long long begin = clock64();                                                           \
        _Pragma("unroll 1") for (int turn = 0; turn < turns; ++turn) {                               \
            _Pragma("unroll") for (int i = 0; i < count;                                             \
                                   ++i) asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(at)); \
        }                                                                                            \
        const long long end = clock64();                                                             \
        out[threadIdx.x] = at;                                                                       \
        note(clocks, begin, end);                                                                    \
    }
SHARED_CHASE(16)
SHARED_CHASE(48)

// A chain of addresses in global memory. One lane alone: a warp's load is as slow as its slowest sector. Each block
// begins `apart` bytes further on than the one before, within `size` bytes from `first`.
#define CHASE(name, cache, count)                                                                 \
    extern "C" __global__ void name##_##count(Clocks* clocks, unsigned long long* out,            \
                                              unsigned long long first, unsigned long long apart, \
                                              unsigned long long size, int turns) {               \
        unsigned long long at = first + blockIdx.x * apart % size;                                \
        const long long begin = clock64();                                                        \
        _Pragma("unroll 1") for (int turn = 0; turn < turns; ++turn) {                            \
            _Pragma("unroll") for (int i = 0; i < count; ++i) asm volatile(                       \
                "ld.global." cache ".u64 %0, [%0];" : "+l"(at) : : "memory");                     \
        }                                                                                         \
        const long long end = clock64();                                                          \
        if (blockIdx.x == 0) out[0] = at;                                                         \
        note(clocks, begin, end);                                                                 \
    }
CHASE(chase_l1, "ca", 16)
CHASE(chase_l1, "ca", 48)
CHASE(chase_l2, "cg", 16)
CHASE(chase_l2, "cg", 48)

// An atomic that answers, on one address.
#define ATOMIC_CHAIN(count)                                                                          \
    extern "C" __global__ void latency_atomic_##count(Clocks* clocks, unsigned* out, unsigned* cell, \
                                                      int turns) {                                   \
        unsigned x = threadIdx.x;                                                                    \
        const long long begin = clock64();                                                           \
        _Pragma("unroll 1") for (int turn = 0; turn < turns; ++turn) {                               \
            _Pragma("unroll") for (int i = 0; i < count; ++i) x = atomicExch(cell, x);               \
        }                                                                                            \
        const long long end = clock64();                                                             \
        out[threadIdx.x] = x;                                                                        \
        note(clocks, begin, end);                                                                    \
    }
ATOMIC_CHAIN(4)
ATOMIC_CHAIN(12)
