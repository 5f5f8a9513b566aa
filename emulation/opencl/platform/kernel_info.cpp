// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels say of themselves.
#include <algorithm>
#include <array>

#include "emulation/opencl/platform/info.h"
#include "emulation/opencl/platform/kernel.h"
#include "emulation/opencl/platform/work_groups.h"

using namespace trimtab::opencl;

namespace {

constexpr std::size_t sub_group_size = 32;  // a warp

Made<cl_device_id> device_of(const _cl_kernel& kernel, cl_device_id device) {
    const _cl_program& program = *kernel.program;
    if (device == nullptr && program.devices.size() == 1) return program.devices[0];
    if (!is_a(device, Kind::device) || !program.has(device)) return std::unexpected(CL_INVALID_DEVICE);
    return device;
}

std::array<size_t, 3> as_sizes(const std::array<std::uint32_t, 3>& size) {
    return {size[0], size[1], size[2]};
}

cl_kernel_arg_type_qualifier qualifiers_of(const KernelParameter& parameter) {
    cl_kernel_arg_type_qualifier bits = CL_KERNEL_ARG_TYPE_NONE;
    if (parameter.qualifiers.contains("const")) bits |= CL_KERNEL_ARG_TYPE_CONST;
    if (parameter.qualifiers.contains("restrict")) bits |= CL_KERNEL_ARG_TYPE_RESTRICT;
    if (parameter.qualifiers.contains("volatile")) bits |= CL_KERNEL_ARG_TYPE_VOLATILE;
    return bits;
}

cl_kernel_arg_access_qualifier access_of(const KernelParameter& parameter) {
    if (parameter.access == "read_only") return CL_KERNEL_ARG_ACCESS_READ_ONLY;
    if (parameter.access == "write_only") return CL_KERNEL_ARG_ACCESS_WRITE_ONLY;
    if (parameter.access == "read_write") return CL_KERNEL_ARG_ACCESS_READ_WRITE;
    return CL_KERNEL_ARG_ACCESS_NONE;
}

cl_kernel_arg_address_qualifier address_of(const KernelParameter& parameter) {
    switch (parameter.space) {
        case AddressSpace::global:
            return CL_KERNEL_ARG_ADDRESS_GLOBAL;
        case AddressSpace::constant:
            return CL_KERNEL_ARG_ADDRESS_CONSTANT;
        case AddressSpace::local:
            return CL_KERNEL_ARG_ADDRESS_LOCAL;
        default:
            return CL_KERNEL_ARG_ADDRESS_PRIVATE;
    }
}

}  // namespace

cl_int CL_API_CALL clGetKernelInfo(cl_kernel kernel, cl_kernel_info name, size_t size, void* value,
                                   size_t* size_back) {
    return guarded([&]() -> cl_int {
        if (!is_a(kernel, Kind::kernel)) return CL_INVALID_KERNEL;
        const Answer answer(size, value, size_back);
        switch (name) {
            case CL_KERNEL_FUNCTION_NAME:
                return answer.text(kernel->info->name);
            case CL_KERNEL_NUM_ARGS:
                return answer.value(static_cast<cl_uint>(kernel->arguments.size()));
            case CL_KERNEL_REFERENCE_COUNT:
                return answer.value<cl_uint>(kernel->references.load());
            case CL_KERNEL_CONTEXT:
                return answer.value<cl_context>(kernel->program->context.get());
            case CL_KERNEL_PROGRAM:
                return answer.value<cl_program>(kernel->program.get());
            case CL_KERNEL_ATTRIBUTES:
                return answer.text(attributes_of(*kernel->info));
            default:
                return CL_INVALID_VALUE;
        }
    });
}

cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name, size_t size,
                                      void* value, size_t* size_back) {
    return guarded([&]() -> cl_int {
        if (!is_a(kernel, Kind::kernel)) return CL_INVALID_KERNEL;
        if (index >= kernel->arguments.size()) return CL_INVALID_ARG_INDEX;
        const KernelParameter& parameter = kernel->info->parameters[index];
        const Answer answer(size, value, size_back);
        switch (name) {
            case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
                return answer.value(kind_of(parameter) == ParameterKind::image
                                        ? cl_uint{CL_KERNEL_ARG_ADDRESS_GLOBAL}
                                        : address_of(parameter));
            case CL_KERNEL_ARG_ACCESS_QUALIFIER:
                return answer.value(access_of(parameter));
            case CL_KERNEL_ARG_TYPE_NAME:
                return answer.text(parameter.type);
            case CL_KERNEL_ARG_TYPE_QUALIFIER:
                return answer.value(qualifiers_of(parameter));
            case CL_KERNEL_ARG_NAME:
                return answer.text(parameter.name);
            default:
                return CL_INVALID_VALUE;
        }
    });
}

cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id given,
                                            cl_kernel_work_group_info name, size_t size, void* value,
                                            size_t* size_back) {
    return guarded([&]() -> cl_int {
        if (!is_a(kernel, Kind::kernel)) return CL_INVALID_KERNEL;
        const auto device = device_of(*kernel, given);
        if (!device) return device.error();
        const auto executable = kernel->executable_of(*device);
        const auto loaded =
            executable == nullptr ? std::unexpected(std::string()) : executable->load(kernel->info->name, {});
        if (!loaded) return CL_INVALID_KERNEL;
        const Answer answer(size, value, size_back);
        switch (name) {
            case CL_KERNEL_WORK_GROUP_SIZE:
                return answer.value<size_t>(largest_work_group(**device, (*loaded)->image));
            case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
                return answer.value(as_sizes(kernel->info->required_size));
            case CL_KERNEL_LOCAL_MEM_SIZE: {
                cl_ulong bytes = (*loaded)->info->static_shared_bytes;
                for (const KernelArgument& argument : kernel->arguments) bytes += argument.local_bytes;
                return answer.value(bytes);
            }
            case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
                return answer.value(sub_group_size);
            case CL_KERNEL_PRIVATE_MEM_SIZE:
                return answer.value<cl_ulong>((*loaded)->info->local_bytes);
            default:
                return CL_INVALID_VALUE;  // CL_KERNEL_GLOBAL_WORK_SIZE too: there are no built-in kernels
        }
    });
}

cl_int CL_API_CALL clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id given,
                                           cl_kernel_sub_group_info name, size_t input_size,
                                           const void* input, size_t size, void* value, size_t* size_back) {
    return guarded([&]() -> cl_int {
        if (!is_a(kernel, Kind::kernel)) return CL_INVALID_KERNEL;
        const auto device = device_of(*kernel, given);
        if (!device) return device.error();
        const Answer answer(size, value, size_back);
        const auto threads = static_cast<size_t>((*device)->description.values.max_threads_per_block);
        switch (name) {
            case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
            case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE: {
                if (input == nullptr || input_size == 0 || input_size % sizeof(size_t) != 0 ||
                    input_size > 3 * sizeof(size_t))
                    return CL_INVALID_VALUE;
                size_t items = 1;
                for (std::size_t i = 0; i < input_size / sizeof(size_t); ++i)
                    items *= static_cast<const size_t*>(input)[i];
                return answer.value(name == CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE
                                        ? std::min(items, sub_group_size)
                                        : (items + sub_group_size - 1) / sub_group_size);
            }
            case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT: {
                size_t count = 0;
                if (input == nullptr || input_size != sizeof count) return CL_INVALID_VALUE;
                std::memcpy(&count, input, sizeof count);
                const size_t items = count * sub_group_size;
                std::array<size_t, 3> local{items, 1, 1};
                if (items > threads) local = {0, 0, 0};
                if (size != 0 && size % sizeof(size_t) != 0) return CL_INVALID_VALUE;
                const std::size_t wanted =
                    value == nullptr ? 3 : std::min<std::size_t>(size / sizeof(size_t), 3);
                return answer.bytes(local.data(), wanted * sizeof(size_t));
            }
            case CL_KERNEL_MAX_NUM_SUB_GROUPS:
                return answer.value(threads / sub_group_size);
            case CL_KERNEL_COMPILE_NUM_SUB_GROUPS:
                return answer.value<size_t>(0);
            default:
                return CL_INVALID_VALUE;
        }
    });
}
