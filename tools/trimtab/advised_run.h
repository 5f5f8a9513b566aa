// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program's launches on the emulator, with their profile records, and what these say.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "core/base/process.h"
#include "core/base/temporary_folder.h"
#include "tools/trimtab/advised_records.h"
#include "trimtab/error.h"

namespace trimtab::tools {

// A program that ran to its end, and the records of what it launched, which may be none.
struct RecordedRun {
    std::vector<std::string> command;
    base::TemporaryFolder folder;
    std::string records;  // a file in it
    base::Outcome outcome;
};

// Runs `command` to its end, its launches as the environment says (TRIMTAB, TRIMTAB_DEVICE).
// The other two as run_user_program() has them.
[[nodiscard]] std::expected<RecordedRun, Error> recorded_run(const std::vector<std::string>& command,
                                                             bool output_on_stderr,
                                                             const std::string& messages_file = {});
[[nodiscard]] std::expected<AdvisedRun, Error> advice_of(const RecordedRun& recorded,
                                                         const schedule::Settings& settings = {});

// Nothing where advice can be given: it needs the emulator's counters.
[[nodiscard]] std::expected<void, Error> require_emulator();

}  // namespace trimtab::tools
