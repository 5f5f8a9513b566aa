// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The LLVM plugin that trimtab++ hands to clang:
//
//     clang++ -x cuda -fpass-plugin=libtrimtab_pass.so ...
//
// It reaches the device and the host compile alike: the device module is described (TRIMTAB_KERNEL_SOURCES
// names the file) and given its kernels' further bodies (TRIMTAB_MACRO_BODIES lists them,
// TRIMTAB_BUILT_IN_BLOCKS asks for those of built-in blocks, TRIMTAB_COARSEN for those whose
// threads do the work of so many), the host module's launches are routed through the runtime. It runs first in the pipeline,
// at every optimisation level, so that names are still there and the shims are inlined.
#include <cstdlib>
#include <memory>
#include <utility>

#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/TargetParser/Triple.h"
#include "pass/built_in_blocks.h"
#include "pass/cluster_dimensions.h"
#include "pass/coarsened_bodies.h"
#include "pass/constant_tables.h"
#include "pass/file_names.h"
#include "pass/kernel_sources.h"
#include "pass/macro_bodies.h"
#include "pass/managed_variables.h"
#include "pass/register_bodies.h"
#include "pass/route_launches.h"
#include "pass/user_places.h"
#include "pass/variants.h"
#include "pass/wide_conversions.h"

namespace {

// Of a variable of the environment; null: it names none.
const char* named_file(const char* variable) {
    const char* path = secure_getenv(variable);
    return path == nullptr || *path == '\0' ? nullptr : path;
}

llvm::PreservedAnalyses preserved(bool changed) {
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

// What the passes of one module have in common: kernels that are bodies.
using Variants = std::shared_ptr<trimtab::pass::KernelVariants>;

class TrimtabPass : public llvm::PassInfoMixin<TrimtabPass> {
  public:
    explicit TrimtabPass(Variants variants) : variants_(std::move(variants)) {}
    // LLVM names this entry point.
    llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& /*analyses*/) {
        if (module.getTargetTriple().isNVPTX()) {
            *variants_ = trimtab::pass::kernel_variants(module);
            bool changed = false;
            if (const char* bodies = named_file("TRIMTAB_MACRO_BODIES"); bodies != nullptr)
                changed |= trimtab::pass::add_macro_bodies(module, bodies, *variants_);
            if (const char* path = named_file("TRIMTAB_KERNEL_SOURCES"); path != nullptr)
                trimtab::pass::write_kernel_sources(module, *variants_, path);
            changed |= trimtab::pass::remove_variant_lists(module);
            changed |= trimtab::pass::mark_managed_variables(module);
            changed |= trimtab::pass::mark_cluster_dimensions(module);
            changed |= trimtab::pass::move_large_tables(module);
            changed |= trimtab::pass::expand_wide_conversions(module);
            changed |= trimtab::pass::encode_file_names(module);
            return preserved(changed);
        }
        bool changed = trimtab::pass::route_launches(module);
        changed |= trimtab::pass::route_managed_variables(module);
        if (const char* path = named_file("TRIMTAB_KERNEL_SOURCES"); path != nullptr)
            changed |= trimtab::pass::register_macro_bodies(module, path);
        return preserved(changed);
    }
    static bool isRequired() { return true; }

  private:
    Variants variants_;
};

class MovePlaces : public llvm::PassInfoMixin<MovePlaces> {
  public:
    llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& /*analyses*/) {
        return preserved(module.getTargetTriple().isNVPTX() && trimtab::pass::move_places_to_users(module));
    }
    static bool isRequired() { return true; }
};

class AddBuiltInBodies : public llvm::PassInfoMixin<AddBuiltInBodies> {
  public:
    llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& /*analyses*/) {
        const char* path = named_file("TRIMTAB_KERNEL_SOURCES");
        return preserved(path != nullptr && module.getTargetTriple().isNVPTX() &&
                         trimtab::pass::add_built_in_bodies(module, path));
    }
    static bool isRequired() { return true; }
};

class AddCoarsenedBodies : public llvm::PassInfoMixin<AddCoarsenedBodies> {
  public:
    llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses) {
        const char *path = named_file("TRIMTAB_KERNEL_SOURCES"), *elements = secure_getenv("TRIMTAB_COARSEN");
        if (path == nullptr || elements == nullptr || !module.getTargetTriple().isNVPTX())
            return preserved(false);
        auto& of_functions =
            analyses.getResult<llvm::FunctionAnalysisManagerModuleProxy>(module).getManager();
        return preserved(trimtab::pass::add_coarsened_bodies(module, of_functions,
                                                             trimtab::pass::asked_elements(elements), path));
    }
    static bool isRequired() { return true; }
};

class DropEqualBodies : public llvm::PassInfoMixin<DropEqualBodies> {
  public:
    explicit DropEqualBodies(Variants variants) : variants_(std::move(variants)) {}
    llvm::PreservedAnalyses run(llvm::Module& /*module*/, llvm::ModuleAnalysisManager& /*analyses*/) {
        const bool dropped = trimtab::pass::drop_equal_bodies(*variants_);
        if (const char* path = named_file("TRIMTAB_KERNEL_SOURCES"); dropped && path != nullptr)
            trimtab::pass::forget_variants(*variants_, path);
        return preserved(dropped);
    }
    static bool isRequired() { return true; }

  private:
    Variants variants_;
};

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
    return {LLVM_PLUGIN_API_VERSION, "trimtab", LLVM_VERSION_STRING, [](llvm::PassBuilder& builder) {
                const auto variants = std::make_shared<trimtab::pass::KernelVariants>();
                builder.registerPipelineStartEPCallback(
                    [variants](llvm::ModulePassManager& passes, llvm::OptimizationLevel /*level*/) {
                        passes.addPass(TrimtabPass(variants));
                    });
                // Behind the inliner, and before loops are unrolled.
                if (named_file("TRIMTAB_BUILT_IN_BLOCKS") != nullptr)
                    builder.registerOptimizerEarlyEPCallback(
                        [](llvm::ModulePassManager& passes, llvm::OptimizationLevel /*level*/,
                           llvm::ThinOrFullLTOPhase /*phase*/) { passes.addPass(AddBuiltInBodies()); });
                if (secure_getenv("TRIMTAB_COARSEN") != nullptr)
                    builder.registerOptimizerEarlyEPCallback(
                        [](llvm::ModulePassManager& passes, llvm::OptimizationLevel /*level*/,
                           llvm::ThinOrFullLTOPhase /*phase*/) { passes.addPass(AddCoarsenedBodies()); });
                builder.registerOptimizerLastEPCallback(
                    [](llvm::ModulePassManager& passes, llvm::OptimizationLevel /*level*/,
                       llvm::ThinOrFullLTOPhase /*phase*/) { passes.addPass(MovePlaces()); });
                // They are few, and only where bodies were asked for.
                if (named_file("TRIMTAB_MACRO_BODIES") != nullptr)
                    builder.registerOptimizerLastEPCallback([variants](llvm::ModulePassManager& passes,
                                                                       llvm::OptimizationLevel /*level*/,
                                                                       llvm::ThinOrFullLTOPhase /*phase*/) {
                        passes.addPass(DropEqualBodies(variants));
                    });
            }};
}
