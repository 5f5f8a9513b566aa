// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/stand_in/shared_runtime.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/stand_in/jump.h"

namespace trimtab::runtime {
namespace {

constexpr auto names = std::to_array<std::string_view>({
#include "runtime_names.inc"
});

std::atomic<bool>& redirected() {
    static std::atomic<bool> any = false;
    return any;
}

}  // namespace

bool was_redirected() {
    return redirected().load(std::memory_order_relaxed);
}

// Wheels add a hash to it: libcudart-0123abcd.so.13.
bool is_real_runtime(const LoadedLibrary& library) {
    const std::string_view name = library.soname();
    return name.starts_with("libcudart") && name.contains(".so.13") &&
           library.find("cudaLaunchKernel") != nullptr;
}

// The library has a symbol for each of them and for nothing else: their code starts at multiples of 16 bytes, so that even
// the shortest has room for a jump.
bool redirect(const LoadedLibrary& real, const LoadedLibrary& stand_in) {
    constexpr std::size_t alignment_bytes = 16;
    static_assert(jump_bytes <= alignment_bytes);
    for (const std::string_view name : names) {
        void* place = real.find(name);
        const void* target = stand_in.find(name);
        if (place == nullptr || target == nullptr ||
            reinterpret_cast<std::uintptr_t>(place) % alignment_bytes != 0)
            continue;
        if (!write_jump(static_cast<std::byte*>(place), target)) return false;
    }
    redirected().store(true, std::memory_order_relaxed);
    return true;
}

}  // namespace trimtab::runtime
