// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What __attribute__((annotate("text", ...))) says: how the compatibility header marks what clang does not
// have.
#pragma once

#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

namespace trimtab::pass {

struct SourceAnnotation {
    llvm::Constant* subject = nullptr;  // the function or variable
    llvm::StringRef text;
    const llvm::ConstantStruct* arguments = nullptr;  // nullptr: none
};

// Of the module's definitions: clang lists no declarations.
std::vector<SourceAnnotation> source_annotations(const llvm::Module& module);

// Takes out all but those of these subjects.
void keep_annotations(llvm::Module& module, llvm::function_ref<bool(const llvm::Value& subject)> is_kept);

}  // namespace trimtab::pass
