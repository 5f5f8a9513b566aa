#include "tools/trimtab/advised_run.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "base/temporary_folder.h"
#include "model/device.h"
#include "tools/trimtab/user_program.h"

namespace trimtab::tools {

std::expected<void, Error> require_emulator() {
    const char* const device = std::getenv("TRIMTAB_DEVICE");
    if (device != nullptr && std::string_view(device).contains("gpu"))
        return std::unexpected(Error{.message = "advice is given of launches on the emulator, not on a GPU"});
    return {};
}

std::expected<AdvisedRun, Error> advised_run(const std::vector<std::string>& command, bool output_on_stderr) {
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return std::unexpected(folder.error());
    const std::string records = folder->file("profiles.jsonl");
    setenv("TRIMTAB_PROFILES", records.c_str(), 1);
    // Where a GPU is present, a device must be named for the emulator to play.
    setenv("TRIMTAB_DEVICE", std::string(model::default_device).c_str(), 0);
    const auto outcome = run_user_program(command, output_on_stderr);
    unsetenv("TRIMTAB_PROFILES");
    if (!outcome) return std::unexpected(outcome.error());
    auto run = advice_of(records, command.front());
    if (!run) {
        if (outcome->is_success()) return std::unexpected(run.error());
        return std::unexpected(
            Error{.message = outcome->text() + ", and left no record of a kernel", .file = command.front()});
    }
    run->advice.program = command;
    run->exit_code = outcome->exit_code;
    return run;
}

}  // namespace trimtab::tools
