// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/counters/ncu_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/model/launch_configuration.h"
#include "tools/advice/counters/csv.h"
#include "tools/advice/counters/names.h"
#include "tools/advice/counters/ncu_fields.h"

namespace trimtab::advice {
namespace {

// CUDA's limits, of every GPU that ncu knows.
constexpr trimtab_dim3 most_of_block{1024, 1024, 64}, most_of_grid{2147483647, 65535, 65535};

struct RowOfLaunch {
    std::string id;
    CountedLaunch launch;
    bool has_block = false, has_grid = false;
    CsvField place;
};

class Reader {
  public:
    explicit Reader(std::string origin) : origin_(std::move(origin)) {}
    [[nodiscard]] std::expected<std::vector<CountedLaunch>, Error> read(std::string_view text);

  private:
    using Done = std::expected<void, Error>;

    [[nodiscard]] Error error(const CsvField& place, std::string message) const {
        return {.message = std::move(message), .file = origin_, .line = place.line, .column = place.column};
    }
    [[nodiscard]] const CsvField* of(const CsvRecord& record, std::string_view name) const {
        const auto found = std::ranges::find(header_, name, &CsvField::text);
        return found == header_.end() ? nullptr : &record[static_cast<std::size_t>(found - header_.begin())];
    }
    // The field's value by one of ncu_fields.h's readers, where the file has the column.
    template <class Value>
    [[nodiscard]] std::expected<bool, Error> take(const CsvRecord& record, std::string_view column,
                                                  std::expected<Value, std::string> (*read)(std::string_view),
                                                  Value& to) const {
        const CsvField* const field = of(record, column);
        if (field == nullptr || field->text.empty()) return false;
        auto value = read(field->text);
        if (!value) return std::unexpected(error(*field, value.error()));
        to = std::move(*value);
        return true;
    }
    [[nodiscard]] Done read_header(CsvReader& reader);
    [[nodiscard]] std::expected<RowOfLaunch, Error> launch_of(const CsvRecord& record) const;
    [[nodiscard]] Done add_value(RowOfLaunch& to, const CsvField& name, const CsvField& unit_field,
                                 const CsvField& value, const CsvField* section) const;
    [[nodiscard]] Done add_raw(const CsvRecord& record);
    [[nodiscard]] Done add_detail(const CsvRecord& record);
    [[nodiscard]] Done give_shape(RowOfLaunch& row) const;

