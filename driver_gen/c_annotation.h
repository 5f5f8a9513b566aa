// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel's annotation states for a block, in C.
#pragma once

#include <expected>
#include <string>

#include "core/analysis/launches/description.h"
#include "trimtab/error.h"

namespace trimtab::driver_gen {

// Defines trimtab_kernel_allows(), trimtab_kernel_grid(), trimtab_kernel_at(): may a block be launched, with which grid, and with
// which D and dynamic shared memory the model is asked about it. Without annotations: the covering grid, and
// the launch's own. An error where an annotation reads what is not in D.
[[nodiscard]] std::expected<std::string, Error> print_annotation(
    const analysis::KernelDescription& description);

}  // namespace trimtab::driver_gen
