// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options of cuModuleLoadDataEx and the linker that programs read back: the logs.
#pragma once

#include <cuda.h>

#include <string_view>

namespace trimtab::cuda::driver {

class JitLog {
  public:
    JitLog() = default;
    JitLog(unsigned count, const CUjit_option* options, void** values);

    // Fills the log of errors, cut to its size, and tells both sizes as CUDA does: what was written.
    void write(std::string_view error) const;

  private:
    char* error_ = nullptr;
    char* info_ = nullptr;
    unsigned error_bytes_ = 0;
    void** error_size_out_ = nullptr;
    void** info_size_out_ = nullptr;
};

}  // namespace trimtab::cuda::driver
