// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Another tool: preloaded, it stands before launches as some do; and it is what CUDA_INJECTION64_PATH names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

struct size {
    unsigned x, y, z;
};
typedef int (*launch)(const void*, struct size, struct size, void**, unsigned long, void*);

static int launches, initialised;

int cudaLaunchKernel(const void* function, struct size grid, struct size block, void** arguments,
                     unsigned long shared_bytes, void* stream) {
    launch next = (launch)dlsym(RTLD_NEXT, "cudaLaunchKernel");
    ++launches;
    return next(function, grid, block, arguments, shared_bytes, stream);
}

int InitializeInjection(void) {
    ++initialised;
    return 1;
}

__attribute__((destructor)) static void at_end(void) {
    if (launches > 0) fprintf(stderr, "tool: %d launches\n", launches);
    if (initialised > 0) fprintf(stderr, "tool: initialised %d times\n", initialised);
}
