// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries of device code loaded while the program runs.
#include <cuda_runtime_api.h>

#include "emulation/cuda/library_file.h"
#include "emulation/cuda/state.h"

using namespace trimtab::cuda;

namespace {

// cudaLibrary_t is the module itself.
Module* library_of(const State& state, cudaLibrary_t handle) {
    auto* module = reinterpret_cast<Module*>(handle);
    return state.libraries.contains(module) ? module : nullptr;
}

cudaError_t load_library(cudaLibrary_t* library, const void* code, std::size_t known_bytes,
                         std::string origin) {
    return locked_call([&](State& state) {
        if (library == nullptr || code == nullptr) return cudaErrorInvalidValue;
        const auto module = state.modules.add_image(code, known_bytes, std::move(origin));
        if (!module) return state.failed(module.error());
        const Device& device = state.current();
        const auto loaded =
            state.modules.load(**module, device.ordinal, device.description.values.compute_capability);
        if (!loaded) {
            const cudaError_t status = state.failed(loaded.error());
            state.modules.remove(*module);
            return status;
        }
        state.libraries.insert(*module);
        *library = reinterpret_cast<cudaLibrary_t>(*module);
        return cudaSuccess;
    });
}

template <typename Body>
cudaError_t on_library(cudaLibrary_t handle, const Body& body) {
    return locked_call([&](State& state) {
        Module* module = library_of(state, handle);
        if (module == nullptr) return cudaErrorInvalidResourceHandle;
        const Device& device = state.current();
        const auto loaded =
            state.modules.load(*module, device.ordinal, device.description.values.compute_capability);
        return loaded ? body(state, *module, **loaded) : state.failed(loaded.error());
    });
}

cudaError_t global_of(void** pointer, std::size_t* bytes, cudaLibrary_t library, const char* name) {
    return on_library(library, [=](State&, const Module&, const LoadedModule& loaded) {
        if (name == nullptr) return cudaErrorInvalidValue;
        const auto storage = trimtab::emulator::variable_storage(*loaded.program, name);
        if (!storage) return cudaErrorSymbolNotFound;
        if (pointer != nullptr) *pointer = storage->host;
        if (bytes != nullptr) *bytes = storage->size_bytes;
        return cudaSuccess;
    });
}

}  // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
    return load_library(library, code, SIZE_MAX, "library loaded from memory");
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* fileName, cudaJitOption*, void**,
                                    unsigned, cudaLibraryOption*, void**, unsigned) {
    if (fileName == nullptr) return finish(cudaErrorInvalidValue);
    const auto file = read_library_file(fileName);
    if (!file) {
        State::instance().say(file.error());
        return finish(cudaErrorFileNotFound);
    }
    return load_library(library, file->bytes.data(), file->size_bytes, fileName);
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
    return call([=](State& state) {
        forget_launch_times(state);
        const std::lock_guard lock(state.mutex);
        Module* module = library_of(state, library);
        if (module == nullptr) return cudaErrorInvalidResourceHandle;
        state.libraries.erase(module);
        state.modules.remove(module);
        return cudaSuccess;
    });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* pKernel, cudaLibrary_t library, const char* name) {
    return on_library(library, [=](State& state, Module& module, const LoadedModule& loaded) {
        if (pKernel == nullptr || name == nullptr) return cudaErrorInvalidValue;
        if (trimtab::emulator::kernel_info(*loaded.program, name) == nullptr) return cudaErrorSymbolNotFound;
        *pKernel = state.modules.kernel_named(&module, name);
        return cudaSuccess;
    });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t lib) {
    return on_library(lib, [=](State&, const Module&, const LoadedModule& loaded) {
        if (count == nullptr) return cudaErrorInvalidValue;
        *count = static_cast<unsigned>(trimtab::emulator::kernels(*loaded.program).size());
        return cudaSuccess;
    });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned numKernels, cudaLibrary_t lib) {
    return on_library(lib, [=](State& state, Module& module, const LoadedModule& loaded) {
        if (kernels == nullptr) return cudaErrorInvalidValue;
        const auto all = trimtab::emulator::kernels(*loaded.program);
        for (unsigned i = 0; i < numKernels && i < all.size(); ++i)
            kernels[i] = state.modules.kernel_named(&module, all[i].name);
        return cudaSuccess;
    });
}

cudaError_t cudaLibraryGetGlobal(void** dptr, size_t* bytes, cudaLibrary_t library, const char* name) {
    return global_of(dptr, bytes, library, name);
}

cudaError_t cudaLibraryGetManaged(void** dptr, size_t* bytes, cudaLibrary_t library, const char* name) {
    return global_of(dptr, bytes, library, name);
}

}  // extern "C"
