#include "tools/trimtab/captured_program.h"

#include <cstdlib>
#include <filesystem>

#include "base/installation.h"
#include "emulator/capture/capture.h"

namespace trimtab::tools {

std::expected<std::vector<std::string>, Error> captured_program(const std::string& file,
                                                                const std::string& device) {
    const auto read = emulator::capture::read(file);
    if (!read) return std::unexpected(read.error());
    const char* const given = std::getenv("TRIMTAB_DEVICE");
    const std::string asked = !device.empty() ? device : given != nullptr ? given : "";
    if (asked == "gpu")
        return std::unexpected(Error{
            .message = "a captured launch is made again on the emulator alone, not on a GPU", .file = file});
    if (asked.empty()) setenv("TRIMTAB_DEVICE", read->capture.device.c_str(), 1);
    const auto program = std::filesystem::path(base::own_prefix()) / "libexec" / "trimtab-replay";
    std::error_code ignored;
    if (!std::filesystem::exists(program, ignored))
        return std::unexpected(Error{.message = "it is not installed with trimtab, and --capture needs it",
                                     .file = program.string()});
    return std::vector<std::string>{program.string(), file};
}

}  // namespace trimtab::tools
