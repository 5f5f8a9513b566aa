// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/managed_variables.h"

#include <cstdint>
#include <vector>

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ReplaceConstant.h"
#include "pass/source_annotations.h"

namespace trimtab::pass {
namespace {

constexpr llvm::StringLiteral annotation = "trimtab.managed";
constexpr llvm::StringLiteral section = "trimtab_managed";
// Defined by trimtab++'s device link: points to the handle of the linked module.
constexpr llvm::StringLiteral linked_device_code = "trimtab_linked_device_code";

// The variables that the header's macro marked.
std::vector<llvm::GlobalVariable*> marked_variables(const llvm::Module& module) {
    std::vector<llvm::GlobalVariable*> found;
    for (const SourceAnnotation& entry : source_annotations(module)) {
        auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(entry.subject);
        if (variable != nullptr && entry.text == annotation) found.push_back(variable);
    }
    return found;
}

// The call that registers `variable`, in clang's __cuda_register_globals.
llvm::CallInst* registration_of(const llvm::GlobalVariable& variable) {
    for (const llvm::User* user : variable.users()) {
        auto* call = llvm::dyn_cast<llvm::CallInst>(const_cast<llvm::User*>(user));
        if (call != nullptr && call->getCalledFunction() != nullptr &&
            call->getCalledFunction()->getName() == "__cudaRegisterVar")
            return call;
    }
    return nullptr;
}

// Relocatable device code: the entry that tells the device link's registration of `variable`.
llvm::GlobalVariable* offload_entry_of(const llvm::GlobalVariable& variable) {
    for (const llvm::User* user : variable.users()) {
        if (!llvm::isa<llvm::ConstantStruct>(user)) continue;
        for (const llvm::User* holder : user->users()) {
            auto* entry = llvm::dyn_cast<llvm::GlobalVariable>(const_cast<llvm::User*>(holder));
            if (entry != nullptr && entry->getSection() == "llvm_offload_entries") return entry;
        }
    }
    return nullptr;
}

// ptr access(): what gives the variable's address; other files call it where they declare the variable.
llvm::Function* declare_access(const llvm::GlobalVariable& variable) {
    auto& module = const_cast<llvm::Module&>(*variable.getParent());
    auto* address = llvm::PointerType::get(module.getContext(), 0);
    return llvm::Function::Create(llvm::FunctionType::get(address, false), llvm::GlobalValue::ExternalLinkage,
                                  "trimtab_access." + variable.getName(), module);
}

// ptr access(): the pointer, which is filled in at the first use of the module's managed variables. `handle`:
// the module's; or, where the device code is linked later, a variable of the device link that points to it
// and is missing without one.
llvm::Function* make_access(const llvm::GlobalVariable& variable, llvm::GlobalVariable& pointer,
                            llvm::GlobalVariable& handle) {
    llvm::Module& module = *pointer.getParent();
    llvm::LLVMContext& context = module.getContext();
    auto* address = llvm::PointerType::get(context, 0);
    llvm::Function* access = declare_access(variable);
    if (variable.hasLocalLinkage()) access->setLinkage(llvm::GlobalValue::InternalLinkage);
    auto initialise = module.getOrInsertFunction(
        "__cudaInitModule", llvm::FunctionType::get(llvm::Type::getInt8Ty(context), {address}, false));
    auto* start = llvm::BasicBlock::Create(context, "", access);
    auto* first = llvm::BasicBlock::Create(context, "first", access);
    auto* found = llvm::BasicBlock::Create(context, "found", access);
    auto* done = llvm::BasicBlock::Create(context, "done", access);
    llvm::IRBuilder<> builder(start);
    builder.CreateCondBr(builder.CreateIsNull(builder.CreateLoad(address, &pointer)), first, done);
    const bool is_linked_later = handle.hasExternalWeakLinkage();
    builder.SetInsertPoint(first);
    if (is_linked_later)
        builder.CreateCondBr(builder.CreateIsNotNull(&handle), found, done);
    else
        builder.CreateBr(found);
    builder.SetInsertPoint(found);
    llvm::Value* value = builder.CreateLoad(address, &handle);
    if (is_linked_later) value = builder.CreateLoad(address, value);
    builder.CreateCall(initialise, {value});
    builder.CreateBr(done);
    builder.SetInsertPoint(done);
    builder.CreateRet(builder.CreateLoad(address, &pointer));
    return access;
}

// All uses of the host's shadow but `registration` ask `access` for the address.
void call_for_uses(llvm::GlobalVariable& variable, const llvm::CallInst* registration,
                   llvm::Function& access) {
    std::vector<llvm::Use*> uses;
    llvm::Constant* shadow = &variable;
    llvm::convertUsersOfConstantsToInstructions(shadow);
    for (llvm::Use& use : variable.uses())
        if (auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
            user != nullptr && user != registration)
            uses.push_back(&use);
    for (llvm::Use* use : uses) {
        auto* user = llvm::cast<llvm::Instruction>(use->getUser());
        // What flows into a phi is computed where it comes from.
        if (auto* phi = llvm::dyn_cast<llvm::PHINode>(user))
            user = phi->getIncomingBlock(*use)->getTerminator();
        llvm::IRBuilder<> builder(user);
        use->set(builder.CreateCall(&access));
    }
}

// The pointer to the variable's memory, through which all uses of the host's shadow but `registration` now
// go.
llvm::GlobalVariable* route_uses(llvm::GlobalVariable& variable, const llvm::CallInst* registration,
                                 llvm::GlobalVariable& handle) {
    llvm::Module& module = *variable.getParent();
    auto* address = llvm::PointerType::get(module.getContext(), 0);
    auto* pointer = new llvm::GlobalVariable(
        module, address, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
        llvm::ConstantPointerNull::get(address), "trimtab_managed." + variable.getName());
    call_for_uses(variable, registration, *make_access(variable, *pointer, handle));
    return pointer;
}

void route(llvm::GlobalVariable& variable, llvm::CallInst& registration, llvm::GlobalVariable& handle) {
    llvm::Module& module = *variable.getParent();
    llvm::GlobalVariable* pointer = route_uses(variable, &registration, handle);
    // __cudaRegisterManagedVar(handle, &pointer, shadow, name, ...): as __cudaRegisterVar from there on.
    llvm::FunctionType* type = registration.getFunctionType();
    llvm::SmallVector<llvm::Type*, 8> types(type->params());
    auto managed = module.getOrInsertFunction(
        "__cudaRegisterManagedVar",
        llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), types, false));
    llvm::SmallVector<llvm::Value*, 8> arguments(registration.args());
    arguments[1] = pointer;
    arguments[2] = &variable;
    llvm::IRBuilder<> builder(&registration);
    builder.CreateCall(managed, arguments);
    registration.eraseFromParent();
}

