// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of a certificate follows from the rest of it. Nothing of this need be right: it is checked with the rest.
#pragma once

#include "core/checker/certificate.h"

namespace trimtab::checker {

// Writes the phis of its loops that follow their index, its first threads, its sums, and the least labels that
// all of it allows.
void complete(Certificate& certificate);

}  // namespace trimtab::checker
