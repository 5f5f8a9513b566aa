// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Building, compiling and linking programs.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "emulation/opencl/front_end/option_words.h"
#include "emulation/opencl/platform/event.h"
#include "emulation/opencl/platform/info.h"
#include "emulation/opencl/platform/program.h"

using namespace trimtab::opencl;

namespace {

using Notify = void(CL_CALLBACK*)(cl_program, void*);

// The devices that are meant: those given, or all of the program's. Nothing: one is none of them.
Made<std::vector<cl_device_id>> devices_of(const std::vector<cl_device_id>& all, cl_uint count,
                                           const cl_device_id* devices) {
    if ((count == 0) != (devices == nullptr)) return std::unexpected(CL_INVALID_VALUE);
    if (count == 0) return all;
    for (cl_device_id device : std::span(devices, count))
        if (!is_a(device, Kind::device) || std::ranges::find(all, device) == all.end())
            return std::unexpected(CL_INVALID_DEVICE);
    return std::vector<cl_device_id>(devices, devices + count);
}

// What can be said before anything is compiled. 0 or an error.
cl_int may_build(_cl_program* program, Notify notify, const void* data) {
    if (!is_a(program, Kind::program)) return CL_INVALID_PROGRAM;
    if (notify == nullptr && data != nullptr) return CL_INVALID_VALUE;
    if (program->kernels.load() > 0) return CL_INVALID_OPERATION;
    return CL_SUCCESS;
}

void tell(_cl_program* program, Notify notify, void* data) {
    if (notify == nullptr) return;
    Scheduler::instance().call_later(
        [held = Ref<_cl_program>(program), notify, data] { notify(held.get(), data); });
}

// The log, and the error for the call.
cl_int failure_of(const CompileFailure& failure, cl_int of_program, std::string& log) {
    log = failure.log;
    if (!log.empty() && log.back() != '\n') log += '\n';
    switch (failure.kind) {
        case CompileFailure::Kind::options:
            return of_program == CL_COMPILE_PROGRAM_FAILURE ? CL_INVALID_COMPILER_OPTIONS
                                                            : CL_INVALID_BUILD_OPTIONS;
        case CompileFailure::Kind::installation:
            return CL_COMPILER_NOT_AVAILABLE;
        default:
            return of_program;
    }
}

// Compiles the program's source once, for all the devices.
cl_int compile(_cl_program& program, const std::vector<cl_device_id>& devices, const char* options,
               bool is_part, std::vector<std::pair<std::string, std::string>> headers, cl_int of_program) {
    DeviceBuild build{.status = CL_BUILD_ERROR,
                      .type = CL_PROGRAM_BINARY_TYPE_NONE,
                      .options = options == nullptr ? "" : options,
                      .log = {},
                      .units = {},
                      .executable = nullptr};
    cl_int status = CL_SUCCESS;
    const auto words = option_words(build.options);
    if (!words) {
        status =
            failure_of({.kind = CompileFailure::Kind::options, .log = words.error()}, of_program, build.log);
    } else {
        auto unit = CompiledUnit::compile({.source = program.source,
                                           .file = "program.cl",
                                           .options = *words,
                                           .is_part = is_part,
                                           .headers = std::move(headers)});
        if (unit) {
            build.status = CL_BUILD_SUCCESS;
            build.type = is_part ? cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT}
                                 : cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_EXECUTABLE};
            build.log = (*unit)->log();
            build.units = {std::move(*unit)};
        } else {
            status = failure_of(unit.error(), of_program, build.log);
        }
    }
    const std::lock_guard lock(program.mutex);
    for (cl_device_id device : devices) {
        DeviceBuild& of_device = program.builds[device] = build;
        if (!is_part && build.status == CL_BUILD_SUCCESS)
            of_device.executable = std::make_shared<Executable>(build.units);
    }
    return status;
}

// Of a program made of binaries.
cl_int build_binary(_cl_program& program, const std::vector<cl_device_id>& devices, const char* options) {
    const std::lock_guard lock(program.mutex);
    for (cl_device_id device : devices) {
        DeviceBuild& build = program.builds[device];
        if (build.type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE) return CL_INVALID_BINARY;
        build.options = options == nullptr ? "" : options;
        build.status = CL_BUILD_SUCCESS;
        build.executable = std::make_shared<Executable>(build.units);
    }
    return CL_SUCCESS;
}

