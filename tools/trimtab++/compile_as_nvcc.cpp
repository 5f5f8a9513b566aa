// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/compile_as_nvcc.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/read_text.h"
#include "tools/trimtab++/precompiled_headers.h"
#include "tools/trimtab++/source_fixes.h"

namespace trimtab::wrapper {
namespace {

// nvcc takes what device code names of the host's templates and does not call, as decltype(std::declval<T>()) does: clang
// does where templates without a word of their own are the device's, too.
constexpr const char* for_both_sides = "-foffload-implicit-host-device-templates";
bool misses_templates(const std::string& said) {
    return said.contains("candidate function not viable: call to __host__ function from __");
}

// clang names some twenty errors at a time: a file with more of them is tried as often. A guard against changes that help
// nothing.
constexpr std::size_t most_refusals = 16;

// What a compile as nvcc takes on top of clang's command, found out by trying.
struct Fixes {
    std::vector<std::string> options;
    std::vector<Refusal> refused;
    FixedSources sources;
};

// Was something of this form changed in one of these lines before? Then it did not help.
bool was_changed(const std::vector<Refusal>& before, const Refusal& refusal) {
    return std::ranges::any_of(before, [&](const Refusal& earlier) {
        if (earlier.form != refusal.form) return false;
        for (const auto& [path, places] : refusal.places) {
            const auto known = earlier.places.find(path);
            if (known == earlier.places.end()) continue;
            for (const SourcePlace& place : places)
                if (std::ranges::find(known->second, place.line, &SourcePlace::line) != known->second.end())
                    return true;
        }
        return false;
    });
}

// The next ones to try after clang has said this; none where there are none.
std::optional<Fixes> next_fixes(const SourceCompile& source, const Fixes& tried, const std::string& said) {
    const auto& [line, tools, input, folder] = source;
    const std::string storage = tools.compatibility + "/shared_storage.h";
    const auto has = [&](const std::string& option) {
        return std::ranges::find(tried.options, option) != tried.options.end();
    };
    if (auto refusal = refusal_in(said);
        refusal && tried.refused.size() < most_refusals && !was_changed(tried.refused, *refusal)) {
        Fixes next{.options = tried.options, .refused = tried.refused, .sources = {}};
        if (refusal->form == RefusedForm::constructed_shared_variable && !has(storage))
            next.options.insert(next.options.end(), {"-include", storage});
        next.refused.push_back(std::move(*refusal));
        next.sources = fix_sources(line, input, folder, next.refused);
        if (next.sources.knows_refused) return next;
    }
    if (has(for_both_sides) || !misses_templates(said)) return std::nullopt;
    Fixes next = tried;
    next.options.emplace_back(for_both_sides);
    return next;
}

}  // namespace

int compile_as_nvcc(const SourceCompile& source, const Command& command, const Environment& environment,
                    const std::string& messages) {
    const auto& [line, tools, input, folder] = source;
    const std::string file = messages.empty() ? folder.file("messages" + std::to_string(input)) : messages;
    Fixes fixes{.options = {}, .refused = {}, .sources = fix_sources(line, input, folder)};
    if (isatty(STDERR_FILENO) != 0) fixes.options.emplace_back("-fdiagnostics-color=always");
    std::optional<PrecompiledHeaders> headers, failed_with;
    if (fixes.sources.overlay.empty()) headers = precompiled_headers(line, tools, input, command);
    for (;;) {
        Command fixed = headers ? headers->command : command;
        fixed.insert(fixed.end(), fixes.options.begin(), fixes.options.end());
        if (!fixes.sources.overlay.empty())
            fixed.insert(fixed.end(), {"-ivfsoverlay", fixes.sources.overlay});
        const int code = run_with_messages_in(file, fixed, environment);
        // Only a compile that read all headers itself is believed to have failed.
        if (code != 0 && headers) {
            failed_with = std::exchange(headers, std::nullopt);
            continue;
        }
        if (code == 0 && failed_with) forget(*failed_with);
        const std::string said = base::read_text(file).value_or("");
        if (code != 0)
            if (auto next = next_fixes(source, fixes, said)) {
                fixes = std::move(*next);
                continue;
            }
        if (messages.empty()) std::fputs(said.c_str(), stderr);
        return code;
    }
}

}  // namespace trimtab::wrapper
