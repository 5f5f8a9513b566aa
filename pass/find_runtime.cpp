// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/find_runtime.h"

#include <dlfcn.h>

#include <string>

#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace trimtab::pass {
namespace {

constexpr llvm::StringLiteral library_name = "libtrimtab.so.0", join_name = "trimtab_join";
// Of the objects of one program or library together; bundles of driver programs read the first (driver_gen/bundle.cpp).
constexpr llvm::StringLiteral handle_name = "trimtab_found_runtime",
                              looked_name = "trimtab_looked_for_runtime";
constexpr int earliest_priority = 101;  // of those that are not the C library's own
constexpr int open_flags = RTLD_LAZY | RTLD_LOCAL;

// In the folder of the plugin that this code is in.
std::string library_path() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&library_path), &info) == 0 || info.dli_fname == nullptr) return {};
    const std::string path = info.dli_fname;
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string{} : path.substr(0, slash + 1) + library_name.str();
}

llvm::GlobalVariable* shared_variable(llvm::Module& module, llvm::StringRef name, llvm::Type* type) {
    auto* variable = new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::WeakAnyLinkage,
                                              llvm::Constant::getNullValue(type), name);
    variable->setVisibility(llvm::GlobalValue::HiddenVisibility);
    variable->setDSOLocal(true);
    return variable;
}

// Null where the program has none, as a static one has no dlopen().
llvm::Function* weak_function(llvm::Module& module, llvm::StringRef name, llvm::FunctionType* type) {
    if (llvm::Function* known = module.getFunction(name)) return known;
    return llvm::Function::Create(type, llvm::GlobalValue::ExternalWeakLinkage, name, module);
}

}  // namespace

llvm::GlobalVariable* add_found_function(llvm::Module& module, llvm::StringRef function) {
    auto* pointer = llvm::PointerType::getUnqual(module.getContext());
    return new llvm::GlobalVariable(module, pointer, false, llvm::GlobalValue::InternalLinkage,
                                    llvm::ConstantPointerNull::get(pointer), "trimtab_found." + function);
}

void add_search(llvm::Module& module,
                llvm::ArrayRef<std::pair<llvm::StringRef, llvm::GlobalVariable*>> functions) {
    llvm::LLVMContext& context = module.getContext();
    auto* pointer = llvm::PointerType::getUnqual(context);
    auto* number = llvm::Type::getInt32Ty(context);
    auto* flag = llvm::Type::getInt8Ty(context);
    llvm::GlobalVariable* handle = shared_variable(module, handle_name, pointer);
    llvm::GlobalVariable* looked = shared_variable(module, looked_name, flag);
    auto* join_type = llvm::FunctionType::get(number, {pointer}, false);
    auto* open_type = llvm::FunctionType::get(pointer, {pointer, number}, false);
    auto* look_up_type = llvm::FunctionType::get(pointer, {pointer, pointer}, false);
    llvm::Function* linked = weak_function(module, join_name, join_type);
    llvm::Function* open = weak_function(module, "dlopen", open_type);
    llvm::Function* look_up = weak_function(module, "dlsym", look_up_type);

    auto* search = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), false),
                                          llvm::GlobalValue::InternalLinkage, "trimtab_find_runtime", module);
    const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context, name, search); };
    auto* start = block("");
    auto* first = block("first");
    auto* by_name = block("by_name");
    auto* by_path = block("by_path");
    auto* opened = block("opened");
    auto* ask = block("ask");
    auto* joins = block("joins");
    auto* keep = block("keep");
    auto* resolve = block("resolve");
    auto* fill = block("fill");
    auto* end = block("end");

    llvm::IRBuilder<> builder(start);
    builder.CreateCondBr(builder.CreateIsNull(builder.CreateLoad(flag, looked)), first, resolve);
    builder.SetInsertPoint(first);
    builder.CreateStore(llvm::ConstantInt::get(flag, 1), looked);
    builder.CreateCondBr(builder.CreateOr(builder.CreateIsNotNull(linked), builder.CreateIsNull(open)), end,
                         by_name);
    builder.SetInsertPoint(by_name);
    llvm::Value* named = builder.CreateCall(
        open_type, open, {builder.CreateGlobalString(library_name), builder.getInt32(open_flags)});
    builder.CreateCondBr(builder.CreateIsNull(named), by_path, opened);
    builder.SetInsertPoint(by_path);
    llvm::Value* beside = builder.CreateCall(
        open_type, open, {builder.CreateGlobalString(library_path()), builder.getInt32(open_flags)});
    builder.CreateBr(opened);
    builder.SetInsertPoint(opened);
    auto* library = builder.CreatePHI(pointer, 2);
    library->addIncoming(named, by_name);
    library->addIncoming(beside, by_path);
    builder.CreateCondBr(builder.CreateIsNull(library), end, ask);
    builder.SetInsertPoint(ask);
    llvm::Value* join =
        builder.CreateCall(look_up_type, look_up, {library, builder.CreateGlobalString(join_name)});
    builder.CreateCondBr(builder.CreateIsNull(join), end, joins);
    builder.SetInsertPoint(joins);
    builder.CreateCondBr(builder.CreateIsNull(builder.CreateCall(join_type, join, {handle})), end, keep);
    builder.SetInsertPoint(keep);
    builder.CreateStore(library, handle);
    builder.CreateBr(resolve);
    builder.SetInsertPoint(resolve);
    llvm::Value* found = builder.CreateLoad(pointer, handle);
    builder.CreateCondBr(builder.CreateIsNull(found), end, fill);
    builder.SetInsertPoint(fill);
    for (const auto& [name, variable] : functions)
        builder.CreateStore(
            builder.CreateCall(look_up_type, look_up, {found, builder.CreateGlobalString(name)}), variable);
    builder.CreateBr(end);
    builder.SetInsertPoint(end);
    builder.CreateRetVoid();
    llvm::appendToGlobalCtors(module, search, earliest_priority);
}

}  // namespace trimtab::pass
