// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules that advise goes by, as data: tools/advice/rules.json, compiled in.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/advice/what_if.h"
#include "trimtab/error.h"

namespace trimtab::advice {

struct Rule {
    std::string id, title, remedy, from;
    Remedy ask = nullptr;
    double least_gain = 1;
    bool trimtab_can = false;  // where the kernel's block is Trimtab's to choose
    // What must have been counted (counters/quantities.h) to ask it of a GPU's counters alone; nothing: these do not answer it.
    std::optional<std::vector<std::string>> counters{};
};
[[nodiscard]] std::expected<std::vector<Rule>, Error> parse_rules(std::string_view json,
                                                                  const std::string& origin);
[[nodiscard]] const std::vector<Rule>& rules();

// Of a run, not of a kernel: run_findings.h.
struct ProgramRule {
    enum class Subject { copies, launches };
    std::string id, title, remedy, from;
    Subject looks_at = Subject::copies;
    double least_gain = 1;
};
[[nodiscard]] std::expected<std::vector<ProgramRule>, Error> parse_program_rules(std::string_view json,
                                                                                 const std::string& origin);
[[nodiscard]] const std::vector<ProgramRule>& program_rules();

extern const std::string_view rules_json;

}  // namespace trimtab::advice
