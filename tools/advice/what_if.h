// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a remedy would win: the launch's question with one thing changed, and the models asked again.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emulation/schedule/edits.h"
#include "tools/advice/question.h"
#include "tools/advice/second_opinion.h"

namespace trimtab::advice {

// A source line that a finding is about.
struct Evidence {
    std::string source;        // "gemm.cu:14"; may be empty
    std::uint32_t column = 0;  // 0: not known
    std::string text;          // "this load moves 32 sectors a request; 4 would do"
    double weight = 0;         // the most telling first

    // "gemm.cu:14:9", as compilers write it.
    [[nodiscard]] std::string place() const {
        return column == 0 || source.empty() ? source : source + ":" + std::to_string(column);
    }
};

struct WhatIf {
    Question changed;
    double times = 1;       // `changed` stands for so many of the launches that it is compared with
    double least_gain = 0;  // where it is known to be less than what the models say; 0: it is not
    double fastest_ns = 0;  // no change of this kind makes the launch faster; 0: not known
    std::string change;     // "blocks of 128 threads", where the remedy has a number in it
    std::vector<Evidence> evidence;
    // The same for emulation, where it can be asked: changes of the code, or the launch as `changed` has it.
    std::vector<schedule::Edit> edits{};
    bool relaunches = false;
    // Another program, which emulation cannot be asked about: its word on the launch as it is counts as much as the model's.
    bool is_another_program = false;
    bool is_for_emulation =
        false;  // the model lacks what it is about: where emulation can be asked, it decides
};

// A launch that a GPU's counters are known of, and no code: each of its profile's instructions stands for all of one kind.
struct Counted {
    std::set<std::string> rules;  // that the counters can answer, by id
    double dram_bytes = 0;        // that were read and written; 0: not known
    double full_lanes = 32;       // of a warp, where none is idle
    // As the counters would have it, too, with other values of what no counter tells.
    std::vector<Question> others;
};

struct Subject {
    const emulator::LaunchProfile& profile;
    Question question;
    bool has_double_pointers = false;
    const LaunchPatterns* patterns = nullptr;  // null: not known
    const Counted* counted = nullptr;          // null: it was emulated

    [[nodiscard]] Subject with(const Question& other) const {
        Subject out = *this;
        out.question = other;
        return out;
    }
};

// Nothing where the defect is not there.
using Remedy = std::optional<WhatIf> (*)(const Subject& subject);

struct NamedRemedy {
    std::string_view name;
    Remedy ask;
};
// By the names that tools/advice/rules.json uses; null: there is none.
[[nodiscard]] Remedy remedy_named(std::string_view name);
[[nodiscard]] std::vector<std::string_view> remedy_names();

}  // namespace trimtab::advice
