// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/tuned_quality/tuned_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "bench/selection_quality/csv.h"

namespace trimtab::bench {

std::expected<std::vector<Slice>, Error> read_tuned_table(const std::string& path,
                                                          const TunedKernel& kernel) {
    std::vector<std::string_view> columns(kernel.columns.begin(), kernel.columns.end());
    columns.push_back(kernel.time_column);
    const auto rows = read_csv(path, columns);
    if (!rows) return std::unexpected(rows.error());
    std::vector<std::size_t> in_slice;
    for (const std::string& column : kernel.slice)
        in_slice.push_back(
            static_cast<std::size_t>(std::ranges::find(kernel.columns, column) - kernel.columns.begin()));
    std::map<Values, std::vector<Configuration>> slices;
    for (const CsvRow& row : *rows) {
        const auto out_of_range = [&](double number) {
            return std::unexpected(
                Error{.message = fmt::format("{} is out of range", number), .file = path, .line = row.line});
        };
        Configuration one;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto number = csv_number(path, row, i);
            if (!number) return std::unexpected(number.error());
            const bool is_time = i + 1 == columns.size();
            if (!(*number >= (is_time ? 1e-9 : 0)) || *number > 1e9) return out_of_range(*number);
            if (is_time)
                one.ms = *number;
            else if (*number != std::floor(*number))
                return out_of_range(*number);
            else
                one.values.push_back(static_cast<std::int64_t>(*number));
        }
        Values key;
        for (const std::size_t i : in_slice) key.push_back(one.values[i]);
        slices[key].push_back(std::move(one));
    }
    std::vector<Slice> out;
    for (auto& [key, configurations] : slices)
        out.push_back({.values = key, .configurations = std::move(configurations)});
    return out;
}

void thin_out(std::vector<Slice>& slices, std::size_t count) {
    if (count < 2) return;
    for (Slice& slice : slices) {
        auto& all = slice.configurations;
        if (all.size() <= count) continue;
        std::ranges::sort(all, {}, [](const Configuration& one) { return std::tie(one.ms, one.values); });
        std::vector<Configuration> kept;
        for (std::size_t i = 0; i < count; ++i) kept.push_back(all[i * (all.size() - 1) / (count - 1)]);
        all = std::move(kept);
    }
}

}  // namespace trimtab::bench
