// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One block that keeps a pipe of its SM busy: several independent chains in every thread.
#include "measured_part.cuh"

constexpr int chains = 8;

#define BUSY(name, count, type, body)                                                                      \
    extern "C" __global__ void name##_##count(Clocks* clocks, type* out, type a, type b, int turns) {      \
        type x[chains];                                                                                    \
        _Pragma("unroll") for (int c = 0; c < chains; ++c) x[c] = out[threadIdx.x] + static_cast<type>(c); \
        __syncthreads();                                                                                   \
        const long long begin = clock64();                                                                 \
        _Pragma("unroll 1") for (int turn = 0; turn < turns; ++turn) {                                     \
            _Pragma("unroll") for (int i = 0; i < count / chains; ++i) {                                   \
                _Pragma("unroll") for (int c = 0; c < chains; ++c) {                                       \
                    body;                                                                                  \
                }                                                                                          \
            }                                                                                              \
        }                                                                                                  \
        const long long end = clock64();                                                                   \
        type sum = 0;                                                                                      \
        _Pragma("unroll") for (int c = 0; c < chains; ++c) sum += x[c];                                    \
        out[threadIdx.x] = sum;                                                                            \
        note(clocks, begin, end);                                                                          \
    }
#define BUSIER(name, type, body) BUSY(name, 64, type, body) BUSY(name, 192, type, body)

BUSIER(rate_fp32, float, x[c] = __fmaf_rn(x[c], a, b))
BUSIER(rate_fp64, double, x[c] = __fma_rn(x[c], a, b))
BUSIER(rate_integer, unsigned, x[c] = (x[c] ^ a) + b)
BUSIER(rate_special_function, float, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[c])); (void)a;
       (void)b)
BUSIER(rate_shuffle, unsigned, x[c] = __shfl_xor_sync(0xffffffffu, x[c], 1); (void)a; (void)b)

// Loads of shared memory without a bank conflict, each lane its own word.
#define SHARED_RATE(count)                                                                            \
    extern "C" __global__ void rate_shared_##count(Clocks* clocks, unsigned* out, int turns) {        \
        __shared__ unsigned words[1024];                                                              \
        words[threadIdx.x] = out[threadIdx.x];                                                        \
        const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(words)) + threadIdx.x * 4; \
        unsigned x = 0;                                                                               \
        __syncthreads();                                                                              \
        const long long begin = clock64();                                                            \
        _Pragma("unroll 1") for (int turn = 0; turn < turns; ++turn) {                                \
            _Pragma("unroll") for (int i = 0; i < count; ++i) asm volatile(                           \
                "ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(at));                              \
        }                                                                                             \
        const long long end = clock64();                                                              \
        out[threadIdx.x] = x;                                                                         \
        note(clocks, begin, end);                                                                     \
    }
SHARED_RATE(32)
SHARED_RATE(96)
// Wide ones: 64-bit words, for SMs whose banks are as wide.
#define SHARED_WIDE_RATE(count)                                                                       \
    extern "C" __global__ void rate_shared_wide_##count(Clocks* clocks, unsigned* out, int turns) {   \
        __shared__ unsigned long long words[1024];                                                    \
        words[threadIdx.x] = out[threadIdx.x];                                                        \
        const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(words)) + threadIdx.x * 8; \
        unsigned long long x = 0;                                                                     \
        __syncthreads();                                                                              \
        const long long begin = clock64();                                                            \
        _Pragma("unroll 1") for (int turn = 0; turn < turns; ++turn) {                                \
            _Pragma("unroll") for (int i = 0; i < count; ++i) asm volatile(                           \
                "ld.volatile.shared.u64 %0, [%1];" : "=l"(x) : "r"(at));                              \
        }                                                                                             \
        const long long end = clock64();                                                              \
        out[threadIdx.x] = static_cast<unsigned>(x);                                                  \
        note(clocks, begin, end);                                                                     \
    }
SHARED_WIDE_RATE(32)
SHARED_WIDE_RATE(96)

// Requests of global memory whose lanes are `stride_bytes` apart, in a few KiB that stay where they are: what one SM lets
// leave. Stride 4: one line a request.
#define REQUEST_RATE(name, cache, count)                                                                \
    extern "C" __global__ void name##_##count(Clocks* clocks, unsigned* out, const char* from,          \
                                              int stride_bytes, int turns) {                            \
        const char* const at = from + (threadIdx.x % 32) * stride_bytes + (threadIdx.x / 32 % 4) * 128; \
        unsigned x[4] = {};                                                                             \
        asm volatile("ld.global." cache ".u32 %0, [%1];" : "=r"(x[0]) : "l"(at) : "memory");            \
        unsigned sum = x[0];                                                                            \
        __syncthreads();                                                                                \
        const long long begin = clock64();                                                              \
        _Pragma("unroll 1") for (int turn = 0; turn < turns; ++turn) {                                  \
            _Pragma("unroll") for (int i = 0; i < count / 4; ++i) {                                     \
                _Pragma("unroll") for (int c = 0; c < 4; ++c) asm volatile(                             \
                    "ld.global." cache ".u32 %0, [%1];" : "=r"(x[c]) : "l"(at) : "memory");             \
                sum ^= x[0] ^ x[1] ^ x[2] ^ x[3];                                                       \
            }                                                                                           \
        }                                                                                               \
        const long long end = clock64();                                                                \
        out[threadIdx.x] = sum;                                                                         \
        note(clocks, begin, end);                                                                       \
    }
REQUEST_RATE(rate_l1, "ca", 16)
REQUEST_RATE(rate_l1, "ca", 48)
REQUEST_RATE(rate_request, "cg", 16)
REQUEST_RATE(rate_request, "cg", 48)

// Atomics without an answer, all lanes on one address or each on its own.
#define ATOMIC_RATE(count)                                                                                   \
    extern "C" __global__ void rate_atomic_##count(Clocks* clocks, unsigned* cells, int stride, int turns) { \
        unsigned* const cell = cells + threadIdx.x * stride;                                                 \
        __syncthreads();                                                                                     \
        const long long begin = clock64();                                                                   \
        _Pragma("unroll 1") for (int turn = 0; turn < turns; ++turn) {                                       \
            _Pragma("unroll") for (int i = 0; i < count; ++i) asm volatile("red.global.add.u32 [%0], 1;" : : \
                                                                           "l"(cell) : "memory");            \
        }                                                                                                    \
        const long long end = clock64();                                                                     \
        note(clocks, begin, end);                                                                            \
    }
ATOMIC_RATE(4)
ATOMIC_RATE(12)
