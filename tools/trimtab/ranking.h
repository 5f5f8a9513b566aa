// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every legal block of one launch in order of predicted time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/analysis/annotations/annotated_launch.h"
#include "core/model/device.h"
#include "core/model/metrics.h"
#include "core/model/rational_program.h"
#include "driver_gen/fits.h"
#include "trimtab/driver.h"

namespace trimtab::tools {

struct RankedBlock {
    trimtab_dim3 block{1, 1, 1};
    double ns = 0;
};

struct RankedLaunch {
    const model::RationalProgram* program = nullptr;
    const model::Device* device = nullptr;
    trimtab_image image{};
    const driver_gen::KernelFits* fits = nullptr;
    std::span<const double> data;
    trimtab_limits limits{};
    double dynamic_shared_bytes = 0;
    // Of a kernel with annotations on its launch's shape; null: none.
    const analysis::KernelDescription* annotated = nullptr;
    analysis::ArgumentBytes arguments = {};
    // As KernelDescription::counted_extent() counts, of a kernel with annotations or a grid that stays.
    trimtab_dim3 extent{1, 1, 1};
};

// Every block that the limits allow; of `candidates` only, where there are any.
[[nodiscard]] std::vector<trimtab_dim3> legal_candidates(const trimtab_limits& limits,
                                                         std::span<const trimtab_dim3> candidates);

// Whether the kernel's annotations, if it has any, state a launch of the block.
[[nodiscard]] bool is_stated(const RankedLaunch& launch, trimtab_dim3 block);

// D of the launch with that block, which annotations may change.
[[nodiscard]] std::optional<std::vector<double>> data_of(const RankedLaunch& launch, trimtab_dim3 block);

// A metric that is taken to be so many times what was fitted.
struct ScaledMetric {
    model::Metric metric = model::Metric::warp_instructions;
    double factor = 1;
};

// Nothing: the device cannot launch the block.
[[nodiscard]] std::optional<double> predicted_ns(const RankedLaunch& launch, trimtab_dim3 block,
                                                 std::span<const ScaledMetric> scaled = {});

// Those of `blocks` that the device can launch, the least time first. Equal times go to fewer threads, then to
// the wider block.
[[nodiscard]] std::vector<RankedBlock> rank(const RankedLaunch& launch, std::span<const trimtab_dim3> blocks);

// Of the blocks of a ranking that are too near its first to tell apart, puts first what the driver programs'
// search prefers, which tries widths of 1, 2 and multiples of 4.
void decide_ties(std::span<RankedBlock> ranking);

// The metrics of one block that the model reads.
[[nodiscard]] std::vector<std::pair<model::Metric, double>> metrics_of(const RankedLaunch& launch,
                                                                       trimtab_dim3 block);

}  // namespace trimtab::tools
