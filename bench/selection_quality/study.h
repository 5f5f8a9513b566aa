// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cases with what every rule chooses in them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/selection_quality/decision.h"
#include "bench/selection_quality/measured_table.h"
#include "bench/selection_quality/scores.h"

namespace trimtab::bench {

struct StudiedCase {
    MeasuredCase measured;
    model::Device device;
    CaseLaunches launches;
    std::vector<MeasuredBlock> legal;  // a kernel that reads only x has by = 1
    MeasuredBlock best;
    std::vector<PredictedBlock> predicted;  // by the default model, best first
    std::map<std::string, Block> choices;   // by rule

    // Of what a rule chose; none where it chose nothing that was timed.
    [[nodiscard]] std::optional<double> efficiency(const std::string& rule) const;
    [[nodiscard]] const MeasuredBlock* find_legal(Block block) const;
    // Of predicted and measured times.
    [[nodiscard]] double rank_correlation() const;
    [[nodiscard]] double mean_absolute_error() const;  // of predicted times, relative
};

// The compiled driver program's search on a kernel's launches.
struct SearchResult {
    std::string kernel;  // demangled
    bool two_dimensional = false;
    std::size_t legal_blocks = 0;          // of the largest case
    double decision_us = 0;                // mean over the kernel's cases
    double evaluate_all_us = 0;            // the same by evaluating every legal block
    double mean_loss = 0, worst_loss = 0;  // predicted time of the search's choice over that of
    // the choice among all, less 1
    std::size_t launches = 0;
};

// An app's cases with the model's constants fitted to the other apps.
struct LeftOut {
    std::string app;
    std::size_t cases = 0;
    double as_shipped = 0, left_out = 0;  // geometric means
    std::vector<double> factors;          // of the constants, in order
};

struct Study {
    std::vector<std::string> rules;  // in the order of reports
    std::vector<StudiedCase> cases;
    std::vector<std::string> skipped;  // a line each
    std::vector<std::string> notes;
    std::vector<SearchResult> searches;
    std::vector<LeftOut> left_out;
    double profile_seconds = 0, decide_seconds = 0;

    void choose(StudiedCase& one, const std::string& rule, Block block);
};

enum class Dimensions { all, one, two };
[[nodiscard]] Summary summarise(const Study& study, const std::string& rule, Dimensions dimensions,
                                const std::string& gpu = "", const std::string& app = "");

// Rules that need no model: guesses, maximum occupancy, the best fixed block in hindsight, the best of all.
void add_plain_rules(Study& study);
// What another table found best: "oracle" for another day's.
void add_other_day(Study& study, const std::vector<MeasuredCase>& other);
// A file of choices (gpu,app,kernel,n,bx,by) as a rule.
[[nodiscard]] std::expected<void, Error> add_choices(Study& study, const std::string& rule,
                                                     const std::string& path);

}  // namespace trimtab::bench
