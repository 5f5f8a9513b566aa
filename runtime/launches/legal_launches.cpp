// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/legal_launches.h"

#include "choosing/choices/block_list.h"
#include "choosing/choices/choose.h"
#include "choosing/choices/other_totals.h"

namespace trimtab::runtime {

LegalLaunches legal_launches(const analysis::KernelDescription& description,
                             analysis::ArgumentBytes arguments, const trimtab_limits& limits,
                             const trimtab_device& device, const trimtab_image& image,
                             const choosing::LaunchShape& shape) {
    LegalLaunches out;
    for (const trimtab_dim3& block : choosing::legal_block_list(limits)) {
        if (choosing::same(block, shape.written.block)) continue;
        if (auto with = analysis::launch_with_block(description, arguments, limits, shape.written, block))
            out.blocks.push_back(*with);
    }
    out.totals = launches_of_other_totals(description, arguments, device, image, shape);
    return out;
}

}  // namespace trimtab::runtime
