// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/machine_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace trimtab::tools {

void add_machine_options(CLI::App& command, schedule::Settings& settings) {
    command
        .add_option_function<std::vector<std::string>>(
            "--set",
            [&settings](const std::vector<std::string>& texts) {
                for (const std::string& text : texts) {
                    const auto number = schedule::number_from(text);
                    if (!number) throw CLI::ValidationError("--set", number.error());
                    settings.numbers.push_back(*number);
                }
            },
            "Set cycles: RESOURCE.latency=V or RESOURCE.gap=V; may be repeated")
        ->allow_extra_args(false)
        ->take_all();
    CLI::Option* no_caches =
        command.add_flag("--no-caches", settings.no_caches, "Let every access to memory go to DRAM");
    const auto rate = [&](const char* name, std::optional<double>& to, const char* text) {
        command.add_option_function<double>(
                   name, [&to](double share) { to = share; }, text)
            ->check(CLI::Range(0.0, 1.0))
            ->excludes(no_caches);
    };
    rate("--l1-hit-rate", settings.l1_hit_rate, "Let L1 hold this share of the lines that loads look up");
    rate("--l2-hit-rate", settings.l2_hit_rate, "Let L2 hold this share of the lines that loads look up");
}

nlohmann::ordered_json to_json(const schedule::Settings& settings) {
    nlohmann::ordered_json out = nlohmann::ordered_json::object();
    for (const schedule::Settings::Number& number : settings.numbers) out[name(number)] = number.cycles;
    if (settings.l1_hit_rate) out["l1_hit_rate"] = *settings.l1_hit_rate;
    if (settings.l2_hit_rate) out["l2_hit_rate"] = *settings.l2_hit_rate;
    if (settings.no_caches) out["caches"] = false;
    return out;
}

std::string to_text(const schedule::Settings& settings) {
    std::vector<std::string> parts;
    for (const schedule::Settings::Number& number : settings.numbers)
        parts.push_back(fmt::format("{} {:.6g} cycles", name(number), number.cycles));
    if (settings.l1_hit_rate)
        parts.push_back(fmt::format("L1 hit rate {:.4g} %", *settings.l1_hit_rate * 100));
    if (settings.l2_hit_rate)
        parts.push_back(fmt::format("L2 hit rate {:.4g} %", *settings.l2_hit_rate * 100));
    if (settings.no_caches) parts.emplace_back("no caches");
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace trimtab::tools
