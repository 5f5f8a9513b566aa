// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Address streams of small kernels, counted thread by thread: an independent reference for fits of metrics.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "profiler/profile.h"

namespace trimtab::driver_gen::testing {

// One thread's accesses: `load` and `store` take byte addresses, each call is one static access of one
// iteration; the same calls in the same order by all lanes make a warp request.
struct Thread {
    std::uint64_t i = 0, j = 0, k = 0;  // global indices along x, y, z
    std::vector<std::pair<bool, std::uint64_t>> accesses;
    void load(unsigned array, std::uint64_t element, unsigned bytes = 4) {
        accesses.emplace_back(false, (std::uint64_t{array} << 40) + element * bytes);
    }
    void store(unsigned array, std::uint64_t element, unsigned bytes = 4) {
        accesses.emplace_back(true, (std::uint64_t{array} << 40) + element * bytes);
    }
};

struct TracedKernel {
    std::string name;
    std::vector<std::string> data_names;
    profiler::IndexRanges ranges;
    std::function<void(Thread&, const std::vector<double>&)> run;  // for a thread inside the ranges
};

inline std::vector<std::uint64_t> distinct(std::vector<std::uint64_t> values, std::uint64_t unit) {
    for (std::uint64_t& value : values) value /= unit;
    std::ranges::sort(values);
    const auto repeats = std::ranges::unique(values);
    values.erase(repeats.begin(), repeats.end());
    return values;
}

// Some boxes of a dimension, and how many each stands for: the first, the last, and others spread between, at
// random but in pairs that mirror each other (so that what grows evenly is averaged exactly).
inline std::vector<std::pair<std::uint64_t, double>> sample(std::uint64_t boxes, std::uint64_t wanted,
                                                            std::minstd_rand& random) {
    std::vector<std::pair<std::uint64_t, double>> out;
    if (boxes <= std::max<std::uint64_t>(wanted, 4)) {
        for (std::uint64_t b = 0; b < boxes; ++b) out.emplace_back(b, 1);
        return out;
    }
    const std::uint64_t pairs = (std::max<std::uint64_t>(wanted, 4) - 2) / 2;
    const double span = static_cast<double>(boxes - 2) / static_cast<double>(2 * pairs);
    out.emplace_back(0, 1);
    for (std::uint64_t n = 0; n < pairs; ++n) {
        const double share = static_cast<double>(random() % 1000) / 1000;
        const auto at = static_cast<std::uint64_t>(1 + (static_cast<double>(n) + share) * span);
        out.emplace_back(at, span);
        out.emplace_back(boxes - 1 - at, span);
    }
    out.emplace_back(boxes - 1, 1);
    return out;
}

// load_requests, load_sectors, store_sectors, load_lines, active_warps, active_blocks and footprint_sectors
// of a launch, from about `warps_wanted` warps of it.
inline profiler::ProfilePoint trace(const TracedKernel& kernel, const std::vector<double>& data,
                                    std::array<std::uint32_t, 3> block, double warps_wanted) {
    const auto range = kernel.ranges.evaluate(data);
    const double warps_per_block = std::ceil(block[0] * block[1] * block[2] / 32.0);
    std::array<std::uint64_t, 3> grid{};
    int used = 0;
    for (std::size_t d = 0; d < 3; ++d) {
        grid[d] = (static_cast<std::uint64_t>(range[2 * d + 1]) + block[d] - 1) / block[d];
        used += range[2 * d + 1] > 1 ? 1 : 0;
    }
    const auto each = static_cast<std::uint64_t>(std::pow(warps_wanted / warps_per_block, 1.0 / used));
    double requests = 0, store_requests = 0, load_sectors = 0, store_sectors = 0, load_lines = 0, warps = 0,
           active = 0, footprint = 0;
    std::minstd_rand random(static_cast<unsigned>(block[0] * 131 + block[1] * 7 + data[0] * 31));
    std::vector<std::pair<std::array<std::uint64_t, 3>, double>> chosen;
    for (const auto& [z, nz] : sample(grid[2], each, random))
        for (const auto& [y, ny] : sample(grid[1], each, random))
            for (const auto& [x, nx] : sample(grid[0], each, random))
                chosen.push_back({{x, y, z}, nx * ny * nz});
    for (const auto& [at, alike] : chosen) {
        std::vector<std::uint64_t> touched;
        double active_warps = 0;
        const unsigned threads = block[0] * block[1] * block[2];
        for (unsigned first = 0; first < threads; first += 32) {
            std::vector<std::vector<std::uint64_t>> addresses;  // of each request
            std::vector<bool> stores;
            for (unsigned t = first; t < std::min(threads, first + 32); ++t) {
                Thread thread{.i = at[0] * block[0] + t % block[0],
                              .j = at[1] * block[1] + t / block[0] % block[1],
                              .k = at[2] * block[2] + t / (block[0] * block[1]),
                              .accesses = {}};
                const std::array<std::uint64_t, 3> g{thread.i, thread.j, thread.k};
                bool inside = true;
                for (std::size_t d = 0; d < 3; ++d)
                    inside = inside && static_cast<double>(g[d]) >= range[2 * d] &&
                             static_cast<double>(g[d]) < range[2 * d + 1];
                if (!inside) continue;
                kernel.run(thread, data);
                if (thread.accesses.size() > addresses.size()) {
                    addresses.resize(thread.accesses.size());
                    stores.resize(thread.accesses.size());
                }
                for (std::size_t a = 0; a < thread.accesses.size(); ++a) {
                    stores[a] = thread.accesses[a].first;
                    addresses[a].push_back(thread.accesses[a].second);
                }
            }
            if (addresses.empty()) continue;
            ++active_warps;
            for (std::size_t a = 0; a < addresses.size(); ++a) {
                (stores[a] ? store_requests : requests) += alike;
                std::vector<std::uint64_t> sectors = distinct(addresses[a], 32);
                touched.insert(touched.end(), sectors.begin(), sectors.end());
                (stores[a] ? store_sectors : load_sectors) += alike * static_cast<double>(sectors.size());
                if (!stores[a]) load_lines += alike * static_cast<double>(distinct(addresses[a], 128).size());
            }
        }
        if (active_warps == 0) continue;
        active += alike;
        warps += alike * active_warps;
        footprint += alike * static_cast<double>(distinct(std::move(touched), 1).size());
    }
    profiler::ProfilePoint point;
    point.data = data;
    point.box = {double(block[0]), double(block[1]), double(block[2])};
    using model::Metric;
    const auto set = [&](Metric metric, double value) {
        point.metrics[static_cast<std::size_t>(metric)] = value;
    };
    set(Metric::load_requests, requests / warps);
    set(Metric::store_requests, store_requests / warps);
    set(Metric::load_sectors, load_sectors / warps);
    set(Metric::store_sectors, store_sectors / warps);
    set(Metric::load_lines, load_lines / warps);
    set(Metric::active_warps, warps / active);
    set(Metric::active_blocks, active);
    set(Metric::footprint_sectors, footprint / active);
    return point;
}

}  // namespace trimtab::driver_gen::testing
