// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices, and what they say of themselves: as their descriptions and the front end have it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "emulation/opencl/choice/chooser.h"
#include "emulation/opencl/platform/context.h"
#include "emulation/opencl/platform/info.h"
#include "emulation/opencl/platform/versions.h"

namespace trimtab::opencl {

std::uint64_t largest_allocation_bytes(const _cl_device_id& device) {
    // OpenCL 1.2, table 4.3: a quarter of the memory at least.
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(device.description.values.dram_bytes) / 4,
                                   std::uint64_t{128} << 20);
}

namespace {

constexpr cl_device_fp_config single_precision = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST |
                                                 CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA |
                                                 CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
constexpr cl_device_fp_config double_precision = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST |
                                                 CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA;

cl_uint as_uint(double value) {
    return static_cast<cl_uint>(std::clamp(value, 0.0, 4294967295.0));
}

// What all devices have in common, by size; nothing: `name` is none of these.
std::optional<cl_int> constant_answer(cl_device_info name, const Answer& answer) {
    switch (name) {
        case CL_DEVICE_TYPE:
            return answer.value<cl_device_type>(CL_DEVICE_TYPE_GPU);
        case CL_DEVICE_VENDOR_ID:
            return answer.value<cl_uint>(0x10de);  // NVIDIA's of PCI: whose GPUs are described
        case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
            return answer.value<cl_uint>(3);
        case CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR:
        case CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT:
        case CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT:
        case CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG:
        case CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT:
        case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
        case CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR:
        case CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT:
        case CL_DEVICE_NATIVE_VECTOR_WIDTH_INT:
        case CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG:
        case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
        case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE:
            return answer.value<cl_uint>(1);
        case CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF:
        case CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF:
            return answer.value<cl_uint>(0);
        case CL_DEVICE_ADDRESS_BITS:
            return answer.value<cl_uint>(64);
        case CL_DEVICE_MAX_READ_IMAGE_ARGS:
            return answer.value(most_images_read);
        case CL_DEVICE_MAX_WRITE_IMAGE_ARGS:
            return answer.value(most_images_written);
        case CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS:
            return answer.value<cl_uint>(0);
        case CL_DEVICE_IMAGE2D_MAX_WIDTH:
            return answer.value(most_image_width);
        case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
            return answer.value(most_image_height);
        case CL_DEVICE_IMAGE3D_MAX_WIDTH:
        case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
        case CL_DEVICE_IMAGE3D_MAX_DEPTH:
            return answer.value(most_image_depth);
        case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
            return answer.value(most_buffer_image_width);
        case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE:
            return answer.value(most_image_layers);
        case CL_DEVICE_MAX_SAMPLERS:
            return answer.value(most_samplers);
        case CL_DEVICE_IMAGE_PITCH_ALIGNMENT:
        case CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT:
            return answer.value<cl_uint>(1);
        case CL_DEVICE_MAX_PARAMETER_SIZE:
            return answer.value(most_parameter_bytes);
        case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
            return answer.value<cl_uint>(8 * address_alignment_bytes);
        case CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE:
            return answer.value(address_alignment_bytes);
        case CL_DEVICE_SINGLE_FP_CONFIG:
            return answer.value(single_precision);
        case CL_DEVICE_DOUBLE_FP_CONFIG:
            return answer.value(double_precision);
        case CL_DEVICE_HALF_FP_CONFIG:
            return answer.value<cl_device_fp_config>(0);
        case CL_DEVICE_GLOBAL_MEM_CACHE_TYPE:
            return answer.value<cl_device_mem_cache_type>(CL_READ_WRITE_CACHE);
        case CL_DEVICE_MAX_CONSTANT_ARGS:
            return answer.value<cl_uint>(
                9);  // no bank of its own: any argument may be one; the least there may be, and one
        case CL_DEVICE_LOCAL_MEM_TYPE:
            return answer.value<cl_device_local_mem_type>(CL_LOCAL);
        case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
            return answer.value<size_t>(1);
        case CL_DEVICE_IMAGE_SUPPORT:
        case CL_DEVICE_ENDIAN_LITTLE:
        case CL_DEVICE_AVAILABLE:
        case CL_DEVICE_COMPILER_AVAILABLE:
        case CL_DEVICE_LINKER_AVAILABLE:
        case CL_DEVICE_PREFERRED_INTEROP_USER_SYNC:
        case CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT:
        case CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT:
            return answer.value<cl_bool>(CL_TRUE);
        case CL_DEVICE_HOST_UNIFIED_MEMORY:  // of the GPU that is described, not of the machine that plays it
        case CL_DEVICE_ERROR_CORRECTION_SUPPORT:
        case CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT:
        case CL_DEVICE_PIPE_SUPPORT:
        case CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS:
            return answer.value<cl_bool>(CL_FALSE);
        case CL_DEVICE_EXECUTION_CAPABILITIES:
            return answer.value<cl_device_exec_capabilities>(CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL);
        case CL_DEVICE_QUEUE_ON_HOST_PROPERTIES:
            return answer.value<cl_command_queue_properties>(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
                                                             CL_QUEUE_PROFILING_ENABLE);
        case CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES:
            return answer.value<cl_command_queue_properties>(0);
        case CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES:
            return answer.value<cl_device_device_enqueue_capabilities>(0);
        case CL_DEVICE_BUILT_IN_KERNELS:
        case CL_DEVICE_IL_VERSION:
        case CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED:
            return answer.text("");
        case CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION:
        case CL_DEVICE_ILS_WITH_VERSION:
            return answer.nothing();
        case CL_DEVICE_PARENT_DEVICE:
            return answer.value<cl_device_id>(nullptr);
        case CL_DEVICE_PARTITION_MAX_SUB_DEVICES:
            return answer.value<cl_uint>(0);
        case CL_DEVICE_PARTITION_PROPERTIES:
        case CL_DEVICE_PARTITION_TYPE:
            return answer.value<cl_device_partition_property>(0);
        case CL_DEVICE_PARTITION_AFFINITY_DOMAIN:
            return answer.value<cl_device_affinity_domain>(0);
        case CL_DEVICE_PRINTF_BUFFER_SIZE:
            return answer.value<size_t>(std::size_t{1} << 20);
        case CL_DEVICE_SVM_CAPABILITIES:
            return answer.value<cl_device_svm_capabilities>(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
        case CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES:
            return answer.value<cl_device_atomic_capabilities>(
                CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL |
                CL_DEVICE_ATOMIC_ORDER_SEQ_CST | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP |
                CL_DEVICE_ATOMIC_SCOPE_DEVICE);
        case CL_DEVICE_ATOMIC_FENCE_CAPABILITIES:
            return answer.value<cl_device_atomic_capabilities>(CL_DEVICE_ATOMIC_ORDER_RELAXED |
                                                               CL_DEVICE_ATOMIC_ORDER_ACQ_REL |
                                                               CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP);
        case CL_DEVICE_MAX_PIPE_ARGS:
        case CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS:
        case CL_DEVICE_PIPE_MAX_PACKET_SIZE:
        case CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE:
        case CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE:
        case CL_DEVICE_MAX_ON_DEVICE_QUEUES:
        case CL_DEVICE_MAX_ON_DEVICE_EVENTS:
        case CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT:
        case CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT:
        case CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT:
            return answer.value<cl_uint>(0);
        case CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE:
        case CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE:
            return answer.value<size_t>(0);
        case CL_DEVICE_PROFILE:
            return answer.text("FULL_PROFILE");
        case CL_DEVICE_VERSION:
            return answer.text(version_text);
        case CL_DEVICE_NUMERIC_VERSION:
            return answer.value<cl_version>(version);
        case CL_DEVICE_OPENCL_C_VERSION:
            return answer.text(language_version_text);
        case CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR:
            return answer.value<cl_version>(CL_MAKE_VERSION(1, 2, 0));
        case CL_DEVICE_OPENCL_C_ALL_VERSIONS:
            return answer.list(language_versions());
        case CL_DEVICE_OPENCL_C_FEATURES:
            return answer.list(language_features());
        case CL_DEVICE_EXTENSIONS:
            return answer.text(extension_list(true));
        case CL_DEVICE_EXTENSIONS_WITH_VERSION:
            return answer.list(extension_versions(true));
        case CL_DEVICE_VENDOR:
            return answer.text(vendor_name);
        case CL_DRIVER_VERSION:
            return answer.text(TRIMTAB_VERSION);
        case CL_DEVICE_PLATFORM:
            return answer.value<cl_platform_id>(Platform::instance().handle());
        default:
            return std::nullopt;
    }
}

cl_int device_answer(const _cl_device_id& device, cl_device_info name, const Answer& answer) {
    const trimtab_device& values = device.description.values;
    switch (name) {
        case CL_DEVICE_NAME:
            return answer.text(device.description.name);
        case CL_DEVICE_MAX_COMPUTE_UNITS:
            return answer.value(as_uint(values.sm_count));
        case CL_DEVICE_MAX_WORK_ITEM_SIZES:
            return answer.value(std::array<size_t, 3>{static_cast<size_t>(values.max_block_x),
                                                      static_cast<size_t>(values.max_block_y),
                                                      static_cast<size_t>(values.max_block_z)});
        case CL_DEVICE_MAX_WORK_GROUP_SIZE:
            return answer.value(static_cast<size_t>(values.max_threads_per_block));
        case CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
            return answer.value(static_cast<size_t>(values.warp_size));
        case CL_DEVICE_MAX_NUM_SUB_GROUPS:
            return answer.value(as_uint(values.max_threads_per_block / values.warp_size));
        case CL_DEVICE_MAX_CLOCK_FREQUENCY:
            return answer.value(as_uint(values.sm_clock_hz / 1e6));
        case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
            return answer.value<cl_ulong>(largest_allocation_bytes(device));
        case CL_DEVICE_GLOBAL_MEM_SIZE:
            return answer.value(static_cast<cl_ulong>(values.dram_bytes));
        case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
            return answer.value(static_cast<cl_ulong>(values.l2_bytes));
        case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE:
            return answer.value<cl_uint>(128);  // four sectors (docs/model.md)
        case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE:
            return answer.value(static_cast<cl_ulong>(values.constant_bytes));
        case CL_DEVICE_LOCAL_MEM_SIZE:
            return answer.value(static_cast<cl_ulong>(values.shared_bytes_per_block));
        case CL_DEVICE_REFERENCE_COUNT:
            return answer.value<cl_uint>(1);
        default:
            return CL_INVALID_VALUE;
    }
}

}  // namespace
}  // namespace trimtab::opencl

