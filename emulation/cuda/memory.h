// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allocation with the device's account kept.
#pragma once

#include <driver_types.h>

#include <cstddef>

#include "emulation/cuda/state.h"

namespace trimtab::cuda {

// Without State::mutex, all of them. Device and managed memory count against the current device's.
cudaError_t allocate(State& state, void*& pointer, std::size_t size_bytes, MemoryKind kind, unsigned flags);
// `pointer` is the start of an allocation. Waits for running kernels, which may be using it.
cudaError_t release(State& state, void* pointer);
void wait_for_all(State& state);

[[nodiscard]] bool lies_in_managed(const State& state, const void* pointer, std::size_t size_bytes);

}  // namespace trimtab::cuda
