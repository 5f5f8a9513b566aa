// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/launches/built_in_blocks.h"

#include <fmt/format.h>

#include "core/analysis/launches/variants.h"
#include "trimtab/body_name.h"

namespace trimtab::analysis {

std::optional<std::array<std::uint32_t, 3>> built_in_block(const KernelDescription& body) {
    // The plugin says so, too: a program may name its kernels as it likes.
    if (!body.variant) return std::nullopt;
    const auto read = read_built_in_body(body.name);
    return read && body.variant->of == built_in_block_of(read->kernel) ? std::optional(read->block)
                                                                       : std::nullopt;
}

bool has_built_in_block_of(const KernelDescription& body, const KernelDescription& kernel) {
    return built_in_block(body) && body.variant->of == built_in_block_of(kernel.name) &&
           take_the_same(body, kernel);
}

bool keeps_its_block(const KernelDescription& kernel) {
    return kernel.verdict == Verdict::fixed || (kernel.verdict != Verdict::annotated && !kernel.varies(0) &&
                                                !kernel.varies(1) && !kernel.varies(2));
}

std::string built_in_block_mismatch(const KernelDescription& body,
                                    const std::array<std::uint64_t, 3>& block) {
    const auto built_in = built_in_block(body);
    if (!built_in) return {};
    for (std::size_t d = 0; d < 3; d++)
        if ((*built_in)[d] != 0 && (*built_in)[d] != block[d])
            return (*built_in)[d] == 1
                       ? fmt::format(
                             "the kernel hard-codes blocks of one thread in {0}, because it does not read "
                             "threadIdx.{0}; this launch has {1}",
                             "xyz"[d], block[d])
                       : fmt::format("the kernel hard-codes blocks of {} threads in {}; this launch has {}",
                                     (*built_in)[d], "xyz"[d], block[d]);
    return {};
}

}  // namespace trimtab::analysis
