// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules that the program loads while it runs (cuModuleLoadData, cudaLibraryLoadData and their like), by CUDA's handles, and
// the kernels that it takes from them.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "choosing/modules/prepared_modules.h"
#include "runtime/modules/registrations.h"

namespace trimtab::runtime {

class RunTimeModules : public choosing::PreparedModules {
  public:
    struct Limits : choosing::PreparedModules::Limits {
        std::size_t kernels = 8192, handles = 16384;
    };

    RunTimeModules(const choosing::Settings& settings, choosing::Bundles& bundles,
                   Registrations& registrations, choosing::Log& log, choosing::ModuleCache cache,
                   Starter starter, const Limits& limits);
    RunTimeModules(const choosing::Settings& settings, choosing::Bundles& bundles,
                   Registrations& registrations, choosing::Log& log, choosing::ModuleCache cache,
                   Starter starter)
        : RunTimeModules(settings, bundles, registrations, log, std::move(cache), std::move(starter),
                         Limits{}) {}

    // CUDA has loaded the image and calls it `handle`.
    void loaded(const void* handle, const choosing::ModuleImage& image);
    // Another name of it: a library's CUmodule.
    void same_module(const void* handle, const void* other_handle);
    // Before CUDA is told: none of its kernels is known any more.
    void unloading(const void* handle);
    // CUDA calls the module's kernel of that name `function`.
    void took_kernel(const void* handle, const void* function, const char* name, HandleKind kind);
    // The CUfunction of a kernel of a library, or of one that the program has registered.
    void same_kernel(const void* kernel, const void* function);

  private:
    struct Handle {
        choosing::PreparedModule* module = nullptr;
        std::vector<const void*> functions, others;  // others: further names of the module
    };
    using KernelOfModule = std::tuple<choosing::PreparedModule*, std::string, HandleKind>;
    // With the mutex held.
    [[nodiscard]] Handle* handle_of(const void* handle);
    void add_function(const void* handle, const void* function, const std::string& name, HandleKind kind);
    void forget_function(const void* function);
    void forget_handle(const void* handle);

    Registrations& registrations_;
    const Limits limits_;
    std::mutex mutex_;
    std::map<const void*, Handle> handles_;
    std::map<const void*, const void*> owners_;  // of functions, and of modules that a library gave
    std::deque<RegisteredKernel> kernels_;
    std::map<KernelOfModule, RegisteredKernel*> kernels_of_modules_;
};

}  // namespace trimtab::runtime
