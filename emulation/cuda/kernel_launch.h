// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a launch call to an operation of a stream.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <expected>
#include <span>

#include "emulation/cuda/state.h"

namespace trimtab::cuda {

struct KernelCall {
    const void* function = nullptr;  // host function or cudaKernel_t
    dim3 grid{1, 1, 1}, block{1, 1, 1};
    void** arguments = nullptr;
    std::span<const std::byte> packed_arguments{};  // where `arguments` is null: the parameter buffer
    std::size_t dynamic_shared_bytes = 0;
    cudaStream_t stream = nullptr;
    std::span<const cudaLaunchAttribute> attributes{};
    bool is_node = false;  // of a graph: what it was called with is kept
};

// The value of an attribute; null where it is not given.
[[nodiscard]] const cudaLaunchAttributeValue* find(std::span<const cudaLaunchAttribute> attributes,
                                                   cudaLaunchAttributeID id);
[[nodiscard]] cudaLaunchAttribute cooperative_attribute();

// The parameter buffer that `extra` names, in the form of the driver API and of graphs.
[[nodiscard]] std::expected<std::span<const std::byte>, cudaError_t> packed_arguments(void* const* extra);

// In blocks: what every GPU with clusters has, and what some have
// (cudaFuncAttributeNonPortableClusterSizeAllowed).
[[nodiscard]] inline unsigned largest_cluster_of(const CUkern_st& kernel) {
    return kernel.allows_large_clusters ? 16 : 8;
}

// Checks the call as CUDA does before a launch, and copies its arguments. With State::mutex.
[[nodiscard]] std::expected<Operation, cudaError_t> kernel_operation(State& state, Device& device,
                                                                     const KernelCall& call);

// kernel_operation and submit. Without State::mutex.
cudaError_t launch_kernel(State& state, const KernelCall& call);

// Why a block of so many threads cannot be launched: the code and, on stderr, the arithmetic; cudaSuccess
// where it can.
cudaError_t check_block(State& state, const Device& device, const CUkern_st& kernel,
                        const LoadedKernel& loaded, const dim3& block, std::size_t dynamic_shared_bytes);

}  // namespace trimtab::cuda
