// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/source_annotations.h"

#include "llvm/IR/GlobalVariable.h"

namespace trimtab::pass {
namespace {

const llvm::Constant* initialiser_of(const llvm::Value& value) {
    const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(value.stripPointerCasts());
    return variable == nullptr || !variable->hasInitializer() ? nullptr : variable->getInitializer();
}

}  // namespace

std::vector<SourceAnnotation> source_annotations(const llvm::Module& module) {
    std::vector<SourceAnnotation> found;
    const llvm::GlobalVariable* list = module.getNamedGlobal("llvm.global.annotations");
    if (list == nullptr || !list->hasInitializer()) return found;
    const auto* entries = llvm::dyn_cast<llvm::ConstantArray>(list->getInitializer());
    if (entries == nullptr) return found;
    for (const llvm::Use& use : entries->operands()) {
        // {subject, text, file, line, arguments}
        const auto* entry = llvm::dyn_cast<llvm::ConstantStruct>(use.get());
        if (entry == nullptr || entry->getNumOperands() < 2) continue;
        const llvm::Constant* text = initialiser_of(*entry->getOperand(1));
        const auto* characters = llvm::dyn_cast_or_null<llvm::ConstantDataSequential>(text);
        if (characters == nullptr || !characters->isCString()) continue;
        SourceAnnotation annotation{.subject = entry->getOperand(0)->stripPointerCasts(),
                                    .text = characters->getAsCString()};
        if (entry->getNumOperands() > 4)
            annotation.arguments =
                llvm::dyn_cast_or_null<llvm::ConstantStruct>(initialiser_of(*entry->getOperand(4)));
        found.push_back(annotation);
    }
    return found;
}

void keep_annotations(llvm::Module& module, llvm::function_ref<bool(const llvm::Value& subject)> is_kept) {
    llvm::GlobalVariable* all = module.getNamedGlobal("llvm.global.annotations");
    const auto* entries = all != nullptr && all->hasInitializer()
                              ? llvm::dyn_cast<llvm::ConstantArray>(all->getInitializer())
                              : nullptr;
    if (entries == nullptr) return;
    std::vector<llvm::Constant*> kept;
    for (const llvm::Use& use : entries->operands()) {
        auto* entry = llvm::cast<llvm::Constant>(use.get());
        if (is_kept(*llvm::cast<llvm::Constant>(entry->getOperand(0))->stripPointerCasts()))
            kept.push_back(entry);
    }
    if (!kept.empty()) {
        auto* type = llvm::ArrayType::get(kept.front()->getType(), kept.size());
        auto* fewer = new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::AppendingLinkage,
                                               llvm::ConstantArray::get(type, kept), "");
        fewer->takeName(all);
        fewer->setSection(all->getSection());
    }
    all->eraseFromParent();
}

}  // namespace trimtab::pass
