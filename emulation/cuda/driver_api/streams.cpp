// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams, events and captures of the driver API: the runtime's, under other names.
#include "emulation/cuda/driver_api/call.h"
#include "emulation/cuda/runtime_api/alias.h"

using namespace trimtab::cuda::driver;

extern "C" {

CUresult cuStreamCreate(CUstream* phStream, unsigned flags) {
    return forward(cudaStreamCreateWithFlags, phStream, flags);
}
CUresult cuStreamCreateWithPriority(CUstream* phStream, unsigned flags, int priority) {
    return forward(cudaStreamCreateWithPriority, phStream, flags, priority);
}
CUresult cuStreamDestroy_v2(CUstream hStream) {
    return forward(cudaStreamDestroy, hStream);
}
CUresult cuStreamSynchronize(CUstream hStream) {
    return forward(cudaStreamSynchronize, hStream);
}
TRIMTAB_SAME_AS(cuStreamSynchronize, cuStreamSynchronize_ptsz);
CUresult cuStreamQuery(CUstream hStream) {
    return forward(cudaStreamQuery, hStream);
}
TRIMTAB_SAME_AS(cuStreamQuery, cuStreamQuery_ptsz);
CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned flags) {
    return forward(cudaStreamWaitEvent, hStream, hEvent, flags);
}
TRIMTAB_SAME_AS(cuStreamWaitEvent, cuStreamWaitEvent_ptsz);
CUresult cuStreamGetPriority(CUstream hStream, int* priority) {
    return forward(cudaStreamGetPriority, hStream, priority);
}
TRIMTAB_SAME_AS(cuStreamGetPriority, cuStreamGetPriority_ptsz);
CUresult cuStreamGetFlags(CUstream hStream, unsigned* flags) {
    return forward(cudaStreamGetFlags, hStream, flags);
}
TRIMTAB_SAME_AS(cuStreamGetFlags, cuStreamGetFlags_ptsz);
CUresult cuStreamGetId(CUstream hStream, unsigned long long* streamId) {
    return forward(cudaStreamGetId, hStream, streamId);
}
TRIMTAB_SAME_AS(cuStreamGetId, cuStreamGetId_ptsz);
CUresult cuStreamGetDevice(CUstream hStream, CUdevice* device) {
    return forward(cudaStreamGetDevice, hStream, device);
}
TRIMTAB_SAME_AS(cuStreamGetDevice, cuStreamGetDevice_ptsz);

