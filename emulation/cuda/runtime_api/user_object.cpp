// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// User objects: what a program wants to keep as long as a graph. Graphs hold references; the last one that
// goes calls the program's function.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "emulation/cuda/state.h"

using namespace trimtab::cuda;

struct CUuserObject_st {
    void* value = nullptr;
    cudaHostFn_t destroy = nullptr;
    unsigned references = 0;
};

extern "C" {

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object_out, void* ptr, cudaHostFn_t destroy,
                                 unsigned initialRefcount, unsigned) {
    return locked_call([=](State&) {
        if (object_out == nullptr || destroy == nullptr || initialRefcount == 0) return cudaErrorInvalidValue;
        *object_out = new CUuserObject_st{.value = ptr, .destroy = destroy, .references = initialRefcount};
        return cudaSuccess;
    });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
    return locked_call([=](State&) {
        if (object == nullptr || count == 0) return cudaErrorInvalidValue;
        object->references += count;
        return cudaSuccess;
    });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
    return call([=](State& state) {
        {
            const std::lock_guard lock(state.mutex);
            if (object == nullptr || count == 0 || count > object->references) return cudaErrorInvalidValue;
            object->references -= count;
            if (object->references > 0) return cudaSuccess;
        }
        object->destroy(object->value);
        delete object;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
    if (count == 0) return finish(cudaErrorInvalidValue);
    // Moved, the caller's references become the graph's.
    if (flags != cudaGraphUserObjectMove) {
        if (const cudaError_t status = cudaUserObjectRetain(object, count); status != cudaSuccess)
            return status;
    }
    return locked_call([=](State& state) {
        if (!state.graphs.contains(graph) || object == nullptr) return cudaErrorInvalidValue;
        graph->user_objects.insert(graph->user_objects.end(), count, object);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
    const cudaError_t status = locked_call([=](State& state) {
        if (!state.graphs.contains(graph)) return cudaErrorInvalidValue;
        auto& held = graph->user_objects;
        if (std::count(held.begin(), held.end(), object) < static_cast<std::ptrdiff_t>(count))
            return cudaErrorInvalidValue;
        for (unsigned i = 0; i < count; ++i) held.erase(std::find(held.begin(), held.end(), object));
        return cudaSuccess;
    });
    return status != cudaSuccess ? status : cudaUserObjectRelease(object, count);
}

}  // extern "C"
