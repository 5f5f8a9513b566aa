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
#define RUNTIME_CALL(type, member, symbol) set(calls_.member, symbol);
#define REGISTRATION_CALL(type, member, symbol) set(calls_.registration.member, symbol);
#define DRIVER_CALL(type, member, symbol) set(calls_.driver.member, symbol);
#define GRAPH_CALL(type, member, symbol) set(calls_.graphs.member, symbol);
#define DRIVER_GRAPH_CALL(type, member, symbol) set(calls_.graphs.driver.member, symbol);
#define TIMING_CALL(type, member, symbol) set(calls_.timing.member, symbol);
#include "runtime/stand_in/backend_calls.def"
    if (kind_ != BackendKind::emulator) return;
    const auto set_own = [this](auto& pointer, const char* name) {
        pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(dlsym(library_, name));
    };
    set_own(calls_.emulated_device, "trimtab_cudart_device");
    set_own(calls_.check_next_launch, "trimtab_cudart_check_next_launch");
    set_own(calls_.next_launch_is_written, "trimtab_cudart_next_launch_is_written");
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
