// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel with a driver program that answers what the test says.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/analysis/launches/description.h"
#include "trimtab/driver.h"

namespace trimtab::choosing::testing {

// void guarded(int n, float* out) { i = ...; if (i >= n) return; ... }, with a second data parameter `step`
// that is not in the memo, and `bound`, that is there by bucket.
[[nodiscard]] analysis::KernelDescription guarded_kernel();

// What the fake driver program answers: the predicted time of a block, and whether it can be relied on.
struct DriverScript {
    std::function<double(const double* data, trimtab_dim3 block)> predict;
    std::uint32_t doubt = 0;  // of every prediction
    std::function<int(trimtab_dim3 first, trimtab_dim3 second)> keeps_order;
    double relative_error = 0;
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

}  // namespace trimtab::choosing::testing
