// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of a program's accesses outside every allocation that meet memory which a GPU's driver maps:
// TRIMTAB_OUT_OF_BOUNDS, one warning a kernel.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>

namespace trimtab::emulator {

class OutsideAccesses {
  public:
    using Say = std::function<void(const std::string&)>;
    // `setting`: of the variable, or null. A bad one is said, and counts as the default.
    OutsideAccesses(const char* setting, Say say);
    void make_errors() { are_errors_ = true; }
    // LaunchRequest::outside of the program's own launches of that kernel: empty where they are errors.
    [[nodiscard]] Say of(const std::string& kernel);

  private:
    Say say_;
    bool are_errors_ = false;
    std::mutex mutex_;
    std::set<std::string> told_;  // kernels
};

}  // namespace trimtab::emulator
