// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/strides.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <tuple>
#include <utility>

namespace trimtab::profiler {

namespace {

using model::Metric;

// Each layout costs a third of the points of a profile; each pair of strides a probe.
constexpr std::size_t most_layouts = 4, most_strides = 12;

std::vector<double> with_value(std::vector<double> data, std::initializer_list<std::size_t> strides,
                               double value) {
    for (const std::size_t stride : strides) data[stride] = value;
    return data;
}
std::vector<double> with_one(std::vector<double> data, std::initializer_list<std::size_t> strides) {
    return with_value(std::move(data), strides, 1);
}

// Neighbours in x share sectors of a request.
bool coalesces(const Measurement& near, const Measurement& far) {
    constexpr double fewer = 0.9;
    return std::ranges::any_of(std::array{Metric::load_sectors, Metric::store_sectors}, [&](Metric metric) {
        return value(near, metric) < fewer * value(far, metric);
    });
}

// Threads that have a sector each share it with others of their block: of sectors of 32 bytes and elements of 8 at
// most three in four are left out. Rows that come to lie over each other leave out less: they shared theirs before.
bool shares_sectors(const Measurement& near, const Probed& far) {
    constexpr double least_share = 0.4;
    return value(far.measurement, Metric::footprint_sectors) - value(near, Metric::footprint_sectors) >
           least_share * far.threads;
}

// Strides of different arrays change what is touched each by itself; two of one array do not.
bool of_different_arrays(const Measurement& far, const Measurement& first, const Measurement& second,
                         const Measurement& both) {
    constexpr double noise = 0.02;
    return std::ranges::all_of(
        std::array{Metric::load_sectors, Metric::store_sectors, Metric::footprint_sectors}, [&](Metric m) {
            return std::abs(value(both, m) - value(first, m) - value(second, m) + value(far, m)) <=
                   noise * value(far, m);
        });
}

// Where rows have one element, neighbours share sectors of a request; where they have two, each thread makes more requests, as
// it does not by a bound of all threads.
bool is_width(const Measurement& of_one, const Measurement& of_two, const Measurement& far) {
    constexpr double fewer = 0.9, more = 1.2;
    const auto a_request = [](const Measurement& of, Metric sectors, Metric requests) {
        return value(of, requests) > 0 ? value(of, sectors) / value(of, requests) : 0.0;
    };
    return do_other_work(of_one, far) &&
           value(of_one, Metric::warp_instructions) < value(far, Metric::warp_instructions) &&
           std::ranges::any_of(
               std::array{std::pair(Metric::load_sectors, Metric::load_requests),
                          std::pair(Metric::store_sectors, Metric::store_requests)},
               [&](const auto& of) {
                   const double near = a_request(of_one, of.first, of.second);
                   return near > 0 && near < fewer * a_request(far, of.first, of.second) &&
                          value(of_two, of.second) > more * value(of_one, of.second);
               });
}

}  // namespace

bool do_other_work(const Measurement& a, const Measurement& b) {
    return std::ranges::any_of(
        std::array{Metric::warp_instructions, Metric::load_requests, Metric::store_requests,
                   Metric::atomic_requests, Metric::shared_requests, Metric::barriers},
        [&](Metric m) { return differ(value(a, m), value(b, m), same_share); });
}

Strides find_strides(const Planner& planner, const std::vector<double>& base, const Probe& probe) {
    Strides strides;
    const auto far = probe(base);
    for (std::size_t i = 0; far && i < base.size() && strides.all.size() < most_strides; ++i) {
        const Role role = planner.roles()[i];
        if (role != Role::pitch && role != Role::size && role != Role::small) continue;
        const auto near = probe(with_one(base, {i}));
        if (!near) continue;
        if (role == Role::size && do_other_work(near->measurement, far->measurement)) {
            const auto two = probe(with_value(base, {i}, 2));
            if (two && is_width(near->measurement, two->measurement, far->measurement)) {
                strides.all.push_back(static_cast<std::uint32_t>(i));
                strides.widths.push_back(static_cast<std::uint32_t>(i));
                continue;
            }
        }
        if (do_other_work(near->measurement, far->measurement)) continue;
        if (coalesces(near->measurement, far->measurement) || shares_sectors(near->measurement, *far))
            strides.all.push_back(static_cast<std::uint32_t>(i));
    }
    return strides;
}

std::vector<Planner::Layout> usual_layouts(const std::vector<std::uint32_t>& strides,
                                           const std::vector<double>& base, const Probe& probe) {
    const std::size_t count = strides.size();
    const auto far = probe(base);
    if (!far || count == 0) return {};
    std::vector<std::optional<Measurement>> alone;
    for (const std::uint32_t stride : strides) {
        const auto near = probe(with_one(base, {stride}));
        alone.push_back(near ? std::optional(near->measurement) : std::nullopt);
    }
    std::vector<std::vector<bool>> excludes(count, std::vector<bool>(count, false));
    for (std::size_t a = 0; a < count; ++a)
        for (std::size_t b = a + 1; b < count; ++b) {
            const auto both = probe(with_one(base, {strides[a], strides[b]}));
            excludes[a][b] = excludes[b][a] =
                !both || !alone[a] || !alone[b] ||
                !of_different_arrays(far->measurement, *alone[a], *alone[b], both->measurement);
        }
    using Indices = std::vector<std::size_t>;  // in `strides`
    std::vector<Indices> all;
    for (std::uint32_t set = 1; set < 1u << count; ++set) {
        Indices layout;
        for (std::size_t i = 0; i < count; ++i)
            if ((set >> i & 1) != 0) layout.push_back(i);
        const bool is_possible = std::ranges::none_of(layout, [&](std::size_t i) {
            return std::ranges::any_of(layout, [&](std::size_t j) { return excludes[i][j]; });
        });
        if (is_possible) all.push_back(std::move(layout));
    }
    // C lays arrays out so that the last stride is 1, Fortran so that the first one is.
    const auto are_at_end = [&](const Indices& layout, bool last) {
        return std::ranges::all_of(layout, [&](std::size_t i) {
            for (std::size_t j = 0; j < count; ++j)
                if (excludes[i][j] && (last ? j > i : j < i)) return false;
            return true;
        });
    };
    std::ranges::sort(all, {}, [&](const Indices& layout) {
        const int order = are_at_end(layout, true) ? 0 : are_at_end(layout, false) ? 1 : 2;
        return std::tuple(-static_cast<int>(layout.size()), order, layout);
    });
    if (all.size() > most_layouts) all.resize(most_layouts);
    std::vector<Planner::Layout> layouts;
    for (const Indices& indices : all) {
        Planner::Layout& layout = layouts.emplace_back();
        for (const std::size_t i : indices) layout.push_back({.data = strides[i], .value = 1});
    }
    return layouts;
}

}  // namespace trimtab::profiler
