// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The task of a kernel: its profile, where it is not known yet, the fits of it, and evidence for its verdict. What a pipeline does for each
// kernel itself, as a value that a worker can be handed.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/analysis/launches/description.h"
#include "core/ptx/binary.h"
#include "driver_gen/fits.h"
#include "profiler/backend.h"
#include "profiler/evidence/evidence.h"
#include "profiler/profile.h"
#include "profiler/profile_kernel.h"
#include "trimtab/error.h"

namespace trimtab::workers {

struct Shared;  // pool.h
struct Task;

struct KernelResult {
    std::optional<profiler::Profile> profile = {};
    std::optional<driver_gen::KernelFits> fits = {};
    // Why one of them is not there. A profile's failure is the kernel's, and the same everywhere.
    std::string profile_failure = {}, fit_failure = {};
    std::optional<profiler::Evidence> evidence = {};  // where it was asked for
    double seconds = 0, evidence_seconds = 0;         // that it took, and the evidence of the processor
};

// The work itself. `known`: its profile, where only the fits are wanted.
[[nodiscard]] KernelResult profile_and_fit(const analysis::KernelDescription& description,
                                           profiler::Backend& backend,
                                           const profiler::ProfileOptions& options,
                                           std::optional<profiler::Profile> known,
                                           const profiler::Progress& progress);
// Then the evidence, of a kernel that has a profile.
void add_evidence(KernelResult& result, const analysis::KernelDescription& description,
                  profiler::Backend& backend);

// --- the pipeline's side ---

// The PTX of a fat binary's first architecture. `origin` names it in messages.
[[nodiscard]] std::shared_ptr<const Shared> shared_program(const ptx::FatBinary& binary,
                                                           const std::string& origin);
// `known`: its profile, where only the fits are wanted; and, with `wants_evidence`, evidence.
[[nodiscard]] Task kernel_task(std::shared_ptr<const Shared> program,
                               const analysis::KernelDescription& description,
                               const profiler::ProfileOptions& options,
                               const std::optional<profiler::Profile>& known, bool wants_evidence = false);
// An answer that is not of this kernel, this backend and these data parameters is an error.
[[nodiscard]] std::expected<KernelResult, Error> read_kernel_result(
    const nlohmann::json& answer, const analysis::KernelDescription& description,
    const profiler::Backend& backend);

// --- the worker's ---

class KernelHand {
  public:
    explicit KernelHand(unsigned threads) : threads_(threads) {}
    // What was sent as shared_program().
    void take(const nlohmann::json& head, std::string_view body);
    // The answer without the task's number. The error: the task cannot be read.
    [[nodiscard]] std::expected<nlohmann::json, Error> work(const nlohmann::json& head,
                                                            const profiler::Progress& progress);

  private:
    unsigned threads_;
    std::unique_ptr<profiler::Backend> backend_;
    std::string id_, trouble_;
};

}  // namespace trimtab::workers
