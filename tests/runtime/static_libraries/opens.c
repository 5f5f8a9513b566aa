// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* opens LIBRARY: opens it twice, as a plugin is. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** words) {
    for (int times = 0; times < 2; times++) {
        void* library = count > 1 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : 0;
        int (*work)(int) = library != 0 ? (int (*)(int))dlsym(library, "work") : 0;
        if (work == 0) {
            fprintf(stderr, "%s\n", dlerror());
            return 9;
        }
        if (work(100000) != 0) return 1;
        dlclose(library);
    }
    return 0;
}
