// A program's launches on the emulator, with their profile records, and what these say.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "tools/trimtab/advised_records.h"
#include "trimtab/error.h"

namespace trimtab::tools {

// Runs `command` to its end, its launches as the environment says (TRIMTAB, TRIMTAB_DEVICE).
// `output_on_stderr`: stdout is for the advice alone.
[[nodiscard]] std::expected<AdvisedRun, Error> advised_run(const std::vector<std::string>& command,
                                                           bool output_on_stderr);

// Nothing where advice can be given: it needs the emulator's counters.
[[nodiscard]] std::expected<void, Error> require_emulator();

}  // namespace trimtab::tools
