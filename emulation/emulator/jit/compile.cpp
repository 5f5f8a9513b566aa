// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libtrimtab_jit.so: a kernel's functions from PTX to an object file for this processor.
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/CodeGen/CodeGenTargetMachineImpl.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#include <cstdlib>
#include <memory>
#include <mutex>

#include "code_hash.h"
#include "emulation/emulator/jit/abi.h"
#include "emulation/emulator/jit/split_pairs.h"
#include "emulation/emulator/jit/translator.h"

namespace trimtab::emulator::jit {
namespace {

std::unique_ptr<llvm::TargetMachine> make_target() {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
    });
    const llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
    std::string error;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
    if (target == nullptr) return nullptr;
    llvm::SubtargetFeatures features;
    for (const auto& [name, has] : llvm::sys::getHostCPUFeatures()) features.AddFeature(name, has);
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    return std::unique_ptr<llvm::TargetMachine>(
        target->createTargetMachine(triple, llvm::sys::getHostCPUName(), features.getString(), options,
                                    llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default,
                                    /*JIT=*/true));
}

void optimise(llvm::Module& module, llvm::TargetMachine& target) {
    llvm::PassBuilder builder(&target);
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    const auto run = [&](const char* pipeline) {
        llvm::ModulePassManager passes;
        if (auto error = builder.parsePassPipeline(passes, pipeline)) {
            llvm::consumeError(std::move(error));
            return;
        }
        passes.run(module, modules);
    };
    run("function(mem2reg)");
    for (llvm::Function& function : module) {
        if (!function.isDeclaration()) split_pairs(function);
    }
    modules.invalidate(module, llvm::PreservedAnalyses::none());
    run("function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),early-cse,dce)");
}

// TargetMachine::addPassesToEmitFile(), less what large functions do without.
bool add_passes(llvm::TargetMachine& target, llvm::legacy::PassManager& passes, llvm::raw_pwrite_stream& out,
                bool is_large) {
    auto& machine = static_cast<llvm::CodeGenTargetMachineImpl&>(target);
    auto* info = new llvm::MachineModuleInfoWrapperPass(&machine);
    llvm::TargetPassConfig* config = machine.createPassConfig(passes);
    config->setDisableVerify(true);
    if (is_large) {
        config->disablePass(&llvm::MachineSchedulerID);
        config->disablePass(&llvm::PostRASchedulerID);
    }
    passes.add(config);
    passes.add(info);
    if (config->addISelPasses()) return false;
    config->addMachinePasses();
    config->setInitialized();
    if (machine.addAsmPrinter(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile,
                              info->getMMI().getContext())) {
        return false;
    }
    passes.add(llvm::createFreeMachineFunctionPass());
    return true;
}

void compile(const CompileRequest& request, CompiledObject& object) {
    const std::unique_ptr<llvm::TargetMachine> target = make_target();
    if (target == nullptr) {
        object.error = "LLVM has no code generator for this processor";
        return;
    }
    llvm::LLVMContext context;
    llvm::Module module("kernel", context);
    module.setDataLayout(target->createDataLayout());
    module.setTargetTriple(target->getTargetTriple());
    const auto features = llvm::sys::getHostCPUFeatures();
    const bool has_gather = features.lookup("avx512f") && features.lookup("avx512vl");
    bool is_large = false;
    for (const auto& function : request.code->functions) {
        if (!function->error.empty()) continue;
        Translator translator(module, *function, request.lanes, request.code->is_counted(), has_gather);
        if (request.is_for_long_runs) translator.keep_in_registers();
        (void)translator.run("f" + std::to_string(function->number));
        is_large = is_large || translator.is_large();
    }
    for (llvm::Function& function : module) {
        function.addFnAttr("prefer-vector-width", "512");
        function.addFnAttr("min-legal-vector-width", "512");
    }
    const char* dump = secure_getenv("TRIMTAB_JIT_DUMP");
    if (dump != nullptr) module.print(llvm::errs(), nullptr);
    if (llvm::verifyModule(module, &llvm::errs())) {
        object.error = "the code made of it is not well-formed";
        return;
    }
    optimise(module, *target);
    if (dump != nullptr) module.print(llvm::errs(), nullptr);
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream out(bytes);
    llvm::legacy::PassManager emit;
    if (!add_passes(*target, emit, out, is_large)) {
        object.error = "LLVM emits no objects for this processor";
        return;
    }
    emit.run(module);
    const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
    object.bytes.assign(first, first + bytes.size());
}

}  // namespace
}  // namespace trimtab::emulator::jit

extern "C" __attribute__((visibility("default"))) void trimtab_jit_compile(
    const trimtab::emulator::jit::CompileRequest* request, trimtab::emulator::jit::CompiledObject* object) {
    trimtab::emulator::jit::compile(*request, *object);
}

extern "C" __attribute__((visibility("default"))) const char* trimtab_jit_code_hash() {
    return TRIMTAB_CODE_HASH;
}
