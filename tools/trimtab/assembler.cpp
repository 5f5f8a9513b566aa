#include "tools/trimtab/assembler.h"

#include "sass/assemble.h"

namespace trimtab::tools {

std::optional<analysis::KernelImage> assemble(const std::string& ptx, const std::string& kernel,
                                              unsigned compute_capability) {
    const auto cubin = sass::assemble_cubin(ptx, kernel, compute_capability);
    if (!cubin) return std::nullopt;
    const ptx::KernelResources& resources = cubin->resources;
    return analysis::KernelImage{.architecture = cubin->architecture,
                                 .registers = resources.registers_per_thread,
                                 .registers_from = "ptxas " + cubin->architecture,
                                 .shared_bytes = resources.static_shared_bytes,
                                 .local_bytes = resources.local_bytes_per_thread,
                                 .max_threads = resources.max_threads_per_block};
}

}  // namespace trimtab::tools
