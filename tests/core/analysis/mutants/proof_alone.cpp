// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In the place of the checker's: the search is for kernels that the proof by itself gets wrong. With the second opinion
// a mistake of the proof shows only where both let it pass.
#include "core/checker/check.h"

namespace trimtab::checker {

std::optional<Objection> check(const Certificate&) {
    return std::nullopt;
}

}  // namespace trimtab::checker
