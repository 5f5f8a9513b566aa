// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The validation of docs/validating-on-a-gpu.md, or trimtab bench and trimtab profile of a program, as jobs of Slurm: an
// array for each kind of GPU, of the steps that are still to be done. Placing is Slurm's.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::tools {

struct SlurmOptions {
    std::string bundle;  // of scripts/gpu_bundle.sh, as it is or unpacked; empty: `program` is run
    std::vector<std::string> program = {};
    std::vector<std::string> program_steps = {"bench"};  // "bench", "profile": by that subcommand
    std::vector<std::string> kinds;    // of GPUs, as Slurm names them; "any": whichever there is
    std::vector<std::string> options;  // for each script: "--partition=gpus"
    std::string folder;                // of scripts and results, which all nodes see
    unsigned seconds = 540;            // for each step
    bool submits = true, waits = false;
};

struct SlurmJob {
    std::string kind, script, id;    // id: empty where nothing was submitted
    std::vector<std::string> steps;  // still to be done
    bool is_earlier = false;         // a job of before is still queued or running
};

// Writes FOLDER/KIND/job.sbatch, and hands it to sbatch. Steps that are done are left out, and so are kinds all of whose
// steps are. The error: an option or the bundle is not as it is wanted, or sbatch refuses.
[[nodiscard]] std::expected<std::vector<SlurmJob>, Error> submit(const SlurmOptions& options);
// Until none of them is queued or running.
void wait_for(const std::vector<SlurmJob>& jobs);

// The folders of results that lie in this one, itself among them, in order.
[[nodiscard]] std::vector<std::string> result_folders(const std::string& folder);

}  // namespace trimtab::tools
