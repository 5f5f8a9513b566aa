// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every micro-benchmark shares: the clocks around the part that is measured.
//
// All are extern "C", so that they are found by name. Loops that count turns are not unrolled; what is in them is, as
// often as the kernel's name says: two lengths of one body, measured alike, differ by the body alone.
#pragma once

// The first block's measured part, from the first warp's begin to the last one's end, on its SM's clock.
struct Clocks {
    long long begin, end;
};

__device__ inline void note(Clocks* clocks, long long begin, long long end) {
    if (blockIdx.x != 0 || threadIdx.x % 32 != 0) return;
    Clocks& own = clocks[threadIdx.x / 32];
    own.begin = begin;
    own.end = end;
}
