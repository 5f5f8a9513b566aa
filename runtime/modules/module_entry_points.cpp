// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls that load modules and libraries of device code and give out their kernels: what CUDA answers is
// remembered, and handed on as it is.
#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/read_text.h"
#include "runtime/process.h"

#undef cuLinkAddData
#undef cuLinkAddFile

namespace trimtab::runtime {
namespace {

Process& process() {
    return Process::instance();
}
const BackendCalls& calls() {
    return process().loaded().backend.calls();
}
RunTimeModules& modules() {
    return process().loaded().modules;
}
// With TRIMTAB=off nothing is looked at.
bool looks() {
    return process().settings().mode != choosing::Mode::off;
}

// Whatever goes wrong here, CUDA's answer stands, and the kernels are launched as written.
template <typename Action>
void quietly(const Action& action) noexcept {
    try {
        action();
    } catch (...) {
        return;
    }
}

// PTX that the program had linked, by the image that the linker made of it.
class Links {
  public:
    void add(CUlinkState link, CUjitInputType type, const void* data, std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        Link& known = links_[link];
        if (++known.inputs > 1 || type != CU_JIT_INPUT_PTX || data == nullptr ||
            bytes > choosing::max_module_bytes) {
            known.ptx.clear();
            return;
        }
        const auto* text = static_cast<const char*>(data);
        known.ptx.assign(text, std::find(text, text + bytes, '\0'));
    }
    void complete(CUlinkState link, const void* image) {
        const std::lock_guard lock(mutex_);
        links_[link].image = image;
    }
    void forget(CUlinkState link) {
        const std::lock_guard lock(mutex_);
        links_.erase(link);
    }
    // Is it of a link, and of which PTX? Empty where that is not one text.
    [[nodiscard]] bool made(const void* image, std::string& ptx) {
        const std::lock_guard lock(mutex_);
        for (const auto& [handle, link] : links_) {
            if (link.image != image) continue;
            ptx = link.ptx;
            return true;
        }
        return false;
    }
    static Links& instance() {
        static Links& links = *new Links;
        return links;
    }

  private:
    struct Link {
        int inputs = 0;
        std::string ptx;
        const void* image = nullptr;
    };
    std::mutex mutex_;
    std::map<CUlinkState, Link> links_;
};

std::vector<std::byte> read_file(const char* path) {
    const std::string content = base::read_text(path).value_or("");
    const auto bytes = std::as_bytes(std::span(content));
    return {bytes.begin(), bytes.end()};
}

template <typename Handle>
void loaded(const Handle* handle, const void* image) {
    if (!looks()) return;
    quietly([&] {
        std::string ptx;
        if (!Links::instance().made(image, ptx))
            return modules().loaded(*handle, choosing::recognise_module(image));
        choosing::ModuleImage linked = choosing::recognise_module(std::as_bytes(std::span(ptx)));
        if (ptx.empty()) linked.why_none = "its module was linked of several parts";
        modules().loaded(*handle, linked);
    });
}

template <typename Handle>
void loaded_file(const Handle* handle, const char* path) {
    if (!looks()) return;
    quietly([&] {
        const std::vector<std::byte> bytes = read_file(path);
        modules().loaded(*handle, choosing::recognise_module(std::span(bytes)));
    });
}

template <typename Handle, typename Function>
void took(Handle handle, const Function* function, const char* name, HandleKind kind) {
    if (looks() && function != nullptr)
        quietly([&] { modules().took_kernel(handle, *function, name, kind); });
}

void unloading(const void* handle) {
    if (looks()) quietly([&] { modules().unloading(handle); });
}

CUresult seen(CUresult result, const CUmodule* module, const void* image) {
    if (result == CUDA_SUCCESS) loaded(module, image);
    return result;
}

// The driver leaves handles that it has not got null.
template <class Handle, class Owner, class List, class NameOf>
CUresult enumerate(Handle* handles, unsigned count, Owner owner, List list, NameOf name_of) {
    constexpr HandleKind kind =
        std::is_same_v<Handle, CUfunction> ? HandleKind::driver_function : HandleKind::library_kernel;
    std::fill_n(handles, handles == nullptr ? 0 : count, nullptr);
    const CUresult result = list(handles, count, owner);
    for (unsigned i = 0; result == CUDA_SUCCESS && i < count && handles[i] != nullptr; ++i) {
        const char* name = nullptr;
        if (name_of(&name, handles[i]) == CUDA_SUCCESS) took(owner, &handles[i], name, kind);
    }
    return result;
}

}  // namespace
}  // namespace trimtab::runtime

