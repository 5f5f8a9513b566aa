#include "runtime/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/nearest_name.h"
#include "base/reassociation.h"

namespace trimtab::runtime {
namespace {

template <typename Value, std::size_t count>
struct Variable {
    const char* name;
    const char* allowed;
    std::array<std::pair<std::string_view, Value>, count> values;
};

constexpr Variable<Mode, 3> mode_variable{
    "TRIMTAB", "on, off or observe", {{{"on", Mode::on}, {"off", Mode::off}, {"observe", Mode::observe}}}};
constexpr Variable<ModulesMode, 4> modules_variable{"TRIMTAB_MODULES",
                                                    "background, wait, cached or off",
                                                    {{{"background", ModulesMode::background},
                                                      {"wait", ModulesMode::wait},
                                                      {"cached", ModulesMode::cached},
                                                      {"off", ModulesMode::off}}}};
constexpr Variable<LogLevel, 5> log_variable{"TRIMTAB_LOG",
                                             "off, warn, summary, info or debug",
                                             {{{"off", LogLevel::off},
                                               {"warn", LogLevel::warn},
                                               {"summary", LogLevel::summary},
                                               {"info", LogLevel::info},
                                               {"debug", LogLevel::debug}}}};

template <typename Value, std::size_t count>
void read(const Variable<Value, count>& variable, const std::function<const char*(const char*)>& get,
          std::string_view default_name, Value& value, std::vector<std::string>& warnings) {
    const char* given = get(variable.name);
    if (given == nullptr || *given == '\0') return;
    for (const auto& [name, meaning] : variable.values) {
        if (name == given) {
            value = meaning;
            return;
        }
    }
    warnings.push_back(fmt::format("{}={} is not understood: it takes {}; taken as {}", variable.name, given,
                                   variable.allowed, default_name));
}

void read_share(const char* name, std::string_view given, double& value, std::vector<std::string>& warnings) {
    double share = 0;
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), share);
    if (error == std::errc() && end == given.data() + given.size() && share >= 0 && share <= 1) {
        value = share;
        return;
    }
    warnings.push_back(fmt::format("{}={} is not understood: it takes a share from 0 to 1; taken as {}", name,
                                   given, value));
}

// Of programs, tools and scripts, as docs/command-line.md lists them.
constexpr std::string_view known_variables[] = {
    "TRIMTAB",         "TRIMTAB_CHECK",          "TRIMTAB_CHECK_REPORT",  "TRIMTAB_PROFILES",
    "TRIMTAB_CHOICES", "TRIMTAB_DEVICE",         "TRIMTAB_EMULATOR",      "TRIMTAB_JIT_DUMP",
    "TRIMTAB_JOBS",    "TRIMTAB_KERNEL_SOURCES", "TRIMTAB_LEAST_GAIN",    "TRIMTAB_LOG",
    "TRIMTAB_MODULES", "TRIMTAB_REPORT",         "TRIMTAB_REPORT_BLOCKS", "TRIMTAB_FORCE_CUDA_WHEELS",
    "TRIMTAB_VERIFY",  "TRIMTAB_ANNOTATIONS",    "TRIMTAB_SUGGEST",       "TRIMTAB_REASSOCIATE"};

}  // namespace

std::vector<std::string> unknown_variables(const char* const* environment) {
    std::vector<std::string> warnings;
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        std::string_view name = *environment;
        name = name.substr(0, name.find('='));
        if (name != "TRIMTAB" && !name.starts_with("TRIMTAB_")) continue;
        if (std::ranges::find(known_variables, name) == std::end(known_variables))
            warnings.push_back(fmt::format("{} is no variable of Trimtab's{}", name,
                                           base::suggestion(name, known_variables)));
    }
    return warnings;
}

ReadSettings read_settings(const std::function<const char*(const char*)>& get) {
    ReadSettings out;
    read(mode_variable, get, "on", out.settings.mode, out.warnings);
    read(modules_variable, get, "background", out.settings.modules, out.warnings);
    read(log_variable, get, "warn", out.settings.log, out.warnings);
    if (const char* path = get("TRIMTAB_REPORT")) out.settings.report_path = path;
    if (const char* blocks = get("TRIMTAB_REPORT_BLOCKS"))
        out.settings.report_blocks = std::string_view(blocks) == "1";
    if (const char* device = get("TRIMTAB_DEVICE")) out.settings.device = device;
    if (const char* choices = get("TRIMTAB_CHOICES")) out.settings.choices_path = choices;
    if (const char* gain = get("TRIMTAB_LEAST_GAIN"); gain != nullptr && *gain != '\0')
        read_share("TRIMTAB_LEAST_GAIN", gain, out.settings.least_gain, out.warnings);
    if (const char* verify = get("TRIMTAB_VERIFY")) out.settings.verify = verify;
    if (const char* suggest = get("TRIMTAB_SUGGEST")) out.settings.suggest = suggest;
    if (const char* annotations = get("TRIMTAB_ANNOTATIONS")) out.settings.annotations = annotations;
    if (const char* given = get("TRIMTAB_REASSOCIATE"); given != nullptr && *given != '\0') {
        const auto allows = base::reassociation(given);
        if (!allows)
            out.warnings.push_back(fmt::format("{}={} is not understood: it takes 0 or 1; taken as 0",
                                               base::reassociate_variable, given));
        out.settings.reassociate = allows.value_or(false);
    }
    return out;
}

}  // namespace trimtab::runtime
