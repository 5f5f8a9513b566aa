// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a remedy would change of a launch's code or of where its accesses go: the launch is traced as if it were made.
#pragma once

#include <cstdint>

namespace trimtab::schedule {

enum class EditKind : std::uint8_t {
    removed,           // takes no time and touches nothing: its value is at hand
    cached_near,       // a load that may pass stores and is kept in L1, or the read-only cache
    single_precision,  // what computes doubles computes floats
    side_by_side,      // the lanes' elements are neighbours; all iterations together touch what they touched
    without_conflicts  // in shared memory: a pass for every 128 bytes
};

struct Edit {
    std::uint32_t instruction = 0;  // in the kernel's numbering
    EditKind kind = EditKind::removed;
};

}  // namespace trimtab::schedule
