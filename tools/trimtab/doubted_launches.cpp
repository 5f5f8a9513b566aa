// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/doubted_launches.h"

#include "choosing/choices/doubt_text.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/model/occupancy.h"
#include "core/model/performance_model.h"
#include "driver_gen/fit_kernel.h"
#include "tools/trimtab/driver_choice.h"

namespace trimtab::tools {

std::string why_uncertain(const analysis::KernelDescription& description, const profiler::Profile& profile,
                          std::span<const LaunchOfProgram> launches, const model::Device& device) {
    const auto fits = driver_gen::fit_kernel(profile, description);
    const auto program = model::performance_model(model::default_model);
    if (!fits || !program) return {};
    const trimtab_image image = model::with_addressable_registers(
        analysis::to_driver_image(analysis::image_for(description, device.values.compute_capability)),
        device.values);
    for (const LaunchOfProgram& launch : launches) {
        const auto extent = description.counted_extent(launch.grid, launch.block);
        const std::vector<double> data = analysis::data_values(description, launch.parameters, extent);
        RankedLaunch asked{.program = *program,
                           .device = &device,
                           .image = image,
                           .fits = &*fits,
                           .data = data,
                           .annotated = analysis::has_shape_annotations(description) ? &description : nullptr,
                           .arguments = launch.parameters};
        asked.extent = {static_cast<std::uint32_t>(extent[0]), static_cast<std::uint32_t>(extent[1]),
                        static_cast<std::uint32_t>(extent[2])};
        asked.limits.extent = asked.extent;
        // A block that cannot be launched is no question.
        const auto ns = predicted_ns(asked, launch.block);
        const std::uint32_t doubt = ns ? judge(asked, launch.block, *ns).uncertain : 0;
        if (choosing::doubt_advice(doubt).empty()) continue;
        const InterpretedDriver interpreted(asked);
        return choosing::doubt_text(interpreted.driver(), data, doubt);
    }
    return {};
}

}  // namespace trimtab::tools
