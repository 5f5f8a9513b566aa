// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/driver_api/jit_options.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace trimtab::cuda::driver {

JitLog::JitLog(unsigned count, const CUjit_option* options, void** values) {
    if (options == nullptr || values == nullptr) return;
    for (unsigned i = 0; i < count; ++i) {
        switch (options[i]) {
            case CU_JIT_ERROR_LOG_BUFFER:
                error_ = static_cast<char*>(values[i]);
                break;
            case CU_JIT_INFO_LOG_BUFFER:
                info_ = static_cast<char*>(values[i]);
                break;
            case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
                // Numbers come in the place of pointers.
                error_bytes_ = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[i]));
                error_size_out_ = &values[i];
                break;
            case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
                info_size_out_ = &values[i];
                break;
            default:  // how to compile: there is nothing to compile here
                break;
        }
    }
}

void JitLog::write(std::string_view error) const {
    std::size_t written = 0;
    if (error_ != nullptr && error_bytes_ > 0) {
        written = std::min<std::size_t>(error.size(), error_bytes_ - 1);
        std::memcpy(error_, error.data(), written);
        error_[written] = '\0';
    }
    if (info_ != nullptr && info_size_out_ != nullptr && *info_size_out_ != nullptr) *info_ = '\0';
    if (error_size_out_ != nullptr) *error_size_out_ = reinterpret_cast<void*>(written);
    if (info_size_out_ != nullptr) *info_size_out_ = nullptr;
}

}  // namespace trimtab::cuda::driver
