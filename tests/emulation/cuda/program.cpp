// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program with kernels, for tests of what happens to a whole process. Its argument picks what it does.
#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tests/emulation/cuda/kernels.h"

namespace {

// Scales numbers on the device; prints the device's name, or the first error.
int scale_numbers() {
    cudaDeviceProp properties{};
    if (const cudaError_t status = cudaGetDeviceProperties(&properties, 0); status != cudaSuccess) {
        std::printf("error: %s\n", cudaGetErrorString(status));
        return 1;
    }
    std::vector<float> values(1000, 2.0f);
    float* device = nullptr;
    cudaMalloc(reinterpret_cast<void**>(&device), 4000);
    cudaMemcpy(device, values.data(), 4000, cudaMemcpyHostToDevice);
    kernels::launch(kernels::scale, 8, 128, nullptr, device, 1000, 3.0f);
    cudaMemcpy(values.data(), device, 4000, cudaMemcpyDeviceToHost);
    for (const float value : values) {
        if (value != 6.0f) return 1;
    }
    std::printf("%s\n", properties.name);
    return 0;
}

bool has_loaded(const char* library) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.contains(library)) return true;
    }
    return false;
}

// Made before main, destroyed after it: its memory is freed while the process ends.
struct KeepsMemory {
    void* memory = nullptr;
    ~KeepsMemory() {
        if (memory != nullptr) std::printf("freed: %s\n", cudaGetErrorName(cudaFree(memory)));
        std::fflush(stdout);
    }
};
KeepsMemory keeps_memory;

int fork_first() {
    const pid_t child = fork();
    const int status = scale_numbers();
    if (child == 0) {
        std::fflush(stdout);
        _exit(status);
    }
    int child_status = 0;
    waitpid(child, &child_status, 0);
    return status == 0 && WIFEXITED(child_status) ? WEXITSTATUS(child_status) : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "scale") return scale_numbers();
    if (what == "fork") return fork_first();
    if (what == "nothing") {
        std::printf("%s\n", has_loaded("libtrimtab_cudart") ? "loaded" : "not loaded");
        return 0;
    }
    if (what == "keep") {
        const int status = scale_numbers();
        cudaMalloc(&keeps_memory.memory, 100);
        return status;
    }
    return 2;
}
