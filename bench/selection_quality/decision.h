// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Trimtab predicts for every block of a measured case, and which one it takes.
#pragma once

#include <expected>
#include <vector>

#include "bench/selection_quality/kernel_list.h"
#include "bench/selection_quality/measured_table.h"
#include "core/model/device.h"
#include "core/model/rational_program.h"
#include "tools/trimtab/arguments.h"
#include "tools/trimtab/kernel_file.h"
#include "trimtab/error.h"

namespace trimtab::bench {

// The launches of one case: what does not depend on the model.
struct CaseLaunches {
    struct Launch {
        double weight = 1;
        tools::LaunchArguments arguments;
        std::vector<double> data;  // D
        trimtab_limits limits{};
    };
    const tools::FileKernel* kernel = nullptr;
    trimtab_image image{};
    Block written;
    std::vector<Launch> launches;
    bool two_dimensional = false;
    bool uncertain = false;  // the runtime would leave the block as written
};

// `most_launches` of them stand for all.
[[nodiscard]] std::expected<CaseLaunches, Error> launches_of(const ListedKernel& listed,
                                                             const tools::FileKernel& kernel,
                                                             const model::Device& device, std::uint64_t n,
                                                             std::size_t most_launches);

struct PredictedBlock {
    Block block;
    double ns = 0;  // of all launches together
};

// Brings the one that the driver programs' search prefers among near ties to the front.
void decide_ties(std::vector<PredictedBlock>& sorted);

// Legal ones among `blocks`, the least time first, but for what near ties bring to the front.
[[nodiscard]] std::vector<PredictedBlock> predict(const CaseLaunches& launches, const model::Device& device,
                                                  const model::RationalProgram& program,
                                                  const std::vector<MeasuredBlock>& blocks);

}  // namespace trimtab::bench
