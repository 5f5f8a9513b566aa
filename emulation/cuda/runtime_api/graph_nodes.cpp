// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes of graphs as programs ask for them, and the kinds of nodes that few programs add.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstdio>

#include "emulation/cuda/graph_memory.h"
#include "emulation/cuda/memory.h"
#include "emulation/cuda/runtime_api/graph_node.h"

using namespace trimtab::cuda;

namespace {

// Gives what a node of that type was made with.
template <typename T, typename Pick>
cudaError_t give_parameters(cudaGraphNode_t node, cudaGraphNodeType type, T* out, const Pick& pick) {
    return locked_call([&](State&) {
        if (node == nullptr || out == nullptr || node->operation.type != type ||
            node->operation.parameters == nullptr)
            return cudaErrorInvalidValue;
        *out = pick(*node->operation.parameters);
        return cudaSuccess;
    });
}

auto event_maker(cudaEvent_t event, cudaGraphNodeType type) {
    return [=](State& state) -> Made {
        if (!state.events.contains(event)) return std::unexpected(cudaErrorInvalidValue);
        NodeParameters kept;
        kept.event = event;
        return with(Operation{.type = type, .run = {}, .synchronous = false, .calls_program = false},
                    std::move(kept));
    };
}

// The address of a symbol with so many bytes behind `offset`; null where there is none.
std::byte* place_in(const void* symbol, std::size_t count, std::size_t offset) {
    void* start = nullptr;
    std::size_t bytes = 0;
    if (cudaGetSymbolAddress(&start, symbol) != cudaSuccess ||
        cudaGetSymbolSize(&bytes, symbol) != cudaSuccess || offset > bytes || count > bytes - offset)
        return nullptr;
    return static_cast<std::byte*>(start) + offset;
}

// Runs `body` with the maker of the operation that the parameters describe; kinds that have none are refused.
template <typename Body>
cudaError_t with_maker(cudaGraphNodeParams* p, const Body& body) {
    switch (p->type) {
        case cudaGraphNodeTypeKernel: {
            const cudaKernelNodeParams kernel{.func = p->kernel.func,
                                              .gridDim = p->kernel.gridDim,
                                              .blockDim = p->kernel.blockDim,
                                              .sharedMemBytes = p->kernel.sharedMemBytes,
                                              .kernelParams = p->kernel.kernelParams,
                                              .extra = p->kernel.extra};
            return body(kernel_maker(&kernel));
        }
        case cudaGraphNodeTypeMemcpy:
            return body(copy_maker(&p->memcpy.copyParams));
        case cudaGraphNodeTypeMemset: {
            const cudaMemsetParams fill{.dst = p->memset.dst,
                                        .pitch = p->memset.pitch,
                                        .value = p->memset.value,
                                        .elementSize = p->memset.elementSize,
                                        .width = p->memset.width,
                                        .height = p->memset.height};
            return body(fill_maker(&fill));
        }
        case cudaGraphNodeTypeHost: {
            const cudaHostNodeParams host{.fn = p->host.fn, .userData = p->host.userData};
            return body(host_maker(&host));
        }
        case cudaGraphNodeTypeEventRecord:
            return body(event_maker(p->eventRecord.event, p->type));
        case cudaGraphNodeTypeWaitEvent:
            return body(event_maker(p->eventWait.event, p->type));
        default:
            return finish(cudaErrorNotSupported);
    }
}

std::vector<std::pair<cudaGraphNode_t, cudaGraphNode_t>> edges_of(const CUgraph_st& graph) {
    std::vector<std::pair<cudaGraphNode_t, cudaGraphNode_t>> out;
    for (const auto& node : graph.nodes) {
        for (CUgraphNode_st* from : node->dependencies) out.emplace_back(from, node.get());
    }
    return out;
}

bool is_kernel(const CUgraphNode_st* node) {
    return node != nullptr && node->operation.type == cudaGraphNodeTypeKernel &&
           node->operation.parameters != nullptr;
}

cudaError_t give_attributes(State& state, CUgraphNode_st& node, std::vector<cudaLaunchAttribute> attributes) {
    NodeParameters changed;
    changed.attributes = std::move(attributes);
    changed.device = node.operation.parameters->device;
    Made operation = kernel_of(state, node.operation.parameters->kernel, &changed);
    if (!operation) return operation.error();
    node.operation = std::move(*operation);
    return cudaSuccess;
}

// The nodes of a child graph, as it was embedded, get the operations of another's: one of the same nodes in
// the same order.
cudaError_t update_child(CUgraphExec_st& exec, const CUgraph_st& embedded, const CUgraph_st& given) {
    if (embedded.nodes.size() != given.nodes.size()) return cudaErrorGraphExecUpdateFailure;
    for (std::size_t i = 0; i < embedded.nodes.size(); ++i) {
        const CUgraphNode_st& node = *embedded.nodes[i];
        const CUgraphNode_st& updated = *given.nodes[i];
        if (node.operation.type != updated.operation.type) return cudaErrorGraphExecUpdateFailure;
        if (node.child != nullptr) {
            const cudaError_t status = update_child(exec, *node.child, *updated.child);
            if (status != cudaSuccess) return status;
            continue;
        }
        for (CUgraphExec_st::Node& entry : exec.nodes) {
            if (entry.original == &node) entry.operation = updated.operation;
        }
    }
    return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* pNodeParams) {
    return give_parameters(node, cudaGraphNodeTypeKernel, pNodeParams,
                           [](const NodeParameters& p) { return p.kernel; });
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* pNodeParams) {
    return give_parameters(node, cudaGraphNodeTypeMemcpy, pNodeParams,
                           [](const NodeParameters& p) { return p.copy; });
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* pNodeParams) {
    return give_parameters(node, cudaGraphNodeTypeMemset, pNodeParams,
                           [](const NodeParameters& p) { return p.fill; });
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* pNodeParams) {
    return give_parameters(node, cudaGraphNodeTypeHost, pNodeParams,
                           [](const NodeParameters& p) { return p.host; });
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event_out) {
    return give_parameters(node, cudaGraphNodeTypeEventRecord, event_out,
                           [](const NodeParameters& p) { return p.event; });
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event_out) {
    return give_parameters(node, cudaGraphNodeTypeWaitEvent, event_out,
                           [](const NodeParameters& p) { return p.event; });
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* params_out) {
    return give_parameters(node, cudaGraphNodeTypeMemAlloc, params_out,
                           [](const NodeParameters& p) { return p.memory; });
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* dptr_out) {
    return give_parameters(node, cudaGraphNodeTypeMemFree, static_cast<void**>(dptr_out),
                           [](const NodeParameters& p) { return p.memory.dptr; });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                        const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                        cudaEvent_t event) {
    return add(pGraphNode, graph, pDependencies, numDependencies,
               event_maker(event, cudaGraphNodeTypeEventRecord));
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                      const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                      cudaEvent_t event) {
    return add(pGraphNode, graph, pDependencies, numDependencies,
               event_maker(event, cudaGraphNodeTypeWaitEvent));
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return set(node, event_maker(event, cudaGraphNodeTypeEventRecord));
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return set(node, event_maker(event, cudaGraphNodeTypeWaitEvent));
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                                 cudaEvent_t event) {
    return update(hGraphExec, hNode, event_maker(event, cudaGraphNodeTypeEventRecord));
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                               cudaEvent_t event) {
    return update(hGraphExec, hNode, event_maker(event, cudaGraphNodeTypeWaitEvent));
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                           const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                           const void* symbol, const void* src, size_t count, size_t offset,
                                           cudaMemcpyKind kind) {
    std::byte* place = place_in(symbol, count, offset);
    if (place == nullptr) return finish(cudaErrorInvalidValue);
    return cudaGraphAddMemcpyNode1D(pGraphNode, graph, pDependencies, numDependencies, place, src, count,
                                    kind);
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                             const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                             void* dst, const void* symbol, size_t count, size_t offset,
                                             cudaMemcpyKind kind) {
    const std::byte* place = place_in(symbol, count, offset);
    if (place == nullptr) return finish(cudaErrorInvalidValue);
    return cudaGraphAddMemcpyNode1D(pGraphNode, graph, pDependencies, numDependencies, dst, place, count,
                                    kind);
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* src,
                                                 size_t count, size_t offset, cudaMemcpyKind kind) {
    std::byte* place = place_in(symbol, count, offset);
    if (place == nullptr) return finish(cudaErrorInvalidValue);
    return cudaGraphMemcpyNodeSetParams1D(node, place, src, count, kind);
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* dst, const void* symbol,
                                                   size_t count, size_t offset, cudaMemcpyKind kind) {
    const std::byte* place = place_in(symbol, count, offset);
    if (place == nullptr) return finish(cudaErrorInvalidValue);
    return cudaGraphMemcpyNodeSetParams1D(node, dst, place, count, kind);
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                     const void* symbol, const void* src, size_t count,
                                                     size_t offset, cudaMemcpyKind kind) {
    std::byte* place = place_in(symbol, count, offset);
    if (place == nullptr) return finish(cudaErrorInvalidValue);
    return cudaGraphExecMemcpyNodeSetParams1D(hGraphExec, node, place, src, count, kind);
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                       void* dst, const void* symbol, size_t count,
                                                       size_t offset, cudaMemcpyKind kind) {
    const std::byte* place = place_in(symbol, count, offset);
    if (place == nullptr) return finish(cudaErrorInvalidValue);
    return cudaGraphExecMemcpyNodeSetParams1D(hGraphExec, node, dst, place, count, kind);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                             const cudaGraphNode_t* pDependencies, const cudaGraphEdgeData*,
                             size_t numDependencies, cudaGraphNodeParams* nodeParams) {
    if (nodeParams == nullptr) return finish(cudaErrorInvalidValue);
    switch (nodeParams->type) {
        case cudaGraphNodeTypeEmpty:
            return cudaGraphAddEmptyNode(pGraphNode, graph, pDependencies, numDependencies);
        case cudaGraphNodeTypeGraph:
            return cudaGraphAddChildGraphNode(pGraphNode, graph, pDependencies, numDependencies,
                                              nodeParams->graph.graph);
        case cudaGraphNodeTypeMemAlloc: {
            cudaMemAllocNodeParams memory{};
            memory.poolProps = nodeParams->alloc.poolProps;
            memory.accessDescs = nodeParams->alloc.accessDescs;
            memory.accessDescCount = nodeParams->alloc.accessDescCount;
            memory.bytesize = nodeParams->alloc.bytesize;
            const cudaError_t status =
                cudaGraphAddMemAllocNode(pGraphNode, graph, pDependencies, numDependencies, &memory);
            nodeParams->alloc.dptr = memory.dptr;
            return status;
        }
        case cudaGraphNodeTypeMemFree:
            return cudaGraphAddMemFreeNode(pGraphNode, graph, pDependencies, numDependencies,
                                           nodeParams->free.dptr);
        case cudaGraphNodeTypeConditional:
            return add_conditional(pGraphNode, graph, pDependencies, numDependencies,
                                   nodeParams->conditional);
        default:
            return with_maker(nodeParams, [=](const auto& make) {
                return add(pGraphNode, graph, pDependencies, numDependencies, make);
            });
    }
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* nodeParams) {
    if (nodeParams == nullptr) return finish(cudaErrorInvalidValue);
    return with_maker(nodeParams, [=](const auto& make) { return set(node, make); });
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                       cudaGraphNodeParams* nodeParams) {
    if (nodeParams == nullptr) return finish(cudaErrorInvalidValue);
    return with_maker(nodeParams, [=](const auto& make) { return update(graphExec, node, make); });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* pGraph) {
    return locked_call([=](State&) {
        if (node == nullptr || pGraph == nullptr || node->child == nullptr) return cudaErrorInvalidValue;
        *pGraph = node->child.get();
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                 cudaGraph_t childGraph) {
    return locked_call([=](State& state) {
        if (!state.graph_execs.contains(hGraphExec) || node == nullptr || node->child == nullptr ||
            !is_graph(state, childGraph))
            return cudaErrorInvalidValue;
        // Nothing is changed where it does not fit.
        CUgraphExec_st updated = *hGraphExec;
        const cudaError_t status = update_child(updated, *node->child, *childGraph);
        if (status == cudaSuccess) *hGraphExec = std::move(updated);
        return status;
    });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* pNode, cudaGraphNode_t originalNode,
                                     cudaGraph_t clonedGraph) {
    return locked_call([=](State& state) {
        if (pNode == nullptr || !is_graph(state, clonedGraph)) return cudaErrorInvalidValue;
        for (const auto& node : clonedGraph->nodes) {
            if (node->original != originalNode) continue;
            *pNode = node.get();
            return cudaSuccess;
        }
        return cudaErrorInvalidValue;
    });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned* isEnabled) {
    return locked_call([=](State& state) {
        if (isEnabled == nullptr || !state.graph_execs.contains(hGraphExec)) return cudaErrorInvalidValue;
        for (const CUgraphExec_st::Node& node : hGraphExec->nodes) {
            if (node.original != hNode) continue;
            *isEnabled = node.enabled ? 1 : 0;
            return cudaSuccess;
        }
        return cudaErrorInvalidValue;
    });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edgeData, size_t* numEdges) {
    return locked_call([=](State& state) {
        if (!is_graph(state, graph) || numEdges == nullptr || (from == nullptr) != (to == nullptr))
            return cudaErrorInvalidValue;
        const auto edges = edges_of(*graph);
        for (std::size_t i = 0; from != nullptr && i < *numEdges; ++i) {
            from[i] = i < edges.size() ? edges[i].first : nullptr;
            to[i] = i < edges.size() ? edges[i].second : nullptr;
            if (edgeData != nullptr) edgeData[i] = {};
        }
        *numEdges = edges.size();
        return cudaSuccess;
    });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* pDependentNodes,
                                           cudaGraphEdgeData* edgeData, size_t* pNumDependentNodes) {
    return locked_call([=](State&) {
        if (node == nullptr) return cudaErrorInvalidValue;
        std::vector<cudaGraphNode_t> found;
        for (const auto& [from, to] : edges_of(*node->graph)) {
            if (from == node) found.push_back(to);
        }
        if (edgeData != nullptr && pNumDependentNodes != nullptr)
            std::fill_n(edgeData, std::min(found.size(), *pNumDependentNodes), cudaGraphEdgeData{});
        return give(found, pDependentNodes, pNumDependentNodes);
    });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                        size_t numDependencies) {
    return locked_call([=](State& state) {
        if (!is_graph(state, graph) || (numDependencies > 0 && (from == nullptr || to == nullptr)))
            return cudaErrorInvalidValue;
        for (size_t i = 0; i < numDependencies; ++i) {
            if (std::erase(to[i]->dependencies, from[i]) == 0) return cudaErrorInvalidValue;
        }
        return cudaSuccess;
    });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    return locked_call([=](State&) {
        if (node == nullptr) return cudaErrorInvalidValue;
        CUgraph_st& graph = *node->graph;
        for (const auto& other : graph.nodes) std::erase(other->dependencies, node);
        std::erase_if(graph.nodes, [node](const auto& entry) { return entry.get() == node; });
        return cudaSuccess;
    });
}

// A cluster and cooperation decide how the kernel runs; the other attributes are hints, and told back.
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                            const cudaLaunchAttributeValue* value) {
    return locked_call([=](State& state) {
        if (!is_kernel(hNode) || value == nullptr) return cudaErrorInvalidValue;
        std::vector<cudaLaunchAttribute> attributes = hNode->operation.parameters->attributes;
        std::erase_if(attributes, [attr](const cudaLaunchAttribute& entry) { return entry.id == attr; });
        cudaLaunchAttribute added{};
        added.id = attr;
        added.val = *value;
        attributes.push_back(added);
        return give_attributes(state, *hNode, std::move(attributes));
    });
}
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                            cudaLaunchAttributeValue* value_out) {
    return locked_call([=](State&) {
        if (!is_kernel(hNode) || value_out == nullptr) return cudaErrorInvalidValue;
        const auto* value = find(hNode->operation.parameters->attributes, attr);
        *value_out = value != nullptr ? *value : cudaLaunchAttributeValue{};
        return cudaSuccess;
    });
}
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc) {
    return locked_call([=](State& state) {
        if (!is_kernel(hDst) || !is_kernel(hSrc)) return cudaErrorInvalidValue;
        return give_attributes(state, *hDst, hSrc->operation.parameters->attributes);
    });
}

// The graph in the language of Graphviz: a line a node and an edge.
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
    return locked_call([=](State& state) {
        if (path == nullptr || !is_graph(state, graph)) return cudaErrorInvalidValue;
        std::string text = "digraph graph_0 {\n";
        for (const auto& node : graph->nodes) {
            const bool is_kernel =
                node->operation.type == cudaGraphNodeTypeKernel && node->operation.parameters != nullptr;
            const CUkern_st* kernel =
                is_kernel ? state.modules.kernel(node->operation.parameters->kernel.func) : nullptr;
            text += fmt::format("  \"{}\" [label=\"{}\"];\n", fmt::ptr(node.get()),
                                kernel != nullptr
                                    ? kernel->name
                                    : fmt::format("node of type {}", static_cast<int>(node->operation.type)));
        }
        for (const auto& [from, to] : edges_of(*graph))
            text += fmt::format("  \"{}\" -> \"{}\";\n", fmt::ptr(from), fmt::ptr(to));
        text += "}\n";
        std::FILE* file = std::fopen(path, "w");
        if (file == nullptr) return cudaErrorOperatingSystem;
        const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
        return std::fclose(file) == 0 && written ? cudaSuccess : cudaErrorOperatingSystem;
    });
}

}  // extern "C"
