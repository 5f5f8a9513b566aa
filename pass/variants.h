// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What TRIMTAB_VARIANTS and TRIMTAB_VARIANT (include/trimtab/annotate.h) leave in a device module: lists of kernels
// that are bodies of one.
#pragma once

#include <cstdint>
#include <string>

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Module.h"

namespace trimtab::pass {

struct KernelVariant {
    std::string of;          // "name::space::reduce"
    std::int32_t value = 0;  // 64
};
// Of a kernel that two lists name, what the first says.
using KernelVariants = llvm::MapVector<const llvm::Function*, KernelVariant>;
[[nodiscard]] KernelVariants kernel_variants(const llvm::Module& module);

// The lists are for us alone: code that runs has none. False: there was none.
bool remove_variant_lists(llvm::Module& module);

}  // namespace trimtab::pass
