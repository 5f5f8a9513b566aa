// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/block_condition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "core/analysis/launches/description.h"

namespace trimtab::tools {
namespace {

constexpr std::array<const char*, 3> names{"bx", "by", "bz"};

struct Atom {
    std::string text;
    std::function<bool(const Block&)> holds;
};

std::uint32_t threads(const Block& block) {
    return block[0] * block[1] * block[2];
}

// "bx", "bx * by": the dimensions of several threads.
std::string volume_text(const std::vector<Block>& blocks) {
    std::vector<std::string> factors;
    for (std::size_t d = 0; d < 3; ++d)
        if (std::ranges::any_of(blocks, [d](const Block& block) { return block[d] > 1; }))
            factors.emplace_back(names[d]);
    return factors.empty() ? "bx" : fmt::format("{}", fmt::join(factors, " * "));
}

std::string list_text(const std::vector<Block>& blocks) {
    const bool is_line =
        std::ranges::all_of(blocks, [](const Block& block) { return block[1] == 1 && block[2] == 1; });
    const bool is_plane = std::ranges::all_of(blocks, [](const Block& block) { return block[2] == 1; });
    std::vector<std::string> parts;
    for (const Block& block : blocks) {
        std::string part = fmt::format("bx == {}", block[0]);
        if (!is_line) part += fmt::format(" && by == {}", block[1]);
        if (!is_plane) part += fmt::format(" && bz == {}", block[2]);
        parts.push_back(is_line ? part : "(" + part + ")");
    }
    return fmt::format("{}", fmt::join(parts, " || "));
}

// What all allowed blocks have in common, that keeps others out: `always` those that stand for what was tried.
struct Common {
    std::vector<Atom> always, others;
};

Common common_to(const std::vector<Block>& allowed, const std::vector<Block>& all) {
    Common common;
    const auto all_of = [&allowed](const auto& holds) { return std::ranges::all_of(allowed, holds); };
    for (std::size_t d = 0; d < 3; ++d) {
        const auto value = [d](const Block& block) { return block[d]; };
        const auto [least, most] = std::ranges::minmax(allowed, {}, value);
        if (std::ranges::all_of(all, [&](const Block& block) { return block[d] == all.front()[d]; })) {
            if (least[d] != 1)
                common.always.push_back(
                    {fmt::format("{} == {}", names[d], least[d]),
                     [d, own = least[d]](const Block& block) { return block[d] == own; }});
            continue;
        }
        if (least[d] == most[d]) {
            common.always.push_back({fmt::format("{} == {}", names[d], least[d]),
                                     [d, own = least[d]](const Block& block) { return block[d] == own; }});
            continue;
        }
        const auto is_power = [d](const Block& block) { return std::has_single_bit(block[d]); };
        const auto is_whole = [d](const Block& block) { return block[d] % analysis::warp_size == 0; };
        if (all_of(is_power))
            common.always.push_back({fmt::format("ispow2({})", names[d]), is_power});
        else if (all_of(is_whole))
            common.always.push_back({fmt::format("{} % {} == 0", names[d], analysis::warp_size), is_whole});
        common.others.push_back({fmt::format("{} >= {}", names[d], least[d]),
                                 [d, bound = least[d]](const Block& block) { return block[d] >= bound; }});
        common.others.push_back({fmt::format("{} <= {}", names[d], most[d]),
                                 [d, bound = most[d]](const Block& block) { return block[d] <= bound; }});
    }
    const auto add = [&](const char* text, std::function<bool(const Block&)> holds) {
        if (all_of(holds)) common.others.push_back({text, std::move(holds)});
    };
    const bool is_line = std::ranges::all_of(all, [](const Block& block) { return block[1] == 1; });
    if (!is_line) {
        add("bx == by", [](const Block& block) { return block[0] == block[1]; });
        add("bx >= by", [](const Block& block) { return block[0] >= block[1]; });
        add("by >= bx", [](const Block& block) { return block[1] >= block[0]; });
    }
    const std::string volume = volume_text(all);
    const auto [fewest, most] = std::ranges::minmax(allowed, {}, threads);
    if (!is_line || volume != "bx") {
        common.others.push_back({fmt::format("{} >= {}", volume, threads(fewest)),
                                 [bound = threads(fewest)](const Block& b) { return threads(b) >= bound; }});
        common.others.push_back({fmt::format("{} <= {}", volume, threads(most)),
                                 [bound = threads(most)](const Block& b) { return threads(b) <= bound; }});
    }
    return common;
}

}  // namespace

std::string block_condition(const std::vector<Block>& allowed, const std::vector<Block>& refused) {
    if (allowed.empty()) return {};
    std::vector<Block> sorted = allowed;
    std::ranges::sort(sorted);
    std::vector<Block> all = sorted;
    all.insert(all.end(), refused.begin(), refused.end());
    if (sorted.size() == 1) return list_text(sorted);
    Common common = common_to(sorted, all);
    std::vector<std::string> texts;
    std::vector<Block> left = refused;  // that the conditions so far let in
    const auto take = [&](const Atom& atom) {
        texts.push_back(atom.text);
        std::erase_if(left, [&atom](const Block& block) { return !atom.holds(block); });
    };
    for (const Atom& atom : common.always) take(atom);
    std::vector<bool> is_taken(common.others.size(), false);
    while (!left.empty()) {
        const auto kept_out = [&left](const Atom& atom) {
            return std::ranges::count_if(left, [&atom](const Block& block) { return !atom.holds(block); });
        };
        const auto best = std::ranges::max_element(common.others, {}, kept_out);
        if (best == common.others.end() || kept_out(*best) == 0) return list_text(sorted);
        is_taken[static_cast<std::size_t>(best - common.others.begin())] = true;
        std::erase_if(left, [best](const Block& block) { return !best->holds(block); });
    }
    for (std::size_t i = 0; i < is_taken.size(); ++i)
        if (is_taken[i]) texts.push_back(common.others[i].text);
    // Blocks of fewer threads than any that was tried are others than whole warps.
    const std::uint32_t fewest = threads(*std::ranges::min_element(sorted, {}, threads));
    const std::uint32_t most = threads(*std::ranges::max_element(sorted, {}, threads));
    const std::string volume = volume_text(all);
    const auto says = [&texts](const std::string& text) {
        return std::ranges::find(texts, text) != texts.end();
    };
    if (fewest != analysis::warp_size && !says(fmt::format("{} >= {}", volume, fewest)))
        texts.push_back(fmt::format("{} >= {}", volume, fewest));
    if (most < 1024 && !says(fmt::format("{} <= {}", volume, most)))
        texts.push_back(fmt::format("{} <= {}", volume, most));
    return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace trimtab::tools
