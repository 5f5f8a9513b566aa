// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What pointers point to, where no name says it.
#pragma once

#include <vector>

#include "core/analysis/launches/description.h"
#include "core/analysis/proof/proof.h"

namespace trimtab::analysis {

// Fills in empty pointees, and the pointers in structs, from the types of loads, stores and atomics through the pointer, and
// from what becomes of the values loaded where the access itself is untyped.
void infer_pointees(const SymbolTable& table, const Proof& proof, std::vector<KernelParameter>& parameters);

}  // namespace trimtab::analysis
