// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/assembler.h"

#include <fmt/format.h>

#include "core/sass/assemble.h"
#include "core/sass/assemble_older.h"

namespace trimtab::tools {

std::optional<analysis::KernelImage> assemble(const std::string& ptx, const std::string& kernel,
                                              unsigned compute_capability) {
    ptx::KernelResources resources;
    std::string architecture;
    if (compute_capability < sass::first_current_capability)
        if (const auto cubin = sass::assemble_older(ptx, kernel, compute_capability)) {
            const std::string own = fmt::format("sm_{}", compute_capability);
            const auto& r = cubin->resources;
            return analysis::KernelImage{
                .architecture = own,
                .registers = r.registers_per_thread,
                .registers_from = cubin->architecture == own
                                      ? "ptxas " + own
                                      : fmt::format("ptxas {} (proxy for {})", cubin->architecture, own),
                .shared_bytes = r.static_shared_bytes,
                .local_bytes = r.local_bytes_per_thread,
                .max_threads = r.max_threads_per_block};
        }
    // What was disassembled is kept, with its resources: ptxas takes seconds for large kernels.
    if (const auto kept = sass::assemble(ptx, kernel, compute_capability, sass::default_cache_folder())) {
        resources = kept->resources;
        architecture = kept->architecture;
    } else if (const auto cubin = sass::assemble_cubin(ptx, kernel, compute_capability)) {
        resources = cubin->resources;
        architecture = cubin->architecture;
    } else {
        return std::nullopt;
    }
    return analysis::KernelImage{.architecture = architecture,
                                 .registers = resources.registers_per_thread,
                                 .registers_from = "ptxas " + architecture,
                                 .shared_bytes = resources.static_shared_bytes,
                                 .local_bytes = resources.local_bytes_per_thread,
                                 .max_threads = resources.max_threads_per_block};
}

}  // namespace trimtab::tools
