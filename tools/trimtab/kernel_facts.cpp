// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/kernel_facts.h"

namespace trimtab::tools {

advice::KernelFacts facts_of(const analysis::KernelDescription& description) {
    return {.demangled = description.demangled,
            .source = description.source,
            .block_is_free = description.verdict != analysis::Verdict::fixed};
}

}  // namespace trimtab::tools
