// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Command queues, and the commands that do nothing but keep order.
#include "emulation/opencl/platform/event.h"
#include "emulation/opencl/platform/info.h"
#include "emulation/opencl/platform/memory.h"

using namespace trimtab::opencl;

namespace {

constexpr cl_command_queue_properties known_properties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
constexpr cl_command_queue_properties properties_of_devices = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;

Made<cl_command_queue> make_queue(cl_context context, cl_device_id device,
                                  cl_command_queue_properties properties,
                                  std::vector<cl_queue_properties> given) {
    if (!is_a(context, Kind::context)) return std::unexpected(CL_INVALID_CONTEXT);
    if (!is_a(device, Kind::device) || !context->has(device)) return std::unexpected(CL_INVALID_DEVICE);
    if ((properties & ~(known_properties | properties_of_devices)) != 0)
        return std::unexpected(CL_INVALID_VALUE);
    if ((properties & properties_of_devices) != 0) return std::unexpected(CL_INVALID_QUEUE_PROPERTIES);
    auto* queue = new _cl_command_queue;
    queue->context = context;
    queue->device = device;
    queue->properties = properties;
    queue->given_properties = std::move(given);
    return queue;
}

cl_int keep_order(cl_command_queue queue, cl_command_type type, Submission::Order order, cl_uint count,
                  const cl_event* list, cl_event* event) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        return Scheduler::instance().submit({.queue = queue,
                                             .type = type,
                                             .wait_count = count,
                                             .wait_list = list,
                                             .event = event,
                                             .order = order},
                                            {});
    });
}

}  // namespace

cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue_properties properties, cl_int* error) {
    return made<cl_command_queue>(error, [&] { return make_queue(context, device, properties, {}); });
}

cl_command_queue CL_API_CALL clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                                const cl_queue_properties* properties,
                                                                cl_int* error) {
    return made<cl_command_queue>(error, [&]() -> Made<cl_command_queue> {
        cl_command_queue_properties bits = 0;
        std::vector<cl_queue_properties> given;
        for (const cl_queue_properties* entry = properties; entry != nullptr && *entry != 0; entry += 2) {
            given.insert(given.end(), {entry[0], entry[1]});
            if (entry[0] == CL_QUEUE_PROPERTIES)
                bits = entry[1];
            else if (entry[0] == CL_QUEUE_SIZE)
                return std::unexpected(CL_INVALID_QUEUE_PROPERTIES);  // of queues on devices
            else
                return std::unexpected(CL_INVALID_VALUE);
        }
        if (properties != nullptr) given.push_back(0);
        return make_queue(context, device, bits, std::move(given));
    });
}

cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue queue) {
    return retain(queue, Kind::queue, CL_INVALID_COMMAND_QUEUE);
}

cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue) {
    return release(queue, Kind::queue, CL_INVALID_COMMAND_QUEUE);
}

cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info name, size_t size,
                                         void* value, size_t* size_back) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        const Answer answer(size, value, size_back);
        switch (name) {
            case CL_QUEUE_CONTEXT:
                return answer.value<cl_context>(queue->context.get());
            case CL_QUEUE_DEVICE:
                return answer.value(queue->device);
            case CL_QUEUE_REFERENCE_COUNT:
                return answer.value<cl_uint>(queue->references.load());
            case CL_QUEUE_PROPERTIES:
                return answer.value(queue->properties);
            case CL_QUEUE_PROPERTIES_ARRAY:
                return answer.list(queue->given_properties);
            case CL_QUEUE_DEVICE_DEFAULT:
                return answer.value<cl_command_queue>(nullptr);
            default:
                return name == CL_QUEUE_SIZE ? CL_INVALID_COMMAND_QUEUE : CL_INVALID_VALUE;
        }
    });
}

// Of OpenCL 1.0; what a queue is, it stays.
cl_int CL_API_CALL clSetCommandQueueProperty(cl_command_queue queue, cl_command_queue_properties, cl_bool,
                                             cl_command_queue_properties*) {
    return is_a(queue, Kind::queue) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}

// Commands that can run have run.
cl_int CL_API_CALL clFlush(cl_command_queue queue) {
    return is_a(queue, Kind::queue) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

cl_int CL_API_CALL clFinish(cl_command_queue queue) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        const Ref<_cl_command_queue> held(queue);
        return Scheduler::instance().finish(*queue);
    });
}

cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* list,
                                               cl_event* event) {
    return keep_order(queue, CL_COMMAND_MARKER, Submission::Order::marker, count, list, event);
}

cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* list,
                                                cl_event* event) {
    return keep_order(queue, CL_COMMAND_BARRIER, Submission::Order::barrier, count, list, event);
}

cl_int CL_API_CALL clEnqueueMarker(cl_command_queue queue, cl_event* event) {
    if (is_a(queue, Kind::queue) && event == nullptr) return CL_INVALID_VALUE;
    return keep_order(queue, CL_COMMAND_MARKER, Submission::Order::marker, 0, nullptr, event);
}

cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue queue) {
    return keep_order(queue, CL_COMMAND_BARRIER, Submission::Order::barrier, 0, nullptr, nullptr);
}

cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count, const cl_event* list) {
    if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
    if (count == 0 || list == nullptr) return CL_INVALID_VALUE;
    const cl_int status =
        keep_order(queue, CL_COMMAND_BARRIER, Submission::Order::barrier, count, list, nullptr);
    return status == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : status;
}
