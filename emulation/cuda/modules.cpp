// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/modules.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/model/occupancy.h"
#include "core/ptx/carried_ptx.h"
#include "emulation/cuda/device_runtime.h"
#include "emulation/cuda/image_choice.h"
#include "emulation/cuda/linked_image.h"
#include "emulation/cuda/registers.h"

namespace trimtab::cuda {
namespace {

// What __cudaRegisterFatBinary is given (fatbinary_section.h of the toolkit).
struct Wrapper {
    std::int32_t magic;
    std::int32_t version;
    const std::byte* data;
    const std::byte* const* prelinked;  // version 2: the fat binaries that were linked; ends with null
};
constexpr std::int32_t wrapper_magic = 0x466243b1;
constexpr std::uint32_t elf_magic = 0x464c457f;

// The fat binaries behind a wrapper. Of relocatable device code, those before the link: they have the PTX.
std::vector<const std::byte*> fat_binaries_of(const void* pointer) {
    Wrapper wrapper{};
    std::memcpy(&wrapper, pointer, sizeof wrapper);
    if (wrapper.magic != wrapper_magic) return {};
    if (wrapper.version < 2 || wrapper.prelinked == nullptr) return {wrapper.data};
    std::vector<const std::byte*> out;
    for (const std::byte* const* entry = wrapper.prelinked; *entry != nullptr; ++entry) out.push_back(*entry);
    return out.empty() ? std::vector<const std::byte*>{wrapper.data} : out;
}

std::uint32_t first_word(const void* image) {
    std::uint32_t word = 0;
    std::memcpy(&word, image, sizeof word);
    return word;
}

}  // namespace

Module* Modules::add(const void* wrapper) {
    auto& module = modules_.emplace_back(std::make_unique<Module>());
    module->borrowed = fat_binaries_of(wrapper);
    Dl_info place{};
    const bool has_file = dladdr(wrapper, &place) != 0 && place.dli_fname != nullptr;
    module->origin =
        fmt::format("fat binary {} of {}", modules_.size(), has_file ? place.dli_fname : "the program");
    return module.get();
}

std::expected<Module*, LoadError> Modules::add_image(const void* image, std::size_t known_bytes,
                                                     std::string origin) {
    auto module = std::make_unique<Module>();
    module->origin = std::move(origin);
    const auto* bytes = static_cast<const std::byte*>(image);
    if (const std::size_t size = fat_binary_bytes(bytes); size != 0) {
        if (size > known_bytes)
            return std::unexpected(
                LoadError{.code = cudaErrorInvalidKernelImage, .line = module->origin + " is cut short"});
        module->containers.emplace_back(bytes, bytes + size);
    } else if (first_word(image) == static_cast<std::uint32_t>(wrapper_magic)) {
        module->borrowed = fat_binaries_of(image);
    } else if (const auto carried = ptx::carried_ptx(bytes, known_bytes); !carried.empty()) {
        module->containers.emplace_back(carried.begin(), carried.end());
    } else if (first_word(image) == elf_magic) {
        return std::unexpected(
            LoadError{.code = cudaErrorNoKernelImageForDevice,
                      .line = module->origin +
                              " is machine code alone (a cubin), and the emulator runs PTX: load PTX, as "
                              "nvrtcGetPTX and nvcc -ptx give it, or a fat binary that holds it"});
    } else if (auto parts = parts_of(bytes, known_bytes)) {
        module->containers = std::move(*parts);
    } else {
        // PTX text, kept with its NUL.
        const std::size_t size = std::strlen(static_cast<const char*>(image)) + 1;
        module->containers.emplace_back(bytes, bytes + size);
    }
    modules_.push_back(std::move(module));
    return modules_.back().get();
}

void Modules::remove(Module* module) {
    for (const void* pointer : module->host_pointers) {
        kernels_.erase(pointer);
        variables_.erase(pointer);
    }
    for (const auto& kernel : module->kernels) kernels_.erase(kernel.get());
    std::erase_if(placed_variables_, [module](const auto& entry) { return entry.second.module == module; });
    std::erase_if(modules_, [module](const auto& entry) { return entry.get() == module; });
}

void Modules::add_kernel(Module* module, const void* host_function, std::string name) {
    auto& kernel = module->kernels.emplace_back(std::make_unique<CUkern_st>());
    kernel->module = module;
    kernel->name = std::move(name);
    kernel->host_function = host_function;
    kernels_[host_function] = kernel.get();
    kernels_[kernel.get()] = kernel.get();
    module->host_pointers.push_back(host_function);
}

void Modules::add_variable(Module* module, const void* host_variable, DeviceVariable variable) {
    variable.module = module;
    auto& entry = module->variables.emplace_back(std::make_unique<DeviceVariable>(std::move(variable)));
    variables_[host_variable] = entry.get();
    module->host_pointers.push_back(host_variable);
}

CUkern_st* Modules::kernel(const void* function) const {
    const auto place = kernels_.find(function);
    return place == kernels_.end() ? nullptr : place->second;
}

CUkern_st* Modules::kernel_named(Module* module, std::string_view name) {
    const auto place = std::find_if(module->kernels.begin(), module->kernels.end(),
                                    [name](const auto& kernel) { return kernel->name == name; });
    if (place != module->kernels.end()) return place->get();
    auto& kernel = module->kernels.emplace_back(std::make_unique<CUkern_st>());
    kernel->module = module;
    kernel->name = name;
    kernels_[kernel.get()] = kernel.get();
    return kernel.get();
}

DeviceVariable* Modules::variable(const void* host_variable) const {
    const auto place = variables_.find(host_variable);
    return place == variables_.end() ? nullptr : place->second;
}

std::expected<LoadedModule*, LoadError> Modules::load(Module& module, int device,
                                                      unsigned compute_capability) {
    if (const auto place = module.loaded.find(device); place != module.loaded.end())
        return place->second.get();
    if (const auto place = module.failed.find(device); place != module.failed.end())
        return std::unexpected(place->second);
    const auto fail = [&](LoadError error) {
        module.failed[device] = error;
        return std::unexpected(std::move(error));
    };
    auto loaded = std::make_unique<LoadedModule>();
    auto chosen = choose_image(module, compute_capability);
    if (!chosen) return fail(std::move(chosen.error()));
    loaded->ptx_architecture = chosen->architecture;
    loaded->resources = std::move(chosen->resources);
    auto whole = with_device_runtime(std::move(chosen->module));
    if (!whole) return fail({.code = cudaErrorInvalidKernelImage, .line = whole.error().text()});
    auto program = load_program(std::move(*whole));
    if (!program) return fail({.code = cudaErrorInvalidKernelImage, .line = program.error().text()});
    loaded->program = std::move(*program);
    for (const ptx::Variable& variable : module_of(*loaded->program).variables) {
        const auto storage = variable_storage(*loaded->program, variable.name);
        if (storage)
            placed_variables_[storage->address] = {
                .size_bytes = storage->size_bytes, .device = device, .module = &module};
    }
    return (module.loaded[device] = std::move(loaded)).get();
}

std::expected<LoadedKernel*, LoadError> Modules::load(CUkern_st& kernel, int device,
                                                      const trimtab_device& values) {
    if (const auto place = kernel.loaded.find(device); place != kernel.loaded.end()) return &place->second;
    const auto module = load(*kernel.module, device, values.compute_capability);
    if (!module) return std::unexpected(module.error());
    LoadedKernel loaded{.module = *module, .info = nullptr, .function = nullptr, .image = {}};
    loaded.info = kernel_info(*loaded.module->program, kernel.name);
    loaded.function = module_of(*loaded.module->program).function(kernel.name);
    if (loaded.info == nullptr || loaded.function == nullptr)
        return std::unexpected(
            LoadError{.code = cudaErrorInvalidDeviceFunction,
                      .line = fmt::format("{} has no kernel {}", kernel.module->origin, kernel.name)});
    loaded.image = model::with_addressable_registers(image_of(*loaded.module, loaded), values);
    return &(kernel.loaded[device] = loaded);
}

std::expected<VariableStorage, LoadError> Modules::storage(const DeviceVariable& variable, int device,
                                                           unsigned compute_capability) {
    const auto module = load(*variable.module, device, compute_capability);
    if (!module) return std::unexpected(module.error());
    auto storage = variable_storage(*(*module)->program, variable.name);
    if (!storage)
        return std::unexpected(LoadError{.code = cudaErrorInvalidSymbol, .line = storage.error().text()});
    return *storage;
}

void Modules::set_managed_pointers(Module& module, int device, unsigned compute_capability) {
    for (const auto& variable : module.variables) {
        if (variable->managed_pointer == nullptr) continue;
        if (const auto place = storage(*variable, device, compute_capability))
            *variable->managed_pointer = place->host;
    }
}

std::uint64_t Modules::variable_bytes_at(const void* address) const {
    const auto value = reinterpret_cast<std::uint64_t>(address);
    auto place = placed_variables_.upper_bound(value);
    if (place == placed_variables_.begin()) return 0;
    --place;
    const std::uint64_t offset = value - place->first;
    return offset < place->second.size_bytes ? place->second.size_bytes - offset : 0;
}

void Modules::unload(int device) {
    std::erase_if(placed_variables_, [device](const auto& entry) { return entry.second.device == device; });
    for (const auto& module : modules_) {
        for (const auto& kernel : module->kernels) kernel->loaded.erase(device);
        module->loaded.erase(device);
        module->failed.erase(device);
    }
}

}  // namespace trimtab::cuda
