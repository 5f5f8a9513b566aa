// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/stand_in/backend.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "runtime/stand_in/libraries.h"

namespace trimtab::runtime {
namespace {

// What stands in for functions that no backend provides. Called through pointers of many types: on x86-64
// the arguments of the C interface may be ignored whatever they are.
int not_supported() {
    return cudaErrorNotSupported;
}
int no_device() {
    return cudaErrorNoDevice;
}
const char* no_device_name() {
    return "cudaErrorNoDevice";
}
const char* no_device_text() {
    return "no CUDA-capable device is detected";
}
void** no_fat_binary() {
    static void* handle = nullptr;
    return &handle;
}

void* stand_in(BackendKind kind, const char* name) {
    if (kind != BackendKind::none) return reinterpret_cast<void*>(&not_supported);
    if (std::strcmp(name, "cudaGetErrorName") == 0) return reinterpret_cast<void*>(&no_device_name);
    if (std::strcmp(name, "cudaGetErrorString") == 0) return reinterpret_cast<void*>(&no_device_text);
    if (std::strcmp(name, "__cudaRegisterFatBinary") == 0) return reinterpret_cast<void*>(&no_fat_binary);
    return reinterpret_cast<void*>(&no_device);
}

// cuMemAlloc, but not cudaMalloc.
bool is_of_driver(std::string_view name) {
    return name.size() > 2 && name.starts_with("cu") && name[2] >= 'A' && name[2] <= 'Z';
}

struct LoadedLibrary {
    BackendKind kind = BackendKind::none;
    void* library = nullptr;
};

// CUDA's runtime refuses every call where the driver is of an older major version: that is said once, with what to do.
void say_if_older(void* runtime, choosing::Log& log) {
    const auto get_version =
        reinterpret_cast<decltype(&cudaRuntimeGetVersion)>(dlsym(runtime, "cudaRuntimeGetVersion"));
    int runtime_version = 0;
    const int driver = driver_version();
    if (driver == 0 || get_version == nullptr || get_version(&runtime_version) != cudaSuccess ||
        driver / 1000 >= runtime_version / 1000)
        return;
    log.warn(fmt::format(
        "the GPU's driver is of CUDA {}.{}, older than the runtime, {}.{}: CUDA's calls fail "
        "until the driver is updated, or CUDA's compatibility package installed (cuda-compat-{}-{})",
        driver / 1000, driver % 1000 / 10, runtime_version / 1000, runtime_version % 1000 / 10,
        runtime_version / 1000, runtime_version % 1000 / 10));
}

LoadedLibrary load(const choosing::Settings& settings, choosing::Log& log) {
    if (void* first = runtime_that_comes_first()) {
        // Its functions were not redirected: the machine has NVIDIA's driver, or their code is not writable.
        const DriverAnswer answer = settings.device.empty() ? ask_driver() : DriverAnswer{.finds_gpu = true};
        if (!answer.finds_gpu && answer.error == 0)
            log.warn(
                "CUDA's own libcudart.so.13 comes before Trimtab's in the program, and finds no GPU: CUDA's "
                "calls fail (link "
                "with trimtab++, or name an emulated device in TRIMTAB_DEVICE)");
        return {.kind = BackendKind::foreign, .library = first};
    }
    const bool asked_for_gpu = settings.device == "gpu";
    const DriverAnswer answer = asked_for_gpu || settings.device.empty() ? ask_driver() : DriverAnswer{};
    const bool has_gpu = answer.finds_gpu || answer.error != 0;
    if (answer.error != 0)
        log.warn(fmt::format("CUDA's driver is there and fails (error {}): the program meets that as it is",
                             answer.error));
    else if (asked_for_gpu && !has_gpu)
        log.warn("TRIMTAB_DEVICE=gpu, but CUDA's driver finds no GPU");
    if (asked_for_gpu || has_gpu) {
        if (void* library = open_real_runtime()) {
            say_if_older(library, log);
            return {.kind = BackendKind::gpu, .library = library};
        }
        if (asked_for_gpu) {
            log.warn(
                "TRIMTAB_DEVICE=gpu, but libcudart.so.13 was not found: install CUDA 13, or name its "
                "folder in LD_LIBRARY_PATH");
            return {};
        }
        log.warn(
            "there is a GPU, but libcudart.so.13 was not found: the program runs on the emulator "
            "(install CUDA 13, or name its folder in LD_LIBRARY_PATH)");
    }
    std::string error;
    if (void* library = open_emulated_runtime(error))
        return {.kind = BackendKind::emulator, .library = library};
    log.warn(fmt::format("there is no GPU, and the emulator's CUDA runtime cannot be loaded: {}", error));
    return {};
}

}  // namespace

Backend::Backend(const choosing::Settings& settings, choosing::Log& log) {
    const LoadedLibrary loaded = load(settings, log);
    kind_ = loaded.kind;
    library_ = loaded.library;
    if (kind_ == BackendKind::emulator) {
        driver_ = library_;
    } else if (kind_ != BackendKind::none) {
        driver_ = open_real_driver();
    }

    const auto set = [this](auto& pointer, const char* name) {
        pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(find(name));
    };
    set(calls_.launch_kernel, "cudaLaunchKernel");
    set(calls_.launch_kernel_ptsz, "cudaLaunchKernel_ptsz");
    set(calls_.launch_kernel_handle, "__cudaLaunchKernel");
    set(calls_.launch_kernel_handle_ptsz, "__cudaLaunchKernel_ptsz");
    set(calls_.launch_kernel_exc, "cudaLaunchKernelExC");
    set(calls_.launch_kernel_exc_ptsz, "cudaLaunchKernelExC_ptsz");
    set(calls_.get_kernel_handle, "__cudaGetKernel");
    set(calls_.get_kernel, "cudaGetKernel");
    set(calls_.get_device, "cudaGetDevice");
    set(calls_.get_device_count, "cudaGetDeviceCount");
    set(calls_.get_device_properties, "cudaGetDeviceProperties");
    set(calls_.device_get_attribute, "cudaDeviceGetAttribute");
    set(calls_.func_get_attributes, "cudaFuncGetAttributes");
    set(calls_.func_get_name, "cudaFuncGetName");
    set(calls_.get_last_error, "cudaGetLastError");
    set(calls_.peek_at_last_error, "cudaPeekAtLastError");
    set(calls_.stream_is_capturing, "cudaStreamIsCapturing");
    set(calls_.get_error_name, "cudaGetErrorName");
    set(calls_.device_reset, "cudaDeviceReset");
    RegistrationCalls& registration = calls_.registration;
    set(registration.register_fat_binary, "__cudaRegisterFatBinary");
    set(registration.register_fat_binary_end, "__cudaRegisterFatBinaryEnd");
    set(registration.unregister_fat_binary, "__cudaUnregisterFatBinary");
    set(registration.register_function, "__cudaRegisterFunction");
    set(registration.register_var, "__cudaRegisterVar");
    set(registration.register_managed_var, "__cudaRegisterManagedVar");
    set(registration.register_host_var, "__cudaRegisterHostVar");
    set(registration.register_unified_table, "__cudaRegisterUnifiedTable");
    set(registration.init_module, "__cudaInitModule");
    set(calls_.library_load_data, "cudaLibraryLoadData");
    set(calls_.library_load_from_file, "cudaLibraryLoadFromFile");
    set(calls_.library_unload, "cudaLibraryUnload");
    set(calls_.library_get_kernel, "cudaLibraryGetKernel");
    set(calls_.library_enumerate_kernels, "cudaLibraryEnumerateKernels");
    set(calls_.get_func_by_symbol, "cudaGetFuncBySymbol");
    set(calls_.get_driver_entry_point, "cudaGetDriverEntryPointByVersion");
    set(calls_.get_driver_entry_point_ptsz, "cudaGetDriverEntryPointByVersion_ptsz");
    DriverCalls& driver = calls_.driver;
    set(driver.module_load, "cuModuleLoad");
    set(driver.module_load_data, "cuModuleLoadData");
    set(driver.module_load_data_ex, "cuModuleLoadDataEx");
    set(driver.module_load_fat_binary, "cuModuleLoadFatBinary");
    set(driver.module_unload, "cuModuleUnload");
    set(driver.module_get_function, "cuModuleGetFunction");
    set(driver.module_enumerate_functions, "cuModuleEnumerateFunctions");
    set(driver.library_load_data, "cuLibraryLoadData");
    set(driver.library_load_from_file, "cuLibraryLoadFromFile");
    set(driver.library_unload, "cuLibraryUnload");
    set(driver.library_get_kernel, "cuLibraryGetKernel");
    set(driver.library_enumerate_kernels, "cuLibraryEnumerateKernels");
    set(driver.library_get_module, "cuLibraryGetModule");
    set(driver.kernel_get_function, "cuKernelGetFunction");
    set(driver.kernel_get_name, "cuKernelGetName");
    set(driver.func_get_name, "cuFuncGetName");
    set(driver.func_get_attribute, "cuFuncGetAttribute");
    set(driver.link_add_data, "cuLinkAddData_v2");
    set(driver.link_add_file, "cuLinkAddFile_v2");
    set(driver.link_complete, "cuLinkComplete");
    set(driver.link_destroy, "cuLinkDestroy");
    set(driver.launch_kernel, "cuLaunchKernel");
    set(driver.launch_kernel_ptsz, "cuLaunchKernel_ptsz");
    set(driver.launch_kernel_ex, "cuLaunchKernelEx");
    set(driver.launch_kernel_ex_ptsz, "cuLaunchKernelEx_ptsz");
    set(driver.get_proc_address, "cuGetProcAddress_v2");
    set(driver.get_export_table, "cuGetExportTable");
    set(driver.stream_is_capturing, "cuStreamIsCapturing");
    set(driver.thread_exchange_stream_capture_mode, "cuThreadExchangeStreamCaptureMode");
    set(driver.event_create, "cuEventCreate");
    set(driver.event_destroy, "cuEventDestroy_v2");
    set(driver.event_record, "cuEventRecord");
    set(driver.event_query, "cuEventQuery");
    set(driver.event_elapsed_time, "cuEventElapsedTime");
    set(driver.context_destroy, "cuCtxDestroy_v2");
    set(driver.context_get_current, "cuCtxGetCurrent");
    set(driver.primary_context_reset, "cuDevicePrimaryCtxReset_v2");
    set(driver.primary_context_release, "cuDevicePrimaryCtxRelease_v2");
    set_graph_calls();
    set_timing_calls();
    if (kind_ != BackendKind::emulator) return;
    const auto set_own = [this](auto& pointer, const char* name) {
        pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(dlsym(library_, name));
    };
    set_own(calls_.emulated_device, "trimtab_cudart_device");
    set_own(calls_.check_next_launch, "trimtab_cudart_check_next_launch");
    set_own(calls_.next_launch_is_written, "trimtab_cudart_next_launch_is_written");
}

void Backend::set_graph_calls() {
    const auto set = [this](auto& pointer, const char* name) {
        pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(find(name));
    };
    GraphCalls& graphs = calls_.graphs;
    set(graphs.instantiate, "cudaGraphInstantiate");
    set(graphs.instantiate_with_flags, "cudaGraphInstantiateWithFlags");
    set(graphs.instantiate_with_params, "cudaGraphInstantiateWithParams");
    set(graphs.instantiate_with_params_ptsz, "cudaGraphInstantiateWithParams_ptsz");
    set(graphs.exec_update, "cudaGraphExecUpdate");
    set(graphs.exec_kernel_node_set_params, "cudaGraphExecKernelNodeSetParams");
    set(graphs.exec_node_set_params, "cudaGraphExecNodeSetParams");
    set(graphs.exec_child_graph_node_set_params, "cudaGraphExecChildGraphNodeSetParams");
    set(graphs.kernel_node_get_params, "cudaGraphKernelNodeGetParams");
    auto& driver = graphs.driver;
    set(driver.instantiate_with_flags, "cuGraphInstantiateWithFlags");
    set(driver.instantiate_with_params, "cuGraphInstantiateWithParams");
    set(driver.instantiate_with_params_ptsz, "cuGraphInstantiateWithParams_ptsz");
    set(driver.exec_update, "cuGraphExecUpdate_v2");
    set(driver.exec_kernel_node_set_params, "cuGraphExecKernelNodeSetParams_v2");
    set(driver.exec_node_set_params, "cuGraphExecNodeSetParams");
    set(driver.exec_child_graph_node_set_params, "cuGraphExecChildGraphNodeSetParams");
    set(driver.kernel_node_get_params, "cuGraphKernelNodeGetParams_v2");
    set(driver.kernel_node_set_params, "cuGraphKernelNodeSetParams_v2");
    set(driver.kernel_node_get_attribute, "cuGraphKernelNodeGetAttribute");
    set(driver.get_nodes, "cuGraphGetNodes");
    set(driver.node_get_dependencies, "cuGraphNodeGetDependencies_v2");
    set(driver.node_get_dependent_nodes, "cuGraphNodeGetDependentNodes_v2");
    set(driver.node_get_type, "cuGraphNodeGetType");
    set(driver.child_graph_node_get_graph, "cuGraphChildGraphNodeGetGraph");
    set(driver.clone, "cuGraphClone");
    set(driver.destroy, "cuGraphDestroy");
}

void Backend::set_timing_calls() {
    const auto set = [this](auto& pointer, const char* name) {
        pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(find(name));
    };
    TimingCalls& timing = calls_.timing;
    set(timing.event_create, "cudaEventCreate");
    set(timing.event_destroy, "cudaEventDestroy");
    set(timing.event_record, "cudaEventRecord");
    set(timing.event_synchronize, "cudaEventSynchronize");
    set(timing.event_elapsed_time, "cudaEventElapsedTime");
    set(timing.device_synchronize, "cudaDeviceSynchronize");
    set(timing.malloc, "cudaMalloc");
    set(timing.free, "cudaFree");
    set(timing.memcpy, "cudaMemcpy");
    set(timing.pointer_get_attributes, "cudaPointerGetAttributes");
    set(timing.get_symbol_address, "cudaGetSymbolAddress");
    set(timing.device_get_pci_bus_id, "cudaDeviceGetPCIBusId");
    set(timing.mem_get_address_range, "cuMemGetAddressRange_v2");
}

void* Backend::find(const char* name) const {
    void* function = look_up(name);
    return function != nullptr ? function : stand_in(kind_, name);
}

void* Backend::look_up(const char* name) const {
    if (kind_ == BackendKind::none) return nullptr;
    if (!is_of_driver(name)) return dlsym(library_, name);
    return driver_ == nullptr ? nullptr : dlsym(driver_, name);
}

void* Backend::resolve(const char* name, choosing::Log& log) const {
    if (kind_ != BackendKind::none && look_up(name) == nullptr) {
        log.warn(fmt::format("the {} CUDA {} has no {}", kind_ == BackendKind::emulator ? "emulated" : "real",
                             is_of_driver(name) ? "driver" : "runtime", name));
    }
    return find(name);
}

void preload_real_runtime(const choosing::Settings& settings) {
    if ((settings.device.empty() || settings.device == "gpu") && kernel_driver_is_there())
        static_cast<void>(open_real_runtime());
}

}  // namespace trimtab::runtime
