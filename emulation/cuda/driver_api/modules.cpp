// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules and libraries of the driver API: device code that programs bring while they run, as PTX or in fat
// binaries. A CUmodule, a CUlibrary and the runtime's cudaLibrary_t are all cuda::Module; a CUfunction, a
// CUkernel and a cudaKernel_t all CUkern_st.
#include "emulation/cuda/modules.h"

#include <algorithm>
#include <cstring>

#include "emulation/cuda/driver_api/call.h"
#include "emulation/cuda/driver_api/jit_options.h"
#include "emulation/cuda/library_file.h"
#include "emulation/cuda/runtime_api/alias.h"

using namespace trimtab::cuda::driver;
using trimtab::cuda::LoadedModule;
using trimtab::cuda::LoadError;
using trimtab::cuda::Module;

namespace {

// With State::mutex.
std::expected<Module*, LoadError> load(State& state, const void* image, std::size_t known_bytes,
                                       std::string origin) {
    auto module = state.modules.add_image(image, known_bytes, std::move(origin));
    if (!module) return module;
    const Device& device = state.current();
    if (auto loaded =
            state.modules.load(**module, device.ordinal, device.description.values.compute_capability);
        !loaded) {
        state.modules.remove(*module);
        return std::unexpected(std::move(loaded.error()));
    }
    state.libraries.insert(*module);
    return module;
}

CUresult load_module(CUmodule* handle, const void* image, std::size_t known_bytes, std::string origin,
                     const JitLog& log) {
    return context_call([&](State& state) {
        if (handle == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const std::lock_guard lock(state.mutex);
        const auto module = load(state, image, known_bytes, std::move(origin));
        log.write(module ? std::string_view{} : std::string_view{module.error().line});
        if (!module) return to_result(state.failed(module.error()));
        *handle = reinterpret_cast<CUmodule>(*module);
        return CUDA_SUCCESS;
    });
}

// Runs `body` on a module loaded for the current device, holding State::mutex.
template <typename Handle, typename Body>
CUresult on_module(Handle handle, const Body& body) {
    return context_call([&](State& state) {
        const std::lock_guard lock(state.mutex);
        auto* module = reinterpret_cast<Module*>(handle);
        if (!state.libraries.contains(module)) return CUDA_ERROR_INVALID_HANDLE;
        const Device& device = state.current();
        const auto loaded =
            state.modules.load(*module, device.ordinal, device.description.values.compute_capability);
        return loaded ? body(state, *module, **loaded) : to_result(state.failed(loaded.error()));
    });
}

// A call of the runtime's on a library, which needs no context: the thread's stack is left as it was.
template <typename Function, typename... Arguments>
CUresult on_library(Function function, Arguments... arguments) {
    return initialised_call([&](State&) {
        auto& thread = this_thread();
        const bool had_context = !thread.contexts.empty();
        const cudaError_t last_error = thread.last_error;
        const CUresult result = to_result(function(arguments...));
        thread.last_error = last_error;
        if (!had_context) thread.contexts.clear();
        return result;
    });
}

CUkern_st* kernel_of(State& state, const void* handle) {
    const std::lock_guard lock(state.mutex);
    return state.modules.kernel(handle);
}

}  // namespace

extern "C" {

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned numOptions, CUjit_option* options,
                            void** optionValues) {
    return load_module(module, image, SIZE_MAX, "module loaded from memory",
                       JitLog(numOptions, options, optionValues));
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
    return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fatCubin) {
    return cuModuleLoadDataEx(module, fatCubin, 0, nullptr, nullptr);
}

CUresult cuModuleLoad(CUmodule* module, const char* fname) {
    if (fname == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto file = trimtab::cuda::read_library_file(fname);
    if (!file) {
        State::instance().say(file.error());
        return CUDA_ERROR_FILE_NOT_FOUND;
    }
    return load_module(module, file->bytes.data(), file->size_bytes, fname, {});
}

CUresult cuModuleUnload(CUmodule hmod) {
    return context_call([=](State&) { return cudaLibraryUnload(reinterpret_cast<cudaLibrary_t>(hmod)); });
}

// Modules load when they are first used, or when they are asked for: both look alike from here.
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
    if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) {
    return on_module(hmod, [=](State& state, Module& module, const LoadedModule& loaded) {
        if (hfunc == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (trimtab::emulator::kernel_info(*loaded.program, name) == nullptr) return CUDA_ERROR_NOT_FOUND;
        *hfunc = reinterpret_cast<CUfunction>(state.modules.kernel_named(&module, name));
        return CUDA_SUCCESS;
    });
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule mod) {
    return on_module(mod, [=](State&, Module&, const LoadedModule& loaded) {
        if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *count = static_cast<unsigned>(trimtab::emulator::kernels(*loaded.program).size());
        return CUDA_SUCCESS;
    });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned numFunctions, CUmodule mod) {
    return on_module(mod, [=](State& state, Module& module, const LoadedModule& loaded) {
        if (functions == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const auto all = trimtab::emulator::kernels(*loaded.program);
        for (unsigned i = 0; i < numFunctions && i < all.size(); ++i)
            functions[i] = reinterpret_cast<CUfunction>(state.modules.kernel_named(&module, all[i].name));
        return CUDA_SUCCESS;
    });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* dptr, size_t* bytes, CUmodule hmod, const char* name) {
    return on_module(hmod, [=](State&, Module&, const LoadedModule& loaded) {
        if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const auto storage = trimtab::emulator::variable_storage(*loaded.program, name);
        if (!storage) return CUDA_ERROR_NOT_FOUND;
        if (dptr != nullptr) *dptr = reinterpret_cast<CUdeviceptr>(storage->host);
        if (bytes != nullptr) *bytes = storage->size_bytes;
        return CUDA_SUCCESS;
    });
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jitOptions,
                           void** jitOptionsValues, unsigned numJitOptions, CUlibraryOption*, void**,
                           unsigned) {
    return initialised_call([&](State& state) {
        if (library == nullptr || code == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const std::lock_guard lock(state.mutex);
        const auto module = load(state, code, SIZE_MAX, "library loaded from memory");
        JitLog(numJitOptions, jitOptions, jitOptionsValues)
            .write(module ? std::string_view{} : std::string_view{module.error().line});
        if (!module) return to_result(state.failed(module.error()));
        *library = reinterpret_cast<CUlibrary>(*module);
        return CUDA_SUCCESS;
    });
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* fileName, CUjit_option*, void**, unsigned,
                               CUlibraryOption*, void**, unsigned) {
    return on_library(cudaLibraryLoadFromFile, library, fileName, nullptr, nullptr, 0U, nullptr, nullptr, 0U);
}
CUresult cuLibraryUnload(CUlibrary library) {
    return on_library(cudaLibraryUnload, library);
}
CUresult cuLibraryGetKernel(CUkernel* pKernel, CUlibrary library, const char* name) {
    return on_library(cudaLibraryGetKernel, pKernel, library, name);
}
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary lib) {
    return on_library(cudaLibraryGetKernelCount, count, lib);
}
CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned numKernels, CUlibrary lib) {
    return on_library(cudaLibraryEnumerateKernels, kernels, numKernels, lib);
}
CUresult cuLibraryGetModule(CUmodule* pMod, CUlibrary library) {
    return on_module(library, [=](State&, Module& module, const LoadedModule&) {
        if (pMod == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *pMod = reinterpret_cast<CUmodule>(&module);
        return CUDA_SUCCESS;
    });
}
CUresult cuLibraryGetGlobal(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name) {
    return cuModuleGetGlobal_v2(dptr, bytes, reinterpret_cast<CUmodule>(library), name);
}
CUresult cuLibraryGetManaged(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name) {
    return cuModuleGetGlobal_v2(dptr, bytes, reinterpret_cast<CUmodule>(library), name);
}

CUresult cuKernelGetFunction(CUfunction* pFunc, CUkernel kernel) {
    return context_call([=](State& state) {
        if (pFunc == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (kernel_of(state, kernel) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        *pFunc = reinterpret_cast<CUfunction>(kernel);
        return CUDA_SUCCESS;
    });
}
CUresult cuKernelGetLibrary(CUlibrary* pLib, CUkernel kernel) {
    return initialised_call([=](State& state) {
        const CUkern_st* found = kernel_of(state, kernel);
        if (pLib == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        *pLib = reinterpret_cast<CUlibrary>(found->module);
        return CUDA_SUCCESS;
    });
}

}  // extern "C"
