// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A context: devices that share memory objects and programs.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "emulation/opencl/platform/device.h"

struct _cl_context : trimtab::opencl::Object {
    _cl_context() : Object(trimtab::opencl::Kind::context) {}
    ~_cl_context() { end_callbacks.call(this); }

    using Notify = void(CL_CALLBACK*)(const char* text, const void* info, size_t bytes, void* data);
    std::vector<cl_device_id> devices;
    std::vector<cl_context_properties> properties;
    Notify notify = nullptr;
    void* notify_data = nullptr;
    trimtab::opencl::EndCallbacks<cl_context> end_callbacks;

    [[nodiscard]] bool has(const _cl_device_id* device) const {
        return std::ranges::find(devices, device) != devices.end();
    }
    // An error of a command: to the program where it asked for such, and to stderr.
    void say(const std::string& line) const;
};
