// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the launcher tells the engine of CUDA: devices, what came with the program, and what the backend says of the images that
// it runs.
#include <algorithm>

#include "choosing/modules/module_image.h"
#include "core/ptx/binary.h"
#include "runtime/launches/launcher.h"
#include "runtime/relaxed_capture.h"

namespace trimtab::runtime {

// Of a handle of the driver API's: what cudaFuncGetAttributes tells of a host function.
std::optional<cudaFuncAttributes> Launcher::driver_attributes(const RegisteredKernel& kernel,
                                                              const choosing::LaunchShape& shape) const {
    if (shape.function == nullptr) return std::nullopt;
    auto function = static_cast<CUfunction>(const_cast<void*>(shape.function));
    if (kernel.kind == HandleKind::library_kernel &&
        calls_.driver.kernel_get_function(
            &function, static_cast<CUkernel>(const_cast<void*>(shape.function))) != CUDA_SUCCESS)
        return std::nullopt;
    const auto ask = [&](CUfunction_attribute attribute) {
        int value = -1;
        return calls_.driver.func_get_attribute(&value, attribute, function) == CUDA_SUCCESS ? value : -1;
    };
    cudaFuncAttributes attributes{};
    attributes.numRegs = ask(CU_FUNC_ATTRIBUTE_NUM_REGS);
    attributes.maxThreadsPerBlock = ask(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    const int shared_bytes = ask(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
              local_bytes = ask(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    if (attributes.numRegs < 0 || attributes.maxThreadsPerBlock < 0 || shared_bytes < 0 || local_bytes < 0)
        return std::nullopt;
    attributes.sharedSizeBytes = static_cast<std::size_t>(shared_bytes);
    attributes.localSizeBytes = static_cast<std::size_t>(local_bytes);
    attributes.maxDynamicSharedSizeBytes = ask(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    return attributes;
}

std::optional<cudaFuncAttributes> Launcher::attributes_of(const RegisteredKernel& kernel,
                                                          const choosing::LaunchShape& shape) const {
    // Another thread may be recording a graph, which what CUDA is asked here must not spoil.
    const RelaxedCapture relaxed(calls_);
    if (kernel.kind != HandleKind::host_function) return driver_attributes(kernel, shape);
    cudaFuncAttributes attributes{};
    const PendingError pending(calls_);
    if (calls_.func_get_attributes(&attributes, kernel.host_function) == cudaSuccess) return attributes;
    pending.restore();
    return std::nullopt;
}

std::shared_ptr<const choosing::KnownDevice> Launcher::device(std::uint32_t ordinal) {
    return devices_.device(ordinal);
}

choosing::Host::Own Launcher::own(const choosing::Kernel& of) {
    const RegisteredKernel& kernel = as_registered(of);
    Own own;
    if (kernel.adopted) {
        own.found = bundles_.find_by_name(kernel.name);
    } else if (kernel.fat_binary == nullptr) {
        own.found.reason = "its fat binary is of an unknown kind";
    } else if (const auto hash = ptx::fat_binary_hash(static_cast<const std::byte*>(kernel.fat_binary))) {
        own.found = bundles_.find(*hash, kernel.name);
        own.code = kernel.fat_binary;
    } else {
        own.found.reason = hash.error().text();
    }
    return own;
}

choosing::Kernel* Launcher::neighbour(choosing::Kernel& kernel, std::string_view name) {
    return as_registered(&kernel)->neighbour(name);
}

void Launcher::correct(trimtab_image& image, const choosing::Kernel& kernel,
                       const choosing::LaunchShape& shape) {
    const auto attributes = attributes_of(as_registered(kernel), shape);
    if (!attributes) return;
    image.registers_per_thread = attributes->numRegs;
    image.static_shared_bytes = static_cast<double>(attributes->sharedSizeBytes);
    image.local_bytes_per_thread = static_cast<double>(attributes->localSizeBytes);
    const double limit = attributes->maxThreadsPerBlock;
    if (limit > 0 && (image.max_threads_per_block == 0 || limit < image.max_threads_per_block))
        image.max_threads_per_block = limit;
}

std::uint64_t Launcher::max_dynamic_shared_bytes(const choosing::Kernel& kernel,
                                                 const choosing::LaunchShape& shape) {
    const auto attributes = attributes_of(as_registered(kernel), shape);
    return attributes ? static_cast<std::uint64_t>(std::max(attributes->maxDynamicSharedSizeBytes, 0)) : 0;
}

std::shared_ptr<const std::vector<std::byte>> Launcher::code(const choosing::Kernel& kernel) {
    // Of a module that the program has loaded while it runs, the code is not kept.
    const void* fat_binary = as_registered(kernel).fat_binary;
    if (fat_binary == nullptr) return nullptr;
    const choosing::ModuleImage image = choosing::recognise_module(fat_binary);
    if (image.kind != choosing::ModuleImage::Kind::fat_binary) return nullptr;
    return std::make_shared<const std::vector<std::byte>>(image.bytes.begin(), image.bytes.end());
}

}  // namespace trimtab::runtime
