// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/heat_map.h"

#include <algorithm>
#include <set>

#include "tools/trimtab/figure.h"
#include "tools/trimtab/html_text.h"

namespace trimtab::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string block_title(const BlockSize& block) {
    return fmt::format("{} × {} × {}", block[0], block[1], block[2]);
}

// Times as they are said, not as they are computed: a page of 30 000 blocks stays small.
double microseconds(const MappedBlock& mapped) {
    return std::strtod(fmt::format("{:.5g}", mapped.ns / 1e3).c_str(), nullptr);
}

bool varies(const std::vector<MappedBlock>& blocks, std::size_t d) {
    return std::ranges::any_of(
        blocks, [&](const MappedBlock& mapped) { return mapped.block[d] != blocks[0].block[d]; });
}

// Widths that a cell covers: to half way to its neighbours, so that rows have no gaps where only some widths are
// legal.
struct MapCell {
    double from = 0, to = 0;
};
std::vector<MapCell> cells_of(const std::vector<MappedBlock>& order) {
    std::vector<MapCell> cells(order.size());
    const auto same_row = [&](std::size_t a, std::size_t b) {
        return order[a].block[1] == order[b].block[1] && order[a].block[2] == order[b].block[2];
    };
    for (std::size_t i = 0; i < order.size(); ++i) {
        const double x = order[i].block[0];
        const bool has_before = i > 0 && same_row(i - 1, i),
                   has_after = i + 1 < order.size() && same_row(i, i + 1);
        double before = has_before ? (x - order[i - 1].block[0]) / 2 : 0.5;
        const double after = has_after ? (order[i + 1].block[0] - x) / 2 : before;
        if (!has_before && has_after) before = std::min(after, x / 2);
        cells[i] = {.from = x - before, .to = x + after};
    }
    return cells;
}

Json mark_of(const MappedBlock& mapped, const char* is, std::size_t along) {
    return {{"x", mapped.block[along]},   {"y", mapped.block[1]},
            {"z", mapped.block[2]},       {"is", is},
            {"us", microseconds(mapped)}, {"block", block_title(mapped.block)}};
}

}  // namespace

std::string heat_map(const std::vector<MappedBlock>& blocks, const BlockSize& written,
                     const BlockSize& chosen, const std::string& what) {
    if (blocks.empty()) return "";
    std::vector<std::size_t> dimensions;
    for (std::size_t d = 0; d < 3; ++d)
        if (varies(blocks, d)) dimensions.push_back(d);
    const bool is_line = dimensions.size() <= 1;
    const std::size_t along = is_line && !dimensions.empty() ? dimensions.front() : 0;
    std::vector<MappedBlock> order = blocks;
    // Row by row: of one depth and height, by width.
    std::ranges::sort(order, {}, [](const MappedBlock& mapped) {
        return std::array{mapped.block[2], mapped.block[1], mapped.block[0]};
    });
    const std::vector<MapCell> cells = cells_of(order);
    Json rows = Json::array(), marks = Json::array();
    std::set<std::uint32_t> depths;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const MappedBlock& mapped = order[i];
        const auto& [x, y, z] = mapped.block;
        Json row;
        if (is_line)
            row = {{"x", mapped.block[along]}};
        else
            row = {{"x1", cells[i].from}, {"x2", cells[i].to}, {"y1", y - 0.5}, {"y2", y + 0.5}, {"z", z}};
        row["us"] = microseconds(mapped);
        row["block"] = block_title(mapped.block);
        rows.push_back(std::move(row));
        depths.insert(z);
        if (mapped.block == written) marks.push_back(mark_of(mapped, "as written", along));
        if (mapped.block == chosen && chosen != written) marks.push_back(mark_of(mapped, "chosen", along));
    }
    const auto said = [&](const char* which, const MappedBlock& mapped) {
        return fmt::format("{} {}: {} &micro;s", which, block_title(mapped.block),
                           microseconds_text(mapped.ns));
    };
    const auto [least, most] = std::ranges::minmax(blocks, {}, &MappedBlock::ns);
    std::string out = fmt::format("<p>{}; {}", said("Least:", least), said("most:", most));
    for (const auto& [which, block] : {std::pair("as written:", written), std::pair("chosen:", chosen)})
        if (const auto found = std::ranges::find(blocks, block, &MappedBlock::block); found != blocks.end())
            out += "; " + said(which, *found);
    out += ".</p>\n";
    if (is_line)
        return out + figure("threads", what + " by threads of a block",
                            {{"blocks", std::move(rows)}, {"marks", std::move(marks)}});
    // The chosen block's depth is the one that is shown first.
    Json levels = Json::array();
    if (depths.erase(chosen[2]) > 0) levels.push_back({{"z", chosen[2]}});
    for (const std::uint32_t depth : depths) levels.push_back({{"z", depth}});
    return out +
           figure("blocks", what + " over blocks",
                  {{"blocks", std::move(rows)}, {"marks", std::move(marks)}, {"depths", std::move(levels)}});
}

}  // namespace trimtab::tools
