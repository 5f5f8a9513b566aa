// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs of the driver API: the runtime's, under other names and structures.
#include "emulation/cuda/driver_api/call.h"
#include "emulation/cuda/driver_api/graph_params.h"
#include "emulation/cuda/runtime_api/alias.h"

using namespace trimtab::cuda::driver;

extern "C" {

CUresult cuGraphCreate(CUgraph* phGraph, unsigned flags) {
    return forward(cudaGraphCreate, phGraph, flags);
}
CUresult cuGraphDestroy(CUgraph hGraph) {
    return forward(cudaGraphDestroy, hGraph);
}
CUresult cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph) {
    return forward(cudaGraphClone, phGraphClone, originalGraph);
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph, unsigned long long flags) {
    return forward(cudaGraphInstantiateWithFlags, phGraphExec, hGraph, flags);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) {
    static_assert(sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == sizeof(cudaGraphInstantiateParams));
    return context_call([=](State&) {
        return cudaGraphInstantiateWithParams(
            phGraphExec, hGraph, reinterpret_cast<cudaGraphInstantiateParams*>(instantiateParams));
    });
}
TRIMTAB_SAME_AS(cuGraphInstantiateWithParams, cuGraphInstantiateWithParams_ptsz);
CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
    return forward(cudaGraphExecDestroy, hGraphExec);
}
CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
    return forward(cudaGraphLaunch, hGraphExec, hStream);
}
TRIMTAB_SAME_AS(cuGraphLaunch, cuGraphLaunch_ptsz);
CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) {
    return forward(cudaGraphUpload, hGraphExec, hStream);
}
TRIMTAB_SAME_AS(cuGraphUpload, cuGraphUpload_ptsz);
CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags) {
    return context_call([=](State&) {
        unsigned long long found = 0;
        const cudaError_t status = cudaGraphExecGetFlags(hGraphExec, &found);
        if (flags != nullptr) *flags = found;
        return status;
    });
}
CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                              CUgraphExecUpdateResultInfo* resultInfo) {
    static_assert(sizeof(CUgraphExecUpdateResultInfo) == sizeof(cudaGraphExecUpdateResultInfo));
    return context_call([=](State&) {
        return cudaGraphExecUpdate(hGraphExec, hGraph,
                                   reinterpret_cast<cudaGraphExecUpdateResultInfo*>(resultInfo));
    });
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                 size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    return context_call([=](State&) {
        if (nodeParams == nullptr) return cudaErrorInvalidValue;
        const cudaKernelNodeParams same = to_runtime(*nodeParams);
        return cudaGraphAddKernelNode(phGraphNode, hGraph, dependencies, numDependencies, &same);
    });
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    return context_call([=](State&) {
        cudaKernelNodeParams found{};
        if (nodeParams == nullptr) return cudaErrorInvalidValue;
        const cudaError_t status = cudaGraphKernelNodeGetParams(hNode, &found);
        if (status == cudaSuccess) *nodeParams = to_driver(found);
        return status;
    });
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    return context_call([=](State&) {
        if (nodeParams == nullptr) return cudaErrorInvalidValue;
        const cudaKernelNodeParams same = to_runtime(*nodeParams);
        return cudaGraphKernelNodeSetParams(hNode, &same);
    });
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    return context_call([=](State&) {
        if (nodeParams == nullptr) return cudaErrorInvalidValue;
        const cudaKernelNodeParams same = to_runtime(*nodeParams);
        return cudaGraphExecKernelNodeSetParams(hGraphExec, hNode, &same);
    });
}
CUresult cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                              size_t numDependencies, const CUDA_MEMCPY3D* copyParams, CUcontext) {
    return context_call([=](State&) {
        if (copyParams == nullptr) return cudaErrorInvalidValue;
        const auto same = to_runtime(*copyParams);
        return same ? cudaGraphAddMemcpyNode(phGraphNode, hGraph, dependencies, numDependencies, &*same)
                    : same.error();
    });
}
CUresult cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                              size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS* memsetParams,
                              CUcontext) {
    return context_call([=](State&) {
        if (memsetParams == nullptr) return cudaErrorInvalidValue;
        const cudaMemsetParams same = to_runtime(*memsetParams);
        return cudaGraphAddMemsetNode(phGraphNode, hGraph, dependencies, numDependencies, &same);
    });
}
CUresult cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                            size_t numDependencies, const CUDA_HOST_NODE_PARAMS* nodeParams) {
    return context_call([=](State&) {
        if (nodeParams == nullptr) return cudaErrorInvalidValue;
        const cudaHostNodeParams same{.fn = nodeParams->fn, .userData = nodeParams->userData};
        return cudaGraphAddHostNode(phGraphNode, hGraph, dependencies, numDependencies, &same);
    });
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                  size_t numDependencies, CUgraph childGraph) {
    return forward(cudaGraphAddChildGraphNode, phGraphNode, hGraph, dependencies, numDependencies,
                   childGraph);
}
CUresult cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                             size_t numDependencies) {
    return forward(cudaGraphAddEmptyNode, phGraphNode, hGraph, dependencies, numDependencies);
}
CUresult cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                   size_t numDependencies, CUevent event) {
    return forward(cudaGraphAddEventRecordNode, phGraphNode, hGraph, dependencies, numDependencies, event);
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                 size_t numDependencies, CUevent event) {
    return forward(cudaGraphAddEventWaitNode, phGraphNode, hGraph, dependencies, numDependencies, event);
}
CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData*, size_t numDependencies) {
    return context_call(
        [=](State&) { return cudaGraphAddDependencies(hGraph, from, to, nullptr, numDependencies); });
}
CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, size_t* numNodes) {
    return forward(cudaGraphGetNodes, hGraph, nodes, numNodes);
}
CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode* rootNodes, size_t* numRootNodes) {
    return forward(cudaGraphGetRootNodes, hGraph, rootNodes, numRootNodes);
}
CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) {
    return context_call(
        [=](State&) { return cudaGraphNodeGetType(hNode, reinterpret_cast<cudaGraphNodeType*>(type)); });
}
CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned isEnabled) {
    return forward(cudaGraphNodeSetEnabled, hGraphExec, hNode, isEnabled);
}
CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned* isEnabled) {
    return forward(cudaGraphNodeGetEnabled, hGraphExec, hNode, isEnabled);
}
CUresult cuGraphDestroyNode(CUgraphNode hNode) {
    return forward(cudaGraphDestroyNode, hNode);
}
CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char* path, unsigned flags) {
    return forward(cudaGraphDebugDotPrint, hGraph, path, flags);
}
CUresult cuUserObjectCreate(CUuserObject* object_out, void* ptr, CUhostFn destroy, unsigned initialRefcount,
                            unsigned flags) {
    return forward(cudaUserObjectCreate, object_out, ptr, destroy, initialRefcount, flags);
}
CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
    return forward(cudaUserObjectRetain, object, count);
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
    return forward(cudaUserObjectRelease, object, count);
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags) {
    return forward(cudaGraphRetainUserObject, graph, object, count, flags);
}
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
    return forward(cudaGraphReleaseUserObject, graph, object, count);
}

}  // extern "C"
