// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libtrimtab_gpu_counters.so: counters of launches on a GPU, through CUPTI. It is loaded by who counts (`trimtab profile`), so
// that no program carries CUPTI's interface. Nothing here throws.
#pragma once

#include <cstddef>

extern "C" {

// What the kernels whose launches are counted can do: each group of counters may cost a further pass over a launch.
enum TrimtabCountedUse : unsigned {
    trimtab_counts_shared = 1,
    trimtab_counts_local = 2,
    trimtab_counts_atomics = 4
};

// A session on the context (a CUcontext), of the device with that ordinal. Null: `why` says why not, in one line that ends
// with a zero: CUPTI is not there, counters are forbidden, the chip is not known.
void* trimtab_open_counters(void* context, std::size_t device_ordinal, unsigned use, char* why,
                            std::size_t why_bytes);
// The chip, as CUPTI names it: "TU106". Lives as long as the session.
const char* trimtab_counted_chip(void* session);

// One launch, made as often as the counters take passes: `restore` puts back the memory that it starts from, `launch` makes
// it and waits for it; each answers whether it could. `take` is called with each counter's name and its sum over the GPU.
// Not true: `why` says why not.
struct TrimtabCountedLaunch {
    void* own;  // given to each of these
    bool (*restore)(void* own);
    bool (*launch)(void* own);
    void (*take)(void* own, const char* counter, double value);
};
bool trimtab_count_launch(void* session, const TrimtabCountedLaunch* launch, char* why,
                          std::size_t why_bytes);

void trimtab_close_counters(void* session);
}
