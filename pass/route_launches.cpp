// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/route_launches.h"

#include <array>
#include <utility>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace trimtab::pass {
namespace {

// The entry point, and the runtime's symbol of the same signature.
constexpr std::array<std::pair<llvm::StringLiteral, llvm::StringLiteral>, 4> launch_entries = {{
    {"cudaLaunchKernel", "trimtab_launch_kernel"},
    {"cudaLaunchKernel_ptsz", "trimtab_launch_kernel_ptsz"},
    {"cudaLaunchKernelExC", "trimtab_launch_kernel_exc"},
    {"cudaLaunchKernelExC_ptsz", "trimtab_launch_kernel_exc_ptsz"},
}};

llvm::Function* make_shim(llvm::Function& entry, llvm::StringRef routed_name) {
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
    auto* plain = llvm::BasicBlock::Create(context, "plain", shim);
    llvm::IRBuilder<> builder(start);
    builder.CreateCondBr(builder.CreateIsNotNull(routed), through_runtime, plain);

    llvm::SmallVector<llvm::Value*, 8> arguments;
    for (llvm::Argument& argument : shim->args()) arguments.push_back(&argument);
    for (auto [block, callee] : {std::pair{through_runtime, routed}, std::pair{plain, &entry}}) {
        builder.SetInsertPoint(block);
        llvm::CallInst* call = builder.CreateCall(callee, arguments);
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
    bool changed = false;
    for (const auto& [name, routed_name] : launch_entries) {
        llvm::Function* entry = module.getFunction(name);
        // A module that defines the entry point is a CUDA runtime itself.
        if (entry == nullptr || !entry->isDeclaration() || entry->use_empty()) continue;
        llvm::Function* shim = make_shim(*entry, routed_name);
        entry->replaceUsesWithIf(shim, [&](llvm::Use& use) {
            auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
            return user == nullptr || user->getFunction() != shim;
        });
        changed = true;
    }
    return changed;
}

}  // namespace trimtab::pass
