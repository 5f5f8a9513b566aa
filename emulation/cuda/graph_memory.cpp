// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/graph_memory.h"

#include <algorithm>
#include <vector>

#include "emulation/cuda/memory.h"

namespace trimtab::cuda {
namespace {

void note_use(Device& device) {
    device.graph_used_high_bytes = std::max(device.graph_used_high_bytes, device.graph_used_bytes);
    // What was used once is held ready until cudaDeviceGraphMemTrim.
    device.graph_reserved_bytes = std::max(device.graph_reserved_bytes, device.graph_used_bytes);
    device.graph_reserved_high_bytes =
        std::max(device.graph_reserved_high_bytes, device.graph_reserved_bytes);
}

GraphMemory* memory_behind(State& state, const void* pointer) {
    const auto found = state.graph_memory.find(pointer);
    return found == state.graph_memory.end() ? nullptr : &found->second;
}

}  // namespace

std::shared_ptr<const void> keep_graph_memory(State& state, void*& pointer, std::size_t size_bytes) {
    if (allocate(state, pointer, size_bytes, MemoryKind::device, 0) != cudaSuccess) return nullptr;
    auto kept = std::make_shared<const int>();
    const std::lock_guard lock(state.mutex);
    state.graph_memory[pointer] = {
        .size_bytes = size_bytes, .device = state.current().ordinal, .exists = false, .nodes = kept};
    return kept;
}

std::expected<Operation, cudaError_t> allocation_operation(State& state, cudaMemAllocNodeParams& parameters) {
    if (parameters.bytesize == 0) return std::unexpected(cudaErrorInvalidValue);
    NodeParameters kept;
    kept.keeps = keep_graph_memory(state, parameters.dptr, parameters.bytesize);
    if (kept.keeps == nullptr) return std::unexpected(cudaErrorMemoryAllocation);
    kept.memory = parameters;
    return Operation{.type = cudaGraphNodeTypeMemAlloc,
                     .run =
                         [&state, pointer = parameters.dptr](Work&) {
                             const std::lock_guard lock(state.mutex);
                             GraphMemory* memory = memory_behind(state, pointer);
                             if (memory == nullptr || memory->exists) return cudaErrorInvalidValue;
                             memory->exists = true;
                             Device& device = *state.devices[static_cast<std::size_t>(memory->device)];
                             device.graph_used_bytes += memory->size_bytes;
                             note_use(device);
                             return cudaSuccess;
                         },
                     .synchronous = false,
                     .calls_program = false,
                     .parameters = std::make_shared<const NodeParameters>(std::move(kept))};
}

std::expected<Operation, cudaError_t> release_operation(State& state, void* pointer) {
    const GraphMemory* memory = memory_behind(state, pointer);
    if (memory == nullptr) return std::unexpected(cudaErrorInvalidValue);
    NodeParameters kept;
    kept.memory.dptr = pointer;
    kept.keeps = memory->nodes.lock();
    return Operation{.type = cudaGraphNodeTypeMemFree,
                     .run =
                         [&state, pointer](Work&) {
                             const std::lock_guard lock(state.mutex);
                             return free_graph_memory(state, pointer);
                         },
                     .synchronous = false,
                     .calls_program = false,
                     .parameters = std::make_shared<const NodeParameters>(std::move(kept))};
}

cudaError_t free_graph_memory(State& state, const void* pointer) {
    GraphMemory* memory = memory_behind(state, pointer);
    if (memory == nullptr || !memory->exists) return cudaErrorInvalidValue;
    memory->exists = false;
    state.devices[static_cast<std::size_t>(memory->device)]->graph_used_bytes -= memory->size_bytes;
    return cudaSuccess;
}

cudaError_t prepare_graph_memory(State& state, const CUgraphExec_st& exec) {
    for (const CUgraphExec_st::Node& node : exec.nodes) {
        if (node.operation.type != cudaGraphNodeTypeMemAlloc) continue;
        const void* pointer = node.operation.parameters->memory.dptr;
        const GraphMemory* memory = memory_behind(state, pointer);
        if (memory == nullptr || !memory->exists) continue;
        if ((exec.flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) == 0) return cudaErrorInvalidValue;
        static_cast<void>(free_graph_memory(state, pointer));
    }
    return cudaSuccess;
}

void release_unknown_graph_memory(State& state) {
    std::vector<const void*> unknown;
    {
        const std::lock_guard lock(state.mutex);
        for (auto place = state.graph_memory.begin(); place != state.graph_memory.end();) {
            // What a launch left allocated is the program's to free, whether its graph is there or not.
            if (place->second.exists || !place->second.nodes.expired()) {
                ++place;
                continue;
            }
            unknown.push_back(place->first);
            place = state.graph_memory.erase(place);
        }
    }
    for (const void* pointer : unknown) static_cast<void>(release(state, const_cast<void*>(pointer)));
}

}  // namespace trimtab::cuda
