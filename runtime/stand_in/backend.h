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

// The entry points that compilers call: no CUDA header declares them for others.
struct RegistrationCalls {
    void** (*register_fat_binary)(void* wrapper) = nullptr;
    void (*register_fat_binary_end)(void** fat_binary) = nullptr;
    void (*unregister_fat_binary)(void** fat_binary) = nullptr;
    void (*register_function)(void** fat_binary, const char* host_function, char* device_function,
                              const char* device_name, int thread_limit, void* tid, void* bid,
                              void* block_dim, void* grid_dim, int* warp_size) = nullptr;
    void (*register_var)(void** fat_binary, char* host_var, char* device_address, const char* device_name,
                         int is_extern, std::size_t size, int is_constant, int is_global) = nullptr;
    void (*register_managed_var)(void** fat_binary, void** host_var_pointer, char* device_address,
                                 const char* device_name, int is_extern, std::size_t size, int is_constant,
                                 int is_global) = nullptr;
    void (*register_host_var)(void** fat_binary, const char* device_name, void* host_var,
                              std::size_t size) = nullptr;
    void (*register_unified_table)(void** a, void* b, void* c, void* d, void* e) = nullptr;
    char (*init_module)(void** fat_binary) = nullptr;
};

using LaunchKernel = cudaError_t (*)(const void* function, dim3 grid, dim3 block, void** arguments,
                                     std::size_t dynamic_shared_bytes, cudaStream_t stream);
using LaunchKernelExC = cudaError_t (*)(const cudaLaunchConfig_t* config, const void* function,
                                        void** arguments);
using LaunchKernelHandle = cudaError_t (*)(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                           std::size_t dynamic_shared_bytes, cudaStream_t stream);

// The driver API's entry points that runtime/ stands before.
struct DriverCalls {
    decltype(&cuModuleLoad) module_load = nullptr;
    decltype(&cuModuleLoadData) module_load_data = nullptr;
    decltype(&cuModuleLoadDataEx) module_load_data_ex = nullptr;
    decltype(&cuModuleLoadFatBinary) module_load_fat_binary = nullptr;
    decltype(&cuModuleUnload) module_unload = nullptr;
    decltype(&cuModuleGetFunction) module_get_function = nullptr;
    decltype(&cuModuleEnumerateFunctions) module_enumerate_functions = nullptr;
    decltype(&cuLibraryLoadData) library_load_data = nullptr;
    decltype(&cuLibraryLoadFromFile) library_load_from_file = nullptr;
    decltype(&cuLibraryUnload) library_unload = nullptr;
    decltype(&cuLibraryGetKernel) library_get_kernel = nullptr;
    decltype(&cuLibraryEnumerateKernels) library_enumerate_kernels = nullptr;
    decltype(&cuLibraryGetModule) library_get_module = nullptr;
    decltype(&cuKernelGetFunction) kernel_get_function = nullptr;
    decltype(&cuKernelGetName) kernel_get_name = nullptr;
    decltype(&cuFuncGetName) func_get_name = nullptr;
    decltype(&cuFuncGetAttribute) func_get_attribute = nullptr;
    decltype(&cuLinkAddData) link_add_data = nullptr;
    decltype(&cuLinkAddFile) link_add_file = nullptr;
    decltype(&cuLinkComplete) link_complete = nullptr;
    decltype(&cuLinkDestroy) link_destroy = nullptr;
    decltype(&cuLaunchKernel) launch_kernel = nullptr, launch_kernel_ptsz = nullptr;
    decltype(&cuLaunchKernelEx) launch_kernel_ex = nullptr, launch_kernel_ex_ptsz = nullptr;
    decltype(&cuGetProcAddress) get_proc_address = nullptr;
    decltype(&cuGetExportTable) get_export_table = nullptr;
    decltype(&cuStreamIsCapturing) stream_is_capturing = nullptr;
    decltype(&cuThreadExchangeStreamCaptureMode) thread_exchange_stream_capture_mode = nullptr;
    // Of learning.
    decltype(&cuEventCreate) event_create = nullptr;
    decltype(&cuEventDestroy) event_destroy = nullptr;
    CUresult (*event_record)(CUevent event, CUstream stream) = nullptr;
    decltype(&cuEventQuery) event_query = nullptr;
    CUresult (*event_elapsed_time)(float* milliseconds, CUevent start, CUevent end) = nullptr;
    // Calls after which events and functions of a context are none.
    decltype(&cuCtxDestroy) context_destroy = nullptr;
    decltype(&cuCtxGetCurrent) context_get_current = nullptr;
    decltype(&cuDevicePrimaryCtxReset) primary_context_reset = nullptr;
    decltype(&cuDevicePrimaryCtxRelease) primary_context_release = nullptr;
};