using namespace trimtab::opencl;

cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint count,
                                  cl_device_id* devices, cl_uint* count_back) {
    return guarded([&]() -> cl_int {
        if (platform != nullptr && !is_a(platform, Kind::platform)) return CL_INVALID_PLATFORM;
        constexpr cl_device_type known = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                         CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
        if (type != CL_DEVICE_TYPE_ALL && (type == 0 || (type & ~known) != 0)) return CL_INVALID_DEVICE_TYPE;
        if ((count == 0 && devices != nullptr) || (devices == nullptr && count_back == nullptr))
            return CL_INVALID_VALUE;
        const auto& all = Platform::instance().devices();
        std::size_t found = (type & CL_DEVICE_TYPE_GPU) != 0 || type == CL_DEVICE_TYPE_ALL ? all.size() : 0;
        if (found == 0 && (type & CL_DEVICE_TYPE_DEFAULT) != 0) found = std::min<std::size_t>(all.size(), 1);
        if (found == 0) return CL_DEVICE_NOT_FOUND;
        for (std::size_t i = 0; devices != nullptr && i < std::min<std::size_t>(found, count); ++i)
            devices[i] = all[i].get();
        if (count_back != nullptr) *count_back = static_cast<cl_uint>(found);
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void* value,
                                   size_t* size_back) {
    return guarded([&]() -> cl_int {
        if (!is_a(device, Kind::device)) return CL_INVALID_DEVICE;
        const Answer answer(size, value, size_back);
        if (const auto constant = constant_answer(name, answer)) return *constant;
        return device_answer(*device, name, answer);
    });
}

// There are no sub-devices, and nothing is counted of others.
cl_int CL_API_CALL clRetainDevice(cl_device_id device) {
    return is_a(device, Kind::device) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

cl_int CL_API_CALL clReleaseDevice(cl_device_id device) {
    return is_a(device, Kind::device) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

cl_int CL_API_CALL clCreateSubDevices(cl_device_id device, const cl_device_partition_property* properties,
                                      cl_uint, cl_device_id*, cl_uint*) {
    if (!is_a(device, Kind::device)) return CL_INVALID_DEVICE;
    return properties == nullptr || *properties == 0 ? CL_INVALID_VALUE : CL_DEVICE_PARTITION_FAILED;
}

cl_int CL_API_CALL clGetDeviceAndHostTimer(cl_device_id device, cl_ulong*, cl_ulong*) {
    return is_a(device, Kind::device) ? CL_INVALID_OPERATION : CL_INVALID_DEVICE;
}

cl_int CL_API_CALL clGetHostTimer(cl_device_id device, cl_ulong*) {
    return is_a(device, Kind::device) ? CL_INVALID_OPERATION : CL_INVALID_DEVICE;
}

cl_int CL_API_CALL clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id, cl_command_queue) {
    return is_a(context, Kind::context) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT;
}
