// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device code as programs bring it: fat binaries with their kernels and variables, loaded for a device when
// first used.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ptx/binary.h"
#include "emulation/cuda/machine.h"
#include "trimtab/driver.h"
#include "trimtab/error.h"

namespace trimtab::cuda {

// Why something of a module cannot be had: the code for the program, the line for people.
struct LoadError {
    cudaError_t code = cudaErrorInvalidKernelImage;
    std::string line;
};

// A module on one device.
struct LoadedModule {
    std::shared_ptr<Program> program;
    unsigned ptx_architecture = 0;  // 75 for sm_75: what __CUDA_ARCH__ was / 10
    std::map<std::string, ptx::KernelResources, std::less<>> resources;  // ptxas's, of the nearest cubin
    std::map<std::string, trimtab_image, std::less<>> images;            // as asked for
};

struct Module;

// A kernel on one device.
struct LoadedKernel {
    LoadedModule* module = nullptr;
    const KernelInfo* info = nullptr;
    const ptx::Function* function = nullptr;
    trimtab_image image{};
};

struct DeviceVariable {
    Module* module = nullptr;
    std::string name;
    std::uint64_t size_bytes = 0;
    void** managed_pointer = nullptr;  // where the program keeps the address; null: not managed
};

}  // namespace trimtab::cuda

// cudaKernel_t, and what a kernel's host function stands for.
struct CUkern_st {
    trimtab::cuda::Module* module = nullptr;
    std::string name;  // mangled
    const void* host_function = nullptr;
    int max_dynamic_shared_bytes = 0;  // as opted in by cudaFuncSetAttribute; 0: not
    int shared_carveout = -1;
    dim3 required_cluster{0, 0, 0};  // as set by cudaFuncSetAttribute; 0: not
    bool allows_large_clusters = false;
    std::map<int, trimtab::cuda::LoadedKernel> loaded;  // by device
};

namespace trimtab::cuda {

struct Module {
    std::vector<std::vector<std::byte>> containers;  // copies: a library's image may be freed after loading
    std::vector<const std::byte*> borrowed;          // fat binaries that stay where they are in the program
    std::string origin;
    std::map<int, std::unique_ptr<LoadedModule>> loaded;  // by device
    std::map<int, LoadError> failed;
    std::vector<std::unique_ptr<CUkern_st>> kernels;
    std::vector<std::unique_ptr<DeviceVariable>> variables;
    std::vector<const void*> host_pointers;  // its keys in Modules
};

class Modules {
  public:
    // `wrapper` as __cudaRegisterFatBinary gets it. Never null: what is wrong with it shows at the first use.
    Module* add(const void* wrapper);
    // An image for cudaLibraryLoadData: a fat binary or its wrapper, PTX text that ends with a NUL, or what
    // the driver's linker made. `known_bytes`: how large it is, or SIZE_MAX where nobody knows.
    [[nodiscard]] std::expected<Module*, LoadError> add_image(const void* image, std::size_t known_bytes,
                                                              std::string origin);
    void remove(Module* module);

    void add_kernel(Module* module, const void* host_function, std::string name);
    void add_variable(Module* module, const void* host_variable, DeviceVariable variable);

    // By host function, or by the kernel itself (a cudaKernel_t). Null: not known.
    [[nodiscard]] CUkern_st* kernel(const void* function) const;
    [[nodiscard]] CUkern_st* kernel_named(Module* module, std::string_view name);
    [[nodiscard]] DeviceVariable* variable(const void* host_variable) const;

    [[nodiscard]] std::expected<LoadedModule*, LoadError> load(Module& module, int device,
                                                               unsigned compute_capability);
    [[nodiscard]] std::expected<LoadedKernel*, LoadError> load(CUkern_st& kernel, int device,
                                                               const trimtab_device& values);
    [[nodiscard]] std::expected<VariableStorage, LoadError> storage(const DeviceVariable& variable,
                                                                    int device, unsigned compute_capability);
    // Gives every managed variable of the module its address.
    void set_managed_pointers(Module& module, int device, unsigned compute_capability);
    // Does the address lie in a variable of a loaded module? Then its size from there on, else 0.
    [[nodiscard]] std::uint64_t variable_bytes_at(const void* address) const;
    // Forgets what was loaded for the device: cudaDeviceReset.
    void unload(int device);
    [[nodiscard]] const std::vector<std::unique_ptr<Module>>& all() const { return modules_; }

  private:
    struct PlacedVariable {
        std::uint64_t size_bytes = 0;
        int device = 0;
        const Module* module = nullptr;
    };
    std::vector<std::unique_ptr<Module>> modules_;
    std::unordered_map<const void*, CUkern_st*> kernels_;
    std::unordered_map<const void*, DeviceVariable*> variables_;
    std::map<std::uint64_t, PlacedVariable> placed_variables_;  // by address
};

}  // namespace trimtab::cuda
