// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs: made, asked about.
#include "emulation/opencl/platform/program.h"

#include <cstring>

#include "emulation/opencl/platform/info.h"

using namespace trimtab::opencl;

std::shared_ptr<Executable> _cl_program::any_executable() {
    const std::lock_guard lock(mutex);
    for (cl_device_id device : devices)
        if (auto executable = builds[device].executable) return executable;
    return nullptr;
}

namespace {

// Of each of its devices: what clGetProgramInfo calls a binary. Empty: it was not built for that.
std::string binary_of(_cl_program& program, cl_device_id device) {
    std::vector<std::shared_ptr<CompiledUnit>> units;
    cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
    {
        const std::lock_guard lock(program.mutex);
        units = program.builds[device].units;
        type = program.builds[device].type;
    }
    // Whole files, one behind the other, each behind its length; the type first.
    std::string out;
    const auto append = [&out](std::uint64_t word) {
        out.append(reinterpret_cast<const char*>(&word), sizeof word);
    };
    if (units.empty()) return out;
    append(type);
    append(units.size());
    for (const auto& unit : units) {
        const auto binary = unit->binary();
        if (!binary) return {};
        append(binary->size());
        out.append(*binary);
    }
    return out;
}

bool read_binary(std::string_view binary, DeviceBuild& build) {
    const auto take = [&binary](std::uint64_t& word) {
        if (binary.size() < sizeof word) return false;
        std::memcpy(&word, binary.data(), sizeof word);
        binary.remove_prefix(sizeof word);
        return true;
    };
    std::uint64_t type = 0, count = 0;
    if (!take(type) || !take(count) || count == 0 || count > 4096) return false;
    if (type != CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT && type != CL_PROGRAM_BINARY_TYPE_LIBRARY &&
        type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
        return false;
    build.type = static_cast<cl_program_binary_type>(type);
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t size = 0;
        if (!take(size) || size > binary.size()) return false;
        auto unit = CompiledUnit::from_binary(binary.substr(0, size));
        if (unit == nullptr) return false;
        build.units.push_back(std::move(unit));
        binary.remove_prefix(size);
    }
    return binary.empty();
}

cl_int binaries(_cl_program& program, const Answer& answer, bool sizes) {
    std::vector<std::string> all;
    for (cl_device_id device : program.devices) all.push_back(binary_of(program, device));
    if (sizes) {
        std::vector<size_t> lengths;
        for (const std::string& binary : all) lengths.push_back(binary.size());
        return answer.list(lengths);
    }
    if (answer.place() != nullptr) {
        if (answer.size() < all.size() * sizeof(unsigned char*)) return CL_INVALID_VALUE;
        auto* places = static_cast<unsigned char**>(answer.place());
        for (std::size_t i = 0; i < all.size(); ++i)
            if (places[i] != nullptr) std::memcpy(places[i], all[i].data(), all[i].size());
    }
    return Answer(0, nullptr, nullptr).nothing();
}

}  // namespace

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count, const char** strings,
                                                 const size_t* lengths, cl_int* error) {
    return made<cl_program>(error, [&]() -> Made<cl_program> {
        if (!is_a(context, Kind::context)) return std::unexpected(CL_INVALID_CONTEXT);
        if (count == 0 || strings == nullptr) return std::unexpected(CL_INVALID_VALUE);
        auto program = std::make_unique<_cl_program>();
        for (cl_uint i = 0; i < count; ++i) {
            if (strings[i] == nullptr) return std::unexpected(CL_INVALID_VALUE);
            if (lengths != nullptr && lengths[i] != 0)
                program->source.append(strings[i], lengths[i]);
            else
                program->source.append(strings[i]);
        }
        // A length may count the NUL that ends its string.
        std::erase(program->source, '\0');
        program->has_source = true;
        program->context = context;
        program->devices = context->devices;
        return program.release();
    });
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint count,
                                                 const cl_device_id* devices, const size_t* lengths,
                                                 const unsigned char** files, cl_int* states, cl_int* error) {
    return made<cl_program>(error, [&]() -> Made<cl_program> {
        if (!is_a(context, Kind::context)) return std::unexpected(CL_INVALID_CONTEXT);
        if (count == 0 || devices == nullptr || lengths == nullptr || files == nullptr)
            return std::unexpected(CL_INVALID_VALUE);
        auto program = std::make_unique<_cl_program>();
        program->context = context;
        cl_int status = CL_SUCCESS;
        for (cl_uint i = 0; i < count; ++i) {
            if (!is_a(devices[i], Kind::device) || !context->has(devices[i]))
                return std::unexpected(CL_INVALID_DEVICE);
            const bool is_given = lengths[i] != 0 && files[i] != nullptr;
            DeviceBuild build;
            const bool is_read =
                is_given && read_binary({reinterpret_cast<const char*>(files[i]), lengths[i]}, build);
            const cl_int state = !is_given ? CL_INVALID_VALUE : is_read ? CL_SUCCESS : CL_INVALID_BINARY;
            if (states != nullptr) states[i] = state;
            if (status == CL_SUCCESS) status = state;
            program->devices.push_back(devices[i]);
            program->builds[devices[i]] = std::move(build);
        }
        if (status != CL_SUCCESS) return std::unexpected(status);
        return program.release();
    });
}

cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count,
                                                         const cl_device_id* devices, const char* names,
                                                         cl_int* error) {
    return made<cl_program>(error, [&]() -> Made<cl_program> {
        if (!is_a(context, Kind::context)) return std::unexpected(CL_INVALID_CONTEXT);
        if (count == 0 || devices == nullptr) return std::unexpected(CL_INVALID_VALUE);
        for (cl_device_id device : std::span(devices, count))
            if (!is_a(device, Kind::device) || !context->has(device))
                return std::unexpected(CL_INVALID_DEVICE);
        static_cast<void>(names);
        return std::unexpected(CL_INVALID_VALUE);  // there are none
    });
}

cl_program CL_API_CALL clCreateProgramWithIL(cl_context context, const void* code, size_t length,
                                             cl_int* error) {
    return made<cl_program>(error, [&]() -> Made<cl_program> {
        if (!is_a(context, Kind::context)) return std::unexpected(CL_INVALID_CONTEXT);
        if (code == nullptr || length == 0) return std::unexpected(CL_INVALID_VALUE);
        return std::unexpected(CL_INVALID_OPERATION);  // no device takes SPIR-V
    });
}

cl_int CL_API_CALL clRetainProgram(cl_program program) {
    return retain(program, Kind::program, CL_INVALID_PROGRAM);
}

cl_int CL_API_CALL clReleaseProgram(cl_program program) {
    return release(program, Kind::program, CL_INVALID_PROGRAM);
}

cl_int CL_API_CALL clSetProgramReleaseCallback(cl_program program, void(CL_CALLBACK*)(cl_program, void*),
                                               void*) {
    return is_a(program, Kind::program) ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM;
}

cl_int CL_API_CALL clSetProgramSpecializationConstant(cl_program program, cl_uint, size_t, const void*) {
    return is_a(program, Kind::program) ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM;
}

cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info name, size_t size, void* value,
                                    size_t* size_back) {
    return guarded([&]() -> cl_int {
        if (!is_a(program, Kind::program)) return CL_INVALID_PROGRAM;
        const Answer answer(size, value, size_back);
        switch (name) {
            case CL_PROGRAM_REFERENCE_COUNT:
                return answer.value<cl_uint>(program->references.load());
            case CL_PROGRAM_CONTEXT:
                return answer.value<cl_context>(program->context.get());
            case CL_PROGRAM_NUM_DEVICES:
                return answer.value(static_cast<cl_uint>(program->devices.size()));
            case CL_PROGRAM_DEVICES:
                return answer.list(program->devices);
            case CL_PROGRAM_SOURCE:
                return answer.text(program->source);
            case CL_PROGRAM_BINARY_SIZES:
                return binaries(*program, answer, true);
            case CL_PROGRAM_BINARIES: {
                if (size_back != nullptr) *size_back = program->devices.size() * sizeof(unsigned char*);
                return binaries(*program, answer, false);
            }
            case CL_PROGRAM_NUM_KERNELS:
            case CL_PROGRAM_KERNEL_NAMES: {
                const auto executable = program->any_executable();
                if (executable == nullptr) return CL_INVALID_PROGRAM_EXECUTABLE;
                const auto kernels = executable->kernels();
                if (name == CL_PROGRAM_NUM_KERNELS) return answer.value<size_t>(kernels.size());
                std::string names;
                for (const KernelInfo* kernel : kernels)
                    names.append(names.empty() ? "" : ";").append(kernel->name);
                return answer.text(names);
            }
            case CL_PROGRAM_IL:
                return answer.nothing();
            case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
            case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT:
                return answer.value<cl_bool>(CL_FALSE);
            default:
                return CL_INVALID_VALUE;
        }
    });
}

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info name,
                                         size_t size, void* value, size_t* size_back) {
    return guarded([&]() -> cl_int {
        if (!is_a(program, Kind::program)) return CL_INVALID_PROGRAM;
        if (!is_a(device, Kind::device) || !program->has(device)) return CL_INVALID_DEVICE;
        const Answer answer(size, value, size_back);
        const std::lock_guard lock(program->mutex);
        const DeviceBuild& build = program->builds[device];
        switch (name) {
            case CL_PROGRAM_BUILD_STATUS:
                return answer.value(build.status);
            case CL_PROGRAM_BUILD_OPTIONS:
                return answer.text(build.options);
            case CL_PROGRAM_BUILD_LOG:
                return answer.text(build.log);
            case CL_PROGRAM_BINARY_TYPE:
                return answer.value(build.type);
            case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE:
                return answer.value<size_t>(0);
            default:
                return CL_INVALID_VALUE;
        }
    });
}
