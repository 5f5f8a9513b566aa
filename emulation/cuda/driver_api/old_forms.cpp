// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forms of calls before CUDA gave them more parameters: programs built for an older CUDA ask for them by its version.
#include <cuda.h>

#include <algorithm>

#include "emulation/cuda/driver_api/call.h"
#include "emulation/cuda/runtime_api/alias.h"

using namespace trimtab::cuda::driver;

#undef cuGraphAddDependencies
#undef cuGraphAddNode
#undef cuGraphGetEdges
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuGraphRemoveDependencies
#undef cuMemcpyBatchAsync
#undef cuStreamUpdateCaptureDependencies

extern "C" {

// Without data of edges.
CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, size_t* numEdges) {
    return cuGraphGetEdges_v2(hGraph, from, to, nullptr, numEdges);
}
CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode* dependencies, size_t* numDependencies) {
    return cuGraphNodeGetDependencies_v2(hNode, dependencies, nullptr, numDependencies);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                      size_t* numDependentNodes) {
    return cuGraphNodeGetDependentNodes_v2(hNode, dependentNodes, nullptr, numDependentNodes);
}
CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                size_t numDependencies) {
    return cuGraphAddDependencies_v2(hGraph, from, to, nullptr, numDependencies);
}
CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t numDependencies) {
    return cuGraphRemoveDependencies_v2(hGraph, from, to, nullptr, numDependencies);
}
CUresult cuGraphAddNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                        size_t numDependencies, CUgraphNodeParams* nodeParams) {
    return cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, nullptr, numDependencies, nodeParams);
}
CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode* dependencies,
                                           size_t numDependencies, unsigned flags) {
    return cuStreamUpdateCaptureDependencies_v2(hStream, dependencies, nullptr, numDependencies, flags);
}
TRIMTAB_SAME_AS(cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_ptsz);

// A device pointer is the host's address of the same byte.
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                               CUmemcpyAttributes*, size_t*, size_t, CUstream hStream) {
    static_assert(sizeof(CUdeviceptr) == sizeof(void*));
    return forward(cudaMemcpyBatchAsync, reinterpret_cast<void* const*>(dsts),
                   reinterpret_cast<const void* const*>(srcs), static_cast<const size_t*>(sizes), count,
                   static_cast<cudaMemcpyAttributes*>(nullptr), static_cast<size_t*>(nullptr), size_t{0},
                   hStream);
}
TRIMTAB_SAME_AS(cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync_v2_ptsz);
// Which of them has failed is not known: no index of the batch.
CUresult cuMemcpyBatchAsync(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs, size_t* failIdx,
                            CUstream hStream) {
    const CUresult result =
        cuMemcpyBatchAsync_v2(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream);
    if (failIdx != nullptr && result != CUDA_SUCCESS) *failIdx = SIZE_MAX;
    return result;
}
TRIMTAB_SAME_AS(cuMemcpyBatchAsync, cuMemcpyBatchAsync_ptsz);

}  // extern "C"
