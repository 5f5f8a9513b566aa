// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/runtime_choice.h"

#include <vector>

#include "choosing/choices/other_totals.h"
#include "core/analysis/annotations/annotated_launch.h"
#include "tools/trimtab/driver_choice.h"

namespace trimtab::tools {

choosing::Decision runtime_choice(const LaunchQuestion& question, RankedLaunch launch, trimtab_dim3 grid,
                                  trimtab_dim3 block, double least_gain) {
    const analysis::KernelDescription& kernel = question.description();
    // One pointer a parameter, as the program hands them over.
    std::vector<std::byte> bytes = question.arguments.bytes;
    std::vector<void*> arguments;
    for (const analysis::KernelParameter& parameter : kernel.parameters)
        arguments.push_back(bytes.data() + parameter.offset);
    const choosing::LaunchShape shape{
        .written = {.grid = grid,
                    .block = block,
                    .dynamic_shared_bytes = static_cast<std::uint64_t>(launch.dynamic_shared_bytes)},
        .arguments = arguments.data()};
    const auto extent = kernel.counted_extent(grid, block);
    const std::vector<double> data = analysis::data_values(kernel, bytes, extent);
    launch.data = data;
    launch.arguments = bytes;
    launch.extent = {static_cast<std::uint32_t>(extent[0]), static_cast<std::uint32_t>(extent[1]),
                     static_cast<std::uint32_t>(extent[2])};
    // A block is predicted whether or not it is legal; the search is told its own limits.
    constexpr std::uint32_t any = 0x7fffffff;
    launch.limits = {.extent = launch.extent,
                     .max_block = {any, any, any},
                     .max_grid = {any, any, any},
                     .max_threads = any,
                     .thread_multiple = 1,
                     .dividing = 0,
                     .max_dynamic_shared_bytes = any};
    launch.annotated = analysis::has_shape_annotations(kernel) ? &kernel : nullptr;
    const InterpretedDriver interpreted(launch);
    const choosing::PredictedKernel predicted{kernel, interpreted.driver(), question.device.values,
                                              question.image};
    return choosing::with_best_total(choosing::choose(predicted, shape, least_gain), predicted, shape,
                                     least_gain);
}

}  // namespace trimtab::tools
