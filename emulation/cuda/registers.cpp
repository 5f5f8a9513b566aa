// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/registers.h"

#include <fmt/format.h>

#include <array>

#include "core/analysis/describe.h"
#include "core/analysis/launches/legal_blocks.h"

namespace trimtab::cuda {
namespace {

double max_threads_of(const ptx::Function& function) {
    const auto& limit = function.required_block ? function.required_block : function.max_block;
    return limit ? static_cast<double>(limit->x) * limit->y * limit->z : 0;
}

}  // namespace

trimtab_image image_of(LoadedModule& module, const LoadedKernel& kernel) {
    const auto known = module.resources.find(kernel.info->name);
    if (known != module.resources.end()) {
        const ptx::KernelResources& numbers = known->second;
        const double limit = max_threads_of(*kernel.function);
        return {
            .registers_per_thread = static_cast<double>(numbers.registers_per_thread),
            .static_shared_bytes = static_cast<double>(numbers.static_shared_bytes),
            .local_bytes_per_thread = static_cast<double>(numbers.local_bytes_per_thread),
            .max_threads_per_block = limit > 0 ? limit : static_cast<double>(numbers.max_threads_per_block)};
    }
    if (module.images.empty()) {
        const ptx::Module& ptx = module_of(*module.program);
        const std::array<analysis::Image, 1> images{
            analysis::Image{.module = &ptx,
                            .architecture = fmt::format("sm_{}", module.ptx_architecture),
                            .resources = {},
                            .resources_from = {}}};
        if (const auto described = analysis::describe(images, {})) {
            for (const analysis::KernelDescription& description : *described) {
                if (!description.images.empty())
                    module.images[description.name] = analysis::to_driver_image(description.images.front());
            }
        }
    }
    const auto estimated = module.images.find(kernel.info->name);
    if (estimated != module.images.end()) return estimated->second;
    return {.registers_per_thread = 0,
            .static_shared_bytes = static_cast<double>(kernel.info->static_shared_bytes),
            .local_bytes_per_thread = static_cast<double>(kernel.info->local_bytes),
            .max_threads_per_block = max_threads_of(*kernel.function)};
}

}  // namespace trimtab::cuda
