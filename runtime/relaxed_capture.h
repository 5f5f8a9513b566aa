// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that Trimtab makes beside the program's, while another thread may be recording a graph: in the default mode of such a
// capture, some calls of any thread (asking for an event, loading code) would spoil it. In the relaxed mode they do not.
#pragma once

#include "runtime/stand_in/backend.h"

namespace trimtab::runtime {

// For as long as it lives, in this thread.
class RelaxedCapture {
  public:
    explicit RelaxedCapture(const BackendCalls& calls) : calls_(calls) { exchange(); }
    ~RelaxedCapture() {
        if (is_exchanged_) exchange();
    }
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;

  private:
    void exchange() {
        is_exchanged_ = calls_.driver.thread_exchange_stream_capture_mode != nullptr &&
                        calls_.driver.thread_exchange_stream_capture_mode(&mode_) == CUDA_SUCCESS;
    }
    const BackendCalls& calls_;
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
    bool is_exchanged_ = false;
};

}  // namespace trimtab::runtime