// The device link registers what the entries say (llvm/Frontend/Offloading/Utility.h): reserved, version,
// kind, flags, address, name, size, data, auxiliary address.
bool route_through_entry(llvm::GlobalVariable& variable, llvm::GlobalVariable& entry) {
    constexpr unsigned flags = 3;
    constexpr unsigned auxiliary = 8;
    constexpr std::uint64_t managed = 1;  // OffloadGlobalManagedEntry
    const auto* fields = llvm::dyn_cast<llvm::ConstantStruct>(entry.getInitializer());
    if (fields == nullptr || fields->getNumOperands() <= auxiliary) return false;
    llvm::Module& module = *variable.getParent();
    auto* address = llvm::PointerType::get(module.getContext(), 0);
    llvm::GlobalVariable* handle = module.getNamedGlobal(linked_device_code);
    if (handle == nullptr) {
        handle =
            new llvm::GlobalVariable(module, address, /*isConstant=*/false,
                                     llvm::GlobalValue::ExternalWeakLinkage, nullptr, linked_device_code);
        handle->setVisibility(llvm::GlobalValue::HiddenVisibility);
    }
    llvm::GlobalVariable* pointer = route_uses(variable, nullptr, *handle);
    std::vector<llvm::Constant*> values;
    for (const llvm::Use& use : fields->operands()) values.push_back(llvm::cast<llvm::Constant>(use.get()));
    values[flags] = llvm::ConstantInt::get(values[flags]->getType(), managed);
    values[auxiliary] = pointer;
    entry.setInitializer(llvm::ConstantStruct::get(fields->getType(), values));
    return true;
}

}  // namespace

bool mark_managed_variables(llvm::Module& module) {
    const auto variables = marked_variables(module);
    if (variables.empty()) return false;
    llvm::LLVMContext& context = module.getContext();
    llvm::NamedMDNode* annotations = module.getOrInsertNamedMetadata("nvvm.annotations");
    for (llvm::GlobalVariable* variable : variables)
        annotations->addOperand(llvm::MDNode::get(
            context,
            {llvm::ValueAsMetadata::get(variable), llvm::MDString::get(context, "managed"),
             llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 1))}));
    return true;
}

bool route_managed_variables(llvm::Module& module) {
    llvm::GlobalVariable* handle = module.getNamedGlobal("__cuda_gpubin_handle");
    bool changed = false;
    // Annotations are of definitions alone; other files' variables have the section that the macro names.
    std::vector<llvm::GlobalVariable*> elsewhere;
    for (llvm::GlobalVariable& variable : module.globals()) {
        if (variable.getSection() != section) continue;
        if (variable.isDeclaration()) elsewhere.push_back(&variable);
        variable.setSection("");
    }
    for (llvm::GlobalVariable* variable : elsewhere) {
        call_for_uses(*variable, nullptr, *declare_access(*variable));
        changed = true;
    }
    for (llvm::GlobalVariable* variable : marked_variables(module)) {
        if (llvm::CallInst* registration = registration_of(*variable);
            registration != nullptr && handle != nullptr) {
            route(*variable, *registration, *handle);
            changed = true;
        } else if (llvm::GlobalVariable* entry = offload_entry_of(*variable); entry != nullptr) {
            changed |= route_through_entry(*variable, *entry);
        }
    }
    return changed;
}

}  // namespace trimtab::pass
