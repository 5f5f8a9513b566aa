// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/rules.h"

#include <nlohmann/json.hpp>

#include "core/base/json_value.h"
#include "tools/advice/counters/quantities.h"

namespace trimtab::advice {

using base::JsonValue;

std::expected<std::vector<Rule>, Error> parse_rules(std::string_view text, const std::string& origin) {
    const auto json = base::parse_json(text, origin);
    if (!json) return std::unexpected(json.error());
    return base::read_json(*json, "rules", origin, [](const JsonValue& document) {
        std::vector<Rule> out;
        for (const JsonValue& entry : document["rules"].list()) {
            entry.check_members({"id", "ask", "least_gain", "by", "title", "remedy", "from"}, {"counters"});
            Rule rule{.id = entry["id"].text(),
                      .title = entry["title"].text(),
                      .remedy = entry["remedy"].text(),
                      .from = entry["from"].text(),
                      .ask = remedy_named(entry["ask"].text()),
                      .least_gain = entry["least_gain"].number(),
                      .trimtab_can = entry["by"].one_of({"you", "trimtab"}) == 1};
            if (rule.ask == nullptr) entry["ask"].fail("names no what-if");
            if (const auto counters = entry.find("counters")) {
                rule.counters.emplace();
                for (const JsonValue& quantity : counters->list()) {
                    rule.counters->push_back(quantity.text());
                    if (!is_quantity(rule.counters->back()))
                        quantity.fail("names nothing that counters tell");
                }
            }
            out.push_back(std::move(rule));
        }
        return out;
    });
}

std::expected<std::vector<ProgramRule>, Error> parse_program_rules(std::string_view text,
                                                                   const std::string& origin) {
    const auto json = base::parse_json(text, origin);
    if (!json) return std::unexpected(json.error());
    return base::read_json(*json, "rules", origin, [](const JsonValue& document) {
        std::vector<ProgramRule> out;
        for (const JsonValue& entry : document["program"].list()) {
            entry.check_members({"id", "looks_at", "least_gain", "title", "remedy", "from"});
            out.push_back({.id = entry["id"].text(),
                           .title = entry["title"].text(),
                           .remedy = entry["remedy"].text(),
                           .from = entry["from"].text(),
                           .looks_at = static_cast<ProgramRule::Subject>(
                               entry["looks_at"].one_of({"copies", "launches"})),
                           .least_gain = entry["least_gain"].number()});
        }
        return out;
    });
}

const std::vector<ProgramRule>& program_rules() {
    static const std::vector<ProgramRule> known =
        parse_program_rules(rules_json, "tools/advice/rules.json").value_or(std::vector<ProgramRule>{});
    return known;
}

const std::vector<Rule>& rules() {
    static const std::vector<Rule> known =
        parse_rules(rules_json, "tools/advice/rules.json").value_or(std::vector<Rule>{});
    return known;
}

}  // namespace trimtab::advice
