// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls that make executable graphs and set what their kernel nodes launch.
#include "runtime/launches/cuda_sizes.h"
#include "runtime/launches/graph_choices.h"

// The header makes other names of these where the per-thread default stream is asked for.
#undef cuGraphInstantiateWithParams

namespace trimtab::runtime {
namespace {

struct Entry {
    Process& process = Process::instance();
    const GraphCalls& calls = process.loaded().backend.calls().graphs;
    GraphChoices choices{process};
};

// `instantiate` makes *exec.
template <typename Instantiate>
auto instantiated(CUgraphExec* exec, CUgraph graph, unsigned long long flags,
                  const Instantiate& instantiate) {
    Entry entry;
    const auto status = instantiate(entry.calls);
    if (static_cast<int>(status) == 0 && exec != nullptr) entry.choices.choose(*exec, graph, flags);
    return status;
}

// Parameters of the runtime's, in the older structure and in the newer.
template <typename Params, typename Set>
cudaError_t set_of_runtime(CUgraphNode node, const Params& written, const Set& set) {
    Entry entry;
    const choosing::LaunchShape shape{.written = {.grid = from_cuda(written.gridDim),
                                                  .block = from_cuda(written.blockDim),
                                                  .dynamic_shared_bytes = written.sharedMemBytes},
                                      .function = written.func};
    return entry.choices.set(node, entry.process.kernel_of(written.func), shape, written.kernelParams,
                             written.extra,
                             [&](const trimtab_dim3& grid, const trimtab_dim3& block,
                                 std::uint64_t shared_bytes, const RegisteredKernel* body) {
                                 Params changed = written;
                                 if (body != nullptr) changed.func = const_cast<void*>(body->host_function);
                                 changed.gridDim = to_cuda(grid);
                                 changed.blockDim = to_cuda(block);
                                 changed.sharedMemBytes = static_cast<unsigned>(shared_bytes);
                                 return set(entry.calls, changed);
                             });
}

// The same of the driver's.
template <typename Params, typename Set>
CUresult set_of_driver(CUgraphNode node, const Params& written, const Set& set) {
    Entry entry;
    const void* function = written.func != nullptr ? static_cast<const void*>(written.func)
                                                   : static_cast<const void*>(written.kern);
    const choosing::LaunchShape shape{
        .written = {.grid = {.x = written.gridDimX, .y = written.gridDimY, .z = written.gridDimZ},
                    .block = {.x = written.blockDimX, .y = written.blockDimY, .z = written.blockDimZ},
                    .dynamic_shared_bytes = written.sharedMemBytes},
        .function = function,
        .of_driver_api = true};
    // Both number their errors alike.
    return static_cast<CUresult>(entry.choices.set(
        node, entry.process.registrations().find(function), shape, written.kernelParams, written.extra,
        [&](const trimtab_dim3& grid, const trimtab_dim3& block, std::uint64_t shared_bytes,
            const RegisteredKernel* body) {
            Params changed = written;
            if (body != nullptr) {
                changed.kern = nullptr;
                const cudaError_t status = entry.process.loaded().backend.calls().get_func_by_symbol(
                    &changed.func, body->host_function);
                if (status != cudaSuccess) return status;
            }
            changed.gridDimX = grid.x;
            changed.gridDimY = grid.y;
            changed.gridDimZ = grid.z;
            changed.blockDimX = block.x;
            changed.blockDimY = block.y;
            changed.blockDimZ = block.z;
            changed.sharedMemBytes = static_cast<unsigned>(shared_bytes);
            return static_cast<cudaError_t>(set(entry.calls, changed));
        }));
}

cudaError_t with_params(decltype(&cudaGraphInstantiateWithParams) GraphCalls::* member, cudaGraphExec_t* exec,
                        cudaGraph_t graph, cudaGraphInstantiateParams* params) {
    return instantiated(exec, graph, params == nullptr ? 0 : params->flags,
                        [=](const GraphCalls& calls) { return (calls.*member)(exec, graph, params); });
}

}  // namespace
}  // namespace trimtab::runtime

