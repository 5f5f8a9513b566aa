// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/selection_quality/measured_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "bench/selection_quality/csv.h"

namespace trimtab::bench {

const MeasuredBlock* MeasuredCase::find(Block block) const {
    const auto found = std::ranges::find(blocks, block, &MeasuredBlock::block);
    return found == blocks.end() ? nullptr : &*found;
}

std::expected<std::vector<MeasuredCase>, Error> read_measured_table(const std::string& path) {
    const auto rows = read_csv(path, {"gpu", "app", "kernel", "n", "bx", "by", "time_ms"});
    if (!rows) return std::unexpected(rows.error());
    std::vector<MeasuredCase> cases;
    std::map<std::tuple<std::string, std::string, std::string, std::uint64_t>, std::size_t> places;
    std::vector<std::map<Block, std::vector<double>>> times;
    for (const CsvRow& row : *rows) {
        double numbers[4];  // n, bx, by, time_ms
        for (std::size_t i = 0; i < 4; ++i) {
            const auto number = csv_number(path, row, 3 + i);
            if (!number) return std::unexpected(number.error());
            if (!(*number > 0) || (i < 3 && *number > 0x7fffffff))
                return std::unexpected(Error{
                    .message = fmt::format("{} is out of range", *number), .file = path, .line = row.line});
            numbers[i] = *number;
        }
        const auto n = static_cast<std::uint64_t>(numbers[0]);
        const auto [place, is_new] =
            places.try_emplace({row.values[0], row.values[1], row.values[2], n}, cases.size());
        if (is_new) {
            cases.push_back(
                {.gpu = row.values[0], .app = row.values[1], .kernel = row.values[2], .n = n, .blocks = {}});
            times.emplace_back();
        }
        times[place->second][{static_cast<std::uint32_t>(numbers[1]), static_cast<std::uint32_t>(numbers[2])}]
            .push_back(numbers[3]);
    }
    for (std::size_t i = 0; i < cases.size(); ++i)
        for (auto& [block, readings] : times[i]) {
            std::ranges::sort(readings);
            const std::size_t half = readings.size() / 2;
            cases[i].blocks.push_back({.block = block,
                                       .ms = readings.size() % 2 == 1
                                                 ? readings[half]
                                                 : (readings[half - 1] + readings[half]) / 2});
        }
    return cases;
}

}  // namespace trimtab::bench
