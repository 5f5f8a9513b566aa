// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The whole device: what L2 and DRAM deliver, and how fast launches and blocks start. Timed with events.
struct alignas(16) Words {
    unsigned x, y, z, w;
};

__device__ inline Words load(const Words* at) {
    Words words;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
                 : "l"(at)
                 : "memory");
    return words;
}

// Reads memory once, every thread `groups` times four words of 16 bytes, a grid apart.
extern "C" __global__ void stream_dram(unsigned* out, const Words* from, int groups) {
    const unsigned long long threads = gridDim.x * blockDim.x;
    const Words* at = from + blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
#pragma unroll 1
    for (int i = 0; i < groups; ++i) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const Words words = load(at);
            sum ^= words.x ^ words.y ^ words.z ^ words.w;
            at += threads;
        }
    }
    if (sum == 0x12345678u) out[0] = sum;
}

// Every block reads a region of its own, which L2 holds beside the others', again and again. `mask`: words of a region, less 1.
extern "C" __global__ void stream_l2(unsigned* out, const Words* from, unsigned mask, int turns) {
    const Words* const region = from + static_cast<unsigned long long>(blockIdx.x) * (mask + 1);
    unsigned at = threadIdx.x;
    unsigned sum = 0;
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const Words words = load(region + ((at + static_cast<unsigned>(i) * blockDim.x) & mask));
            sum ^= words.x ^ words.y ^ words.z ^ words.w;
        }
    }
    if (sum == 0x12345678u) out[0] = sum;
}

extern "C" __global__ void nothing() {}

// Makes a chain of `count` addresses, `stride_bytes` apart, that visits them in the order i * step mod count.
extern "C" __global__ void make_chain(char* base, unsigned long long stride_bytes, unsigned count,
                                      unsigned step) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const unsigned next = static_cast<unsigned>((static_cast<unsigned long long>(i) + step) % count);
    *reinterpret_cast<unsigned long long*>(base + i * stride_bytes) =
        reinterpret_cast<unsigned long long>(base + next * stride_bytes);
}
