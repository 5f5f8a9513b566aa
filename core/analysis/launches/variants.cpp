// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/launches/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/analysis/launches/built_in_blocks.h"
#include "core/analysis/launches/coarsened.h"

namespace trimtab::analysis {
namespace {

bool states_its_launch(const KernelDescription& kernel) {
    return kernel.verdict == Verdict::annotated && kernel.annotated_grid[0].has_value();
}

}  // namespace

bool take_the_same(const KernelDescription& a, const KernelDescription& b) {
    return std::ranges::equal(a.parameters, b.parameters,
                              [](const KernelParameter& mine, const KernelParameter& its) {
                                  return mine.offset == its.offset && mine.size == its.size &&
                                         mine.is_pointer == its.is_pointer && mine.ptx_type == its.ptx_type;
                              });
}

bool are_variants(const KernelDescription& a, const KernelDescription& b) {
    return a.variant && b.variant && a.variant->of == b.variant->of;
}

std::string variant_mismatch(const KernelDescription& kernel, const KernelDescription& other) {
    if (!are_variants(kernel, other)) return "they are no bodies of one kernel";
    if (!take_the_same(kernel, other)) return "it takes other parameters";
    for (const KernelDescription* body : {&kernel, &other})
        if (!states_its_launch(*body))
            return fmt::format("no annotation states the grid that goes with a block of {}", body->demangled);
    return {};
}

std::vector<std::string> variant_faults(std::span<const KernelDescription> kernels) {
    std::vector<std::string> faults;
    std::set<std::string> groups;
    for (const KernelDescription& kernel : kernels) {
        if (!kernel.variant || built_in_block(kernel) || coarsening(kernel) ||
            !groups.insert(kernel.variant->of).second)
            continue;
        std::vector<const KernelDescription*> bodies;
        for (const KernelDescription& other : kernels)
            if (are_variants(kernel, other)) bodies.push_back(&other);
        const auto stated =
            std::ranges::find_if(bodies, [](const auto* body) { return states_its_launch(*body); });
        if (bodies.size() == 1) {
            faults.push_back(fmt::format("{} is the only variant of {}: no launch of it becomes another's",
                                         kernel.demangled, kernel.variant->of));
            continue;
        }
        if (stated == bodies.end()) {
            faults.push_back(fmt::format(
                "the {} variants of {} keep their launches: no annotation states the grid that goes with "
                "each, as "
                "TRIMTAB_TUNE(block(bx == variant), grid(ceil(n / bx))) would; trimtab suggest looks for it",
                bodies.size(), kernel.variant->of));
            continue;
        }
        for (const KernelDescription* body : bodies) {
            if (body == *stated) continue;
            if (const std::string why = variant_mismatch(**stated, *body); !why.empty())
                faults.push_back(
                    fmt::format("{} is no variant of {}: {}", body->demangled, (*stated)->demangled, why));
        }
    }
    return faults;
}

}  // namespace trimtab::analysis
