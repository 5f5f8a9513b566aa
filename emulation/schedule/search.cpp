// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/search.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "emulation/schedule/directed_search.h"

namespace trimtab::schedule {

namespace {

constexpr std::array<std::pair<SearchMethod, std::string_view>, 3> methods{
    {{SearchMethod::directed, "directed"},
     {SearchMethod::exhaustive, "exhaustive"},
     {SearchMethod::random, "random"}}};

SearchResult in_order(const std::vector<std::size_t>& order, const EmulateCandidate& emulate,
                      std::size_t most) {
    SearchResult result;
    for (const std::size_t candidate : order) {
        if (result.steps.size() >= most) break;
        auto emulated = emulate(candidate, false);
        if (emulated)
            result.steps.push_back({.candidate = candidate, .emulated = std::move(*emulated), .why = {}});
        else
            result.refused.push_back(candidate);
    }
    return result;
}

}  // namespace

std::string_view name(SearchMethod method) {
    return std::ranges::find(methods, method, [](const auto& one) { return one.first; })->second;
}

std::optional<SearchMethod> search_method_named(std::string_view name) {
    const auto found = std::ranges::find(methods, name, [](const auto& one) { return one.second; });
    return found == methods.end() ? std::nullopt : std::optional(found->first);
}

SearchResult search(const SearchSpace& space, const EmulateCandidate& emulate, const SearchOptions& options) {
    const std::size_t count = space.candidates.size();
    const std::size_t most = options.most == 0 ? count : std::min(options.most, count);
    SearchResult result;
    if (options.method == SearchMethod::directed) {
        result = directed_search(space, emulate,
                                 {.start = options.start, .most = most, .stops = options.most == 0});
    } else {
        std::vector<std::size_t> order(count);
        std::iota(order.begin(), order.end(), std::size_t{0});
        if (options.method == SearchMethod::random) {
            // Not std::shuffle: one seed is one order with every standard library.
            std::mt19937_64 random(options.seed);
            for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
        }
        result = in_order(order, emulate, most);
    }
    const auto best = std::ranges::min_element(result.steps, {},
                                               [](const SearchStep& step) { return step.emulated.time_ns; });
    if (best != result.steps.end()) result.best = static_cast<std::size_t>(best - result.steps.begin());
    return result;
}

}  // namespace trimtab::schedule
