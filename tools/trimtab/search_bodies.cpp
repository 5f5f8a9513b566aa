// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/search_bodies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/analysis/launches/coarsened.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/model/occupancy.h"

namespace trimtab::tools {

std::expected<std::vector<std::uint32_t>, Error> parse_elements(const std::string& text) {
    constexpr std::uint32_t most = 32;
    std::vector<std::uint32_t> elements;
    for (std::string_view rest = text;;) {
        const std::size_t comma = rest.find(',');
        const std::string_view word = rest.substr(0, comma);
        std::uint32_t number = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error != std::errc() || end != word.data() + word.size() || number < 1 || number > most)
            return std::unexpected(
                Error{fmt::format("--coarsen {}: '{}' is no integer from 1 to {}", text, word, most)});
        elements.push_back(number);
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    std::ranges::sort(elements);
    const auto repeated = std::ranges::unique(elements);
    elements.erase(repeated.begin(), repeated.end());
    return elements;
}

std::string coarsening_flag(const std::vector<std::uint32_t>& elements) {
    std::vector<std::uint32_t> more;
    for (const std::uint32_t count : elements)
        if (count > 1) more.push_back(count);
    return more.empty() ? std::string() : fmt::format("--trimtab-coarsen={}", fmt::join(more, ","));
}

std::vector<SearchedBody> searched_bodies(const LaunchQuestion& question,
                                          const std::vector<std::uint32_t>& elements) {
    std::vector<SearchedBody> bodies;
    for (const std::uint32_t count : elements) {
        if (count == 1) {
            bodies.push_back({1, question});
            continue;
        }
        for (std::size_t i = 0; i < question.file.kernels.size(); ++i) {
            const analysis::KernelDescription& body = question.file.kernels[i].record.description;
            const auto made = analysis::coarsening(body);
            if (!made || made->elements != count ||
                !analysis::is_coarsened_from(body, question.description()))
                continue;
            SearchedBody& found = bodies.emplace_back(count, question);
            found.question.kernel = i;
            const analysis::KernelImage image = image_that_runs(question.file.kernels[i], question.device);
            found.question.image =
                model::with_addressable_registers(analysis::to_driver_image(image), question.device.values);
            found.question.registers_from = image.registers_from;
            break;
        }
    }
    return bodies;
}

}  // namespace trimtab::tools