CUresult cuStreamGetCtx(CUstream hStream, CUcontext* pctx) {
    return context_call([=](State& state) {
        if (pctx == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const std::lock_guard lock(state.mutex);
        const CUstream_st* stream = state.stream(hStream);
        if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        *pctx = this_thread().contexts.back();
        if ((*pctx)->device != stream->device)
            *pctx = &state.devices[static_cast<std::size_t>(stream->device)]->primary;
        return CUDA_SUCCESS;
    });
}
TRIMTAB_SAME_AS(cuStreamGetCtx, cuStreamGetCtx_ptsz);
CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx) {
    if (pGreenCtx != nullptr) *pGreenCtx = nullptr;
    return cuStreamGetCtx(hStream, pCtx);
}
TRIMTAB_SAME_AS(cuStreamGetCtx_v2, cuStreamGetCtx_v2_ptsz);

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void* userData, unsigned flags) {
    // A CUresult and a cudaError_t are the same number where the callback gets one: success.
    return forward(cudaStreamAddCallback, hStream, reinterpret_cast<cudaStreamCallback_t>(callback), userData,
                   flags);
}
TRIMTAB_SAME_AS(cuStreamAddCallback, cuStreamAddCallback_ptsz);
CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned flags) {
    return forward(cudaStreamAttachMemAsync, hStream, host(dptr), length, flags);
}
TRIMTAB_SAME_AS(cuStreamAttachMemAsync, cuStreamAttachMemAsync_ptsz);
CUresult cuStreamCopyAttributes(CUstream dst, CUstream src) {
    return forward(cudaStreamCopyAttributes, dst, src);
}
TRIMTAB_SAME_AS(cuStreamCopyAttributes, cuStreamCopyAttributes_ptsz);
CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue* value) {
    return context_call([=](State&) {
        return cudaStreamSetAttribute(hStream, static_cast<cudaStreamAttrID>(attr),
                                      reinterpret_cast<const cudaStreamAttrValue*>(value));
    });
}
TRIMTAB_SAME_AS(cuStreamSetAttribute, cuStreamSetAttribute_ptsz);
CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue* value_out) {
    return context_call([=](State&) {
        return cudaStreamGetAttribute(hStream, static_cast<cudaStreamAttrID>(attr),
                                      reinterpret_cast<cudaStreamAttrValue*>(value_out));
    });
}
TRIMTAB_SAME_AS(cuStreamGetAttribute, cuStreamGetAttribute_ptsz);

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
    return forward(cudaStreamBeginCapture, hStream, static_cast<cudaStreamCaptureMode>(mode));
}
TRIMTAB_SAME_AS(cuStreamBeginCapture_v2, cuStreamBeginCapture_v2_ptsz);
CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData* dependencyData, size_t numDependencies,
                                     CUstreamCaptureMode mode) {
    return forward(cudaStreamBeginCaptureToGraph, hStream, hGraph, dependencies,
                   reinterpret_cast<const cudaGraphEdgeData*>(dependencyData), numDependencies,
                   static_cast<cudaStreamCaptureMode>(mode));
}
TRIMTAB_SAME_AS(cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph_ptsz);
CUresult cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) {
    return forward(cudaStreamEndCapture, hStream, phGraph);
}
TRIMTAB_SAME_AS(cuStreamEndCapture, cuStreamEndCapture_ptsz);
CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) {
    return forward(cudaStreamIsCapturing, hStream, reinterpret_cast<cudaStreamCaptureStatus*>(captureStatus));
}
TRIMTAB_SAME_AS(cuStreamIsCapturing, cuStreamIsCapturing_ptsz);
CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out, const CUgraphEdgeData** edgeData_out,
                                   size_t* numDependencies_out) {
    return context_call([=](State&) {
        unsigned long long id = 0;
        const cudaError_t status = cudaStreamGetCaptureInfo(
            hStream, reinterpret_cast<cudaStreamCaptureStatus*>(captureStatus_out), &id, graph_out,
            dependencies_out, reinterpret_cast<const cudaGraphEdgeData**>(edgeData_out), numDependencies_out);
        if (id_out != nullptr) *id_out = id;
        return status;
    });
}
TRIMTAB_SAME_AS(cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo_v3_ptsz);
CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out, size_t* numDependencies_out) {
    return cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, graph_out, dependencies_out, nullptr,
                                     numDependencies_out);
}
TRIMTAB_SAME_AS(cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v2_ptsz);
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode* dependencies,
                                              const CUgraphEdgeData* dependencyData, size_t numDependencies,
                                              unsigned flags) {
    return forward(cudaStreamUpdateCaptureDependencies, hStream, dependencies,
                   reinterpret_cast<const cudaGraphEdgeData*>(dependencyData), numDependencies, flags);
}
TRIMTAB_SAME_AS(cuStreamUpdateCaptureDependencies_v2, cuStreamUpdateCaptureDependencies_v2_ptsz);
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    return forward(cudaThreadExchangeStreamCaptureMode, reinterpret_cast<cudaStreamCaptureMode*>(mode));
}

CUresult cuEventCreate(CUevent* phEvent, unsigned flags) {
    return forward(cudaEventCreateWithFlags, phEvent, flags);
}
CUresult cuEventDestroy_v2(CUevent hEvent) {
    return forward(cudaEventDestroy, hEvent);
}
CUresult cuEventRecord(CUevent hEvent, CUstream hStream) {
    return forward(cudaEventRecord, hEvent, hStream);
}
TRIMTAB_SAME_AS(cuEventRecord, cuEventRecord_ptsz);
CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned flags) {
    return forward(cudaEventRecordWithFlags, hEvent, hStream, flags);
}
TRIMTAB_SAME_AS(cuEventRecordWithFlags, cuEventRecordWithFlags_ptsz);
CUresult cuEventQuery(CUevent hEvent) {
    return forward(cudaEventQuery, hEvent);
}
CUresult cuEventSynchronize(CUevent hEvent) {
    return forward(cudaEventSynchronize, hEvent);
}
CUresult cuEventElapsedTime_v2(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
    return forward(cudaEventElapsedTime, pMilliseconds, hStart, hEnd);
}

// What older programs ask for by name.
#undef cuEventElapsedTime
#undef cuEventDestroy
#undef cuStreamDestroy
#undef cuStreamBeginCapture
CUresult cuEventElapsedTime(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
    return cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd);
}
CUresult cuEventDestroy(CUevent hEvent) {
    return cuEventDestroy_v2(hEvent);
}
CUresult cuStreamDestroy(CUstream hStream) {
    return cuStreamDestroy_v2(hStream);
}

CUresult cuProfilerStart() {
    return CUDA_SUCCESS;
}
CUresult cuProfilerStop() {
    return CUDA_SUCCESS;
}

}  // extern "C"
