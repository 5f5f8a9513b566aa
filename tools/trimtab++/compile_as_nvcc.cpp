// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/compile_as_nvcc.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "core/base/read_text.h"
#include "tools/trimtab++/source_fixes.h"

namespace trimtab::wrapper {
namespace {

int run_saying(const std::string& messages, const Command& command, const Environment& environment) {
    return messages.empty() ? run(command, environment)
                            : run_with_messages_in(messages, command, environment);
}

}  // namespace

int compile_as_nvcc(const SourceCompile& source, Command command, const Environment& environment,
                    const std::string& messages) {
    const auto& [line, tools, input, folder] = source;
    const FixedSources fixed = fix_sources(line, input, folder);
    const std::size_t plain_length = command.size();
    if (!fixed.overlay.empty()) command.insert(command.end(), {"-ivfsoverlay", fixed.overlay});
    if (isatty(STDERR_FILENO) != 0 && (fixed.has_shared || !messages.empty()))
        command.emplace_back("-fdiagnostics-color=always");
    if (!fixed.has_shared) return run_saying(messages, command, environment);

    // Which __shared__ variables clang refuses, it alone can tell.
    const std::string first_messages =
        messages.empty() ? folder.file("messages" + std::to_string(input)) : messages;
    const int code = run_with_messages_in(first_messages, command, environment);
    const std::string said = base::read_text(first_messages).value_or("");
    PlacesByFile refused;
    if (code != 0) refused = refused_shared_variables(said);
    if (!refused.empty()) {
        const FixedSources again = fix_sources(line, input, folder, refused);
        if (again.knows_refused) {
            command.resize(plain_length);
            command.insert(command.end(), {"-ivfsoverlay", again.overlay, "-include",
                                           tools.compatibility + "/shared_storage.h"});
            return run_saying(messages, command, environment);
        }
    }
    if (messages.empty()) std::fputs(said.c_str(), stderr);
    return code;
}

}  // namespace trimtab::wrapper
