// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Capturing streams, and launching what they recorded.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "emulation/cuda/graph.h"
#include "emulation/cuda/graph_memory.h"
#include "emulation/cuda/runtime_api/alias.h"
#include "emulation/cuda/runtime_api/on_stream.h"
#include "emulation/cuda/state.h"

using namespace trimtab::cuda;

namespace {

cudaStreamCaptureStatus status_of(const CUstream_st& stream) {
    if (stream.capture == nullptr) return cudaStreamCaptureStatusNone;
    return stream.capture->invalidated ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
}

cudaError_t make_exec(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
    return locked_call([=](State& state) {
        if (exec == nullptr || !is_graph(state, graph)) return cudaErrorInvalidValue;
        auto made = instantiate(*graph);
        made->flags = flags;
        *exec = *state.graph_execs.insert(made.release()).first;
        return cudaSuccess;
    });
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
    return on_stream(handle,
                     [=](State& state, CUstream_st& stream) { return begin_capture(state, stream, mode); });
}
TRIMTAB_SAME_AS(cudaStreamBeginCapture, cudaStreamBeginCapture_ptsz);

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t handle, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies, const cudaGraphEdgeData*,
                                          size_t numDependencies, cudaStreamCaptureMode mode) {
    return on_stream(handle, [=](State& state, CUstream_st& stream) {
        if (!is_graph(state, graph)) return cudaErrorInvalidValue;
        if (const cudaError_t status = begin_capture(state, stream, mode); status != cudaSuccess)
            return status;
        state.graphs.erase(stream.capture->graph);
        delete stream.capture->graph;
        stream.capture->graph = graph;
        stream.capture->into_given_graph = true;
        stream.capture_dependencies.assign(dependencies, dependencies + numDependencies);
        return cudaSuccess;
    });
}
TRIMTAB_SAME_AS(cudaStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph_ptsz);

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* pGraph) {
    return on_stream(handle, [=](State& state, CUstream_st& stream) {
        if (pGraph != nullptr) return end_capture(state, stream, *pGraph);
        // The program has that graph already.
        if (stream.capture == nullptr || !stream.capture->into_given_graph) return cudaErrorInvalidValue;
        cudaGraph_t given = nullptr;
        return end_capture(state, stream, given);
    });
}
TRIMTAB_SAME_AS(cudaStreamEndCapture, cudaStreamEndCapture_ptsz);

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* pCaptureStatus) {
    return on_stream(handle, [=](State&, const CUstream_st& stream) {
        if (pCaptureStatus == nullptr) return cudaErrorInvalidValue;
        *pCaptureStatus = status_of(stream);
        return cudaSuccess;
    });
}
TRIMTAB_SAME_AS(cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz);

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* captureStatus_out,
                                     unsigned long long* id_out, cudaGraph_t* graph_out,
                                     const cudaGraphNode_t** dependencies_out,
                                     const cudaGraphEdgeData** edgeData_out, size_t* numDependencies_out) {
    return on_stream(handle, [=](State&, const CUstream_st& stream) {
        if (captureStatus_out == nullptr) return cudaErrorInvalidValue;
        *captureStatus_out = status_of(stream);
        if (*captureStatus_out != cudaStreamCaptureStatusActive) return cudaSuccess;
        if (id_out != nullptr) *id_out = stream.capture->id;
        if (graph_out != nullptr) *graph_out = stream.capture->graph;
        if (dependencies_out != nullptr) *dependencies_out = stream.capture_dependencies.data();
        if (edgeData_out != nullptr) *edgeData_out = nullptr;
        if (numDependencies_out != nullptr) *numDependencies_out = stream.capture_dependencies.size();
        return cudaSuccess;
    });
}
TRIMTAB_SAME_AS(cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz);

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData*, size_t numDependencies,
                                                unsigned flags) {
    return on_stream(handle, [=](State&, CUstream_st& stream) {
        if (stream.capture == nullptr) return cudaErrorIllegalState;
        auto& own = stream.capture_dependencies;
        if (flags == cudaStreamSetCaptureDependencies) own.clear();
        own.insert(own.end(), dependencies, dependencies + numDependencies);
        return cudaSuccess;
    });
}
TRIMTAB_SAME_AS(cudaStreamUpdateCaptureDependencies, cudaStreamUpdateCaptureDependencies_ptsz);

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    if (mode == nullptr) return finish(cudaErrorInvalidValue);
    std::swap(*mode, this_thread().capture_mode);
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* pGraphExec, cudaGraph_t graph, unsigned long long flags) {
    return make_exec(pGraphExec, graph, flags);
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                          unsigned long long flags) {
    return make_exec(pGraphExec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* instantiateParams) {
    if (instantiateParams == nullptr) return finish(cudaErrorInvalidValue);
    const cudaError_t status = make_exec(pGraphExec, graph, instantiateParams->flags);
    instantiateParams->errNode_out = nullptr;
    instantiateParams->result_out =
        status == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
    return status;
}
TRIMTAB_SAME_AS(cudaGraphInstantiateWithParams, cudaGraphInstantiateWithParams_ptsz);

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long* flags) {
    return locked_call([=](State& state) {
        if (flags == nullptr || !state.graph_execs.contains(graphExec)) return cudaErrorInvalidValue;
        *flags = graphExec->flags;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec) {
    const cudaError_t status = locked_call([=](State& state) {
        if (state.graph_execs.erase(graphExec) == 0) return cudaErrorInvalidValue;
        delete graphExec;
        return cudaSuccess;
    });
    release_unknown_graph_memory(State::instance());
    return status;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream) {
    return call([=](State& state) {
        {
            const std::lock_guard lock(state.mutex);
            if (!state.graph_execs.contains(graphExec)) return cudaErrorInvalidValue;
        }
        return launch(state, *graphExec, stream);
    });
}
TRIMTAB_SAME_AS(cudaGraphLaunch, cudaGraphLaunch_ptsz);

cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t handle) {
    return on_stream(handle, [=](State& state, CUstream_st&) {
        return state.graph_execs.contains(graphExec) ? cudaSuccess : cudaErrorInvalidValue;
    });
}
TRIMTAB_SAME_AS(cudaGraphUpload, cudaGraphUpload_ptsz);

// The new graph must have the same nodes in the same order: then it takes the place of the old.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                cudaGraphExecUpdateResultInfo* resultInfo) {
    return locked_call([=](State& state) {
        if (!state.graph_execs.contains(hGraphExec) || !is_graph(state, hGraph)) return cudaErrorInvalidValue;
        auto updated = instantiate(*hGraph);
        const auto& old = hGraphExec->nodes;
        const bool same =
            std::equal(old.begin(), old.end(), updated->nodes.begin(), updated->nodes.end(),
                       [](const CUgraphExec_st::Node& a, const CUgraphExec_st::Node& b) {
                           return a.operation.type == b.operation.type && a.dependencies == b.dependencies;
                       });
        if (resultInfo != nullptr) {
            *resultInfo = {};
            resultInfo->result = same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
        }
        if (!same) return cudaErrorGraphExecUpdateFailure;
        // Nodes keep the handles of the graph that was instantiated.
        for (std::size_t i = 0; i < old.size(); ++i) {
            hGraphExec->nodes[i].operation = std::move(updated->nodes[i].operation);
            hGraphExec->nodes[i].condition = std::move(updated->nodes[i].condition);
        }
        hGraphExec->conditional_values = std::move(updated->conditional_values);
        return cudaSuccess;
    });
}

}  // extern "C"
