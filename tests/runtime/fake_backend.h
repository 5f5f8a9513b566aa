// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A backend whose launches are only written down.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "choosing/launch_shape.h"
#include "runtime/stand_in/backend.h"
#include "tests/choosing/fake_driver.h"
#include "trimtab/driver.h"

namespace trimtab::runtime {
using namespace choosing;
namespace testing {
using namespace choosing::testing;
}
}  // namespace trimtab::runtime

namespace trimtab::runtime::testing {

struct Launched {
    trimtab_dim3 grid, block;
};

// What the backend's functions see and answer; one test uses it at a time, stress tests its counters alone.
struct BackendScript {
    int device = 0, device_count = 1;
    std::atomic<int> launches = 0;
    cudaError_t last_error = cudaSuccess;
    int registers = 32, max_threads_per_block = 1024;
};
BackendScript& script();

// The calls of the fake: one device, an RTX 2070 SUPER, or `device_count` of them.
[[nodiscard]] BackendCalls fake_calls();

// A fat binary that only its hash is taken of, and the wrapper that compilers register.
class FakeFatBinary {
  public:
    explicit FakeFatBinary(const std::string& content);
    [[nodiscard]] const std::string& hash() const { return hash_; }
    [[nodiscard]] void* wrapper() { return &wrapper_; }

  private:
    struct Wrapper {
        std::int32_t magic, version;
        const void* data;
        const void* more;
    };
    std::vector<std::byte> bytes_;
    std::string hash_;
    Wrapper wrapper_{};
};

}  // namespace trimtab::runtime::testing