using trimtab::runtime::Entry;
using trimtab::runtime::GraphCalls;
using trimtab::runtime::instantiated;
using trimtab::runtime::set_of_driver;
using trimtab::runtime::set_of_runtime;
using trimtab::runtime::with_params;

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* pGraphExec, cudaGraph_t graph, unsigned long long flags) {
    return instantiated(pGraphExec, graph, flags,
                        [=](const GraphCalls& calls) { return calls.instantiate(pGraphExec, graph, flags); });
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                          unsigned long long flags) {
    return instantiated(pGraphExec, graph, flags, [=](const GraphCalls& calls) {
        return calls.instantiate_with_flags(pGraphExec, graph, flags);
    });
}
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* instantiateParams) {
    return with_params(&GraphCalls::instantiate_with_params, pGraphExec, graph, instantiateParams);
}
cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                                cudaGraphInstantiateParams* instantiateParams) {
    return with_params(&GraphCalls::instantiate_with_params_ptsz, pGraphExec, graph, instantiateParams);
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                cudaGraphExecUpdateResultInfo* resultInfo) {
    Entry entry;
    return entry.choices.with_choices(
        hGraph, [&](CUgraph graph) { return entry.calls.exec_update(hGraphExec, graph, resultInfo); });
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                 cudaGraph_t childGraph) {
    Entry entry;
    return entry.choices.with_choices(childGraph, [&](CUgraph graph) {
        return entry.calls.exec_child_graph_node_set_params(hGraphExec, node, graph);
    });
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* pNodeParams) {
    if (pNodeParams == nullptr)
        return Entry().calls.exec_kernel_node_set_params(hGraphExec, node, pNodeParams);
    return set_of_runtime(node, *pNodeParams,
                          [=](const GraphCalls& calls, const cudaKernelNodeParams& params) {
                              return calls.exec_kernel_node_set_params(hGraphExec, node, &params);
                          });
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                       cudaGraphNodeParams* nodeParams) {
    if (nodeParams == nullptr || nodeParams->type != cudaGraphNodeTypeKernel)
        return Entry().calls.exec_node_set_params(graphExec, node, nodeParams);
    return set_of_runtime(node, nodeParams->kernel,
                          [=](const GraphCalls& calls, const cudaKernelNodeParamsV2& params) {
                              cudaGraphNodeParams changed = *nodeParams;
                              changed.kernel = params;
                              return calls.exec_node_set_params(graphExec, node, &changed);
                          });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph, unsigned long long flags) {
    return instantiated(phGraphExec, hGraph, flags, [=](const GraphCalls& calls) {
        return calls.driver.instantiate_with_flags(phGraphExec, hGraph, flags);
    });
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) {
    return instantiated(phGraphExec, hGraph, instantiateParams == nullptr ? 0 : instantiateParams->flags,
                        [=](const GraphCalls& calls) {
                            return calls.driver.instantiate_with_params(phGraphExec, hGraph,
                                                                        instantiateParams);
                        });
}
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* phGraphExec, CUgraph hGraph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) {
    return instantiated(phGraphExec, hGraph, instantiateParams == nullptr ? 0 : instantiateParams->flags,
                        [=](const GraphCalls& calls) {
                            return calls.driver.instantiate_with_params_ptsz(phGraphExec, hGraph,
                                                                             instantiateParams);
                        });
}
CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                              CUgraphExecUpdateResultInfo* resultInfo) {
    Entry entry;
    return entry.choices.with_choices(
        hGraph, [&](CUgraph graph) { return entry.calls.driver.exec_update(hGraphExec, graph, resultInfo); });
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph) {
    Entry entry;
    return entry.choices.with_choices(childGraph, [&](CUgraph graph) {
        return entry.calls.driver.exec_child_graph_node_set_params(hGraphExec, hNode, graph);
    });
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    if (nodeParams == nullptr)
        return Entry().calls.driver.exec_kernel_node_set_params(hGraphExec, hNode, nodeParams);
    return set_of_driver(hNode, *nodeParams,
                         [=](const GraphCalls& calls, const CUDA_KERNEL_NODE_PARAMS& params) {
                             return calls.driver.exec_kernel_node_set_params(hGraphExec, hNode, &params);
                         });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
    if (nodeParams == nullptr || nodeParams->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return Entry().calls.driver.exec_node_set_params(hGraphExec, hNode, nodeParams);
    return set_of_driver(hNode, nodeParams->kernel,
                         [=](const GraphCalls& calls, const CUDA_KERNEL_NODE_PARAMS_v3& params) {
                             CUgraphNodeParams changed = *nodeParams;
                             changed.kernel = params;
                             return calls.driver.exec_node_set_params(hGraphExec, hNode, &changed);
                         });
}

}  // extern "C"
