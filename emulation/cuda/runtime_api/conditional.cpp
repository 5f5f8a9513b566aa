// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conditional nodes of graphs: what they look at, and their bodies.
#include <cuda_runtime_api.h>

#include "emulation/cuda/graph_memory.h"
#include "emulation/cuda/runtime_api/graph_node.h"

using namespace trimtab::cuda;

namespace {

bool is_size_of(cudaGraphConditionalNodeType type, unsigned size) {
    switch (type) {
        case cudaGraphCondTypeIf:
            return size == 1 || size == 2;
        case cudaGraphCondTypeWhile:
            return size == 1;
        case cudaGraphCondTypeSwitch:
            return size > 0;
    }
    return false;
}

}  // namespace

namespace trimtab::cuda {

cudaError_t add_conditional(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                            std::size_t count, cudaConditionalNodeParams& parameters) {
    auto made = std::make_unique<Conditional>();
    const cudaError_t status = add(node, graph, dependencies, count, [&](State& state) -> Made {
        // The handle is of this graph, or of the one that has it as a body or a child.
        const auto has_value = [&](const CUgraph_st* owner) {
            return std::ranges::any_of(owner->conditional_values, [&](const ConditionalValue& entry) {
                return reinterpret_cast<cudaGraphConditionalHandle>(entry.value) == parameters.handle;
            });
        };
        if (!is_size_of(parameters.type, parameters.size) || !std::ranges::any_of(state.graphs, has_value))
            return std::unexpected(cudaErrorInvalidValue);
        made->type = parameters.type;
        made->value = reinterpret_cast<const unsigned*>(parameters.handle);
        for (unsigned i = 0; i < parameters.size; ++i)
            made->handles.push_back(made->bodies.emplace_back(std::make_unique<CUgraph_st>()).get());
        parameters.phGraph_out = made->handles.data();
        return Operation{
            .type = cudaGraphNodeTypeConditional, .run = {}, .synchronous = false, .calls_program = false};
    });
    if (status == cudaSuccess) (*node)->conditional = std::move(made);
    return status;
}

}  // namespace trimtab::cuda

extern "C" {

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* pHandle_out, cudaGraph_t graph,
                                             unsigned defaultLaunchValue, unsigned flags) {
    return call([=](State& state) {
        if (pHandle_out == nullptr || (flags & ~cudaGraphCondAssignDefault) != 0)
            return cudaErrorInvalidValue;
        void* value = nullptr;
        auto keeps = keep_graph_memory(state, value, sizeof(unsigned));
        if (keeps == nullptr) return cudaErrorMemoryAllocation;
        const std::lock_guard lock(state.mutex);
        if (!state.graphs.contains(graph)) return cudaErrorInvalidValue;
        graph->conditional_values.push_back({.value = static_cast<unsigned*>(value),
                                             .default_value = defaultLaunchValue,
                                             .is_assigned_at_launch = flags == cudaGraphCondAssignDefault,
                                             .keeps = std::move(keeps)});
        *pHandle_out = reinterpret_cast<cudaGraphConditionalHandle>(value);
        return cudaSuccess;
    });
}

}  // extern "C"
