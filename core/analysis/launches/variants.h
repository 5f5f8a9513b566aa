// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that are several bodies of one (TRIMTAB_VARIANTS, docs/variants.md): which may stand in for which.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/analysis/launches/description.h"

namespace trimtab::analysis {

// Are they bodies of one kernel?
[[nodiscard]] bool are_variants(const KernelDescription& a, const KernelDescription& b);

// Do they take the same parameters?
[[nodiscard]] bool take_the_same(const KernelDescription& a, const KernelDescription& b);

// Why a launch of `kernel` is never made one of `other`, a body of the same kernel; empty: it may be, where the
// annotation of `kernel` describes it, with what the annotation of `other` states. Nothing is guessed.
[[nodiscard]] std::string variant_mismatch(const KernelDescription& kernel, const KernelDescription& other);

// What is wrong with the variants of one fat binary, a line each: bodies that no launch can be exchanged with.
[[nodiscard]] std::vector<std::string> variant_faults(std::span<const KernelDescription> kernels);

}  // namespace trimtab::analysis
