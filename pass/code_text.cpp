// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/code_text.h"

#include <memory>
#include <vector>

#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace trimtab::pass {
namespace {

void gather(const llvm::Constant& constant, llvm::SmallPtrSetImpl<const llvm::Constant*>& seen,
            Globals& found) {
    if (const auto* global = llvm::dyn_cast<llvm::GlobalValue>(&constant)) {
        found.insert(global);
        return;
    }
    if (!seen.insert(&constant).second) return;
    for (const llvm::Use& operand : constant.operands())
        if (const auto* part = llvm::dyn_cast<llvm::Constant>(operand)) gather(*part, seen, found);
}

llvm::SmallVector<llvm::AttributeSet, 4> parameter_attributes(const llvm::CallBase& call) {
    llvm::SmallVector<llvm::AttributeSet, 4> sets;
    for (unsigned i = 0; i < call.arg_size(); ++i) sets.push_back(call.getAttributes().getParamAttrs(i));
    return sets;
}

}  // namespace

Globals reached_from(llvm::ArrayRef<const llvm::GlobalValue*> roots) {
    Globals found;
    found.insert_range(roots);
    llvm::SmallPtrSet<const llvm::Constant*, 32> seen;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const llvm::GlobalValue* global = found[i];
        for (const llvm::Use& operand : global->operands())
            if (const auto* part = llvm::dyn_cast<llvm::Constant>(operand)) gather(*part, seen, found);
        const auto* function = llvm::dyn_cast<llvm::Function>(global);
        if (function == nullptr) continue;
        for (const llvm::Instruction& instruction : llvm::instructions(*function))
            for (const llvm::Use& operand : instruction.operands())
                if (const auto* part = llvm::dyn_cast<llvm::Constant>(operand)) gather(*part, seen, found);
    }
    return found;
}

bool is_kernel(const llvm::Function& function) {
    return !function.isDeclaration() && function.getCallingConv() == llvm::CallingConv::PTX_Kernel;
}

bool is_common(const llvm::GlobalValue& global) {
    constexpr unsigned shared_memory = 3;
    const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&global);
    return variable != nullptr && !variable->isDeclaration() &&
           variable->getAddressSpace() != shared_memory &&
           (!variable->isConstant() || variable->isExternallyInitialized());
}

std::string code_text(const llvm::GlobalValue& root) {
    const Globals reached = reached_from(&root);
    llvm::ValueToValueMapTy map;
    const std::unique_ptr<llvm::Module> code = llvm::CloneModule(
        *root.getParent(), map, [&](const llvm::GlobalValue* global) { return reached.contains(global); });
    llvm::StripDebugInfo(*code);
    std::vector<llvm::NamedMDNode*> named;
    for (llvm::NamedMDNode& node : code->named_metadata()) named.push_back(&node);
    for (llvm::NamedMDNode* node : named) node->eraseFromParent();
    for (std::size_t i = 0; i < reached.size(); ++i) {
        auto* copy = llvm::cast<llvm::GlobalValue>(map[reached[i]]);
        if (i == 0 || (copy->hasLocalLinkage() && !is_common(*copy))) copy->setName("own." + llvm::Twine(i));
        // In the order in which the code comes upon them.
        if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(copy); variable != nullptr) {
            code->removeGlobalVariable(variable);
            code->insertGlobalVariable(variable);
        }
        auto* function = llvm::dyn_cast<llvm::Function>(copy);
        if (function == nullptr) continue;
        function->removeFromParent();
        code->getFunctionList().push_back(function);
        for (llvm::Argument& argument : function->args()) argument.setName({});
        for (llvm::BasicBlock& block : *function) block.setName({});
        for (llvm::Instruction& instruction : llvm::instructions(*function)) {
            instruction.setName({});
            // What an intrinsic's declaration says of its result, calls may repeat or not.
            if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction); call != nullptr)
                call->setAttributes(
                    llvm::AttributeList::get(call->getContext(), call->getAttributes().getFnAttrs(),
                                             llvm::AttributeSet(), parameter_attributes(*call)));
        }
    }
    // Declarations of all the rest.
    std::vector<llvm::GlobalValue*> unused;
    for (llvm::GlobalValue& global : code->global_values())
        if (global.isDeclaration() && global.use_empty()) unused.push_back(&global);
    for (llvm::GlobalValue* global : unused) global->eraseFromParent();
    code->setModuleIdentifier({});
    code->setSourceFileName({});
    std::string text;
    llvm::raw_string_ostream(text) << *code;
    return text;
}

}  // namespace trimtab::pass
