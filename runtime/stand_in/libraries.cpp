// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/stand_in/libraries.h"

#include <dlfcn.h>
#include <glob.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "choosing/own_files.h"
#include "runtime/stand_in/jump.h"

namespace trimtab::runtime {
namespace {

constexpr char real_runtime_name[] = "libcudart.so.13";

// A stand-in may have been given libcudart's name: then it exports our own registration function.
bool is_stand_in(void* library) {
    return dlsym(library, "trimtab_register_bundle") != nullptr;
}

void* open_if_real(const std::string& path, int flags) {
    void* library = dlopen(path.c_str(), flags);
    if (library == nullptr) return nullptr;
    if (!is_stand_in(library)) return library;
    dlclose(library);
    return nullptr;
}

// Named by the user: the loader asks for a name there, but a library of Trimtab's may have that name already.
std::vector<std::string> listed_folders() {
    std::vector<std::string> folders;
    if (const char* listed = secure_getenv("LD_LIBRARY_PATH"); listed != nullptr) {
        std::string_view rest = listed;
        while (!rest.empty()) {
            const std::size_t colon = rest.find(':');
            if (const auto folder = rest.substr(0, colon); !folder.empty()) folders.emplace_back(folder);
            rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
        }
    }
    return folders;
}

// Where the driver's own library lies on Linux, under WSL and with the compatibility package.
std::vector<std::string> driver_folders() {
    std::vector<std::string> folders = listed_folders();
    folders.insert(folders.end(), {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib/wsl/lib",
                                   "/usr/lib/x86_64-linux-gnu/nvidia/current", "/usr/local/nvidia/lib64",
                                   "/usr/local/cuda/compat"});
    return folders;
}

std::vector<std::string> toolkit_folders() {
    std::vector<std::string> folders = listed_folders();
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const char* root = secure_getenv(variable); root != nullptr && *root != '\0')
            folders.push_back(std::string(root) + "/lib64");
    }
    folders.insert(folders.end(), {TRIMTAB_CUDA_LIBRARY_FOLDER, "/usr/local/cuda/lib64", "/opt/cuda/lib64",
                                   "/usr/lib/x86_64-linux-gnu", "/usr/lib64"});
    glob_t found{};
    if (glob("/usr/local/cuda-13*/lib64", 0, nullptr, &found) == 0) {
        for (std::size_t i = 0; i < found.gl_pathc; ++i) folders.emplace_back(found.gl_pathv[i]);
    }
    globfree(&found);
    return folders;
}

// In the library that this code is in.
bool is_here(const void* address) {
    Dl_info theirs{};
    Dl_info ours{};
    return dladdr(address, &theirs) != 0 && dladdr(reinterpret_cast<void*>(&open_real_runtime), &ours) != 0 &&
           theirs.dli_fbase == ours.dli_fbase;
}

}  // namespace

void* open_real_runtime() {
    // Already in the process, as where a program linked to it has Trimtab preloaded.
    if (void* library = open_if_real(real_runtime_name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD)) return library;
    if (void* library = open_if_real(real_runtime_name, RTLD_LAZY | RTLD_LOCAL)) return library;
    for (const std::string& folder : toolkit_folders()) {
        if (void* library = open_if_real(folder + "/" + real_runtime_name, RTLD_LAZY | RTLD_LOCAL))
            return library;
    }
    return nullptr;
}

void* open_emulated_runtime(std::string& error) {
    return choosing::open_own_library("libtrimtab_cudart.so", error);
}

// By the program's scope: this library finds its own functions first, which it was linked to prefer (-Bsymbolic).
void* runtime_that_comes_first() {
    void* program = dlopen(nullptr, RTLD_LAZY);
    void* launch = program == nullptr ? nullptr : dlvsym(program, "cudaLaunchKernel", real_runtime_name);
    Dl_info theirs{};
    if (launch == nullptr || is_here(launch) || dladdr(launch, &theirs) == 0) return nullptr;
    if (const void* target = jump_target(launch); target != nullptr && is_here(target)) return nullptr;
    return dlopen(theirs.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

void* open_real_driver() {
    const std::string name = "libcuda.so.1";
    if (void* library = open_if_real(name, RTLD_LAZY | RTLD_LOCAL)) return library;
    // That name was this library's own: the driver, if it is there, has it too.
    for (const std::string& folder : driver_folders()) {
        if (void* library = open_if_real(folder + "/" + name, RTLD_LAZY | RTLD_LOCAL)) return library;
    }
    return nullptr;
}

bool expects_emulator() {
    const char* device = secure_getenv("TRIMTAB_DEVICE");
    const std::string_view wanted = device == nullptr ? "" : device;
    // Where a GPU is asked for by name, CUDA's own runtime is used, and must not find its driver here.
    return wanted.empty() ? !kernel_driver_is_there() : wanted != "gpu";
}

void offer_libraries() {
    if (!expects_emulator()) return;
    // A name without a folder is answered by what is loaded under it, wherever that lies.
    for (const char* name :
         {"/trimtab-driver/libcuda.so.1", "/trimtab-driver/libcuda.so", "/trimtab-runtime/libcudart.so.13"}) {
        const std::string path = choosing::own_folder() + name;
        if (access(path.c_str(), R_OK) == 0) static_cast<void>(dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL));
    }
}

DriverAnswer ask_driver() {
    void* driver = open_real_driver();
    if (driver == nullptr) return {};
    const auto initialise = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
    const auto device_count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
    if (initialise == nullptr || device_count == nullptr) return {};
    int count = 0;
    int error = initialise(0);
    if (error == 0) error = device_count(&count);
    if (error == 0) return {.finds_gpu = count > 0};
    // Without the kernel's driver it says this or that (the toolkit's stub of it, too), and there is no GPU.
    constexpr int no_device = 100;  // CUDA_ERROR_NO_DEVICE
    return {.error = error != no_device && kernel_driver_is_there() ? error : 0};
}

int driver_version() {
    void* driver = open_real_driver();
    if (driver == nullptr) return 0;
    const auto get_version = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
    int version = 0;
    return get_version != nullptr && get_version(&version) == 0 ? version : 0;
}

bool kernel_driver_is_there() {
    for (const char* path : {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl-gpu"}) {
        if (access(path, F_OK) == 0) return true;
    }
    return false;
}

}  // namespace trimtab::runtime
