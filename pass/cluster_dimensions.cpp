// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/cluster_dimensions.h"

#include <string>

#include "llvm/IR/Function.h"
#include "pass/source_annotations.h"

namespace trimtab::pass {

bool mark_cluster_dimensions(llvm::Module& module) {
    constexpr unsigned dimensions = 3;
    bool changed = false;
    for (const SourceAnnotation& annotation : source_annotations(module)) {
        auto* kernel = llvm::dyn_cast<llvm::Function>(annotation.subject);
        if (kernel == nullptr || annotation.text != "trimtab.cluster") continue;
        // Without numbers the launch gives them (CUDA C++ programming guide, "thread block clusters").
        std::string sizes;
        for (unsigned i = 0; annotation.arguments != nullptr && i < dimensions; ++i) {
            const llvm::ConstantInt* size = nullptr;
            if (i < annotation.arguments->getNumOperands())
                size = llvm::dyn_cast<llvm::ConstantInt>(annotation.arguments->getOperand(i));
            if (i > 0) sizes += ',';
            sizes += std::to_string(size == nullptr ? 1 : size->getZExtValue());
        }
        if (sizes.empty()) continue;
        kernel->addFnAttr("nvvm.cluster_dim", sizes);
        changed = true;
    }
    return changed;
}

}  // namespace trimtab::pass
