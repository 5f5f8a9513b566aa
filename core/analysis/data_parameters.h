// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which scalars set a kernel's work: the data parameters D.
#pragma once

#include <vector>

#include "core/analysis/launches/description.h"
#include "core/analysis/proof/proof.h"

namespace trimtab::analysis {

// Scalars that reach a guard, a branch, a trip count or an address, in parameter order, then the extents of
// the dimensions read. Parameters of unknown type that turn out to be addresses are marked as pointers.
[[nodiscard]] std::vector<DataParameter> data_parameters(const SymbolTable& table, const Proof& proof,
                                                         std::vector<KernelParameter>& parameters);

}  // namespace trimtab::analysis
