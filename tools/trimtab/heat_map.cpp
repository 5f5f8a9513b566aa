#include "tools/trimtab/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace trimtab::tools {

namespace {

constexpr std::size_t most_sizes = 40;  // that fit a page in one dimension

// The sizes of dimension d that get a column or a row.
std::set<std::uint32_t> sizes_shown(const std::vector<MappedBlock>& blocks, std::size_t d,
                                    const BlockSize& written, const BlockSize& chosen) {
    std::set<std::uint32_t> sizes;
    for (const MappedBlock& mapped : blocks) sizes.insert(mapped.block[d]);
    if (sizes.size() <= most_sizes) return sizes;
    std::erase_if(sizes, [&](std::uint32_t size) {
        return !std::has_single_bit(size) && size != written[d] && size != chosen[d];
    });
    return sizes;
}

std::string text_of(const BlockSize& block) {
    return fmt::format("{} × {} × {}", block[0], block[1], block[2]);
}

std::string cell(const MappedBlock& mapped, double hue, const BlockSize& written, const BlockSize& chosen) {
    const bool is_written = mapped.block == written, is_chosen = mapped.block == chosen;
    std::string marks;
    if (is_written) marks += " W";
    if (is_chosen) marks += " C";
    return fmt::format(
        "<td class=\"cell{}{}\" style=\"background:hsl({:.0f},70%,72%)\" title=\"{}: {:.4g} "
        "µs\">{:.3g}{}</td>",
        is_written ? " written" : "", is_chosen ? " chosen" : "", hue, text_of(mapped.block), mapped.ns / 1e3,
        mapped.ns / 1e3, marks);
}

}  // namespace

std::string heat_map_style() {
    return ".map td.cell{color:#111}.map td,.map th{padding:.15em "
           ".35em;font-size:11px;text-align:right;border:1px solid #fff}"
           ".map .written{outline:2px dashed #000;outline-offset:-2px}"
           ".map .chosen{outline:3px solid #000;outline-offset:-3px;font-weight:bold}";
}

std::string heat_map(const std::vector<MappedBlock>& blocks, const BlockSize& written,
                     const BlockSize& chosen) {
    if (blocks.empty()) return "";
    std::array<std::set<std::uint32_t>, 3> sizes;
    for (std::size_t d = 0; d < 3; ++d) sizes[d] = sizes_shown(blocks, d, written, chosen);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, MappedBlock>> rows;  // by z, y
    double least = INFINITY, most = 0;
    std::set<std::uint32_t> columns;
    for (const MappedBlock& mapped : blocks) {
        const auto& [x, y, z] = mapped.block;
        if (!sizes[0].contains(x) || !sizes[1].contains(y) || !sizes[2].contains(z)) continue;
        rows[{z, y}][x] = mapped;
        columns.insert(x);
        least = std::min(least, mapped.ns);
        most = std::max(most, mapped.ns);
    }
    std::string out = "<table class=\"map\"><tr><th>z, y \\ x</th>";
    for (const std::uint32_t x : columns) out += fmt::format("<th>{}</th>", x);
    out += "</tr>\n";
    for (const auto& [height, cells] : rows) {
        out += fmt::format("<tr><th>{}, {}</th>", height.first, height.second);
        for (const std::uint32_t x : columns) {
            const auto found = cells.find(x);
            if (found == cells.end()) {
                out += "<td></td>";
                continue;
            }
            const double share =
                most > least ? std::log(found->second.ns / least) / std::log(most / least) : 0;
            out += cell(found->second, 120 * (1 - share), written, chosen);
        }
        out += "</tr>\n";
    }
    return out + "</table>\n";
}

}  // namespace trimtab::tools
