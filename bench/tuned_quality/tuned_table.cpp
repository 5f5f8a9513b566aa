#include "bench/tuned_quality/tuned_table.h"

#include <fmt/format.h>

#include <map>

#include "bench/selection_quality/csv.h"

namespace trimtab::bench {

std::expected<std::vector<Slice>, Error> read_tuned_table(const std::string& path) {
    const auto rows = read_csv(path, {"block_size_x", "block_size_y", "tile_size_x", "tile_size_y",
                                      "read_only", "use_padding", "time_ms"});
    if (!rows) return std::unexpected(rows.error());
    std::map<std::array<std::uint32_t, 4>, std::vector<Configuration>> slices;
    for (const CsvRow& row : *rows) {
        std::array<double, 7> numbers{};
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const auto number = csv_number(path, row, i);
            if (!number) return std::unexpected(number.error());
            const bool flag = i == 4 || i == 5;
            if (*number < (flag ? 0 : 1e-9) || *number > (flag ? 1 : 1e6))
                return std::unexpected(Error{
                    .message = fmt::format("{} is out of range", *number), .file = path, .line = row.line});
            numbers[i] = *number;
        }
        const auto whole = [&](std::size_t i) { return static_cast<std::uint32_t>(numbers[i]); };
        slices[{whole(2), whole(3), whole(4), whole(5)}].push_back({.block_x = whole(0),
                                                                    .block_y = whole(1),
                                                                    .tile_x = whole(2),
                                                                    .tile_y = whole(3),
                                                                    .read_only = whole(4),
                                                                    .use_padding = whole(5),
                                                                    .ms = numbers[6]});
    }
    std::vector<Slice> out;
    for (auto& [key, configurations] : slices)
        out.push_back({.tile_x = key[0],
                       .tile_y = key[1],
                       .read_only = key[2],
                       .use_padding = key[3],
                       .configurations = std::move(configurations)});
    return out;
}

}  // namespace trimtab::bench
