// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/register_bodies.h"

#include <string>
#include <vector>

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "trimtab/body_name.h"

namespace trimtab::pass {
namespace {

std::vector<std::string> bodies_in(const std::string& kernel_sources) {
    std::vector<std::string> bodies;
    const auto buffer = llvm::MemoryBuffer::getFile(kernel_sources);
    if (!buffer) return bodies;
    auto json = llvm::json::parse((*buffer)->getBuffer());
    if (!json) {
        llvm::consumeError(json.takeError());
        return bodies;
    }
    const llvm::json::Object* file = json->getAsObject();
    const llvm::json::Object* kernels = file == nullptr ? nullptr : file->getObject("kernels");
    if (kernels == nullptr) return bodies;
    for (const auto& [name, kernel] : *kernels)
        if (read_body_name(name.str())) bodies.push_back(name.str());
    llvm::sort(bodies);  // the file's objects are hashed
    return bodies;
}

// clang's calls __cudaRegisterFunction(module, handle, name, name, ...).
std::vector<llvm::CallInst*> registrations(llvm::Module& module) {
    std::vector<llvm::CallInst*> calls;
    const llvm::Function* entry = module.getFunction("__cudaRegisterFunction");
    if (entry == nullptr) return calls;
    for (const llvm::User* user : entry->users())
        if (auto* call = llvm::dyn_cast<llvm::CallInst>(const_cast<llvm::User*>(user));
            call != nullptr && call->getCalledFunction() == entry && call->arg_size() > 3)
            calls.push_back(call);
    return calls;
}

}  // namespace

bool register_macro_bodies(llvm::Module& module, const std::string& kernel_sources) {
    const std::vector<std::string> bodies = bodies_in(kernel_sources);
    if (bodies.empty()) return false;
    for (llvm::CallInst* call : registrations(module)) {
        llvm::StringRef kernel;
        if (!llvm::getConstantStringInfo(call->getArgOperand(2), kernel)) continue;
        for (const std::string& body : bodies) {
            if (read_body_name(body)->kernel != kernel.str()) continue;
            llvm::IRBuilder<> builder(call->getNextNode());
            // Nobody calls it: a handle is an address, and no other's.
            auto* handle = new llvm::GlobalVariable(module, builder.getInt8Ty(), /*isConstant=*/false,
                                                    llvm::GlobalValue::InternalLinkage, builder.getInt8(0),
                                                    "trimtab_body." + body);
            llvm::Value* name = builder.CreateGlobalString(body);
            auto* registration = llvm::cast<llvm::CallInst>(call->clone());
            registration->setArgOperand(1, handle);
            registration->setArgOperand(2, name);
            registration->setArgOperand(3, name);
            builder.Insert(registration);
        }
    }
    return true;
}

}  // namespace trimtab::pass
