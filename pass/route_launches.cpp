// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/route_launches.h"

#include <array>
#include <utility>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "pass/find_runtime.h"

namespace trimtab::pass {
namespace {

// The entry point, and the runtime's symbol of the same signature.
constexpr std::array<std::pair<llvm::StringLiteral, llvm::StringLiteral>, 4> launch_entries = {{
    {"cudaLaunchKernel", "trimtab_launch_kernel"},
    {"cudaLaunchKernel_ptsz", "trimtab_launch_kernel_ptsz"},
    {"cudaLaunchKernelExC", "trimtab_launch_kernel_exc"},
    {"cudaLaunchKernelExC_ptsz", "trimtab_launch_kernel_exc_ptsz"},
}};

// `found_function`: where the runtime's symbol is kept that was found at run time.
llvm::Function* make_shim(llvm::Function& entry, llvm::StringRef routed_name,
                          llvm::GlobalVariable* found_function) {
    llvm::Module& module = *entry.getParent();
    llvm::LLVMContext& context = module.getContext();

    auto* routed = llvm::cast<llvm::Function>(
        module.getOrInsertFunction(routed_name, entry.getFunctionType(), entry.getAttributes()).getCallee());
    routed->setLinkage(llvm::GlobalValue::ExternalWeakLinkage);

    auto* shim = llvm::Function::Create(entry.getFunctionType(), llvm::GlobalValue::InternalLinkage,
                                        "trimtab_route." + entry.getName(), module);
    shim->setAttributes(entry.getAttributes());

    auto* start = llvm::BasicBlock::Create(context, "", shim);
    auto* through_runtime = llvm::BasicBlock::Create(context, "runtime", shim);
    auto* late = llvm::BasicBlock::Create(context, "late", shim);
    auto* through_found = llvm::BasicBlock::Create(context, "found", shim);
    auto* plain = llvm::BasicBlock::Create(context, "plain", shim);
    llvm::IRBuilder<> builder(start);
    builder.CreateCondBr(builder.CreateIsNotNull(routed), through_runtime, late);
    builder.SetInsertPoint(late);
    llvm::Value* found = builder.CreateLoad(llvm::PointerType::getUnqual(context), found_function);
    builder.CreateCondBr(builder.CreateIsNotNull(found), through_found, plain);

    llvm::SmallVector<llvm::Value*, 8> arguments;
    for (llvm::Argument& argument : shim->args()) arguments.push_back(&argument);
    for (auto [block, callee] : {std::pair<llvm::BasicBlock*, llvm::Value*>{through_runtime, routed},
                                 std::pair<llvm::BasicBlock*, llvm::Value*>{through_found, found},
                                 std::pair<llvm::BasicBlock*, llvm::Value*>{plain, &entry}}) {
        builder.SetInsertPoint(block);
        llvm::CallInst* call = builder.CreateCall(entry.getFunctionType(), callee, arguments);
        // Attributes such as byval on a parameter belong to the calling convention: the call must repeat
        // them.
        call->setAttributes(entry.getAttributes());
        call->setCallingConv(entry.getCallingConv());
        builder.CreateRet(call);
    }
    return shim;
}

}  // namespace

bool route_launches(llvm::Module& module) {
    std::vector<std::pair<llvm::StringRef, llvm::GlobalVariable*>> found;
    for (const auto& [name, routed_name] : launch_entries) {
        llvm::Function* entry = module.getFunction(name);
        // A module that defines the entry point is a CUDA runtime itself.
        if (entry == nullptr || !entry->isDeclaration() || entry->use_empty()) continue;
        found.emplace_back(routed_name, add_found_function(module, routed_name));
        llvm::Function* shim = make_shim(*entry, routed_name, found.back().second);
        entry->replaceUsesWithIf(shim, [&](llvm::Use& use) {
            auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
            return user == nullptr || user->getFunction() != shim;
        });
    }
    if (found.empty()) return false;
    add_search(module, found);
    return true;
}

}  // namespace trimtab::pass
