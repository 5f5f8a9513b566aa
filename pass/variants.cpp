// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/variants.h"

#include <cstdlib>
#include <memory>
#include <vector>

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "pass/source_annotations.h"

namespace trimtab::pass {
namespace {

constexpr llvm::StringLiteral prefix = "trimtab variants: ";

struct List {
    llvm::GlobalVariable* variable = nullptr;
    std::string name;
};

std::vector<List> lists_of(const llvm::Module& module) {
    std::vector<List> lists;
    for (const SourceAnnotation& entry : source_annotations(module)) {
        auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(entry.subject);
        llvm::StringRef text = entry.text;
        if (variable != nullptr && variable->hasInitializer() && text.consume_front(prefix))
            lists.push_back({variable, text.str()});
    }
    return lists;
}

// "name::space" of a function; empty where it is in none, or its name cannot be read.
std::string context_of(const llvm::Function& function) {
    const std::string name = function.getName().str();  // the demangler points into it
    llvm::ItaniumPartialDemangler demangler;
    if (demangler.partialDemangle(name.c_str()) || !demangler.isFunction()) return {};
    const std::unique_ptr<char, decltype(&std::free)> text(
        demangler.getFunctionDeclContextName(nullptr, nullptr), &std::free);
    return text == nullptr ? std::string() : std::string(text.get());
}

}  // namespace

KernelVariants kernel_variants(const llvm::Module& module) {
    KernelVariants variants;
    for (const List& list : lists_of(module)) {
        std::string of;
        for (const llvm::Use& use : list.variable->getInitializer()->operands()) {
            const auto* entry = llvm::dyn_cast<llvm::ConstantStruct>(use.get());
            if (entry == nullptr || entry->getNumOperands() != 2) continue;
            const auto* kernel = llvm::dyn_cast<llvm::Function>(entry->getOperand(0)->stripPointerCasts());
            const auto* value = llvm::dyn_cast<llvm::ConstantInt>(entry->getOperand(1));
            if (kernel == nullptr || value == nullptr || !value->getValue().isSignedIntN(32)) {
                llvm::errs() << "trimtab: variants of " << list.name << ": an entry is left out: "
                             << (kernel == nullptr ? "it is no kernel" : "its value is no 32-bit integer")
                             << '\n';
                continue;
            }
            if (of.empty()) {
                const std::string context = context_of(*kernel);
                of = context.empty() ? list.name : context + "::" + list.name;
            }
            variants.insert({kernel, {of, static_cast<std::int32_t>(value->getSExtValue())}});
        }
    }
    return variants;
}

bool remove_variant_lists(llvm::Module& module) {
    std::vector<llvm::GlobalVariable*> lists;
    for (const List& list : lists_of(module)) lists.push_back(list.variable);
    if (lists.empty()) return false;
    const auto is_list = [&lists](const llvm::Constant* value) {
        return llvm::is_contained(lists, value->stripPointerCasts());
    };
    llvm::removeFromUsedLists(module, is_list);
    keep_annotations(module,
                     [&lists](const llvm::Value& subject) { return !llvm::is_contained(lists, &subject); });
    for (llvm::GlobalVariable* list : lists) {
        list->removeDeadConstantUsers();
        if (list->use_empty()) list->eraseFromParent();
    }
    return true;
}

}  // namespace trimtab::pass
