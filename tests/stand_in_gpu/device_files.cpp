// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Preloaded by tests: NVIDIA's kernel driver seems to be there.
#include <dlfcn.h>
#include <unistd.h>

#include <cstring>

extern "C" int access(const char* path, int mode) noexcept {
    static const auto real = reinterpret_cast<int (*)(const char*, int)>(dlsym(RTLD_NEXT, "access"));
    return std::strcmp(path, "/dev/nvidiactl") == 0 ? 0 : real(path, mode);
}
