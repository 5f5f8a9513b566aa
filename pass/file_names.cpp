// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/file_names.h"

#include <string>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"

namespace trimtab::pass {
namespace {

// Every node of the module's metadata, each once.
class Nodes {
  public:
    explicit Nodes(const llvm::Module& module) {
        for (const llvm::NamedMDNode& named : module.named_metadata())
            for (const llvm::MDNode* node : named.operands()) add(node);
        for (const llvm::GlobalVariable& variable : module.globals()) add_attachments(variable);
        for (const llvm::Function& function : module) {
            add_attachments(function);
            for (const llvm::Instruction& instruction : llvm::instructions(function)) add(instruction);
        }
        for (std::size_t i = 0; i < found_.size(); ++i)
            for (const llvm::MDOperand& operand : found_[i]->operands()) add(operand.get());
    }

    [[nodiscard]] llvm::ArrayRef<const llvm::MDNode*> all() const { return found_.getArrayRef(); }

  private:
    void add(const llvm::Metadata* metadata) {
        if (const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(metadata)) found_.insert(node);
    }

    void add(const llvm::Instruction& instruction) {
        llvm::SmallVector<std::pair<unsigned, llvm::MDNode*>, 4> attached;
        instruction.getAllMetadata(attached);
        for (const auto& [kind, node] : attached) add(node);
        for (const llvm::DbgRecord& record : instruction.getDbgRecordRange()) {
            add(record.getDebugLoc().getAsMDNode());
            if (const auto* variable = llvm::dyn_cast<llvm::DbgVariableRecord>(&record))
                add(variable->getVariable());
        }
    }

    void add_attachments(const llvm::GlobalObject& object) {
        llvm::SmallVector<std::pair<unsigned, llvm::MDNode*>, 4> attached;
        object.getAllMetadata(attached);
        for (const auto& [kind, node] : attached) add(node);
    }

    llvm::SetVector<const llvm::MDNode*> found_;
};

std::string encoded(llvm::StringRef name) {
    std::string text;
    for (const char c : name) {
        if (llvm::isASCII(c))
            text += c;
        else
            text += "%" + llvm::toHex(llvm::StringRef(&c, 1));
    }
    return text;
}

}  // namespace

bool encode_file_names(llvm::Module& module) {
    // Most modules hold no such name, and their metadata is large.
    if (module.debug_compile_units().empty()) return false;
    bool changed = false;
    for (const llvm::MDNode* node : Nodes(module).all()) {
        if (!llvm::isa<llvm::DIFile>(node)) continue;
        for (unsigned i = 0; i < 2; ++i) {  // its name and its folder
            const auto* name = llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(i).get());
            if (name == nullptr || llvm::all_of(name->getString(), [](char c) { return llvm::isASCII(c); }))
                continue;
            const_cast<llvm::MDNode*>(node)->replaceOperandWith(
                i, llvm::MDString::get(module.getContext(), encoded(name->getString())));
            changed = true;
        }
    }
    return changed;
}

}  // namespace trimtab::pass
