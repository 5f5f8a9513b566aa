// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs: recorded operations, and their replay.
#pragma once

#include <driver_types.h>

#include <expected>
#include <memory>

#include "emulation/cuda/state.h"

namespace trimtab::cuda {

// Makes the operation a node of the graph that the stream records. With State::mutex.
cudaError_t record(CUstream_st& stream, Operation operation);
// Work in the legacy stream would wait for a capturing blocking stream: an error, and the capture's end. With
// State::mutex.
cudaError_t disturbs_capture(State& state, const CUstream_st& stream);

// A graph of the program's, or one that a node of such a graph embeds. With State::mutex.
[[nodiscard]] bool is_graph(const State& state, const CUgraph_st* graph);

cudaError_t begin_capture(State& state, CUstream_st& stream, cudaStreamCaptureMode mode);
// The graph becomes the caller's.
cudaError_t end_capture(State& state, CUstream_st& stream, cudaGraph_t& graph);

[[nodiscard]] CUgraphNode_st* add_node(CUgraph_st& graph, Operation operation,
                                       std::vector<CUgraphNode_st*> dependencies);
[[nodiscard]] std::unique_ptr<CUgraph_st> clone(const CUgraph_st& graph);

// What cudaGraphInstantiate makes: child graphs laid open.
[[nodiscard]] std::unique_ptr<CUgraphExec_st> instantiate(const CUgraph_st& graph);
// Runs every node, in order; modelled time runs along the dependencies. Without State::mutex.
cudaError_t launch(State& state, CUgraphExec_st& exec, cudaStream_t stream);

}  // namespace trimtab::cuda