using namespace trimtab::runtime;

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
    return seen(calls().driver.module_load_data(module, image), module, image);
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned numOptions, CUjit_option* options,
                            void** optionValues) {
    return seen(calls().driver.module_load_data_ex(module, image, numOptions, options, optionValues), module,
                image);
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fatCubin) {
    return seen(calls().driver.module_load_fat_binary(module, fatCubin), module, fatCubin);
}
CUresult cuModuleLoad(CUmodule* module, const char* fname) {
    const CUresult result = calls().driver.module_load(module, fname);
    if (result == CUDA_SUCCESS) loaded_file(module, fname);
    return result;
}
CUresult cuModuleUnload(CUmodule hmod) {
    unloading(hmod);
    return calls().driver.module_unload(hmod);
}
CUresult cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) {
    const CUresult result = calls().driver.module_get_function(hfunc, hmod, name);
    if (result == CUDA_SUCCESS) took(hmod, hfunc, name, HandleKind::driver_function);
    return result;
}
CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned numFunctions, CUmodule mod) {
    const DriverCalls& driver = calls().driver;
    return enumerate(functions, numFunctions, mod, driver.module_enumerate_functions, driver.func_get_name);
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jitOptions,
                           void** jitOptionsValues, unsigned numJitOptions, CUlibraryOption* libraryOptions,
                           void** libraryOptionValues, unsigned numLibraryOptions) {
    const CUresult result =
        calls().driver.library_load_data(library, code, jitOptions, jitOptionsValues, numJitOptions,
                                         libraryOptions, libraryOptionValues, numLibraryOptions);
    if (result == CUDA_SUCCESS) loaded(library, code);
    return result;
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* fileName, CUjit_option* jitOptions,
                               void** jitOptionsValues, unsigned numJitOptions,
                               CUlibraryOption* libraryOptions, void** libraryOptionValues,
                               unsigned numLibraryOptions) {
    const CUresult result =
        calls().driver.library_load_from_file(library, fileName, jitOptions, jitOptionsValues, numJitOptions,
                                              libraryOptions, libraryOptionValues, numLibraryOptions);
    if (result == CUDA_SUCCESS) loaded_file(library, fileName);
    return result;
}
CUresult cuLibraryUnload(CUlibrary library) {
    unloading(library);
    return calls().driver.library_unload(library);
}
CUresult cuLibraryGetKernel(CUkernel* pKernel, CUlibrary library, const char* name) {
    const CUresult result = calls().driver.library_get_kernel(pKernel, library, name);
    if (result == CUDA_SUCCESS) took(library, pKernel, name, HandleKind::library_kernel);
    return result;
}
CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned numKernels, CUlibrary lib) {
    const DriverCalls& driver = calls().driver;
    return enumerate(kernels, numKernels, lib, driver.library_enumerate_kernels, driver.kernel_get_name);
}
CUresult cuLibraryGetModule(CUmodule* pMod, CUlibrary library) {
    const CUresult result = calls().driver.library_get_module(pMod, library);
    if (result == CUDA_SUCCESS && looks()) quietly([&] { modules().same_module(library, *pMod); });
    return result;
}
CUresult cuKernelGetFunction(CUfunction* pFunc, CUkernel kernel) {
    const CUresult result = calls().driver.kernel_get_function(pFunc, kernel);
    if (result == CUDA_SUCCESS && looks()) quietly([&] { modules().same_kernel(kernel, *pFunc); });
    return result;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                          unsigned numOptions, CUjit_option* options, void** optionValues) {
    const CUresult result =
        calls().driver.link_add_data(state, type, data, size, name, numOptions, options, optionValues);
    if (result == CUDA_SUCCESS && looks()) quietly([&] { Links::instance().add(state, type, data, size); });
    return result;
}
CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned numOptions,
                          CUjit_option* options, void** optionValues) {
    const CUresult result =
        calls().driver.link_add_file(state, type, path, numOptions, options, optionValues);
    if (result == CUDA_SUCCESS && looks()) {
        quietly([&] {
            const std::vector<std::byte> bytes = read_file(path);
            Links::instance().add(state, type, bytes.data(), bytes.size());
        });
    }
    return result;
}
CUresult cuLinkComplete(CUlinkState state, void** cubinOut, size_t* sizeOut) {
    const CUresult result = calls().driver.link_complete(state, cubinOut, sizeOut);
    if (result == CUDA_SUCCESS && looks()) quietly([&] { Links::instance().complete(state, *cubinOut); });
    return result;
}
CUresult cuLinkDestroy(CUlinkState state) {
    if (looks()) quietly([&] { Links::instance().forget(state); });
    return calls().driver.link_destroy(state);
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* jitOptions,
                                void** jitOptionsValues, unsigned numJitOptions,
                                cudaLibraryOption* libraryOptions, void** libraryOptionValues,
                                unsigned numLibraryOptions) {
    const cudaError_t status =
        calls().library_load_data(library, code, jitOptions, jitOptionsValues, numJitOptions, libraryOptions,
                                  libraryOptionValues, numLibraryOptions);
    if (status == cudaSuccess) loaded(library, code);
    return status;
}
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* fileName, cudaJitOption* jitOptions,
                                    void** jitOptionsValues, unsigned numJitOptions,
                                    cudaLibraryOption* libraryOptions, void** libraryOptionValues,
                                    unsigned numLibraryOptions) {
    const cudaError_t status =
        calls().library_load_from_file(library, fileName, jitOptions, jitOptionsValues, numJitOptions,
                                       libraryOptions, libraryOptionValues, numLibraryOptions);
    if (status == cudaSuccess) loaded_file(library, fileName);
    return status;
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
    unloading(library);
    return calls().library_unload(library);
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* pKernel, cudaLibrary_t library, const char* name) {
    const cudaError_t status = calls().library_get_kernel(pKernel, library, name);
    if (status == cudaSuccess) took(library, pKernel, name, HandleKind::library_kernel);
    return status;
}
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned numKernels, cudaLibrary_t lib) {
    std::fill_n(kernels, kernels == nullptr ? 0 : numKernels, nullptr);
    const cudaError_t status = calls().library_enumerate_kernels(kernels, numKernels, lib);
    for (unsigned i = 0; status == cudaSuccess && i < numKernels && kernels[i] != nullptr; ++i) {
        const char* name = nullptr;
        if (calls().driver.kernel_get_name(&name, kernels[i]) == CUDA_SUCCESS)
            took(lib, &kernels[i], name, HandleKind::library_kernel);
    }
    return status;
}
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* functionPtr, const void* symbolPtr) {
    const cudaError_t status = calls().get_func_by_symbol(functionPtr, symbolPtr);
    if (status == cudaSuccess && looks()) quietly([&] { modules().same_kernel(symbolPtr, *functionPtr); });
    return status;
}

}  // extern "C"
