// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* opens LIBRARY...: opens them in that order, all local, and has a kernel of the last that has launch() work on memory of the first
   that has cudaMalloc() for itself. Looks at no error. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { count = 1000, to_device = 1, to_host = 2 };
static float x[count], y[count];

int main(int words, char** word) {
    void *runtime = NULL, *kernels = NULL;
    for (int i = 1; i < words; i++) {
        void* library = dlopen(word[i], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 9;
        }
        if (strstr(word[i], "libcudart") != NULL) runtime = library;
        if (dlsym(library, "launch") != NULL) kernels = library;
    }
    if (runtime == NULL || kernels == NULL) return 9;
    int (*allocate)(void**, size_t) = (int (*)(void**, size_t))dlsym(runtime, "cudaMalloc");
    int (*copy)(void*, const void*, size_t, int) =
        (int (*)(void*, const void*, size_t, int))dlsym(runtime, "cudaMemcpy");
    void (*launch)(float*, const float*, float, int) =
        (void (*)(float*, const float*, float, int))dlsym(kernels, "launch");
    void *device_x = NULL, *device_y = NULL;
    for (int i = 0; i < count; i++) x[i] = (float)(i % 100), y[i] = 1;
    allocate(&device_x, sizeof x);
    allocate(&device_y, sizeof y);
    copy(device_x, x, sizeof x, to_device);
    copy(device_y, y, sizeof y, to_device);
    launch(device_y, device_x, 2, count);
    copy(y, device_y, sizeof y, to_host);
    for (int i = 0; i < count; i++)
        if (y[i] != 1 + 2 * x[i]) return 1;
    puts("PASS");
    return 0;
}
