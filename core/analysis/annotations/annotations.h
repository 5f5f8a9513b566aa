// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TRIMTAB_TUNE: the text of an annotation, parsed and checked against the kernel that it stands at.
#pragma once

#include <expected>

#include "core/analysis/launches/description.h"
#include "core/analysis/launches/kernel_sources.h"
#include "trimtab/error.h"

namespace trimtab::analysis {

// Puts what the annotation says into the description: expressions over the block, the launch's extents and
// the kernel's arguments (64-bit signed arithmetic), sizes into D, and the verdict that follows. The error
// names the annotation's place in the source, and what in it is wrong; a second line quotes it, and a third
// has a caret under the fault.
[[nodiscard]] std::expected<void, Error> annotate(KernelDescription& description,
                                                  const KernelSource::Annotation& annotation);

// Is the user's source at fault? Of all that describing kernels may meet, annotations alone are quoted.
[[nodiscard]] bool is_source_error(const Error& error);

}  // namespace trimtab::analysis
