// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams and events. Work is done when it is submitted; streams keep the modelled times.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "emulation/cuda/graph.h"
#include "emulation/cuda/kernel_launch.h"
#include "emulation/cuda/runtime_api/alias.h"
#include "emulation/cuda/runtime_api/on_stream.h"
#include "emulation/cuda/state.h"

using namespace trimtab::cuda;

namespace {

cudaError_t make_stream(cudaStream_t* stream, unsigned flags, int priority) {
    return locked_call([=](State& state) {
        if (stream == nullptr || (flags != cudaStreamDefault && flags != cudaStreamNonBlocking))
            return cudaErrorInvalidValue;
        auto made = std::make_unique<CUstream_st>();
        made->device = this_thread().device;
        made->flags = flags;
        made->priority = std::clamp(priority, -5, 0);
        made->id = state.next_id++;
        *stream = *state.streams.insert(made.release()).first;
        return cudaSuccess;
    });
}

cudaError_t record_event(State& state, CUevent_st& event, CUstream_st& stream) {
    if (stream.capture != nullptr) {
        event.capture = stream.capture;
        event.capture_dependencies = stream.capture_dependencies;
        return cudaSuccess;
    }
    event.capture.reset();
    event.recorded = true;
    event.time_ns = earliest_start_ns(state, stream);
    return cudaSuccess;
}

// A stream that waits for an event of a capture joins that capture.
cudaError_t wait_for_event(CUevent_st& event, CUstream_st& stream) {
    if (event.capture == nullptr) {
        if (stream.capture != nullptr) {
            // Work before the capture is no part of the graph.
            stream.capture->invalidated = stream.capture->invalidated || event.recorded;
            return event.recorded ? cudaErrorStreamCaptureIsolation : cudaSuccess;
        }
        if (event.recorded) stream.ready_ns = std::max(stream.ready_ns, event.time_ns);
        return cudaSuccess;
    }
    if (event.capture->streams.empty()) return cudaErrorCapturedEvent;  // that capture has ended
    if (stream.capture != nullptr && stream.capture != event.capture) return cudaErrorStreamCaptureMerge;
    if (stream.capture == nullptr) {
        stream.capture = event.capture;
        stream.capture->streams.push_back(&stream);
    }
    for (CUgraphNode_st* node : event.capture_dependencies) {
        auto& own = stream.capture_dependencies;
        if (std::find(own.begin(), own.end(), node) == own.end()) own.push_back(node);
    }
    return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* pStream) {
    return make_stream(pStream, cudaStreamDefault, 0);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* pStream, unsigned flags) {
    return make_stream(pStream, flags, 0);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* pStream, unsigned flags, int priority) {
    return make_stream(pStream, flags, priority);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return locked_call([=](State& state) {
        if (state.streams.erase(stream) == 0) return cudaErrorInvalidResourceHandle;
        const std::unique_ptr<CUstream_st> owned(stream);
        if (owned->capture != nullptr) {
            owned->capture->invalidated = true;
            std::erase(owned->capture->streams, stream);
        }
        // Its work still counts: what waits for all streams waits for it.
        Device& device = *state.devices[static_cast<std::size_t>(owned->device)];
        if (owned->is_blocking())
            device.legacy_stream.ready_ns = std::max(device.legacy_stream.ready_ns, owned->ready_ns);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
    return call([=](State& state) {
        Device* device = nullptr;
        {
            const std::lock_guard lock(state.mutex);
            CUstream_st* stream = state.stream(handle);
            if (stream == nullptr) return cudaErrorInvalidResourceHandle;
            if (stream->capture != nullptr) {
                stream->capture->invalidated = true;
                return cudaErrorStreamCaptureUnsupported;
            }
            if (const cudaError_t status = disturbs_capture(state, *stream); status != cudaSuccess)
                return status;
            device = state.devices[static_cast<std::size_t>(stream->device)].get();
        }
        wait_for_execution(*device);
        const std::lock_guard lock(state.mutex);
        if (CUstream_st* stream = state.stream(handle))
            device->host_ns = std::max(device->host_ns, earliest_start_ns(state, *stream));
        return device->fault;
    });
}
TRIMTAB_SAME_AS(cudaStreamSynchronize, cudaStreamSynchronize_ptsz);

cudaError_t cudaStreamQuery(cudaStream_t handle) {
    return on_stream(handle, [](State&, CUstream_st& stream) {
        if (stream.capture == nullptr) return cudaSuccess;
        stream.capture->invalidated = true;
        return cudaErrorStreamCaptureUnsupported;
    });
}
TRIMTAB_SAME_AS(cudaStreamQuery, cudaStreamQuery_ptsz);

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
    return on_stream(handle, [=](State& state, CUstream_st& stream) {
        return state.events.contains(event) ? wait_for_event(*event, stream) : cudaErrorInvalidResourceHandle;
    });
}
TRIMTAB_SAME_AS(cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz);

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
    return on_stream(handle, [=](State&, const CUstream_st& stream) {
        if (flags == nullptr) return cudaErrorInvalidValue;
        *flags = stream.flags;
        return cudaSuccess;
    });
}
TRIMTAB_SAME_AS(cudaStreamGetFlags, cudaStreamGetFlags_ptsz);

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
    return on_stream(handle, [=](State&, const CUstream_st& stream) {
        if (priority == nullptr) return cudaErrorInvalidValue;
        *priority = stream.priority;
        return cudaSuccess;
    });
}
TRIMTAB_SAME_AS(cudaStreamGetPriority, cudaStreamGetPriority_ptsz);

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* streamId) {
    return on_stream(handle, [=](State&, const CUstream_st& stream) {
        if (streamId == nullptr) return cudaErrorInvalidValue;
        *streamId = stream.id;
        return cudaSuccess;
    });
}
TRIMTAB_SAME_AS(cudaStreamGetId, cudaStreamGetId_ptsz);

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
    return on_stream(handle, [=](State&, const CUstream_st& stream) {
        if (device == nullptr) return cudaErrorInvalidValue;
        *device = stream.device;
        return cudaSuccess;
    });
}
TRIMTAB_SAME_AS(cudaStreamGetDevice, cudaStreamGetDevice_ptsz);