    std::string origin_;
    CsvRecord header_, units_;
    bool is_details_ = false;
    std::vector<RowOfLaunch> rows_;
};

Reader::Done Reader::read_header(CsvReader& reader) {
    auto header = reader.next();
    if (!header) return std::unexpected(header.error());
    header_ = std::move(**header);  // read() begins where there is one
    for (const char* const column : {"ID", "Kernel Name"})
        if (of(header_, column) == nullptr)
            return std::unexpected(
                error(header_.front(), fmt::format("the header has no column '{}'", column)));
    is_details_ = of(header_, "Metric Name") != nullptr;
    if (is_details_) {
        for (const char* const column : {"Metric Unit", "Metric Value"})
            if (of(header_, column) == nullptr)
                return std::unexpected(
                    error(header_.front(), fmt::format("the header has no column '{}'", column)));
        return {};
    }
    auto units = reader.next();
    if (!units) return std::unexpected(units.error());
    if (!*units || (*units)->size() != header_.size() || !of(**units, "ID")->text.empty())
        return std::unexpected(error(*units ? (*units)->front() : header_.front(),
                                     "a raw page has a line of units, as many as columns, after its header"));
    units_ = std::move(**units);
    return {};
}

std::expected<RowOfLaunch, Error> Reader::launch_of(const CsvRecord& record) const {
    RowOfLaunch row{.id = of(record, "ID")->text, .launch = {}, .place = record.front()};
    if (const CsvField* const process = of(record, "Process ID")) row.id += " of " + process->text;
    const CsvField& kernel = *of(record, "Kernel Name");
    if (kernel.text.empty()) return std::unexpected(error(kernel, "the launch names no kernel"));
    CountedLaunch& launch = row.launch;
    launch.kernel = kernel.text;
    for (const char* const column : {"Device Name", "device__attribute_display_name", "Device"})
        if (const CsvField* const device = of(record, column); device != nullptr && launch.device.empty())
            launch.device = device->text;
    const auto capability = take(record, "CC", ncu_capability, launch.compute_capability);
    if (!capability) return std::unexpected(capability.error());
    const auto block = take(record, "Block Size", ncu_size, launch.block);
    if (!block) return std::unexpected(block.error());
    const auto grid = take(record, "Grid Size", ncu_size, launch.grid);
    if (!grid) return std::unexpected(grid.error());
    row.has_block = *block;
    row.has_grid = *grid;
    return row;
}

Reader::Done Reader::add_value(RowOfLaunch& to, const CsvField& name, const CsvField& unit_field,
                               const CsvField& value, const CsvField* section) const {
    if (counter_labelled(name.text, Dimension::count) == nullptr) return {};
    const auto number = ncu_number(value.text);
    if (!number) return std::unexpected(error(value, number.error()));
    if (!*number) return {};
    const auto unit = parse_unit(unit_field.text);
    if (!unit)
        return std::unexpected(error(unit_field, shown(unit_field.text) + " is no unit that advice knows"));
    const CounterName& known = *counter_labelled(name.text, unit->dimension);
    if (known.dimension != unit->dimension) {
        // Tables of other sections use the same words.
        if (known.metric != name.text && section != nullptr && section->text != known.section) return {};
        return std::unexpected(
            error(unit_field, fmt::format("{} is {}, which {} is no unit of", shown(name.text),
                                          advice::name(known.dimension), shown(unit_field.text))));
    }
    to.launch.values.try_emplace(known.metric, **number * unit->factor);
    return {};
}

Reader::Done Reader::add_raw(const CsvRecord& record) {
    auto row = launch_of(record);
    if (!row) return std::unexpected(row.error());
    for (std::size_t i = 0; i < record.size(); ++i) {
        if (header_[i].text == "Block Size" || header_[i].text == "Grid Size") continue;
        if (auto added = add_value(*row, header_[i], units_[i], record[i], nullptr); !added) return added;
    }
    rows_.push_back(std::move(*row));
    return {};
}

Reader::Done Reader::add_detail(const CsvRecord& record) {
    auto row = launch_of(record);
    if (!row) return std::unexpected(row.error());
    if (rows_.empty() || rows_.back().id != row->id) rows_.push_back(std::move(*row));
    const CsvField& name = *of(record, "Metric Name");
    if (name.text.empty()) return {};  // the row of a rule
    return add_value(rows_.back(), name, *of(record, "Metric Unit"), *of(record, "Metric Value"),
                     of(record, "Section Name"));
}

// Of what the columns do not tell, metrics may.
Reader::Done Reader::give_shape(RowOfLaunch& row) const {
    const auto told = [&](std::string_view what, trimtab_dim3& to) {
        const auto metric = [&](const std::string& name) -> std::uint32_t {
            const CounterName* const known = counter_named(name);
            const auto found = row.launch.values.find(known->metric);
            return found == row.launch.values.end() || !(found->second < 4e9)
                       ? 0
                       : static_cast<std::uint32_t>(found->second);
        };
        const std::string prefix = fmt::format("launch__{}_", what);
        to = {.x = metric(prefix + "dim_x"), .y = metric(prefix + "dim_y"), .z = metric(prefix + "dim_z")};
        if (model::volume(to) == 0) to = {.x = metric(prefix + "size"), .y = 1, .z = 1};
        return model::volume(to) > 0;
    };
    if (!row.has_block && !told("block", row.launch.block))
        return std::unexpected(error(row.place, "the launch has no 'Block Size'"));
    if (!row.has_grid && !told("grid", row.launch.grid))
        return std::unexpected(error(row.place, "the launch has no 'Grid Size'"));
    const auto within = [](const trimtab_dim3& size, const trimtab_dim3& most) {
        return size.x <= most.x && size.y <= most.y && size.z <= most.z;
    };
    if (!within(row.launch.block, most_of_block) || model::volume(row.launch.block) > most_of_block.x)
        return std::unexpected(error(row.place, "the launch's block is larger than CUDA allows"));
    if (!within(row.launch.grid, most_of_grid))
        return std::unexpected(error(row.place, "the launch's grid is larger than CUDA allows"));
    return {};
}

std::expected<std::vector<CountedLaunch>, Error> Reader::read(std::string_view text) {
    std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
    std::uint32_t line = 1;
    while (at < text.size() && !text.substr(at).starts_with("\"ID\",") &&
           !text.substr(at).starts_with("ID,")) {
        at = std::min(text.find('\n', at), text.size() - 1) + 1;
        ++line;
    }
    if (at >= text.size())
        return std::unexpected(Error{
            .message = "no line begins with \"ID\", as the header of `ncu --csv` does", .file = origin_});
    CsvReader reader(text.substr(at), origin_, line);
    if (auto header = read_header(reader); !header) return std::unexpected(header.error());
    for (;;) {
        const auto record = reader.next();
        if (!record) return std::unexpected(record.error());
        if (!*record) break;
        if ((*record)->size() != header_.size())
            return std::unexpected(error((*record)->front(), fmt::format("{} fields, where the header has {}",
                                                                         (*record)->size(), header_.size())));
        if (auto added = is_details_ ? add_detail(**record) : add_raw(**record); !added)
            return std::unexpected(added.error());
    }
    if (rows_.empty()) return std::unexpected(error(header_.front(), "the header is followed by no launch"));
    std::vector<CountedLaunch> out;
    for (RowOfLaunch& row : rows_) {
        if (auto given = give_shape(row); !given) return std::unexpected(given.error());
        out.push_back(std::move(row.launch));
    }
    return out;
}

}  // namespace

std::expected<std::vector<CountedLaunch>, Error> read_ncu_csv(std::string_view text,
                                                              const std::string& origin) {
    return Reader(origin).read(text);
}

}  // namespace trimtab::advice
