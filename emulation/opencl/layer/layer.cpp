// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/layer/layer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <vector>

#include "emulation/opencl/layer/enqueue.h"
#include "emulation/opencl/layer/records.h"

namespace trimtab::opencl {
namespace {

const cl_icd_dispatch& driver() {
    return *Records::instance().next;
}

// Nothing that is noted is worth an exception in a program.
template <class Body>
void note(const Body& body) noexcept {
    if (!Chooser::instance().is_active()) return;
    try {
        body(Records::instance());
    } catch (const std::exception&) {
        return;
    }
}

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                          cl_command_queue_properties properties, cl_int* error) {
    cl_command_queue queue = driver().clCreateCommandQueue(context, device, properties, error);
    if (queue != nullptr) note([&](Records& records) { records.add_queue(queue, device); });
    return queue;
}

cl_command_queue CL_API_CALL create_queue_with_properties(cl_context context, cl_device_id device,
                                                          const cl_queue_properties* properties,
                                                          cl_int* error) {
    cl_command_queue queue = driver().clCreateCommandQueueWithProperties(context, device, properties, error);
    if (queue != nullptr) note([&](Records& records) { records.add_queue(queue, device); });
    return queue;
}

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size, void* host,
                                 cl_int* error) {
    cl_mem memory = driver().clCreateBuffer(context, flags, size, host, error);
    if (memory != nullptr) note([&](Records& records) { records.add_memory(memory, size); });
    return memory;
}

cl_mem CL_API_CALL create_buffer_with_properties(cl_context context, const cl_mem_properties* properties,
                                                 cl_mem_flags flags, size_t size, void* host, cl_int* error) {
    cl_mem memory = driver().clCreateBufferWithProperties(context, properties, flags, size, host, error);
    if (memory != nullptr) note([&](Records& records) { records.add_memory(memory, size); });
    return memory;
}

cl_mem CL_API_CALL create_part(cl_mem whole, cl_mem_flags flags, cl_buffer_create_type type, const void* info,
                               cl_int* error) {
    cl_mem part = driver().clCreateSubBuffer(whole, flags, type, info, error);
    if (part != nullptr && type == CL_BUFFER_CREATE_TYPE_REGION) {
        cl_buffer_region region{};
        std::memcpy(&region, info, sizeof region);
        note([&](Records& records) { records.add_part(part, whole, region.origin, region.size); });
    }
    return part;
}

cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char** strings,
                                      const size_t* lengths, cl_int* error) {
    cl_program program = driver().clCreateProgramWithSource(context, count, strings, lengths, error);
    if (program != nullptr)
        note([&](Records& records) {
            auto record = std::make_shared<ProgramRecord>();
            for (cl_uint i = 0; i < count; ++i)
                record->source += lengths != nullptr && lengths[i] != 0 ? std::string(strings[i], lengths[i])
                                                                        : std::string(strings[i]);
            std::erase(record->source, '\0');
            record->left_alone = "its program is not built of its source";
            records.add_program(program, std::move(record));
        });
    return program;
}

// What "OpenCL 3.0 and the vendor's words" is to __OPENCL_VERSION__: 300. 0: the text is another.
int version_number(std::string_view text) {
    constexpr std::string_view prefix = "OpenCL ";
    if (!text.starts_with(prefix)) return 0;
    const char* const end = text.data() + text.size();
    unsigned major = 0, minor = 0;
    const auto first = std::from_chars(text.data() + prefix.size(), end, major);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return 0;
    if (std::from_chars(first.ptr + 1, end, minor).ec != std::errc() || major > 99 || minor > 9) return 0;
    return static_cast<int>(100 * major + 10 * minor);
}

// Of all its devices, as __OPENCL_VERSION__ has it; 0: it is not one.
int opencl_version(cl_program program) {
    cl_uint count = 0;
    if (driver().clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof count, &count, nullptr) !=
        CL_SUCCESS)
        return 0;
    std::vector<cl_device_id> devices(count);
    if (driver().clGetProgramInfo(program, CL_PROGRAM_DEVICES, count * sizeof(cl_device_id),
                                  static_cast<void*>(devices.data()), nullptr) != CL_SUCCESS)
        return 0;
    int version = 0;
    for (cl_device_id device : devices) {
        std::array<char, 256> text{};
        if (driver().clGetDeviceInfo(device, CL_DEVICE_VERSION, text.size() - 1, text.data(), nullptr) !=
            CL_SUCCESS)
            return 0;
        const int own = version_number(text.data());
        if (own == 0) return 0;
        if (version != 0 && version != own) return 0;
        version = own;
    }
    return version;
}

cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                         void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
    note([&](Records& records) {
        const auto record = records.program_of(program);
        if (record == nullptr) return;
        // Another build may be other code: kernels of the one before keep theirs.
        auto built = std::make_shared<ProgramRecord>();
        built->source = record->source;
        built->options = options == nullptr ? "" : options;
        built->opencl_version = opencl_version(program);
        records.add_program(program, std::move(built));
    });
    return driver().clBuildProgram(program, count, devices, options, notify, data);
}

cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* error) {
    cl_kernel kernel = driver().clCreateKernel(program, name, error);
    if (kernel != nullptr) note([&](Records& records) { records.add_kernel(kernel, program, name); });
    return kernel;
}

cl_int CL_API_CALL create_kernels(cl_program program, cl_uint count, cl_kernel* kernels,
                                  cl_uint* count_back) {
    cl_uint made = 0;
    const cl_int status = driver().clCreateKernelsInProgram(program, count, kernels, &made);
    if (count_back != nullptr) *count_back = made;
    if (status == CL_SUCCESS && kernels != nullptr)
        note([&](Records& records) {
            for (cl_uint i = 0; i < std::min(made, count); ++i) {
                std::array<char, 4096> name{};
                if (driver().clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, name.size() - 1,
                                             name.data(), nullptr) == CL_SUCCESS)
                    records.add_kernel(kernels[i], program, name.data());
            }
        });
    return status;
}

cl_int CL_API_CALL retain_kernel(cl_kernel kernel) {
    const cl_int status = driver().clRetainKernel(kernel);
    if (status == CL_SUCCESS)
        note([&](Records& records) {
            if (KernelRecord* record = records.kernel_of(kernel)) record->references.fetch_add(1);
        });
    return status;
}

cl_int CL_API_CALL release_kernel(cl_kernel kernel) {
    note([&](Records& records) {
        KernelRecord* record = records.kernel_of(kernel);
        if (record != nullptr && record->references.fetch_sub(1) == 1) records.forget_kernel(kernel);
    });
    return driver().clReleaseKernel(kernel);
}

cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
    const cl_int status = driver().clSetKernelArg(kernel, index, size, value);
    if (status == CL_SUCCESS)
        note([&](Records& records) {
            if (KernelRecord* record = records.kernel_of(kernel)) note_argument(*record, index, size, value);
        });
    return status;
}

cl_int CL_API_CALL set_pointer(cl_kernel kernel, cl_uint index, const void* pointer) {
    const cl_int status = driver().clSetKernelArgSVMPointer(kernel, index, pointer);
    if (status == CL_SUCCESS)
        note([&](Records& records) {
            if (KernelRecord* record = records.kernel_of(kernel)) note_pointer(*record, index, pointer);
        });
    return status;
}

cl_int CL_API_CALL enqueue_range(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                 const size_t* offset, const size_t* global, const size_t* local,
                                 cl_uint wait_count, const cl_event* wait_list, cl_event* event) {
    const Launch launch{
        .queue = queue,
        .kernel = kernel,
        .range = {.dimensions = dimensions, .offset = offset, .global = global, .local = local},
        .wait_count = wait_count,
        .wait_list = wait_list,
        .event = event};
    return enqueue(launch);
}

}  // namespace

cl_int put_layer(cl_uint count, const cl_icd_dispatch* target, cl_uint* count_back,
                 const cl_icd_dispatch** table_back) {
    if (target == nullptr || count_back == nullptr || table_back == nullptr) return CL_INVALID_VALUE;
    // Tables are lists of pointers, to which each version of OpenCL has added: what the loader has not, we have not.
    static cl_icd_dispatch theirs{}, ours{};
    const std::size_t bytes = std::min(sizeof ours, count * sizeof(void*));
    std::memcpy(static_cast<void*>(&theirs), target, bytes);
    std::memcpy(static_cast<void*>(&ours), target, bytes);
    Records::instance().next = &theirs;
    const auto put = [](auto& entry, auto function) {
        if (entry != nullptr) entry = function;
    };
    put(ours.clCreateCommandQueue, &create_queue);
    put(ours.clCreateCommandQueueWithProperties, &create_queue_with_properties);
    put(ours.clCreateBuffer, &create_buffer);
    put(ours.clCreateBufferWithProperties, &create_buffer_with_properties);
    put(ours.clCreateSubBuffer, &create_part);
    put(ours.clCreateProgramWithSource, &create_program);
    put(ours.clBuildProgram, &build);
    put(ours.clCreateKernel, &create_kernel);
    put(ours.clCreateKernelsInProgram, &create_kernels);
    put(ours.clRetainKernel, &retain_kernel);
    put(ours.clReleaseKernel, &release_kernel);
    put(ours.clSetKernelArg, &set_argument);
    put(ours.clSetKernelArgSVMPointer, &set_pointer);
    put(ours.clEnqueueNDRangeKernel, &enqueue_range);
    *count_back = static_cast<cl_uint>(bytes / sizeof(void*));
    *table_back = &ours;
    return CL_SUCCESS;
}

}  // namespace trimtab::opencl
