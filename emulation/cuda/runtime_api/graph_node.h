// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How graphs' calls make nodes and change them.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <expected>
#include <memory>
#include <utility>
#include <vector>

#include "emulation/cuda/graph.h"
#include "emulation/cuda/kernel_launch.h"
#include "emulation/cuda/state.h"
#include "emulation/cuda/transfer.h"

namespace trimtab::cuda {

using Made = std::expected<Operation, cudaError_t>;

inline Made with(Made operation, NodeParameters parameters) {
    if (operation) operation->parameters = std::make_shared<const NodeParameters>(std::move(parameters));
    return operation;
}

// Makers take the state and, some of them, the operation that is replaced: an empty one where a node is
// added.
template <typename Make>
Made made_by(const Make& make, State& state, const Operation& replaced) {
    if constexpr (requires { make(state, replaced); })
        return make(state, replaced);
    else
        return make(state);
}

// Adds a node whose operation `make` gives, holding State::mutex.
template <typename Make>
cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                std::size_t count, const Make& make) {
    return locked_call([&](State& state) {
        if (node == nullptr || !is_graph(state, graph) || (count > 0 && dependencies == nullptr))
            return cudaErrorInvalidValue;
        Made operation = made_by(make, state, Operation{});
        if (!operation) return operation.error();
        *node = add_node(*graph, std::move(*operation), {dependencies, dependencies + count});
        return cudaSuccess;
    });
}

// Gives the node of an instantiated graph another operation of its kind.
template <typename Make>
cudaError_t update(cudaGraphExec_t exec, const CUgraphNode_st* node, const Make& make) {
    return locked_call([&](State& state) {
        if (!state.graph_execs.contains(exec)) return cudaErrorInvalidValue;
        const auto place = std::find_if(exec->nodes.begin(), exec->nodes.end(),
                                        [node](const auto& entry) { return entry.original == node; });
        if (place == exec->nodes.end()) return cudaErrorInvalidValue;
        Made operation = made_by(make, state, place->operation);
        if (!operation) return operation.error();
        if (operation->type != place->operation.type) return cudaErrorInvalidValue;
        place->operation = std::move(*operation);
        return cudaSuccess;
    });
}

template <typename Make>
cudaError_t set(CUgraphNode_st* node, const Make& make) {
    return locked_call([&](State& state) {
        if (node == nullptr) return cudaErrorInvalidValue;
        Made operation = made_by(make, state, node->operation);
        if (!operation) return operation.error();
        if (operation->type != node->operation.type) return cudaErrorInvalidValue;
        node->operation = std::move(*operation);
        return cudaSuccess;
    });
}

// `as_before`: of the node whose launch is replaced, which stays on its device and keeps its attributes; null
// where the node is new.
[[nodiscard]] inline Made kernel_of(State& state, const cudaKernelNodeParams& parameters,
                                    const NodeParameters* as_before) {
    KernelCall call{.function = parameters.func,
                    .grid = parameters.gridDim,
                    .block = parameters.blockDim,
                    .arguments = parameters.kernelParams,
                    .packed_arguments = {},
                    .dynamic_shared_bytes = parameters.sharedMemBytes,
                    .stream = nullptr,
                    .attributes = {},
                    .is_node = true};
    if (parameters.extra != nullptr) {
        if (parameters.kernelParams != nullptr) return std::unexpected(cudaErrorInvalidValue);
        const auto packed = packed_arguments(parameters.extra);
        if (!packed) return std::unexpected(packed.error());
        call.packed_arguments = *packed;
    }
    if (as_before == nullptr) return kernel_operation(state, state.current(), call);
    call.attributes = as_before->attributes;
    return kernel_operation(state, *state.devices[static_cast<std::size_t>(as_before->device)], call);
}

inline auto kernel_maker(const cudaKernelNodeParams* parameters) {
    return [=](State& state, const Operation& replaced) -> Made {
        if (parameters == nullptr) return std::unexpected(cudaErrorInvalidValue);
        return kernel_of(state, *parameters, replaced.parameters.get());
    };
}

inline auto copy_maker(const cudaMemcpy3DParms* parameters) {
    return [=](State& state) -> Made {
        if (parameters == nullptr) return std::unexpected(cudaErrorInvalidValue);
        const auto box = box_copy_of(state, *parameters);
        if (!box) return std::unexpected(box.error());
        NodeParameters kept;
        kept.copy = *parameters;
        return with(copy_operation(state, *box), std::move(kept));
    };
}

inline auto linear_copy_maker(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return [=](State& state) -> Made {
        NodeParameters kept;
        kept.copy.srcPtr = {.ptr = const_cast<void*>(from), .pitch = bytes, .xsize = bytes, .ysize = 1};
        kept.copy.dstPtr = {.ptr = to, .pitch = bytes, .xsize = bytes, .ysize = 1};
        kept.copy.extent = {.width = bytes, .height = 1, .depth = 1};
        kept.copy.kind = kind;
        return with(copy_operation(state, linear_copy(to, from, bytes, kind)), std::move(kept));
    };
}

inline auto fill_maker(const cudaMemsetParams* p) {
    return [=](State& state) -> Made {
        if (p == nullptr || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
            return std::unexpected(cudaErrorInvalidValue);
        NodeParameters kept;
        kept.fill = *p;
        const Fill fill{.to = linear(p->dst, p->pitch),
                        .box = {.width_bytes = p->width * p->elementSize, .height = p->height, .depth = 1},
                        .value = p->value,
                        .value_bytes = p->elementSize};
        return with(fill_operation(state, fill), std::move(kept));
    };
}

inline auto host_maker(const cudaHostNodeParams* parameters) {
    return [=](State&) -> Made {
        if (parameters == nullptr || parameters->fn == nullptr) return std::unexpected(cudaErrorInvalidValue);
        NodeParameters kept;
        kept.host = *parameters;
        return with(Operation{.type = cudaGraphNodeTypeHost,
                              .run =
                                  [call = *parameters](Work&) {
                                      call.fn(call.userData);
                                      return cudaSuccess;
                                  },
                              .synchronous = false,
                              .calls_program = true},
                    std::move(kept));
    };
}

// cudaGraphAddNode for conditional nodes.
cudaError_t add_conditional(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                            std::size_t count, cudaConditionalNodeParams& parameters);

// Fills an array of handles that may be null, as CUDA's queries do.
inline cudaError_t give(const std::vector<cudaGraphNode_t>& found, cudaGraphNode_t* nodes, size_t* count) {
    if (count == nullptr) return cudaErrorInvalidValue;
    if (nodes != nullptr) {
        const std::size_t copied = std::min(*count, found.size());
        std::copy_n(found.begin(), copied, nodes);
        std::fill(nodes + copied, nodes + *count, nullptr);
    }
    *count = found.size();
    return cudaSuccess;
}

}  // namespace trimtab::cuda
