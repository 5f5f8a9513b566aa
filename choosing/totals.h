// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What TRIMTAB_LOG=summary says when the program ends.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include "choosing/choices/choose.h"

namespace trimtab::choosing {

class Totals {
  public:
    // `is_changed`: it went out with another block, grid or dynamic shared memory than written.
    void add(const std::string& kernel, const Decision& decision, bool is_changed);
    // Empty if there was no launch.
    [[nodiscard]] std::string text() const;

  private:
    mutable std::mutex mutex_;
    std::set<std::string, std::less<>> kernels_;
    std::uint64_t launches_ = 0, changed_ = 0;
    // Of the launches whose times are predicted both as written and as launched.
    std::uint64_t predicted_ = 0;
    double written_ns_ = 0, launched_ns_ = 0;
};

}  // namespace trimtab::choosing
