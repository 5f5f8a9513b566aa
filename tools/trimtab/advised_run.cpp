// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/advised_run.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "core/model/device.h"
#include "tools/trimtab/user_program.h"

namespace trimtab::tools {

std::expected<void, Error> require_emulator() {
    const char* const device = std::getenv("TRIMTAB_DEVICE");
    if (device != nullptr && std::string_view(device).contains("gpu"))
        return std::unexpected(Error{.message = "advice is given of launches on the emulator, not on a GPU"});
    return {};
}

std::expected<RecordedRun, Error> recorded_run(const std::vector<std::string>& command, bool output_on_stderr,
                                               const std::string& messages_file) {
    auto folder = base::TemporaryFolder::make();
    if (!folder) return std::unexpected(folder.error());
    const std::string records = folder->file("profiles.jsonl");
    setenv("TRIMTAB_PROFILES", records.c_str(), 1);
    // Where a GPU is present, a device must be named for the emulator to play.
    setenv("TRIMTAB_DEVICE", std::string(model::default_device).c_str(), 0);
    const auto outcome = run_user_program(command, output_on_stderr, messages_file);
    unsetenv("TRIMTAB_PROFILES");
    if (!outcome) return std::unexpected(outcome.error());
    return RecordedRun{
        .command = command, .folder = std::move(*folder), .records = records, .outcome = *outcome};
}

std::expected<AdvisedRun, Error> advice_of(const RecordedRun& recorded, const schedule::Settings& settings) {
    auto run = advice_of(recorded.records, recorded.command.front(), settings);
    if (!run && !recorded.outcome.is_success())
        return std::unexpected(Error{.message = recorded.outcome.text() + ", and left no record of a kernel",
                                     .file = recorded.command.front()});
    if (!run) return run;
    run->advice.program = recorded.command;
    run->exit_code = recorded.outcome.exit_code;
    return run;
}

}  // namespace trimtab::tools
