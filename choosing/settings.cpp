// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/nearest_name.h"
#include "core/base/reassociation.h"

namespace trimtab::choosing {
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
constexpr Variable<bool, 2> learn_variable{"TRIMTAB_LEARN", "0 or 1", {{{"0", false}, {"1", true}}}};
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

std::string_view text_of(const char* given) {
    return given == nullptr ? std::string_view() : std::string_view(given);
}

template <typename Number>
std::optional<Number> number_in(std::string_view text, Number least, Number most) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole = error == std::errc() && end == text.data() + text.size();
    return is_whole && number >= least && number <= most ? std::optional(number) : std::nullopt;
}

// Fewer have nothing to be compared with; more would be emulated for nothing, for the search's later ones are far off.
constexpr std::uint32_t least_leaders = 2, most_leaders = 16;

void read_crosscheck(const std::function<const char*(const char*)>& get, CrossCheckSettings& settings,
                     std::vector<std::string>& warnings) {
    const auto refuse = [&](std::string_view name, std::string_view given, const std::string& allowed,
                            const std::string& taken) {
        warnings.push_back(
            fmt::format("{}={} is not understood: it takes {}; taken as {}", name, given, allowed, taken));
    };
    constexpr std::string_view top = "top:";
    if (const std::string_view text = text_of(get("TRIMTAB_CROSSCHECK")); !text.empty() && text != "off") {
        const auto count = text.starts_with(top)
                               ? number_in(text.substr(top.size()), least_leaders, most_leaders)
                               : std::nullopt;
        if (!count)
            refuse("TRIMTAB_CROSSCHECK", text,
                   fmt::format("off or top:K, K from {} to {}", least_leaders, most_leaders), "off");
        settings.leaders = count.value_or(0);
    }
    if (const std::string_view text = text_of(get("TRIMTAB_CROSSCHECK_SECONDS")); !text.empty()) {
        const auto seconds = number_in(text, 0.001, 3600.0);
        if (!seconds)
            refuse("TRIMTAB_CROSSCHECK_SECONDS", text, "0.001 to 3600", fmt::format("{}", settings.seconds));
        settings.seconds = seconds.value_or(settings.seconds);
    }
    if (const std::string_view text = text_of(get("TRIMTAB_CROSSCHECK_LAUNCH")); !text.empty()) {
        const auto launch = number_in<std::uint32_t>(text, 0, 1'000'000'000);
        if (!launch)
            refuse("TRIMTAB_CROSSCHECK_LAUNCH", text, "a number of launches, or 0",
                   fmt::format("{}", settings.launch));
        settings.launch = launch.value_or(settings.launch);
    }
}

// Of programs, tools and scripts, as docs/command-line.md lists them.
constexpr std::string_view known_variables[] = {"TRIMTAB",
                                                "TRIMTAB_CAPTURE",
                                                "TRIMTAB_CAPTURE_BYTES",
                                                "TRIMTAB_BUILT_IN_BLOCKS",
                                                "TRIMTAB_CAPTURE_FILE",
                                                "TRIMTAB_CHECK",
                                                "TRIMTAB_CHECK_REPORT",
                                                "TRIMTAB_PROFILES",
                                                "TRIMTAB_PROFILES_BY",
                                                "TRIMTAB_CHOICES",
                                                "TRIMTAB_COARSEN",
                                                "TRIMTAB_DEVICE",
                                                "TRIMTAB_EMULATOR",
                                                "TRIMTAB_EVENT_TIMES",
                                                "TRIMTAB_JIT_DUMP",
                                                "TRIMTAB_JOBS",
                                                "TRIMTAB_KERNEL_SOURCES",
                                                "TRIMTAB_LEARN",
                                                "TRIMTAB_LEARN_SHARE",
                                                "TRIMTAB_LEAST_GAIN",
                                                "TRIMTAB_LOG",
                                                "TRIMTAB_MACRO",
                                                "TRIMTAB_MACRO_BODIES",
                                                "TRIMTAB_MACRO_REPORT",
                                                "TRIMTAB_MODULES",
                                                "TRIMTAB_OUT_OF_BOUNDS",
                                                "TRIMTAB_REPORT",
                                                "TRIMTAB_REPORT_BLOCKS",
                                                "TRIMTAB_FORCE_CUDA_WHEELS",
                                                "TRIMTAB_VERIFY",
                                                "TRIMTAB_BENCH",
                                                "TRIMTAB_ANNOTATIONS",
                                                "TRIMTAB_STORE",
                                                "TRIMTAB_STORE_KEY",
                                                "TRIMTAB_STORE_WAIT",
                                                "TRIMTAB_SUGGEST",
                                                "TRIMTAB_REASSOCIATE",
                                                "TRIMTAB_CROSSCHECK",
                                                "TRIMTAB_CROSSCHECK_SECONDS",
                                                "TRIMTAB_CROSSCHECK_LAUNCH"};

}  // namespace

std::vector<std::string> unknown_variables(const char* const* environment) {
    std::vector<std::string> warnings;
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        std::string_view name = *environment;
        name = name.substr(0, name.find('='));
        if (name != "TRIMTAB" && !name.starts_with("TRIMTAB_")) continue;
        if (std::ranges::find(known_variables, name) == std::end(known_variables))
            warnings.push_back(
                fmt::format("unknown variable {}{}", name, base::suggestion(name, known_variables)));
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
    read_crosscheck(get, out.settings.crosscheck, out.warnings);
    read(learn_variable, get, "0", out.settings.learn.is_on, out.warnings);
    if (const char* share = get("TRIMTAB_LEARN_SHARE"); share != nullptr && *share != '\0')
        read_share("TRIMTAB_LEARN_SHARE", share, out.settings.learn.share, out.warnings);
    if (const char* verify = get("TRIMTAB_VERIFY")) out.settings.verify = verify;
    if (const char* suggest = get("TRIMTAB_SUGGEST")) out.settings.suggest = suggest;
    if (const char* bench = get("TRIMTAB_BENCH")) out.settings.bench = bench;
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

}  // namespace trimtab::choosing
