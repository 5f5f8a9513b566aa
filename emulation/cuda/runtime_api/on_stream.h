// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "emulation/cuda/state.h"

namespace trimtab::cuda {

// Runs `body` on the stream of a handle, holding State::mutex.
template <typename Body>
cudaError_t on_stream(cudaStream_t handle, const Body& body) {
    return locked_call([&](State& state) {
        CUstream_st* stream = state.stream(handle);
        return stream == nullptr ? cudaErrorInvalidResourceHandle : body(state, *stream);
    });
}

}  // namespace trimtab::cuda
