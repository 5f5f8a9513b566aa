// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/platform/kernel.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "emulation/opencl/platform/info.h"
#include "emulation/opencl/platform/work_groups.h"

namespace trimtab::opencl {

ParameterKind kind_of(const KernelParameter& parameter) {
    if (parameter.type == "sampler_t") return ParameterKind::sampler;
    if (parameter.type.starts_with("image")) return ParameterKind::image;
    if (parameter.space == AddressSpace::local) return ParameterKind::local;
    if (parameter.space == AddressSpace::global || parameter.space == AddressSpace::constant)
        return ParameterKind::memory;
    return ParameterKind::value;
}

namespace {

Made<cl_kernel> make_kernel(cl_program program, const std::shared_ptr<Executable>& executable,
                            const KernelInfo& info) {
    const auto loaded = executable->load(info.name, {});
    if (!loaded) {
        program->context->say(loaded.error());
        return std::unexpected(CL_OUT_OF_RESOURCES);
    }
    auto kernel = std::make_unique<_cl_kernel>();
    kernel->executable = executable;
    kernel->info = &info;
    for (const ptx::Variable& parameter : (*loaded)->function->parameters)
        kernel->sizes.push_back(parameter.size_bytes);
    if (kernel->sizes.size() != info.parameters.size()) return std::unexpected(CL_INVALID_KERNEL_DEFINITION);
    kernel->arguments.resize(info.parameters.size());
    program->kernels.fetch_add(1);
    kernel->program = program;
    return kernel.release();
}

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
    std::vector<std::byte> out(sizeof value);
    std::memcpy(out.data(), &value, sizeof value);
    return out;
}

// What image types are called, of an object.
bool is_of_type(const _cl_mem& image, const std::string& type) {
    switch (image.type) {
        case CL_MEM_OBJECT_IMAGE1D:
            return type == "image1d_t";
        case CL_MEM_OBJECT_IMAGE1D_BUFFER:
            return type == "image1d_buffer_t";
        case CL_MEM_OBJECT_IMAGE1D_ARRAY:
            return type == "image1d_array_t";
        case CL_MEM_OBJECT_IMAGE2D:
            return type == "image2d_t";
        case CL_MEM_OBJECT_IMAGE2D_ARRAY:
            return type == "image2d_array_t";
        case CL_MEM_OBJECT_IMAGE3D:
            return type == "image3d_t";
        default:
            return false;
    }
}

cl_int set_memory(KernelArgument& argument, const KernelParameter& parameter, bool is_image,
                  const void* value, const _cl_context& context) {
    cl_mem memory = nullptr;
    if (value != nullptr) std::memcpy(static_cast<void*>(&memory), value, sizeof(cl_mem));
    if (memory == nullptr) {
        if (is_image) return CL_INVALID_MEM_OBJECT;
        argument = {.is_set = true, .bytes = bytes_of(std::uint64_t{0}), .memory = {}, .local_bytes = 0};
        return CL_SUCCESS;
    }
    if (!is_live(memory, Kind::memory) || memory->context.get() != &context) return CL_INVALID_MEM_OBJECT;
    if (is_image != memory->image.has_value()) return CL_INVALID_MEM_OBJECT;
    if (is_image) {
        if (!is_of_type(*memory, parameter.type)) return CL_INVALID_MEM_OBJECT;
        const bool writes = parameter.access == "write_only", reads = parameter.access == "read_only";
        if ((writes && (memory->flags & CL_MEM_READ_ONLY) != 0) ||
            (reads && (memory->flags & CL_MEM_WRITE_ONLY) != 0))
            return CL_INVALID_ARG_VALUE;
    }
    const std::uint64_t word =
        is_image ? memory->image_id << sampler_bits : reinterpret_cast<std::uint64_t>(memory->bytes);
    argument = {.is_set = true, .bytes = bytes_of(word), .memory = memory, .local_bytes = 0};
    return CL_SUCCESS;
}

}  // namespace
}  // namespace trimtab::opencl

using namespace trimtab::opencl;

std::shared_ptr<Executable> _cl_kernel::executable_of(cl_device_id device) const {
    auto own = program->executable(device);
    return own != nullptr && own->kernel(info->name) != nullptr ? own : nullptr;
}

cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char* name, cl_int* error) {
    return made<cl_kernel>(error, [&]() -> Made<cl_kernel> {
        if (!is_a(program, Kind::program)) return std::unexpected(CL_INVALID_PROGRAM);
        if (name == nullptr) return std::unexpected(CL_INVALID_VALUE);
        const auto executable = program->any_executable();
        if (executable == nullptr) return std::unexpected(CL_INVALID_PROGRAM_EXECUTABLE);
        const KernelInfo* info = executable->kernel(name);
        if (info == nullptr) return std::unexpected(CL_INVALID_KERNEL_NAME);
        return make_kernel(program, executable, *info);
    });
}

cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint count, cl_kernel* kernels,
                                            cl_uint* count_back) {
    return guarded([&]() -> cl_int {
        if (!is_a(program, Kind::program)) return CL_INVALID_PROGRAM;
        const auto executable = program->any_executable();
        if (executable == nullptr) return CL_INVALID_PROGRAM_EXECUTABLE;
        const auto all = executable->kernels();
        if (kernels != nullptr) {
            if (count < all.size()) return CL_INVALID_VALUE;
            for (std::size_t i = 0; i < all.size(); ++i) {
                const auto kernel = make_kernel(program, executable, *all[i]);
                if (!kernel) {
                    while (i-- > 0) static_cast<void>(clReleaseKernel(kernels[i]));
                    return kernel.error();
                }
                kernels[i] = *kernel;
            }
        }
        if (count_back != nullptr) *count_back = static_cast<cl_uint>(all.size());
        return CL_SUCCESS;
    });
}

cl_kernel CL_API_CALL clCloneKernel(cl_kernel source, cl_int* error) {
    return made<cl_kernel>(error, [&]() -> Made<cl_kernel> {
        if (!is_a(source, Kind::kernel)) return std::unexpected(CL_INVALID_KERNEL);
        const auto kernel = make_kernel(source->program.get(), source->executable, *source->info);
        if (kernel) (*kernel)->arguments = source->arguments;
        return kernel;
    });
}

cl_int CL_API_CALL clRetainKernel(cl_kernel kernel) {
    return retain(kernel, Kind::kernel, CL_INVALID_KERNEL);
}

cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel) {
    return release(kernel, Kind::kernel, CL_INVALID_KERNEL);
}

cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
    return guarded([&]() -> cl_int {
        if (!is_a(kernel, Kind::kernel)) return CL_INVALID_KERNEL;
        if (index >= kernel->arguments.size()) return CL_INVALID_ARG_INDEX;
        const KernelParameter& parameter = kernel->info->parameters[index];
        KernelArgument& argument = kernel->arguments[index];
        switch (kind_of(parameter)) {
            case ParameterKind::local:
                if (value != nullptr) return CL_INVALID_ARG_VALUE;
                if (size == 0) return CL_INVALID_ARG_SIZE;
                argument = {
                    .is_set = true, .bytes = bytes_of(std::uint64_t{0}), .memory = {}, .local_bytes = size};
                return CL_SUCCESS;
            case ParameterKind::memory:
                if (size != sizeof(cl_mem)) return CL_INVALID_ARG_SIZE;
                return set_memory(argument, parameter, false, value, *kernel->program->context);
            case ParameterKind::image:
                if (size != sizeof(cl_mem)) return CL_INVALID_ARG_SIZE;
                return set_memory(argument, parameter, true, value, *kernel->program->context);
            case ParameterKind::sampler: {
                if (size != sizeof(cl_sampler)) return CL_INVALID_ARG_SIZE;
                cl_sampler sampler = nullptr;
                if (value != nullptr) std::memcpy(static_cast<void*>(&sampler), value, sizeof(cl_sampler));
                if (!is_live(sampler, Kind::sampler)) return CL_INVALID_SAMPLER;
                argument = {.is_set = true,
                            .bytes = bytes_of(std::uint64_t{sampler->bits()}),
                            .memory = {},
                            .local_bytes = 0};
                return CL_SUCCESS;
            }
            case ParameterKind::value:
                break;
        }
        if (value == nullptr) return CL_INVALID_ARG_VALUE;
        if (size != kernel->sizes[index]) return CL_INVALID_ARG_SIZE;
        const auto* bytes = static_cast<const std::byte*>(value);
        argument = {.is_set = true, .bytes = {bytes, bytes + size}, .memory = {}, .local_bytes = 0};
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void* value) {
    return guarded([&]() -> cl_int {
        if (!is_a(kernel, Kind::kernel)) return CL_INVALID_KERNEL;
        if (index >= kernel->arguments.size()) return CL_INVALID_ARG_INDEX;
        if (kind_of(kernel->info->parameters[index]) != ParameterKind::memory) return CL_INVALID_ARG_VALUE;
        kernel->arguments[index] = {.is_set = true,
                                    .bytes = bytes_of(reinterpret_cast<std::uint64_t>(value)),
                                    .memory = {},
                                    .local_bytes = 0};
        return CL_SUCCESS;
    });
}

// Kernels see all shared memory anyway.
cl_int CL_API_CALL clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info name, size_t size,
                                       const void* value) {
    if (!is_a(kernel, Kind::kernel)) return CL_INVALID_KERNEL;
    if (value == nullptr) return CL_INVALID_VALUE;
    switch (name) {
        case CL_KERNEL_EXEC_INFO_SVM_PTRS:
            return size % sizeof(void*) == 0 && size > 0 ? CL_SUCCESS : CL_INVALID_VALUE;
        case CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM: {
            cl_bool wanted = CL_FALSE;
            if (size != sizeof wanted) return CL_INVALID_VALUE;
            std::memcpy(&wanted, value, sizeof wanted);
            return wanted == CL_FALSE ? CL_SUCCESS : CL_INVALID_OPERATION;
        }
        default:
            return CL_INVALID_VALUE;
    }
}
