// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/platform/context.h"

#include <algorithm>
#include <cstdio>

#include "emulation/opencl/choice/chooser.h"
#include "emulation/opencl/platform/info.h"

void _cl_context::say(const std::string& line) const {
    trimtab::opencl::Chooser::instance().log().warn(line);
    if (notify != nullptr) notify(line.c_str(), nullptr, 0, notify_data);
}

using namespace trimtab::opencl;

namespace {

// 0 or an error; the properties with their 0 go to `out`.
cl_int read_properties(const cl_context_properties* properties, std::vector<cl_context_properties>& out) {
    if (properties == nullptr) return CL_SUCCESS;
    for (const cl_context_properties* entry = properties; *entry != 0; entry += 2) {
        for (std::size_t earlier = 0; earlier < out.size(); earlier += 2)
            if (out[earlier] == entry[0]) return CL_INVALID_PROPERTY;
        if (entry[0] == CL_CONTEXT_PLATFORM) {
            if (reinterpret_cast<cl_platform_id>(entry[1]) != Platform::instance().handle())
                return CL_INVALID_PLATFORM;
        } else if (entry[0] != CL_CONTEXT_INTEROP_USER_SYNC) {
            return CL_INVALID_PROPERTY;
        }
        out.insert(out.end(), {entry[0], entry[1]});
    }
    out.push_back(0);
    return CL_SUCCESS;
}

}  // namespace

cl_context CL_API_CALL clCreateContext(const cl_context_properties* properties, cl_uint count,
                                       const cl_device_id* devices, _cl_context::Notify notify, void* data,
                                       cl_int* error) {
    return made<cl_context>(error, [&]() -> Made<cl_context> {
        if (count == 0 || devices == nullptr || (notify == nullptr && data != nullptr))
            return std::unexpected(CL_INVALID_VALUE);
        auto context = std::make_unique<_cl_context>();
        if (const cl_int status = read_properties(properties, context->properties); status != CL_SUCCESS)
            return std::unexpected(status);
        for (cl_device_id device : std::span(devices, count)) {
            if (!is_a(device, Kind::device)) return std::unexpected(CL_INVALID_DEVICE);
            if (!context->has(device)) context->devices.push_back(device);
        }
        context->notify = notify;
        context->notify_data = data;
        return context.release();
    });
}

cl_context CL_API_CALL clCreateContextFromType(const cl_context_properties* properties, cl_device_type type,
                                               _cl_context::Notify notify, void* data, cl_int* error) {
    cl_int status = CL_SUCCESS;
    cl_uint count = 0;
    std::vector<cl_device_id> devices;
    std::vector<cl_context_properties> ignored;
    status = guarded([&] { return read_properties(properties, ignored); });
    if (status == CL_SUCCESS) status = clGetDeviceIDs(nullptr, type, 0, nullptr, &count);
    if (status == CL_SUCCESS) {
        devices.resize(count);
        status = clGetDeviceIDs(nullptr, type, count, devices.data(), nullptr);
    }
    if (status == CL_SUCCESS) return clCreateContext(properties, count, devices.data(), notify, data, error);
    if (error != nullptr) *error = status;
    return nullptr;
}

cl_int CL_API_CALL clRetainContext(cl_context context) {
    return retain(context, Kind::context, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL clReleaseContext(cl_context context) {
    return release(context, Kind::context, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL clGetContextInfo(cl_context context, cl_context_info name, size_t size, void* value,
                                    size_t* size_back) {
    return guarded([&]() -> cl_int {
        if (!is_a(context, Kind::context)) return CL_INVALID_CONTEXT;
        const Answer answer(size, value, size_back);
        switch (name) {
            case CL_CONTEXT_REFERENCE_COUNT:
                return answer.value<cl_uint>(context->references.load());
            case CL_CONTEXT_NUM_DEVICES:
                return answer.value(static_cast<cl_uint>(context->devices.size()));
            case CL_CONTEXT_DEVICES:
                return answer.list(context->devices);
            case CL_CONTEXT_PROPERTIES:
                return answer.list(context->properties);
            default:
                return CL_INVALID_VALUE;
        }
    });
}

cl_int CL_API_CALL clSetContextDestructorCallback(cl_context context,
                                                  void(CL_CALLBACK* function)(cl_context, void*),
                                                  void* data) {
    return guarded([&]() -> cl_int {
        if (!is_a(context, Kind::context)) return CL_INVALID_CONTEXT;
        if (function == nullptr) return CL_INVALID_VALUE;
        context->end_callbacks.add(function, data);
        return CL_SUCCESS;
    });
}