// The calls of graphs that set what a kernel node launches, and those that tell it. A graph, a node and an
// executable graph are the same handles in both interfaces.
struct GraphCalls {
    decltype(&cudaGraphInstantiate) instantiate = nullptr;
    decltype(&cudaGraphInstantiateWithFlags) instantiate_with_flags = nullptr;
    decltype(&cudaGraphInstantiateWithParams) instantiate_with_params = nullptr,
                                              instantiate_with_params_ptsz = nullptr;
    decltype(&cudaGraphExecUpdate) exec_update = nullptr;
    decltype(&cudaGraphExecKernelNodeSetParams) exec_kernel_node_set_params = nullptr;
    decltype(&cudaGraphExecNodeSetParams) exec_node_set_params = nullptr;
    decltype(&cudaGraphExecChildGraphNodeSetParams) exec_child_graph_node_set_params = nullptr;
    decltype(&cudaGraphKernelNodeGetParams) kernel_node_get_params = nullptr;
    struct {
        decltype(&cuGraphInstantiateWithFlags) instantiate_with_flags = nullptr;
        decltype(&cuGraphInstantiateWithParams) instantiate_with_params = nullptr,
                                                instantiate_with_params_ptsz = nullptr;
        decltype(&cuGraphExecUpdate) exec_update = nullptr;
        decltype(&cuGraphExecKernelNodeSetParams) exec_kernel_node_set_params = nullptr;
        decltype(&cuGraphExecNodeSetParams) exec_node_set_params = nullptr;
        decltype(&cuGraphExecChildGraphNodeSetParams) exec_child_graph_node_set_params = nullptr;
        decltype(&cuGraphKernelNodeGetParams) kernel_node_get_params = nullptr;
        decltype(&cuGraphKernelNodeSetParams) kernel_node_set_params = nullptr;
        decltype(&cuGraphKernelNodeGetAttribute) kernel_node_get_attribute = nullptr;
        decltype(&cuGraphGetNodes) get_nodes = nullptr;
        decltype(&cuGraphNodeGetDependencies) node_get_dependencies = nullptr;
        decltype(&cuGraphNodeGetDependentNodes) node_get_dependent_nodes = nullptr;
        decltype(&cuGraphNodeGetType) node_get_type = nullptr;
        decltype(&cuGraphChildGraphNodeGetGraph) child_graph_node_get_graph = nullptr;
        decltype(&cuGraphClone) clone = nullptr;
        decltype(&cuGraphDestroy) destroy = nullptr;
    } driver;
};

// What launches are timed and their memory kept with (runtime/launches/block_times.h).
struct TimingCalls {
    decltype(&cudaEventCreate) event_create = nullptr;
    decltype(&cudaEventDestroy) event_destroy = nullptr;
    cudaError_t (*event_record)(cudaEvent_t event, cudaStream_t stream) = nullptr;
    decltype(&cudaEventSynchronize) event_synchronize = nullptr;
    decltype(&cudaEventElapsedTime) event_elapsed_time = nullptr;
    decltype(&cudaDeviceSynchronize) device_synchronize = nullptr;
    decltype(&cudaMalloc) malloc = nullptr;
    decltype(&cudaFree) free = nullptr;
    cudaError_t (*memcpy)(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) = nullptr;
    decltype(&cudaPointerGetAttributes) pointer_get_attributes = nullptr;
    decltype(&cudaGetSymbolAddress) get_symbol_address = nullptr;
    decltype(&cudaDeviceGetPCIBusId) device_get_pci_bus_id = nullptr;
    CUresult (*mem_get_address_range)(CUdeviceptr* first, std::size_t* bytes, CUdeviceptr address) = nullptr;
};

// What runtime/ itself calls. No pointer is null once a backend is loaded, the emulator's own aside.
struct BackendCalls {
    LaunchKernel launch_kernel = nullptr, launch_kernel_ptsz = nullptr;
    LaunchKernelHandle launch_kernel_handle = nullptr, launch_kernel_handle_ptsz = nullptr;
    LaunchKernelExC launch_kernel_exc = nullptr, launch_kernel_exc_ptsz = nullptr;
    cudaError_t (*get_kernel_handle)(cudaKernel_t*, const void*) = nullptr;  // __cudaGetKernel
    decltype(&cudaGetKernel) get_kernel = nullptr;
    decltype(&cudaGetDevice) get_device = nullptr;
    decltype(&cudaGetDeviceCount) get_device_count = nullptr;
    decltype(&cudaGetDeviceProperties) get_device_properties = nullptr;
    decltype(&cudaDeviceGetAttribute) device_get_attribute = nullptr;
    decltype(&cudaFuncGetAttributes) func_get_attributes = nullptr;
    decltype(&cudaFuncGetName) func_get_name = nullptr;
    decltype(&cudaGetLastError) get_last_error = nullptr;
    decltype(&cudaPeekAtLastError) peek_at_last_error = nullptr;
    decltype(&cudaStreamIsCapturing) stream_is_capturing = nullptr;
    decltype(&cudaGetErrorName) get_error_name = nullptr;
    decltype(&cudaDeviceReset) device_reset = nullptr;
    decltype(&cudaLibraryLoadData) library_load_data = nullptr;
    decltype(&cudaLibraryLoadFromFile) library_load_from_file = nullptr;
    decltype(&cudaLibraryUnload) library_unload = nullptr;
    decltype(&cudaLibraryGetKernel) library_get_kernel = nullptr;
    decltype(&cudaLibraryEnumerateKernels) library_enumerate_kernels = nullptr;
    decltype(&cudaGetFuncBySymbol) get_func_by_symbol = nullptr;
    decltype(&cudaGetDriverEntryPointByVersion) get_driver_entry_point = nullptr,
                                                get_driver_entry_point_ptsz = nullptr;
    RegistrationCalls registration;
    DriverCalls driver;
    GraphCalls graphs;
    TimingCalls timing;
    // The emulator's alone. Device `ordinal` and its slug; null past the last.
    const trimtab_device* (*emulated_device)(int ordinal, const char** slug) = nullptr;
    decltype(&trimtab_cudart_check_next_launch) check_next_launch = nullptr;
    decltype(&trimtab_cudart_next_launch_is_written) next_launch_is_written = nullptr;
};

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
    void set_graph_calls();
    void set_timing_calls();
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
