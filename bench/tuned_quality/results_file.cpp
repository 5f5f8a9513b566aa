// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/tuned_quality/results_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "bench/selection_quality/csv.h"

namespace trimtab::bench {

std::expected<ResultsFile, Error> ResultsFile::open(const std::string& path, const TunedKernel& kernel) {
    ResultsFile out;
    if (path.empty()) return out;
    std::error_code ignored;
    const bool is_new =
        !std::filesystem::exists(path, ignored) || std::filesystem::file_size(path, ignored) == 0;
    if (!is_new) {
        std::vector<std::string_view> columns(kernel.columns.begin(), kernel.columns.end());
        columns.insert(columns.end(), {"closed_form_ms", "emulation_ms"});
        const auto rows = read_csv(path, columns);
        if (!rows) return std::unexpected(rows.error());
        for (const CsvRow& row : *rows) {
            Values values;
            Prediction prediction{std::nan(""), std::nan("")};
            for (std::size_t i = 0; i < columns.size(); ++i) {
                const auto number = csv_number(path, row, i);
                if (!number) return std::unexpected(number.error());
                if (i < kernel.columns.size())
                    values.push_back(static_cast<std::int64_t>(*number));
                else if (*number > 0)
                    (i == kernel.columns.size() ? prediction.closed_form_ms : prediction.emulation_ms) =
                        *number;
            }
            out.known_[values] = prediction;
        }
    }
    out.file_.reset(std::fopen(path.c_str(), "a"));
    if (out.file_ == nullptr) return std::unexpected(Error{.message = std::strerror(errno), .file = path});
    if (is_new)
        fmt::print(out.file_.get(), "{},closed_form_ms,emulation_ms\n", fmt::join(kernel.columns, ","));
    return out;
}

const Prediction* ResultsFile::find(const Values& values) const {
    const auto found = known_.find(values);
    return found == known_.end() ? nullptr : &found->second;
}

void ResultsFile::add(const Values& values, const Prediction& prediction) {
    known_[values] = prediction;
    if (file_ == nullptr) return;
    const auto kept = [](double ms) { return std::isfinite(ms) ? ms : 0; };
    fmt::print(file_.get(), "{},{},{}\n", fmt::join(values, ","), kept(prediction.closed_form_ms),
               kept(prediction.emulation_ms));
    std::fflush(file_.get());
}

}  // namespace trimtab::bench
