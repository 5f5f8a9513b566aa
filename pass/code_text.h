// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel is made of, as text: equal texts are equal code, in whatever modules they stand.
#pragma once

#include <string>

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalValue.h"

namespace trimtab::pass {

using Globals = llvm::SetVector<const llvm::GlobalValue*>;

// The functions and variables that code reaches from these, themselves too.
[[nodiscard]] Globals reached_from(llvm::ArrayRef<const llvm::GlobalValue*> roots);

[[nodiscard]] bool is_kernel(const llvm::Function& function);

// Memory that outlives a launch, or that the host knows.
[[nodiscard]] bool is_common(const llvm::GlobalValue& global);

// A function or variable and all that it reaches, without lines and debug information. Its own name is no part of it,
// nor are those of functions, shared memory and constants that this module alone knows.
[[nodiscard]] std::string code_text(const llvm::GlobalValue& root);

}  // namespace trimtab::pass
