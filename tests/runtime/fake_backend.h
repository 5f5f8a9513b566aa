// A backend whose launches are only written down, and a kernel with a driver program to launch on it.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "analysis/description.h"
#include "runtime/launches/launch_shape.h"
#include "runtime/stand_in/backend.h"
#include "trimtab/driver.h"

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

// void guarded(int n, float* out) { i = ...; if (i >= n) return; ... }, with a second data parameter `step`
// that is not in the memo, and `bound`, that is there by bucket.
[[nodiscard]] analysis::KernelDescription guarded_kernel();

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

// What the fake driver program answers: the predicted time of a block, and whether it can be relied on.
struct DriverScript {
    std::function<double(const double* data, trimtab_dim3 block)> predict;
    bool uncertain = false;
    int select_result = 1;  // how many are offered; negative: an error
    trimtab_dim3 best{128, 1, 1};
    std::vector<trimtab_dim3> others;  // offered after the best to who asks for several
    std::atomic<int> selects = 0;
};
DriverScript& driver_script();
[[nodiscard]] trimtab_driver fake_driver(const analysis::KernelDescription& description);

// A bundle with that kernel and driver; `edit` may spoil the JSON.
class FakeBundle {
  public:
    FakeBundle(const analysis::KernelDescription& description, const std::string& fat_binary_hash,
               const std::function<void(std::string& json)>& edit = {});
    FakeBundle(const FakeBundle&) = delete;
    FakeBundle& operator=(const FakeBundle&) = delete;
    [[nodiscard]] trimtab_bundle& bundle() { return bundle_; }
    [[nodiscard]] trimtab_driver& driver() { return driver_; }

  private:
    std::string hash_, json_;
    trimtab_driver driver_;
    const trimtab_driver* drivers_[1];
    trimtab_bundle bundle_{};
};

}  // namespace trimtab::runtime::testing
