// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA runtime behind libtrimtab.so: the real libcudart where there is a GPU, else the emulator's.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "choosing/log.h"
#include "choosing/settings.h"
#include "emulation/cuda/launch_check.h"
#include "emulation/cuda/written_shape.h"
#include "trimtab/driver.h"

namespace trimtab::runtime {

enum class BackendKind : std::uint8_t {
    gpu,
    foreign,  // a real libcudart that comes before libtrimtab.so in the program: it has the registrations
    emulator,
    none  // neither library could be loaded: every call answers cudaErrorNoDevice
};

// Types of entry points that no CUDA header declares for others, or declares as several functions of one name.
using RegisterFatBinary = void** (*)(void* wrapper);
using RegisterFatBinaryEnd = void (*)(void** fat_binary);
using UnregisterFatBinary = void (*)(void** fat_binary);
using RegisterFunction = void (*)(void** fat_binary, const char* host_function, char* device_function,
                                  const char* device_name, int thread_limit, void* tid, void* bid,
                                  void* block_dim, void* grid_dim, int* warp_size);
using RegisterVar = void (*)(void** fat_binary, char* host_var, char* device_address, const char* device_name,
                             int is_extern, std::size_t size, int is_constant, int is_global);
using RegisterManagedVar = void (*)(void** fat_binary, void** host_var_pointer, char* device_address,
                                    const char* device_name, int is_extern, std::size_t size, int is_constant,
                                    int is_global);
using RegisterHostVar = void (*)(void** fat_binary, const char* device_name, void* host_var,
                                 std::size_t size);
using RegisterUnifiedTable = void (*)(void** a, void* b, void* c, void* d, void* e);
using InitModule = char (*)(void** fat_binary);
using LaunchKernel = cudaError_t (*)(const void* function, dim3 grid, dim3 block, void** arguments,
                                     std::size_t dynamic_shared_bytes, cudaStream_t stream);
using LaunchKernelExC = cudaError_t (*)(const cudaLaunchConfig_t* config, const void* function,
                                        void** arguments);
using LaunchKernelHandle = cudaError_t (*)(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                           std::size_t dynamic_shared_bytes, cudaStream_t stream);
using GetKernelHandle = cudaError_t (*)(cudaKernel_t*, const void*);  // __cudaGetKernel
using RecordEvent = cudaError_t (*)(cudaEvent_t event, cudaStream_t stream);
using CopyMemory = cudaError_t (*)(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
using RecordDriverEvent = CUresult (*)(CUevent event, CUstream stream);
using DriverEventTime = CUresult (*)(float* milliseconds, CUevent start, CUevent end);
using AddressRange = CUresult (*)(CUdeviceptr* first, std::size_t* bytes, CUdeviceptr address);

#define TRIMTAB_MEMBER(type, member, symbol) type member = nullptr;
struct RegistrationCalls {
#define REGISTRATION_CALL TRIMTAB_MEMBER
#include "runtime/stand_in/backend_calls.def"
};
struct DriverCalls {
#define DRIVER_CALL TRIMTAB_MEMBER
#include "runtime/stand_in/backend_calls.def"
};
// A graph, a node and an executable graph are the same handles in both interfaces.
struct GraphCalls {
#define GRAPH_CALL TRIMTAB_MEMBER
#include "runtime/stand_in/backend_calls.def"
    struct {
#define DRIVER_GRAPH_CALL TRIMTAB_MEMBER
#include "runtime/stand_in/backend_calls.def"
    } driver;
};
struct TimingCalls {
#define TIMING_CALL TRIMTAB_MEMBER
#include "runtime/stand_in/backend_calls.def"
};

// What runtime/ itself calls.
struct BackendCalls {
#define RUNTIME_CALL TRIMTAB_MEMBER
#include "runtime/stand_in/backend_calls.def"
    RegistrationCalls registration;
    DriverCalls driver;
    GraphCalls graphs;
    TimingCalls timing;
    // The emulator's alone; null elsewhere. Device `ordinal` and its slug; null past the last.
    const trimtab_device* (*emulated_device)(int ordinal, const char** slug) = nullptr;
    decltype(&trimtab_cudart_check_next_launch) check_next_launch = nullptr;
    decltype(&trimtab_cudart_next_launch_is_written) next_launch_is_written = nullptr;
};
#undef TRIMTAB_MEMBER

class Backend {
  public:
    // Chooses and loads: by settings.device, else by whether CUDA's driver finds a GPU.
    Backend(const choosing::Settings& settings, choosing::Log& log);

    [[nodiscard]] BackendKind kind() const { return kind_; }
    [[nodiscard]] const BackendCalls& calls() const { return calls_; }
    // The function of that name, for a trampoline. One that the backend lacks is answered by a function that
    // returns cudaErrorNotSupported, and one line on stderr names it.
    [[nodiscard]] void* resolve(const char* name, choosing::Log& log) const;

  private:
    [[nodiscard]] void* find(const char* name) const;     // never null
    [[nodiscard]] void* look_up(const char* name) const;  // null: the backend lacks it

    BackendKind kind_ = BackendKind::none;
    void* library_ = nullptr;
    void* driver_ = nullptr;  // the driver API: CUDA's own, or the emulator's
    BackendCalls calls_;
};

// Loads the real runtime's library, without touching the GPU, where the machine has NVIDIA's kernel driver
// and the settings allow it: loaded before the program's own static objects are made, it outlives them.
void preload_real_runtime(const choosing::Settings& settings);

}  // namespace trimtab::runtime
