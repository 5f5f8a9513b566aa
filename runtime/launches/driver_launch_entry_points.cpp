// The driver API's launches.
#include <array>
#include <cstring>

#include "runtime/launches/launch_attributes.h"
#include "runtime/process.h"

// The header makes other names of these where the per-thread default stream is asked for.
#undef cuLaunchKernel
#undef cuLaunchKernelEx

namespace trimtab::runtime {
namespace {

constexpr std::size_t max_packed_arguments = 128;
using ArgumentPointers = std::array<void*, max_packed_arguments>;

// The arguments of the form that names one buffer: a pointer to each, at the offsets that the kernel's
// description gives. False: they are not understood, or cut short.
bool unpack(void* const* extra, const analysis::KernelDescription& description, ArgumentPointers& pointers) {
    std::byte* buffer = nullptr;
    std::size_t bytes = 0;
    constexpr int most_entries = 8;
    for (int i = 0; i < most_entries && *extra != CU_LAUNCH_PARAM_END; ++i, extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = static_cast<std::byte*>(extra[1]);
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1] != nullptr)
            std::memcpy(&bytes, extra[1], sizeof bytes);
        else
            return false;
    }
    if (buffer == nullptr || description.parameters.size() > pointers.size()) return false;
    for (std::size_t i = 0; i < description.parameters.size(); ++i) {
        const analysis::KernelParameter& parameter = description.parameters[i];
        if (std::size_t{parameter.offset} + parameter.size > bytes) return false;
        pointers[i] = buffer + parameter.offset;
    }
    return true;
}

// `forward` takes the grid, the block and the dynamic shared memory, and gives a CUresult.
template <typename Forward>
CUresult launch(CUfunction function, LaunchShape shape, void** arguments, void** extra, const char* keep,
                const Forward& forward) {
    Process& process = Process::instance();
    Loaded& loaded = process.loaded();
    RegisteredKernel* kernel = process.registrations().find(function);
    ArgumentPointers pointers{};
    shape.arguments = arguments;
    shape.function = function;
    shape.of_driver_api = true;
    if (kernel != nullptr && arguments == nullptr && extra != nullptr) {
        // Where there is no description there is nothing to decide either.
        const analysis::KernelDescription* description = loaded.launcher.description_of(*kernel);
        if (description != nullptr && unpack(extra, *description, pointers))
            shape.arguments = pointers.data();
        else if (description != nullptr)
            keep = "its arguments are not as its parameters";
    } else if (arguments != nullptr && extra != nullptr) {
        keep = "it is launched with two sets of arguments";
    }
    // Both number their errors alike.
    return static_cast<CUresult>(loaded.launcher.launch(
        kernel, shape, keep,
        [&](const trimtab_dim3& grid, const trimtab_dim3& block, std::uint64_t shared_bytes) {
            return static_cast<cudaError_t>(forward(grid, block, shared_bytes));
        }));
}

CUresult launch_plain(decltype(&::cuLaunchKernel) DriverCalls::* member, CUfunction function,
                      const trimtab_dim3& written_grid, const trimtab_dim3& written_block,
                      unsigned shared_bytes, CUstream stream, void** arguments, void** extra) {
    const auto call = Process::instance().loaded().backend.calls().driver.*member;
    return launch(function,
                  {.grid = written_grid, .block = written_block, .dynamic_shared_bytes = shared_bytes},
                  arguments, extra, nullptr,
                  [&](const trimtab_dim3& grid, const trimtab_dim3& block, std::uint64_t new_shared_bytes) {
                      return call(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                  static_cast<unsigned>(new_shared_bytes), stream, arguments, extra);
                  });
}

CUresult launch_ex(decltype(&::cuLaunchKernelEx) DriverCalls::* member, const CUlaunchConfig* config,
                   CUfunction function, void** arguments, void** extra) {
    const auto call = Process::instance().loaded().backend.calls().driver.*member;
    if (config == nullptr) return call(config, function, arguments, extra);
    const char* keep = nullptr;
    for (unsigned i = 0; config->attrs != nullptr && i < config->numAttrs; ++i) {
        if (!leaves_shape_free(config->attrs[i]))
            keep = "it is launched with cluster or cooperative attributes";
    }
    const LaunchShape shape{.grid = {.x = config->gridDimX, .y = config->gridDimY, .z = config->gridDimZ},
                            .block = {.x = config->blockDimX, .y = config->blockDimY, .z = config->blockDimZ},
                            .dynamic_shared_bytes = config->sharedMemBytes};
    return launch(function, shape, arguments, extra, keep,
                  [&](const trimtab_dim3& grid, const trimtab_dim3& block, std::uint64_t shared_bytes) {
                      CUlaunchConfig changed = *config;
                      changed.gridDimX = grid.x;
                      changed.gridDimY = grid.y;
                      changed.gridDimZ = grid.z;
                      changed.blockDimX = block.x;
                      changed.blockDimY = block.y;
                      changed.blockDimZ = block.z;
                      changed.sharedMemBytes = static_cast<unsigned>(shared_bytes);
                      return call(&changed, function, arguments, extra);
                  });
}

}  // namespace
}  // namespace trimtab::runtime

using trimtab::runtime::DriverCalls;

extern "C" {

CUresult cuLaunchKernel(CUfunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
                        unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ, unsigned sharedMemBytes,
                        CUstream hStream, void** kernelParams, void** extra) {
    return trimtab::runtime::launch_plain(&DriverCalls::launch_kernel, f, {gridDimX, gridDimY, gridDimZ},
                                          {blockDimX, blockDimY, blockDimZ}, sharedMemBytes, hStream,
                                          kernelParams, extra);
}
CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
                             unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ,
                             unsigned sharedMemBytes, CUstream hStream, void** kernelParams, void** extra) {
    return trimtab::runtime::launch_plain(&DriverCalls::launch_kernel_ptsz, f, {gridDimX, gridDimY, gridDimZ},
                                          {blockDimX, blockDimY, blockDimZ}, sharedMemBytes, hStream,
                                          kernelParams, extra);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams, void** extra) {
    return trimtab::runtime::launch_ex(&DriverCalls::launch_kernel_ex, config, f, kernelParams, extra);
}
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction f, void** kernelParams,
                               void** extra) {
    return trimtab::runtime::launch_ex(&DriverCalls::launch_kernel_ex_ptsz, config, f, kernelParams, extra);
}

}  // extern "C"
