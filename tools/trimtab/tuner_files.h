// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Auto-tuners' files (docs/tuners.md): spaces as T1, results as T4, Kernel Tuner's caches.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/trimtab/search_candidates.h"
#include "trimtab/error.h"

namespace trimtab::tools {

// A T1 file's parameters and conditions, the latter as --where has them.
struct TunerSpace {
    std::vector<VariantParameter> parameters;
    std::vector<std::string> conditions;
};
[[nodiscard]] std::expected<TunerSpace, Error> read_t1(const std::string& path);

struct MeasuredConfiguration {
    std::map<std::string, std::int64_t> values;
    double ms = 0;
};
// The valid configurations of a T4 file; `parameters`: the names that they must have, and no others.
[[nodiscard]] std::expected<std::vector<MeasuredConfiguration>, Error> read_t4(
    const std::string& path, const std::vector<std::string>& parameters);

struct TunedConfiguration {
    std::vector<std::int64_t> values;
    double ns = 0;
    std::vector<double> samples_ns{};  // where it was measured: what `ns` is the median of
    bool is_correct = true;            // it can be launched
};
struct TunedResults {
    std::string kernel, device;
    std::string by{};  // who says so, and what the times are
    std::vector<std::string> parameters;
    std::vector<TunedConfiguration> configurations;  // the least time first
};
[[nodiscard]] std::string t4_text(const TunedResults& results);
// A cache for Kernel Tuner's simulation mode, with the restriction that leaves these configurations and the first as
// the one to start with.
[[nodiscard]] std::string kernel_tuner_text(const TunedResults& results);

// How predictions stand against measurements of the same configurations.
struct TunerScore {
    std::size_t compared = 0, measured = 0;  // of both; in the file, of the space that was searched
    double regret = 0;            // the time of the one predicted best over the best measured, less 1
    std::size_t place = 0;        // of the one predicted best among all measured, from 1
    double rank_correlation = 0;  // Spearman's, of those compared; NaN for fewer than three
};
// Nothing: none of the predicted configurations is measured.
[[nodiscard]] std::optional<TunerScore> score(const TunedResults& predicted,
                                              const std::vector<MeasuredConfiguration>& measured);

}  // namespace trimtab::tools
