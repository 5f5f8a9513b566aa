// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the trampolines of one library ask.
#include <array>
#include <atomic>
#include <cstdint>

#include "tests/stand_in_gpu/gpu.h"

namespace {
constexpr auto names = std::to_array<const char*>({
#include STAND_IN_GPU_NAMES
});

struct Answer {
    void* function;
    std::int64_t status;
};

int not_supported() {
    return 801;  // cudaErrorNotSupported, and the driver's too
}
}  // namespace

extern "C" [[gnu::visibility("hidden")]] Answer stand_in_gpu_before(std::uint64_t index) {
    static std::array<std::atomic<void*>, names.size()> functions;
    const char* name = names[index];
    if (const int error = stand_in_gpu::call_begins(name); error != 0)
        return {.function = nullptr, .status = error};
    void* function = functions[index].load(std::memory_order_relaxed);
    if (function == nullptr) {
        function = stand_in_gpu::emulated(name);
        if (function == nullptr) function = reinterpret_cast<void*>(&not_supported);
        functions[index].store(function, std::memory_order_relaxed);
    }
    return {.function = function, .status = 0};
}