// Names of functions that no unit has, and of those that two have: loading says so.
bool links(Executable& executable, std::string& log) {
    const auto kernels = executable.kernels();
    if (kernels.empty()) return true;
    const auto loaded = executable.load(kernels[0]->name, {});
    if (!loaded) log = loaded.error() + "\n";
    return loaded.has_value();
}

}  // namespace

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                                  const char* options, Notify notify, void* data) {
    return guarded([&]() -> cl_int {
        if (const cl_int status = may_build(program, notify, data); status != CL_SUCCESS) return status;
        const auto wanted = devices_of(program->devices, count, devices);
        if (!wanted) return wanted.error();
        const cl_int status = program->has_source
                                  ? compile(*program, *wanted, options, false, {}, CL_BUILD_PROGRAM_FAILURE)
                                  : build_binary(*program, *wanted, options);
        tell(program, notify, data);
        // With a callback the call only starts the build.
        return notify != nullptr && status == CL_BUILD_PROGRAM_FAILURE ? CL_SUCCESS : status;
    });
}

cl_int CL_API_CALL clCompileProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                                    const char* options, cl_uint header_count, const cl_program* headers,
                                    const char** names, Notify notify, void* data) {
    return guarded([&]() -> cl_int {
        if (const cl_int status = may_build(program, notify, data); status != CL_SUCCESS) return status;
        if (!program->has_source) return CL_INVALID_OPERATION;
        if ((header_count == 0) != (headers == nullptr) || (header_count == 0) != (names == nullptr))
            return CL_INVALID_VALUE;
        const auto wanted = devices_of(program->devices, count, devices);
        if (!wanted) return wanted.error();
        std::vector<std::pair<std::string, std::string>> texts;
        for (cl_uint i = 0; i < header_count; ++i) {
            if (!is_a(headers[i], Kind::program) || !headers[i]->has_source) return CL_INVALID_PROGRAM;
            if (names[i] == nullptr) return CL_INVALID_VALUE;
            texts.emplace_back(names[i], headers[i]->source);
        }
        const cl_int status =
            compile(*program, *wanted, options, true, std::move(texts), CL_COMPILE_PROGRAM_FAILURE);
        tell(program, notify, data);
        return notify != nullptr && status == CL_COMPILE_PROGRAM_FAILURE ? CL_SUCCESS : status;
    });
}

cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint count, const cl_device_id* devices,
                                     const char* options, cl_uint program_count, const cl_program* programs,
                                     Notify notify, void* data, cl_int* error) {
    cl_int status = CL_SUCCESS;
    cl_program out = made<cl_program>(error, [&]() -> Made<cl_program> {
        if (!is_a(context, Kind::context)) return std::unexpected(CL_INVALID_CONTEXT);
        if (program_count == 0 || programs == nullptr || (notify == nullptr && data != nullptr))
            return std::unexpected(CL_INVALID_VALUE);
        const auto wanted = devices_of(context->devices, count, devices);
        if (!wanted) return std::unexpected(wanted.error());
        const auto words = option_words(options == nullptr ? "" : options);
        if (!words) return std::unexpected(CL_INVALID_LINKER_OPTIONS);
        bool is_library = false;
        for (const std::string& word : *words) {
            is_library = is_library || word == "-create-library";
            if (!word.starts_with("-cl-") && word != "-create-library" && word != "-enable-link-options")
                return std::unexpected(CL_INVALID_LINKER_OPTIONS);
        }
        auto linked = std::make_unique<_cl_program>();
        linked->context = context;
        linked->devices = *wanted;
        for (cl_device_id device : *wanted) {
            DeviceBuild build{.status = CL_BUILD_SUCCESS,
                              .type = is_library ? cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_LIBRARY}
                                                 : cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_EXECUTABLE},
                              .options = options == nullptr ? "" : options,
                              .log = {},
                              .units = {},
                              .executable = nullptr};
            for (cl_program program : std::span(programs, program_count)) {
                if (!is_a(program, Kind::program)) return std::unexpected(CL_INVALID_PROGRAM);
                const std::lock_guard lock(program->mutex);
                const DeviceBuild& part = program->builds[device];
                if (part.type != CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT &&
                    part.type != CL_PROGRAM_BINARY_TYPE_LIBRARY)
                    return std::unexpected(CL_INVALID_OPERATION);
                build.units.insert(build.units.end(), part.units.begin(), part.units.end());
            }
            if (!is_library) {
                build.executable = std::make_shared<Executable>(build.units);
                if (!links(*build.executable, build.log)) {
                    build.executable = nullptr;
                    build.status = CL_BUILD_ERROR;
                    build.type = CL_PROGRAM_BINARY_TYPE_NONE;
                    status = CL_LINK_PROGRAM_FAILURE;
                }
            }
            linked->builds[device] = std::move(build);
        }
        tell(linked.get(), notify, data);
        return linked.release();
    });
    // The program that did not link holds the log.
    if (out != nullptr && status != CL_SUCCESS && error != nullptr) *error = status;
    return out;
}
