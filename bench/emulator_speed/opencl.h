// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A case on PoCL, OpenCL on the processor.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/emulator_speed/cases.h"

namespace trimtab::bench {

class OpenCl {
  public:
    explicit OpenCl(const Case& from);
    ~OpenCl();
    [[nodiscard]] const std::string& error() const { return error_; }  // "": it runs
    bool run();                                                        // until it is done
    [[nodiscard]] std::vector<float> result();

  private:
    struct Objects;
    const Case& case_;
    std::string error_;
    std::unique_ptr<Objects> objects_;
};

}  // namespace trimtab::bench
