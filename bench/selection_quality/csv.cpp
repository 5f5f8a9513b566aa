// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/selection_quality/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>

namespace trimtab::bench {

namespace {

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> cells;
    std::size_t at = 0;
    for (;;) {
        const std::size_t comma = line.find(',', at);
        std::string cell = line.substr(at, comma == std::string::npos ? comma : comma - at);
        while (!cell.empty() && (cell.back() == '\r' || cell.back() == ' ')) cell.pop_back();
        cells.push_back(std::move(cell));
        if (comma == std::string::npos) return cells;
        at = comma + 1;
    }
}

}  // namespace

std::expected<std::vector<CsvRow>, Error> read_csv(const std::string& path,
                                                   const std::vector<std::string_view>& columns) {
    std::ifstream stream(path);
    std::string line;
    if (!stream || !std::getline(stream, line))
        return std::unexpected(Error{.message = "cannot read a table from the file", .file = path});
    const std::vector<std::string> header = split(line);
    std::vector<std::size_t> places;
    for (const std::string_view column : columns) {
        const auto found = std::ranges::find(header, column);
        if (found == header.end())
            return std::unexpected(
                Error{.message = fmt::format("has no column \"{}\"", column), .file = path, .line = 1});
        places.push_back(static_cast<std::size_t>(found - header.begin()));
    }
    std::vector<CsvRow> rows;
    for (std::uint32_t number = 2; std::getline(stream, line); ++number) {
        if (line.find_first_not_of(" \r\t") == std::string::npos) continue;
        const std::vector<std::string> cells = split(line);
        CsvRow& row = rows.emplace_back(CsvRow{.line = number, .values = {}});
        for (const std::size_t place : places) {
            if (place >= cells.size())
                return std::unexpected(
                    Error{.message = fmt::format("has {} values of {}", cells.size(), header.size()),
                          .file = path,
                          .line = number});
            row.values.push_back(cells[place]);
        }
    }
    return rows;
}

std::expected<double, Error> csv_number(const std::string& path, const CsvRow& row, std::size_t column) {
    const std::string& text = row.values[column];
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(value)) return value;
    return std::unexpected(
        Error{.message = fmt::format("\"{}\" is no number", text), .file = path, .line = row.line});
}

}  // namespace trimtab::bench
