// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes of graphs in the driver API, as programs add, change and ask for them.
#include "emulation/cuda/driver_api/call.h"
#include "emulation/cuda/driver_api/graph_params.h"
#include "emulation/cuda/runtime_api/alias.h"

using namespace trimtab::cuda::driver;

namespace {

// Calls `body` with the runtime's form of what the program gave.
template <typename Given, typename Body>
CUresult with_runtime_params(const Given* given, const Body& body) {
    return context_call([&](State&) -> cudaError_t {
        if (given == nullptr) return cudaErrorInvalidValue;
        if constexpr (requires { to_runtime(*given).has_value(); }) {
            auto same = to_runtime(*given);
            return same ? body(*same) : same.error();
        } else {
            auto same = to_runtime(*given);
            return body(same);
        }
    });
}

cudaHostNodeParams to_runtime(const CUDA_HOST_NODE_PARAMS& p) {
    return {.fn = p.fn, .userData = p.userData};
}

cudaGraphEdgeData* to_runtime(CUgraphEdgeData* edges) {
    static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));
    return reinterpret_cast<cudaGraphEdgeData*>(edges);
}

}  // namespace

extern "C" {

CUresult cuGraphAddNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* dependencyData, size_t numDependencies,
                           CUgraphNodeParams* nodeParams) {
    return with_runtime_params(nodeParams, [=](cudaGraphNodeParams& same) {
        const cudaError_t status = cudaGraphAddNode(
            phGraphNode, hGraph, dependencies, reinterpret_cast<const cudaGraphEdgeData*>(dependencyData),
            numDependencies, &same);
        if (nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            nodeParams->alloc.dptr = reinterpret_cast<CUdeviceptr>(same.alloc.dptr);
        if (nodeParams->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            nodeParams->conditional.phGraph_out = same.conditional.phGraph_out;
        return status;
    });
}
CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
    return with_runtime_params(
        nodeParams, [=](cudaGraphNodeParams& same) { return cudaGraphNodeSetParams(hNode, &same); });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
    return with_runtime_params(nodeParams, [=](cudaGraphNodeParams& same) {
        return cudaGraphExecNodeSetParams(hGraphExec, hNode, &same);
    });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       const CUkernelNodeAttrValue* value) {
    static_assert(sizeof(CUlaunchAttributeValue) == sizeof(cudaLaunchAttributeValue));
    return context_call([=](State&) {
        return cudaGraphKernelNodeSetAttribute(hNode, static_cast<cudaLaunchAttributeID>(attr),
                                               reinterpret_cast<const cudaLaunchAttributeValue*>(value));
    });
}
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       CUkernelNodeAttrValue* value_out) {
    return context_call([=](State&) {
        return cudaGraphKernelNodeGetAttribute(hNode, static_cast<cudaLaunchAttributeID>(attr),
                                               reinterpret_cast<cudaLaunchAttributeValue*>(value_out));
    });
}
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) {
    return forward(cudaGraphKernelNodeCopyAttributes, dst, src);
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams) {
    return with_runtime_params(
        nodeParams, [=](cudaMemcpy3DParms& same) { return cudaGraphMemcpyNodeSetParams(hNode, &same); });
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMCPY3D* copyParams, CUcontext) {
    return with_runtime_params(copyParams, [=](cudaMemcpy3DParms& same) {
        return cudaGraphExecMemcpyNodeSetParams(hGraphExec, hNode, &same);
    });
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS* nodeParams) {
    return context_call([=](State&) {
        cudaMemsetParams found{};
        if (nodeParams == nullptr) return cudaErrorInvalidValue;
        const cudaError_t status = cudaGraphMemsetNodeGetParams(hNode, &found);
        if (status == cudaSuccess)
            *nodeParams = {.dst = reinterpret_cast<CUdeviceptr>(found.dst),
                           .pitch = found.pitch,
                           .value = found.value,
                           .elementSize = found.elementSize,
                           .width = found.width,
                           .height = found.height};
        return status;
    });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS* nodeParams) {
    return with_runtime_params(
        nodeParams, [=](cudaMemsetParams& same) { return cudaGraphMemsetNodeSetParams(hNode, &same); });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext) {
    return with_runtime_params(memsetParams, [=](cudaMemsetParams& same) {
        return cudaGraphExecMemsetNodeSetParams(hGraphExec, hNode, &same);
    });
}
CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS* nodeParams) {
    return context_call([=](State&) {
        cudaHostNodeParams found{};
        if (nodeParams == nullptr) return cudaErrorInvalidValue;
        const cudaError_t status = cudaGraphHostNodeGetParams(hNode, &found);
        if (status == cudaSuccess) *nodeParams = {.fn = found.fn, .userData = found.userData};
        return status;
    });
}
CUresult cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS* nodeParams) {
    return context_call([=](State&) {
        if (nodeParams == nullptr) return cudaErrorInvalidValue;
        const cudaHostNodeParams same = to_runtime(*nodeParams);
        return cudaGraphHostNodeSetParams(hNode, &same);
    });
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      const CUDA_HOST_NODE_PARAMS* nodeParams) {
    return context_call([=](State&) {
        if (nodeParams == nullptr) return cudaErrorInvalidValue;
        const cudaHostNodeParams same = to_runtime(*nodeParams);
        return cudaGraphExecHostNodeSetParams(hGraphExec, hNode, &same);
    });
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
    return forward(cudaGraphEventRecordNodeGetEvent, hNode, event_out);
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) {
    return forward(cudaGraphEventRecordNodeSetEvent, hNode, event);
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {
    return forward(cudaGraphExecEventRecordNodeSetEvent, hGraphExec, hNode, event);
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
    return forward(cudaGraphEventWaitNodeGetEvent, hNode, event_out);
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) {
    return forward(cudaGraphEventWaitNodeSetEvent, hNode, event);
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {
    return forward(cudaGraphExecEventWaitNodeSetEvent, hGraphExec, hNode, event);
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* phGraph) {
    return forward(cudaGraphChildGraphNodeGetGraph, hNode, phGraph);
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph) {
    return forward(cudaGraphExecChildGraphNodeSetParams, hGraphExec, hNode, childGraph);
}
CUresult cuGraphNodeFindInClone(CUgraphNode* phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph) {
    return forward(cudaGraphNodeFindInClone, phNode, hOriginalNode, hClonedGraph);
}
CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edgeData,
                            size_t* numEdges) {
    return forward(cudaGraphGetEdges, hGraph, from, to, to_runtime(edgeData), numEdges);
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode* dependencies,
                                       CUgraphEdgeData* edgeData, size_t* numDependencies) {
    return forward(cudaGraphNodeGetDependencies, hNode, dependencies, to_runtime(edgeData), numDependencies);
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                         CUgraphEdgeData* edgeData, size_t* numDependentNodes) {
    return forward(cudaGraphNodeGetDependentNodes, hNode, dependentNodes, to_runtime(edgeData),
                   numDependentNodes);
}
CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* edgeData, size_t numDependencies) {
    return forward(cudaGraphRemoveDependencies, hGraph, from, to,
                   reinterpret_cast<const cudaGraphEdgeData*>(edgeData), numDependencies);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams) {
    static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(cudaMemAllocNodeParams));
    return forward(cudaGraphAddMemAllocNode, phGraphNode, hGraph, dependencies, numDependencies,
                   reinterpret_cast<cudaMemAllocNodeParams*>(nodeParams));
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS* params_out) {
    return forward(cudaGraphMemAllocNodeGetParams, hNode,
                   reinterpret_cast<cudaMemAllocNodeParams*>(params_out));
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                               size_t numDependencies, CUdeviceptr dptr) {
    return forward(cudaGraphAddMemFreeNode, phGraphNode, hGraph, dependencies, numDependencies, host(dptr));
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* dptr_out) {
    return forward(cudaGraphMemFreeNodeGetParams, hNode, static_cast<void*>(dptr_out));
}
CUresult cuDeviceGraphMemTrim(CUdevice device) {
    return forward(cudaDeviceGraphMemTrim, device);
}
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
    return forward(cudaDeviceGetGraphMemAttribute, device, static_cast<cudaGraphMemAttributeType>(attr),
                   value);
}
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
    return forward(cudaDeviceSetGraphMemAttribute, device, static_cast<cudaGraphMemAttributeType>(attr),
                   value);
}
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* pHandle_out, CUgraph hGraph, CUcontext,
                                        unsigned defaultLaunchValue, unsigned flags) {
    return context_call([=](State&) {
        cudaGraphConditionalHandle handle = 0;
        const cudaError_t status =
            cudaGraphConditionalHandleCreate(&handle, hGraph, defaultLaunchValue, flags);
        if (pHandle_out != nullptr) *pHandle_out = handle;
        return status;
    });
}

}  // extern "C"
