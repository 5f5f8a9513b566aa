// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that nodes of graphs allocate and free: its addresses are known from the making of the node on, the
// memory is there from a launch that allocates it until something frees it.
#pragma once

#include <expected>

#include "emulation/cuda/graph.h"
#include "emulation/cuda/state.h"

namespace trimtab::cuda {

// Addresses for a node of a graph, on the current device; the operation allocates. Sets the parameters'
// pointer. Without State::mutex.
[[nodiscard]] std::expected<Operation, cudaError_t> allocation_operation(State& state,
                                                                         cudaMemAllocNodeParams& parameters);
// With State::mutex.
[[nodiscard]] std::expected<Operation, cudaError_t> release_operation(State& state, void* pointer);

// What a launch left allocated and the program, or another graph, frees. With State::mutex.
cudaError_t free_graph_memory(State& state, const void* pointer);

// The graph is to be launched: it may not have allocated what nothing has freed since, unless it was
// instantiated to free that itself. With State::mutex.
cudaError_t prepare_graph_memory(State& state, const CUgraphExec_st& exec);

// Memory of the device's for as long as something holds what is returned; null: there is none. Without
// State::mutex.
[[nodiscard]] std::shared_ptr<const void> keep_graph_memory(State& state, void*& pointer,
                                                            std::size_t size_bytes);
// Nodes have gone: gives back addresses that no graph knows any more. Without State::mutex.
void release_unknown_graph_memory(State& state);

}  // namespace trimtab::cuda
