// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The profiles and fits of a module's kernels, and evidence for their verdicts: out of the store, by workers, or here.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/launches/description.h"
#include "driver_gen/bundle.h"
#include "pipeline/progress.h"
#include "pipeline/workers/kernel_task.h"
#include "profiler/evidence/evidence.h"
#include "profiler/store.h"

namespace trimtab::workers {
class WorkerPool;
}

namespace trimtab::pipeline {

struct KernelWork {
    profiler::Backend& backend;  // of the module; the workers' is the same
    const profiler::ProfileOptions& options;
    profiler::ProfileStore& store;
    workers::WorkerPool* workers = nullptr;               // none: all is done here
    std::shared_ptr<const workers::Shared> program = {};  // for workers
    Progress& progress;
    const std::function<void(const std::string& text)>& warn;
    bool wants_evidence = true;
    std::function<void(const std::string& text)> note =
        {};  // what is of no consequence; empty: nobody listens
};

struct ProfiledKernels {
    // Workers were lost with some of them, which says nothing of those kernels.
    bool has_lost = false;
    // Evidence stands against the verdicts of these: they must keep their blocks. By place in `kernels`.
    struct Refuted {
        std::size_t kernel = 0;
        profiler::Evidence evidence;
    };
    std::vector<Refuted> refuted;
};

// Puts the profile and fits into each of `kernels` that has them and is not refuted; of one that has none, `warn` says
// why it keeps its block. What comes of it, and what the store holds then, is the same whoever does the work.
[[nodiscard]] ProfiledKernels profile_kernels(std::span<driver_gen::BundleKernel* const> kernels,
                                              const KernelWork& work);

}  // namespace trimtab::pipeline
