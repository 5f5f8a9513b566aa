// The LLVM plugin that trimtab++ hands to clang:
//
//     clang++ -x cuda -fpass-plugin=libtrimtab_pass.so ...
//
// It reaches the device and the host compile alike: the device module is described (TRIMTAB_KERNEL_SOURCES
// names the file), the host module's launches are routed through the runtime. It runs first in the pipeline,
// at every optimisation level, so that names are still there and the shims are inlined.
#include <cstdlib>

#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/TargetParser/Triple.h"
#include "pass/cluster_dimensions.h"
#include "pass/constant_tables.h"
#include "pass/file_names.h"
#include "pass/kernel_sources.h"
#include "pass/managed_variables.h"
#include "pass/route_launches.h"
#include "pass/variants.h"
#include "pass/wide_conversions.h"

namespace {

class TrimtabPass : public llvm::PassInfoMixin<TrimtabPass> {
  public:
    // LLVM names this entry point.
    llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& /*analyses*/) {
        if (module.getTargetTriple().isNVPTX()) {
            if (const char* path = secure_getenv("TRIMTAB_KERNEL_SOURCES"); path != nullptr && *path != '\0')
                trimtab::pass::write_kernel_sources(module, path);
            bool changed = trimtab::pass::remove_variant_lists(module);
            changed |= trimtab::pass::mark_managed_variables(module);
            changed |= trimtab::pass::mark_cluster_dimensions(module);
            changed |= trimtab::pass::move_large_tables(module);
            changed |= trimtab::pass::expand_wide_conversions(module);
            changed |= trimtab::pass::encode_file_names(module);
            return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
        }
        const bool routed = trimtab::pass::route_launches(module);
        const bool managed = trimtab::pass::route_managed_variables(module);
        return routed || managed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
    }
    static bool isRequired() { return true; }
};

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
    return {LLVM_PLUGIN_API_VERSION, "trimtab", LLVM_VERSION_STRING, [](llvm::PassBuilder& builder) {
                builder.registerPipelineStartEPCallback(
                    [](llvm::ModulePassManager& passes, llvm::OptimizationLevel /*level*/) {
                        passes.addPass(TrimtabPass());
                    });
            }};
}
