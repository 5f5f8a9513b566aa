// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What scripts/gpu_validate.sh has written into a folder: docs/validating-on-a-gpu.md.
#pragma once

#include <array>
#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::tools {

// Of gpu_validate.sh, in its order.
inline constexpr std::array<std::string_view, 7> validation_steps{
    "surroundings", "samples", "overhead", "learning", "counters", "calibrate", "bench"};

struct ValidationResults {
    struct Step {
        std::string name, status,
            text;  // status: ok, bad, unfinished, missing (the tool is), or empty: never begun
    };
    struct Sample {
        std::string name, arguments, result;  // "same", or what is wrong
        double off_ms = 0, on_ms = 0;         // of the whole program, as written and as chosen
    };
    struct Overhead {
        double off_ns = 0, on_ns = 0;  // medians, of a launch
    };
    // One kernel and size, of which TRIMTAB_LEARN=1 has timed the leaders.
    struct Learnt {
        std::string sample, kernel, data;
        std::size_t leaders = 0, timed = 0;
        double predicted_ns = 0, first_ns = 0, kept_ns = 0,
               best_ns = 0;  // of the launch predicted fastest: its prediction
    };
    // A metric of one kernel, of the GPU's counters and of the emulator's: means over its launches.
    struct Counted {
        std::string kernel, chip, metric;
        double gpu = 0, emulator = 0, mean_difference = 0;  // the last a share of the larger
    };
    std::string version, device;  // "" where no launch was reported
    std::vector<Step> steps;
    std::vector<Sample> samples;
    std::optional<Overhead> overhead;
    std::vector<Learnt> learnt;
    std::vector<Counted> counted;
    std::vector<std::string> disagreements;  // one line each: what is not as it should be
};

// The error: the folder is none of the script's, or a file in it cannot be read, with the line.
[[nodiscard]] std::expected<ValidationResults, Error> read_validation(const std::string& folder);
[[nodiscard]] std::string to_text(const ValidationResults& results);
// Of several machines, one line each.
[[nodiscard]] std::string to_table(const std::vector<std::pair<std::string, ValidationResults>>& by_folder);
[[nodiscard]] nlohmann::ordered_json to_json(const ValidationResults& results);

}  // namespace trimtab::tools
