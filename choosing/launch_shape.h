// One launch as the program wrote it.
#pragma once

#include <cstdint>
#include <optional>

#include "trimtab/driver.h"

namespace trimtab::choosing {

struct LaunchShape {
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    std::uint64_t dynamic_shared_bytes = 0;
    void* const* arguments = nullptr;  // one pointer a parameter, as cudaLaunchKernel takes them
    const void* function = nullptr;    // what the launch names its kernel by; null: its host function
    bool of_driver_api = false;
    // Where it goes, as the interface names it (CUDA: the driver); nothing: it is no launch yet, as a graph's node.
    std::optional<void*> stream{};
    // What cudaFuncSetAttribute allows the kernel; 0: nothing is known of it. Asked for kernels whose
    // annotation states dynamic shared memory.
    std::uint64_t max_dynamic_shared_bytes = 0;
};

[[nodiscard]] inline bool same(const trimtab_dim3& a, const trimtab_dim3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

[[nodiscard]] inline bool is_written(const LaunchShape& shape, const trimtab_dim3& grid,
                                     const trimtab_dim3& block, std::uint64_t dynamic_shared_bytes) {
    return same(grid, shape.grid) && same(block, shape.block) &&
           dynamic_shared_bytes == shape.dynamic_shared_bytes;
}

}  // namespace trimtab::choosing
