// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/occupancy.h"
#include "tools/advice/remedies.h"

namespace trimtab::advice {
namespace {

using model::Metric;
using model::OccupancyLimiter;

model::Occupancy occupancy_of(const Question& question) {
    return model::occupancy(question.device, question.image, static_cast<std::uint32_t>(question.threads()),
                            question.dynamic_shared_bytes);
}

// What a thread does is taken to be the same in a block of another size: so it is where threads do not
// exchange anything.
bool exchanges(const Question& question) {
    return question[Metric::barriers] > 0 || question[Metric::shared_requests] > 0;
}

// The launch with `threads` a block: rows as they are where the block has several, else a shorter or longer
// one.
std::optional<Question> with_threads(const Question& question, std::uint32_t threads) {
    Question out = question;
    const auto covering = [](std::uint32_t blocks, std::uint32_t size, std::uint32_t other) {
        return static_cast<std::uint32_t>((std::uint64_t{blocks} * size + other - 1) / other);
    };
    if (question.block.z > 1) return std::nullopt;
    if (question.block.y > 1) {
        if (threads % question.block.x != 0) return std::nullopt;
        out.block.y = threads / question.block.x;
        out.grid.y = covering(question.grid.y, question.block.y, out.block.y);
    } else {
        out.block.x = threads;
        out.grid.x = covering(question.grid.x, question.block.x, out.block.x);
    }
    const double scale = threads / question.threads();
    const double warps = question[Metric::active_warps] * question[Metric::active_blocks];
    out[Metric::active_warps] =
        std::clamp(question[Metric::active_warps] * scale, 1.0, std::ceil(threads / 32.0));
    out[Metric::active_blocks] = std::max(1.0, warps / out[Metric::active_warps]);
    return out;
}

template <class Wanted>
std::optional<Question> best_block(const Question& question, const Wanted& wanted) {
    std::optional<Question> best;
    double best_ns = INFINITY;
    for (std::uint32_t threads = 32; threads <= 1024; threads += threads < 256 ? 32 : 64) {
        if (!wanted(threads)) continue;
        const auto changed = with_threads(question, threads);
        if (!changed) continue;
        const double ns = changed->time_ns();
        // Of blocks as good as each other the one nearest to what is written.
        if (!(ns > 0) || ns > best_ns * (threads <= question.threads() ? 1.01 : 0.99)) continue;
        best_ns = std::min(best_ns, ns);
        best = changed;
    }
    return best;
}

std::string block_text(const Question& question) {
    return fmt::format("blocks of {} x {}{}", question.block.x, question.block.y,
                       question.block.z > 1 ? fmt::format(" x {}", question.block.z) : "");
}

WhatIf launch_change(Question changed, std::string change, std::string evidence) {
    return {.changed = std::move(changed),
            .times = 1,
            .change = std::move(change),
            .evidence = {{.source = {}, .text = std::move(evidence), .weight = 1}},
            .edits = {},
            .relaunches = true};
}

double total_warps(const Question& question) {
    return question[Metric::active_warps] * question[Metric::active_blocks];
}

}  // namespace

std::optional<WhatIf> fewer_resources(const Subject& subject) {
    const Question& question = subject.question;
    const model::Occupancy now = occupancy_of(question);
    const bool shared = now.limiter == OccupancyLimiter::shared_memory;
    if (now.fraction >= 0.5 || (!shared && now.limiter != OccupancyLimiter::registers)) return std::nullopt;
    Question changed = question;
    if (shared) {
        changed.image.static_shared_bytes = changed.dynamic_shared_bytes = 0;
        const double blocks = std::max(1u, occupancy_of(changed).blocks_per_sm);
        const double bytes = std::floor((question.device.shared_bytes_per_sm / blocks -
                                         question.device.shared_reserved_bytes_per_block) /
                                        question.device.shared_allocation_bytes) *
                             question.device.shared_allocation_bytes;
        changed.image.static_shared_bytes = std::max(0.0, bytes);
    } else {
        // A thread that must do with less than half spills what it lacks.
        const auto now_registers = static_cast<int>(question.image.registers_per_thread);
        const int least = std::max(24, (now_registers + 15) / 16 * 8);
        for (int registers = now_registers - 1; registers >= least; --registers) {
            changed.image.registers_per_thread = registers;
            if (occupancy_of(changed).fraction >= 0.5) break;
        }
    }
    const model::Occupancy then = occupancy_of(changed);
    if (then.blocks_per_sm <= now.blocks_per_sm) return std::nullopt;
    const std::string what =
        shared ? fmt::format("{:.0f} bytes of shared memory a block instead of {:.0f}",
                             changed.image.static_shared_bytes,
                             question.image.static_shared_bytes + question.dynamic_shared_bytes)
               : fmt::format("{:.0f} registers a thread instead of {:.0f}",
                             changed.image.registers_per_thread, question.image.registers_per_thread);
    return launch_change(
        changed, what,
        fmt::format("occupancy is {:.0f} %: {} blocks on an SM, limited by {}; {} would give {:.0f} %",
                    100 * now.fraction, now.blocks_per_sm, model::name(now.limiter), what,
                    100 * then.fraction));
}

std::optional<WhatIf> larger_blocks(const Subject& subject) {
    const Question& question = subject.question;
    const model::Occupancy now = occupancy_of(question);
    if (now.limiter != OccupancyLimiter::blocks || now.fraction > 0.6 || exchanges(question))
        return std::nullopt;
    if (question[Metric::active_blocks] < question.device.sm_count * now.blocks_per_sm) return std::nullopt;
    const auto changed =
        best_block(question, [&](std::uint32_t threads) { return threads > question.threads(); });
    if (!changed) return std::nullopt;
    return launch_change(
        *changed, block_text(*changed),
        fmt::format("occupancy is {:.0f} %: an SM holds at most {} blocks, and these have {:.0f} threads",
                    100 * now.fraction, now.blocks_per_sm, question.threads()));
}

std::optional<WhatIf> more_blocks(const Subject& subject) {
    const Question& question = subject.question;
    const double blocks = question[Metric::active_blocks], sms = question.device.sm_count;
    if (blocks >= sms || exchanges(question)) return std::nullopt;
    const auto changed =
        best_block(question, [&](std::uint32_t threads) { return threads < question.threads(); });
    if (!changed) return std::nullopt;
    return launch_change(*changed, block_text(*changed),
                         fmt::format("{:.0f} block{} of {:.0f} threads leave {:.0f} of {:.0f} SMs idle",
                                     blocks, blocks == 1 ? "" : "s", question.threads(), sms - blocks, sms));
}

std::optional<WhatIf> even_waves(const Subject& subject) {
    const Question& question = subject.question;
    const double blocks = question[Metric::active_blocks], sms = question.device.sm_count;
    const double a_wave = std::max(1u, occupancy_of(question).blocks_per_sm) * sms;
    const double waves = blocks / a_wave;
    // With many waves the last one hardly counts; a launch that fits into one has none.
    if (waves <= 1 || std::ceil(waves) / waves < 1.15) return std::nullopt;
    const double last = blocks - std::floor(waves) * a_wave;
    const std::string evidence = fmt::format(
        "{:.0f} blocks are {:.2f} waves of {:.0f}: the last one keeps {:.0f} of {:.0f} places busy", blocks,
        waves, a_wave, last, a_wave);
    if (!exchanges(question)) {
        const auto changed =
            best_block(question, [&](std::uint32_t threads) { return threads != question.threads(); });
        if (changed) return launch_change(*changed, block_text(*changed), evidence);
    }
    // Whole waves alone, for their part of the work.
    Question whole = question;
    whole[Metric::active_blocks] = std::floor(waves) * a_wave;
    WhatIf out = launch_change(whole, "a grid of whole waves", evidence);
    out.relaunches = false;  // the rest of the work is left out
    out.times = whole[Metric::active_blocks] / blocks;
    return out;
}

std::optional<WhatIf> more_threads(const Subject& subject) {
    const Question& question = subject.question;
    const trimtab_device& device = question.device;
    const double warps = total_warps(question);
    // Fewer warps than schedulers, each with much to do.
    if (warps >= device.sm_count * device.schedulers_per_sm) return std::nullopt;
    const double turns =
        std::max(question[Metric::dependent_rounds], question[Metric::warp_instructions] / 32);
    if (turns < 16) return std::nullopt;
    const bool one_lane = question[Metric::active_lanes] < 1.5 && warps <= 2;
    constexpr double warps_a_block = 8;
    // As many as make every scheduler busy four times over, as long as each has a few turns left.
    const double lanes = one_lane ? device.warp_size : 1;
    const double wanted = 4 * device.sm_count * device.schedulers_per_sm / warps;
    const double split = std::max(1.0, std::min(wanted, turns / 4 / lanes));
    if (split * lanes < 2) return std::nullopt;
    Question changed = question;
    for (const model::MetricInfo& info : model::metric_table()) {
        switch (info.metric) {
            case Metric::active_lanes:
            case Metric::instruction_parallelism:
            case Metric::active_warps:
            case Metric::active_blocks:
            case Metric::footprint_sectors:
            case Metric::barriers:
                break;
            case Metric::load_sectors:  // as many in all, whoever asks
            case Metric::load_lines:
            case Metric::store_sectors:
            case Metric::store_lines:
            case Metric::store_partial_sectors:
                changed[info.metric] /= split;
                break;
            default:
                changed[info.metric] /= split * lanes;
        }
    }
    const double now = std::max(1.0, warps * split);
    const double in_block = std::min(warps_a_block, now);
    changed[Metric::active_warps] = in_block;
    changed[Metric::active_blocks] = std::max(1.0, now / in_block);
    changed[Metric::active_lanes] = std::max(changed[Metric::active_lanes], one_lane ? 32.0 : 1.0);
    changed.block = {.x = static_cast<std::uint32_t>(in_block) * 32, .y = 1, .z = 1};
    changed.grid = {
        .x = static_cast<std::uint32_t>(std::ceil(changed[Metric::active_blocks])), .y = 1, .z = 1};
    const std::string evidence =
        one_lane ? std::string("a single thread does all the work")
                 : fmt::format("{:.0f} warps do all the work, on {:.0f} SMs with {:.0f} schedulers each",
                               warps, device.sm_count, device.schedulers_per_sm);
    WhatIf out = launch_change(changed, fmt::format("{:.0f} threads", 32 * now), evidence);
    out.relaunches = false;  // it would be another program
    return out;
}

std::optional<WhatIf> fewer_launches(const Subject& subject) {
    const emulator::LaunchProfile& profile = subject.profile;
    const double overhead = subject.question.device.launch_overhead_ns;
    if (profile.launches < 8 || profile.time_ns <= 0 || overhead < 0.6 * profile.time_ns) return std::nullopt;
    const double times = std::min<double>(static_cast<double>(profile.launches), 4096);
    Question changed = subject.question;
    const double blocks = times * changed.grid.x;
    if (blocks * changed.block.x > 4e9 || blocks > changed.device.max_grid_x) return std::nullopt;
    changed.grid.x = static_cast<std::uint32_t>(blocks);
    changed[Metric::active_blocks] *= times;
    WhatIf out =
        launch_change(changed, fmt::format("one launch in the place of {:.0f}", times),
                      fmt::format("{} launches of {:.3g} us each, of which {:.3g} us go into starting it",
                                  profile.launches, profile.time_ns / 1e3, overhead / 1e3));
    out.times = times;
    out.relaunches = false;  // it would be another program
    // Launches that need each other's results stay one after the other: no more than their starts are saved.
    const double work = profile.time_ns - std::min(overhead, profile.time_ns);
    out.least_gain = times * profile.time_ns / (overhead + times * work);
    return out;
}

}  // namespace trimtab::advice
