// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comma-separated tables with a header line; no quoting.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::bench {

struct CsvRow {
    std::uint32_t line = 0;
    std::vector<std::string> values;  // of the columns asked for, in that order
};

// The named columns of every row. An error names the missing column, or the line that is too short.
[[nodiscard]] std::expected<std::vector<CsvRow>, Error> read_csv(
    const std::string& path, const std::vector<std::string_view>& columns);

// The whole text must be a number.
[[nodiscard]] std::expected<double, Error> csv_number(const std::string& path, const CsvRow& row,
                                                      std::size_t column);

}  // namespace trimtab::bench
