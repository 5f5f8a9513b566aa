// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab advise --devices: one program on several GPUs, side by side.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "emulation/schedule/settings.h"
#include "tools/trimtab/advised_records.h"
#include "trimtab/error.h"

namespace trimtab::tools {

// Several devices, separated by commas; each is checked before the program runs. At least two.
[[nodiscard]] std::expected<std::vector<std::string>, Error> devices_of(const std::string& text);

// Runs `command`, whose launches go out as written, once on each device; what it writes goes to stderr, of the first run
// alone.
[[nodiscard]] std::expected<std::vector<AdvisedRun>, Error> advised_on(
    const std::vector<std::string>& devices, const std::vector<std::string>& command,
    const schedule::Settings& settings);

// The fastest first.
[[nodiscard]] std::string devices_text(const std::vector<AdvisedRun>& runs);
[[nodiscard]] std::string devices_json(const std::vector<AdvisedRun>& runs);

}  // namespace trimtab::tools