// The attributes are hints about caches, waiting and priority: they are told back, and change no result and
// no modelled time.
cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaStreamAttrID attr,
                                   const cudaStreamAttrValue* value) {
    return on_stream(handle, [=](State& state, CUstream_st& stream) {
        if (value == nullptr) return cudaErrorInvalidValue;
        if (attr == cudaLaunchAttributeAccessPolicyWindow) {
            const Device& device = *state.devices[static_cast<std::size_t>(stream.device)];
            const auto most =
                static_cast<std::size_t>(std::max(properties_of(device).accessPolicyMaxWindowSize, 0));
            const auto& window = value->accessPolicyWindow;
            if (window.num_bytes > most || !(window.hitRatio >= 0 && window.hitRatio <= 1))
                return cudaErrorInvalidValue;
        }
        std::erase_if(stream.attributes, [attr](const auto& entry) { return entry.id == attr; });
        cudaLaunchAttribute added{};
        added.id = attr;
        added.val = *value;
        stream.attributes.push_back(added);
        return cudaSuccess;
    });
}
TRIMTAB_SAME_AS(cudaStreamSetAttribute, cudaStreamSetAttribute_ptsz);

cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaStreamAttrID attr, cudaStreamAttrValue* value) {
    return on_stream(handle, [=](State&, const CUstream_st& stream) {
        if (value == nullptr) return cudaErrorInvalidValue;
        const auto* given = find(stream.attributes, attr);
        *value = given != nullptr ? *given : cudaStreamAttrValue{};
        if (attr == cudaLaunchAttributePriority) value->priority = stream.priority;
        return cudaSuccess;
    });
}
TRIMTAB_SAME_AS(cudaStreamGetAttribute, cudaStreamGetAttribute_ptsz);

cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src) {
    return locked_call([=](State& state) {
        CUstream_st* to = state.stream(dst);
        const CUstream_st* from = state.stream(src);
        if (to == nullptr || from == nullptr) return cudaErrorInvalidResourceHandle;
        to->attributes = from->attributes;
        return cudaSuccess;
    });
}
TRIMTAB_SAME_AS(cudaStreamCopyAttributes, cudaStreamCopyAttributes_ptsz);

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void* userData) {
    return call([=](State& state) {
        if (fn == nullptr) return cudaErrorInvalidValue;
        return submit(state, stream,
                      {.type = cudaGraphNodeTypeHost,
                       .run =
                           [=](Work&) {
                               fn(userData);
                               return cudaSuccess;
                           },
                       .synchronous = false,
                       .calls_program = true});
    });
}
TRIMTAB_SAME_AS(cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz);

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* userData,
                                  unsigned flags) {
    return call([=](State& state) {
        if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
        return submit(state, stream,
                      {.type = cudaGraphNodeTypeHost,
                       .run =
                           [=](Work&) {
                               callback(stream, cudaSuccess, userData);
                               return cudaSuccess;
                           },
                       .synchronous = false,
                       .calls_program = true});
    });
}
TRIMTAB_SAME_AS(cudaStreamAddCallback, cudaStreamAddCallback_ptsz);

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    return locked_call([=](State& state) {
        constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
        if (event == nullptr || (flags & ~known) != 0) return cudaErrorInvalidValue;
        auto made = std::make_unique<CUevent_st>();
        made->device = this_thread().device;
        made->flags = flags;
        *event = *state.events.insert(made.release()).first;
        return cudaSuccess;
    });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return locked_call([=](State& state) {
        if (state.events.erase(event) == 0) return cudaErrorInvalidResourceHandle;
        delete event;
        return cudaSuccess;
    });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t handle, unsigned) {
    return on_stream(handle, [=](State& state, CUstream_st& stream) {
        if (!state.events.contains(event) || event->device != stream.device)
            return cudaErrorInvalidResourceHandle;
        return record_event(state, *event, stream);
    });
}
TRIMTAB_SAME_AS(cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz);

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}
TRIMTAB_SAME_AS(cudaEventRecord, cudaEventRecord_ptsz);

cudaError_t cudaEventQuery(cudaEvent_t event) {
    return locked_call([=](State& state) {
        if (!state.events.contains(event)) return cudaErrorInvalidResourceHandle;
        return event->capture != nullptr ? cudaErrorCapturedEvent : cudaSuccess;
    });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return locked_call([=](State& state) {
        if (!state.events.contains(event)) return cudaErrorInvalidResourceHandle;
        if (event->capture != nullptr) return cudaErrorCapturedEvent;
        Device& device = *state.devices[static_cast<std::size_t>(event->device)];
        if (event->recorded) device.host_ns = std::max(device.host_ns, event->time_ns);
        return cudaSuccess;
    });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
    return locked_call([=](State& state) {
        if (ms == nullptr) return cudaErrorInvalidValue;
        for (cudaEvent_t event : {start, end}) {
            if (!state.events.contains(event) || !event->recorded ||
                (event->flags & cudaEventDisableTiming) != 0)
                return cudaErrorInvalidResourceHandle;
        }
        *ms = static_cast<float>((end->time_ns - start->time_ns) / 1e6);
        return cudaSuccess;
    });
}

}  // extern "C"
