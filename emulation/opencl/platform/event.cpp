// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/platform/event.h"

#include "emulation/opencl/platform/info.h"

using namespace trimtab::opencl;

cl_int CL_API_CALL clWaitForEvents(cl_uint count, const cl_event* events) {
    return guarded([&]() -> cl_int {
        if (count == 0 || events == nullptr) return CL_INVALID_VALUE;
        const std::span<const cl_event> list(events, count);
        for (cl_event event : list) {
            if (!is_a(event, Kind::event)) return CL_INVALID_EVENT;
            if (event->context.get() != list[0]->context.get()) return CL_INVALID_CONTEXT;
        }
        return Scheduler::instance().wait(list);
    });
}

cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info name, size_t size, void* value,
                                  size_t* size_back) {
    return guarded([&]() -> cl_int {
        if (!is_a(event, Kind::event)) return CL_INVALID_EVENT;
        const Answer answer(size, value, size_back);
        switch (name) {
            case CL_EVENT_COMMAND_QUEUE:
                return answer.value<cl_command_queue>(event->queue.get());
            case CL_EVENT_CONTEXT:
                return answer.value<cl_context>(event->context.get());
            case CL_EVENT_COMMAND_TYPE:
                return answer.value(event->type);
            case CL_EVENT_COMMAND_EXECUTION_STATUS: {
                const std::lock_guard lock(Scheduler::instance().mutex());
                return answer.value(event->status);
            }
            case CL_EVENT_REFERENCE_COUNT:
                return answer.value<cl_uint>(event->references.load());
            default:
                return CL_INVALID_VALUE;
        }
    });
}

cl_int CL_API_CALL clRetainEvent(cl_event event) {
    return retain(event, Kind::event, CL_INVALID_EVENT);
}

cl_int CL_API_CALL clReleaseEvent(cl_event event) {
    return release(event, Kind::event, CL_INVALID_EVENT);
}

cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t size, void* value,
                                           size_t* size_back) {
    return guarded([&]() -> cl_int {
        if (!is_a(event, Kind::event)) return CL_INVALID_EVENT;
        const std::lock_guard lock(Scheduler::instance().mutex());
        if (!event->queue || (event->queue->properties & CL_QUEUE_PROFILING_ENABLE) == 0 ||
            event->status != CL_COMPLETE)
            return CL_PROFILING_INFO_NOT_AVAILABLE;
        const Answer answer(size, value, size_back);
        switch (name) {
            case CL_PROFILING_COMMAND_QUEUED:
            case CL_PROFILING_COMMAND_SUBMIT:
                return answer.value(static_cast<cl_ulong>(event->queued_ns));
            case CL_PROFILING_COMMAND_START:
                return answer.value(static_cast<cl_ulong>(event->start_ns));
            case CL_PROFILING_COMMAND_END:
            case CL_PROFILING_COMMAND_COMPLETE:
                return answer.value(static_cast<cl_ulong>(event->end_ns));
            default:
                return CL_INVALID_VALUE;
        }
    });
}

cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int* error) {
    return made<cl_event>(error, [&]() -> Made<cl_event> {
        if (!is_a(context, Kind::context)) return std::unexpected(CL_INVALID_CONTEXT);
        auto* event = new _cl_event;
        event->context = context;
        event->status = CL_SUBMITTED;
        return event;
    });
}

cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int status) {
    return guarded([&]() -> cl_int {
        if (!is_a(event, Kind::event) || event->queue) return CL_INVALID_EVENT;
        if (status > CL_COMPLETE) return CL_INVALID_VALUE;
        const Ref<_cl_event> held(event);
        return Scheduler::instance().end_user_event(*event, status);
    });
}

cl_int CL_API_CALL clSetEventCallback(cl_event event, cl_int status,
                                      void(CL_CALLBACK* function)(cl_event, cl_int, void*), void* data) {
    return guarded([&]() -> cl_int {
        if (!is_a(event, Kind::event)) return CL_INVALID_EVENT;
        if (function == nullptr || (status != CL_SUBMITTED && status != CL_RUNNING && status != CL_COMPLETE))
            return CL_INVALID_VALUE;
        Scheduler::instance().add_callback(*event, {.status = status, .function = function, .data = data});
        return CL_SUCCESS;
    });
}
