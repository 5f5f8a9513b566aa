// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/counters/fit.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/model/launch_configuration.h"
#include "core/model/occupancy.h"
#include "core/model/prediction_error.h"

namespace trimtab::advice {
namespace {

using emulator::FootprintSample;
using model::Metric;

// Instructions in flight in one warp of code that is unrolled, mostly.
constexpr double most_parallelism = 4;

// The threads that so many blocks hold, as the models number blocks: along x first.
FootprintSample box_of(const Question& question, double blocks, double sectors) {
    const auto clamped = [](double value, double least, double most) {
        return std::max(least, std::min(value, most));
    };
    const double gx = question.grid.x, gy = question.grid.y, gz = question.grid.z;
    return {.x = std::min(blocks, gx) * question.block.x,
            .y = std::floor(clamped(blocks / gx, 1, gy) * question.block.y),
            .z = std::floor(clamped(blocks / (gx * gy), 1, gz) * question.block.z),
            .sectors = std::max(1.0, sectors)};
}

// A warp's loads are taken to be of different sectors: what it loads again is told apart from what others load by no counter.
// Blocks on an SM touch what L1 misses; the launch, `launch_sectors`; a wave, its share of that.
void set_footprints(Question& question, double l1_hits, double launch_sectors) {
    const double warps = question[Metric::active_warps], blocks = question[Metric::active_blocks];
    const model::Occupancy occupancy =
        model::occupancy(question.device, question.image, static_cast<std::uint32_t>(question.threads()),
                         question.dynamic_shared_bytes);
    const double fitting = std::max(1u, occupancy.blocks_per_sm), sms = question.device.sm_count;
    const double on_sm = std::min(fitting, std::ceil(blocks / sms)),
                 resident = std::min(blocks, fitting * sms);
    const double of_warp = std::max(1.0, question[Metric::load_sectors] + question[Metric::store_sectors]);
    const double of_block = warps * std::max(1.0, question[Metric::load_sectors] * (1 - l1_hits) +
                                                      question[Metric::store_sectors]);
    const double x = std::min<double>(question.block.x, 32);
    const double y = std::max(1.0, std::min<double>(std::floor(32 / x), question.block.y));
    question.footprints = {
        {.x = x, .y = y, .z = 1, .sectors = std::min(of_warp, of_block)},
        box_of(question, 1, std::min(of_block, launch_sectors)),
        box_of(question, on_sm, std::min(of_block * on_sm, launch_sectors)),
        box_of(question, resident, std::min(of_block * resident, launch_sectors * resident / blocks)),
        box_of(question, blocks, launch_sectors)};
    question[Metric::footprint_sectors] = std::max(1.0, std::min(of_block, launch_sectors));
}

// The bytes that the model has memory move; those of all that is asked for, where it was not counted.
void fit_footprints(Question& question, const Quantities& quantities) {
    const double l1_hits = std::clamp(quantities.or_zero("l1_hit_share"), 0.0, 1.0);
    const double asked = (question[Metric::load_sectors] * (1 - l1_hits) + question[Metric::store_sectors]) *
                         question[Metric::active_warps] * question[Metric::active_blocks];
    const auto measured = quantities.find("dram_bytes");
    if (!measured) {
        const double misses = 1 - std::clamp(quantities.or_zero("l2_hit_share"), 0.0, 1.0);
        set_footprints(question, l1_hits, std::max(1.0, asked * misses));
        return;
    }
    double low = 1, high = std::max(2.0, 4 * *measured / bytes_of_a_sector +
                                             question.device.l2_bytes / bytes_of_a_sector);
    constexpr int halvings = 40;
    for (int i = 0; i < halvings; ++i) {
        const double middle = std::sqrt(low * high);
        set_footprints(question, l1_hits, middle);
        (question.terms()["DRAM_bytes"] < *measured ? low : high) = middle;
    }
}

// Cycles from an instruction to one that needs its result, over those that a warp takes for each.
void fit_parallelism(Question& question, const Quantities& quantities) {
    const auto cycles = quantities.find("cycles_between_dependent");
    question[Metric::instruction_parallelism] =
        cycles && *cycles > 0 ? std::clamp(question.device.latency_fp32_cycles / *cycles, 1.0, 32.0) : 1;
}

// Is its time as near to the measured one as the model's times mostly are?
bool may_be(const Question& question, const Quantities& quantities) {
    const auto time = quantities.find("time");
    const double ns = question.time_ns();
    return !time || !(ns > 0) || std::abs(std::log(ns / (1e9 * *time))) <= model::closed_form_error.time;
}

double most_rounds(const Question& question) {
    return std::max(1.0, question[Metric::load_requests] + question[Metric::atomic_requests]);
}

// With the rounds by which the model's time is nearest to the measured one: of those that are as near as each other, as
// where something else takes the time, the middle.
void fit_rounds(Question& question, const Quantities& quantities) {
    const double most = most_rounds(question);
    const auto time = quantities.find("time");
    if (!time || !(*time > 0)) {
        question[Metric::dependent_rounds] = std::sqrt(most);
        return;
    }
    constexpr int steps = 32;
    constexpr double as_near = 0.02;
    std::vector<std::pair<double, double>> tried;  // the logarithm of the rounds, and the error
    double least_error = INFINITY;
    for (int i = 0; i <= steps; ++i) {
        const double logarithm = std::log(most) * i / steps;
        question[Metric::dependent_rounds] = std::exp(logarithm);
        const double ns = question.time_ns();
        if (!(ns > 0)) continue;
        tried.emplace_back(logarithm, std::abs(std::log(ns / (1e9 * *time))));
        least_error = std::min(least_error, tried.back().second);
    }
    std::erase_if(tried, [&](const auto& one) { return one.second > least_error + as_near; });
    if (!tried.empty())
        question[Metric::dependent_rounds] = std::exp((tried.front().first + tried.back().first) / 2);
}

}  // namespace

Fitted fit(Question counted, const Quantities& quantities) {
    fit_parallelism(counted, quantities);
    counted[Metric::dependent_rounds] = std::sqrt(most_rounds(counted));
    fit_footprints(counted, quantities);
    fit_rounds(counted, quantities);
    // Rounds reach into the traffic: loads of a round crowd the caches.
    fit_footprints(counted, quantities);
    Fitted out{.question = counted, .others = {}};
    const auto also = [&](Metric metric, double value) {
        Question other = counted;
        other[metric] = value;
        if (may_be(other, quantities)) out.others.push_back(std::move(other));
    };
    also(Metric::dependent_rounds, 1);
    also(Metric::dependent_rounds, most_rounds(counted));
    if (!quantities.has("cycles_between_dependent")) also(Metric::instruction_parallelism, most_parallelism);
    if (!quantities.has("barrier_stall")) also(Metric::barriers, counted[Metric::barriers] > 0 ? 0 : 1);
    return out;
}

}  // namespace trimtab::advice
