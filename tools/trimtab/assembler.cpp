// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/assembler.h"

#include <fmt/format.h>

#include "core/sass/assemble.h"
#include "core/sass/assemble_older.h"

namespace trimtab::tools {
namespace {

analysis::KernelImage image_of(const std::string& architecture, const ptx::KernelResources& resources,
                               std::string registers_from) {
    return {.architecture = architecture,
            .registers = resources.registers_per_thread,
            .registers_from = std::move(registers_from),
            .shared_bytes = resources.static_shared_bytes,
            .local_bytes = resources.local_bytes_per_thread,
            .max_threads = resources.max_threads_per_block};
}

std::optional<analysis::KernelImage> image_before_turing(const std::string& ptx, const std::string& kernel,
                                                         unsigned compute_capability) {
    const auto cubin = sass::assemble_older(ptx, kernel, compute_capability);
    if (!cubin) return std::nullopt;
    const std::string own = fmt::format("sm_{}", compute_capability);
    return image_of(own, cubin->resources,
                    cubin->architecture == own
                        ? "ptxas " + own
                        : fmt::format("ptxas {} (proxy for {})", cubin->architecture, own));
}

// What was disassembled is kept, with its resources: ptxas takes seconds for large kernels.
std::optional<analysis::KernelImage> image_of_kept(const std::string& ptx, const std::string& kernel,
                                                   unsigned compute_capability) {
    const auto kept = sass::assemble(ptx, kernel, compute_capability, sass::default_cache_folder());
    if (!kept) return std::nullopt;
    return image_of(kept->architecture, kept->resources, "ptxas " + kept->architecture);
}

}  // namespace

std::optional<analysis::KernelImage> assemble(const std::string& ptx, const std::string& kernel,
                                              unsigned compute_capability) {
    const bool is_older = compute_capability < sass::first_current_capability;
    const bool is_read = !is_older || sass::has_older_code(compute_capability);
    if (is_read)
        if (auto image = image_of_kept(ptx, kernel, compute_capability)) return image;
    if (is_older)
        if (auto image = image_before_turing(ptx, kernel, compute_capability)) return image;
    if (!is_read)
        if (auto image = image_of_kept(ptx, kernel, compute_capability)) return image;
    if (const auto cubin = sass::assemble_cubin(ptx, kernel, compute_capability))
        return image_of(cubin->architecture, cubin->resources, "ptxas " + cubin->architecture);
    return std::nullopt;
}

}  // namespace trimtab::tools
