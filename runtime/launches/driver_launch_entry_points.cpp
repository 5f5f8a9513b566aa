// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver API's launches.
#include "runtime/launches/body_function.h"
#include "runtime/launches/capture.h"
#include "runtime/launches/launch_attributes.h"
#include "runtime/launches/packed_arguments.h"
#include "runtime/process.h"

// The header makes other names of these where the per-thread default stream is asked for.
#undef cuLaunchKernel
#undef cuLaunchKernelEx

namespace trimtab::runtime {
namespace {

// As the program gives it.
struct DriverLaunch {
    CUfunction function = nullptr;
    choosing::LaunchConfiguration written;
    CUstream stream = nullptr;
    void **arguments = nullptr, **extra = nullptr;
};

// `default_stream`: which one the stream 0 is. `forward` takes a function, the grid, the block and the dynamic shared
// memory, and gives a CUresult.
template <typename Forward>
CUresult launch(const DriverLaunch& given, CUstream default_stream, const char* keep,
                const Forward& forward) {
    CUfunction function = given.function;
    CUstream stream = given.stream != nullptr ? given.stream : default_stream;
    Process& process = Process::instance();
    Loaded& loaded = process.loaded();
    RegisteredKernel* kernel = process.registrations().find(function);
    ArgumentPointers pointers{};
    choosing::LaunchShape shape{.written = given.written, .function = function, .stream = stream};
    shape.of_driver_api = true;
    if (const char* reason =
            point_at_arguments(loaded.launcher, kernel, given.arguments, given.extra, pointers, shape))
        keep = reason;
    // Both number their errors alike.
    return static_cast<CUresult>(loaded.launcher.launch(
        kernel, shape, keep,
        [&](const trimtab_dim3& grid, const trimtab_dim3& block, std::uint64_t shared_bytes,
            const RegisteredKernel* body) {
            CUfunction launched = function;
            if (body != nullptr) {
                const cudaError_t status = function_of_body(loaded.backend.calls(), *body, launched);
                if (status != cudaSuccess) return status;
            }
            return static_cast<cudaError_t>(forward(launched, grid, block, shared_bytes));
        },
        [&] { return is_captured(loaded.backend.calls(), stream); }));
}

CUresult launch_plain(decltype(&::cuLaunchKernel) DriverCalls::* member, CUstream default_stream,
                      const DriverLaunch& given) {
    const auto call = Process::instance().loaded().backend.calls().driver.*member;
    return launch(given, default_stream, nullptr,
                  [&](CUfunction launched, const trimtab_dim3& grid, const trimtab_dim3& block,
                      std::uint64_t new_shared_bytes) {
                      return call(launched, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                  static_cast<unsigned>(new_shared_bytes), given.stream, given.arguments,
                                  given.extra);
                  });
}

CUresult launch_ex(decltype(&::cuLaunchKernelEx) DriverCalls::* member, CUstream default_stream,
                   const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
    const auto call = Process::instance().loaded().backend.calls().driver.*member;
    if (config == nullptr) return call(config, function, arguments, extra);
    const char* keep = nullptr;
    for (unsigned i = 0; config->attrs != nullptr && i < config->numAttrs; ++i) {
        if (!leaves_shape_free(config->attrs[i]))
            keep = "it is launched with cluster or cooperative attributes";
    }
    const DriverLaunch given{
        .function = function,
        .written = {.grid = {.x = config->gridDimX, .y = config->gridDimY, .z = config->gridDimZ},
                    .block = {.x = config->blockDimX, .y = config->blockDimY, .z = config->blockDimZ},
                    .dynamic_shared_bytes = config->sharedMemBytes},
        .stream = config->hStream,
        .arguments = arguments,
        .extra = extra};
    return launch(given, default_stream, keep,
                  [&](CUfunction launched, const trimtab_dim3& grid, const trimtab_dim3& block,
                      std::uint64_t shared_bytes) {
                      CUlaunchConfig changed = *config;
                      changed.gridDimX = grid.x;
                      changed.gridDimY = grid.y;
                      changed.gridDimZ = grid.z;
                      changed.blockDimX = block.x;
                      changed.blockDimY = block.y;
                      changed.blockDimZ = block.z;
                      changed.sharedMemBytes = static_cast<unsigned>(shared_bytes);
                      return call(&changed, launched, arguments, extra);
                  });
}

}  // namespace
}  // namespace trimtab::runtime

using trimtab::runtime::DriverCalls;

extern "C" {

CUresult cuLaunchKernel(CUfunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
                        unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ, unsigned sharedMemBytes,
                        CUstream hStream, void** kernelParams, void** extra) {
    return trimtab::runtime::launch_plain(
        &DriverCalls::launch_kernel, CU_STREAM_LEGACY,
        {f,
         {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes},
         hStream,
         kernelParams,
         extra});
}
CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
                             unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ,
                             unsigned sharedMemBytes, CUstream hStream, void** kernelParams, void** extra) {
    return trimtab::runtime::launch_plain(
        &DriverCalls::launch_kernel_ptsz, CU_STREAM_PER_THREAD,
        {f,
         {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes},
         hStream,
         kernelParams,
         extra});
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams, void** extra) {
    return trimtab::runtime::launch_ex(&DriverCalls::launch_kernel_ex, CU_STREAM_LEGACY, config, f,
                                       kernelParams, extra);
}
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction f, void** kernelParams,
                               void** extra) {
    return trimtab::runtime::launch_ex(&DriverCalls::launch_kernel_ex_ptsz, CU_STREAM_PER_THREAD, config, f,
                                       kernelParams, extra);
}

}  // extern "C"
