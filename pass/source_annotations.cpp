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

}  // namespace trimtab::pass
