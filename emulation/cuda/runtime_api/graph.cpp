// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs built node by node.
#include "emulation/cuda/graph.h"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "emulation/cuda/graph_memory.h"
#include "emulation/cuda/runtime_api/graph_node.h"
#include "emulation/cuda/state.h"

using namespace trimtab::cuda;

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* pGraph, unsigned flags) {
    return locked_call([=](State& state) {
        if (pGraph == nullptr || flags != 0) return cudaErrorInvalidValue;
        *pGraph = *state.graphs.insert(new CUgraph_st).first;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    std::vector<cudaUserObject_t> held;
    const cudaError_t status = locked_call([&](State& state) {
        if (state.graphs.erase(graph) == 0) return cudaErrorInvalidValue;
        held = std::move(graph->user_objects);
        delete graph;
        return cudaSuccess;
    });
    for (cudaUserObject_t object : held) static_cast<void>(cudaUserObjectRelease(object, 1));
    release_unknown_graph_memory(State::instance());
    return status;
}

cudaError_t cudaGraphClone(cudaGraph_t* pGraphClone, cudaGraph_t originalGraph) {
    return locked_call([=](State& state) {
        if (pGraphClone == nullptr || !is_graph(state, originalGraph)) return cudaErrorInvalidValue;
        *pGraphClone = *state.graphs.insert(clone(*originalGraph).release()).first;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                   const cudaKernelNodeParams* pNodeParams) {
    return add(pGraphNode, graph, pDependencies, numDependencies, kernel_maker(pNodeParams));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* pNodeParams) {
    return set(node, kernel_maker(pNodeParams));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* pNodeParams) {
    return update(hGraphExec, node, kernel_maker(pNodeParams));
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                   const cudaMemcpy3DParms* pCopyParams) {
    return add(pGraphNode, graph, pDependencies, numDependencies, copy_maker(pCopyParams));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t* pDependencies, size_t numDependencies, void* dst,
                                     const void* src, size_t count, cudaMemcpyKind kind) {
    return add(pGraphNode, graph, pDependencies, numDependencies, linear_copy_maker(dst, src, count, kind));
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* pNodeParams) {
    return set(node, copy_maker(pNodeParams));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* dst, const void* src, size_t count,
                                           cudaMemcpyKind kind) {
    return set(node, linear_copy_maker(dst, src, count, kind));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* pNodeParams) {
    return update(hGraphExec, node, copy_maker(pNodeParams));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void* dst,
                                               const void* src, size_t count, cudaMemcpyKind kind) {
    return update(hGraphExec, node, linear_copy_maker(dst, src, count, kind));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                   const cudaMemsetParams* pMemsetParams) {
    return add(pGraphNode, graph, pDependencies, numDependencies, fill_maker(pMemsetParams));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* pNodeParams) {
    return set(node, fill_maker(pNodeParams));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const cudaMemsetParams* pNodeParams) {
    return update(hGraphExec, node, fill_maker(pNodeParams));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                 const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                 const cudaHostNodeParams* pNodeParams) {
    return add(pGraphNode, graph, pDependencies, numDependencies, host_maker(pNodeParams));
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* pNodeParams) {
    return set(node, host_maker(pNodeParams));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* pNodeParams) {
    return update(hGraphExec, node, host_maker(pNodeParams));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                  const cudaGraphNode_t* pDependencies, size_t numDependencies) {
    return add(pGraphNode, graph, pDependencies, numDependencies, [](State&) -> Made { return Operation{}; });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                       const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                       cudaGraph_t childGraph) {
    std::unique_ptr<CUgraph_st> child;
    const cudaError_t status =
        add(pGraphNode, graph, pDependencies, numDependencies, [&](State& state) -> Made {
            if (!is_graph(state, childGraph)) return std::unexpected(cudaErrorInvalidValue);
            child = clone(*childGraph);
            return Operation{
                .type = cudaGraphNodeTypeGraph, .run = {}, .synchronous = false, .calls_program = false};
        });
    if (status == cudaSuccess) (*pGraphNode)->child = std::move(child);
    return status;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                     size_t numDependencies) {
    return locked_call([=](State& state) {
        if (!is_graph(state, graph)) return cudaErrorInvalidValue;
        for (size_t i = 0; i < numDependencies; ++i) to[i]->dependencies.push_back(from[i]);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* numNodes) {
    return locked_call([=](State& state) {
        if (!is_graph(state, graph)) return cudaErrorInvalidValue;
        std::vector<cudaGraphNode_t> found;
        for (const auto& node : graph->nodes) found.push_back(node.get());
        return give(found, nodes, numNodes);
    });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* pRootNodes, size_t* pNumRootNodes) {
    return locked_call([=](State& state) {
        if (!is_graph(state, graph)) return cudaErrorInvalidValue;
        std::vector<cudaGraphNode_t> found;
        for (const auto& node : graph->nodes) {
            if (node->dependencies.empty()) found.push_back(node.get());
        }
        return give(found, pRootNodes, pNumRootNodes);
    });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* pType) {
    return locked_call([=](State&) {
        if (node == nullptr || pType == nullptr) return cudaErrorInvalidValue;
        *pType = node->operation.type;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* pDependencies,
                                         cudaGraphEdgeData* edgeData, size_t* pNumDependencies) {
    return locked_call([=](State&) {
        if (node == nullptr) return cudaErrorInvalidValue;
        if (edgeData != nullptr && pNumDependencies != nullptr)
            std::fill_n(edgeData, std::min(node->dependencies.size(), *pNumDependencies),
                        cudaGraphEdgeData{});
        return give(node->dependencies, pDependencies, pNumDependencies);
    });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned isEnabled) {
    return locked_call([=](State& state) {
        if (!state.graph_execs.contains(hGraphExec)) return cudaErrorInvalidValue;
        for (CUgraphExec_st::Node& node : hGraphExec->nodes) {
            if (node.original != hNode) continue;
            node.enabled = isEnabled != 0;
            return cudaSuccess;
        }
        return cudaErrorInvalidValue;
    });
}

}  // extern "C"
