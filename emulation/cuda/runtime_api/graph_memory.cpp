// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes that allocate and free memory, and what a device's graphs hold of it.
#include "emulation/cuda/graph_memory.h"

#include <cuda_runtime_api.h>

#include "emulation/cuda/runtime_api/graph_node.h"

using namespace trimtab::cuda;

namespace {

template <typename Body>
cudaError_t query_memory(int ordinal, const Body& body) {
    return query([&](const State& state) {
        if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= state.devices.size())
            return cudaErrorInvalidDevice;
        return body(*state.devices[static_cast<std::size_t>(ordinal)]);
    });
}

}  // namespace

extern "C" {

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                     cudaMemAllocNodeParams* nodeParams) {
    return call([=](State& state) {
        if (nodeParams == nullptr) return cudaErrorInvalidValue;
        Made operation = allocation_operation(state, *nodeParams);
        if (!operation) return operation.error();
        return add(pGraphNode, graph, pDependencies, numDependencies, [&](State&) { return operation; });
    });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                    const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                    void* dptr) {
    return add(pGraphNode, graph, pDependencies, numDependencies,
               [=](State& state) { return release_operation(state, dptr); });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
    return query_memory(device, [](Device& found) {
        found.graph_reserved_bytes = found.graph_used_bytes;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attr, void* value) {
    return query_memory(device, [=](const Device& found) {
        if (value == nullptr) return cudaErrorInvalidValue;
        auto& bytes = *static_cast<unsigned long long*>(value);
        switch (attr) {
            case cudaGraphMemAttrUsedMemCurrent:
                bytes = found.graph_used_bytes;
                return cudaSuccess;
            case cudaGraphMemAttrUsedMemHigh:
                bytes = found.graph_used_high_bytes;
                return cudaSuccess;
            case cudaGraphMemAttrReservedMemCurrent:
                bytes = found.graph_reserved_bytes;
                return cudaSuccess;
            case cudaGraphMemAttrReservedMemHigh:
                bytes = found.graph_reserved_high_bytes;
                return cudaSuccess;
            default:
                return cudaErrorInvalidValue;
        }
    });
}

// The high watermarks alone can be set, and to nothing but zero.
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attr, void* value) {
    return query_memory(device, [=](Device& found) {
        if (value == nullptr || *static_cast<unsigned long long*>(value) != 0) return cudaErrorInvalidValue;
        switch (attr) {
            case cudaGraphMemAttrUsedMemHigh:
                found.graph_used_high_bytes = found.graph_used_bytes;
                return cudaSuccess;
            case cudaGraphMemAttrReservedMemHigh:
                found.graph_reserved_high_bytes = found.graph_reserved_bytes;
                return cudaSuccess;
            default:
                return cudaErrorInvalidValue;
        }
    });
}

}  // extern "C"
