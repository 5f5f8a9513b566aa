// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a proof rests on, as plain data that another room checks (core/checker/).
#pragma once

#include <vector>

#include "core/analysis/proof/proof.h"
#include "core/checker/certificate.h"

namespace trimtab::analysis {

// One for each function that the proof looked at, and one for tables that it left out. They refer to the proof's
// functions. Nothing where the proof does not stand.
[[nodiscard]] std::vector<checker::Certificate> certificates(const Proof& proof, const ptx::Function& kernel);

}  // namespace trimtab::analysis
