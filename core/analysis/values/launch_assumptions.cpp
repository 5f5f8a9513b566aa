// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/launch_assumptions.h"

namespace trimtab::analysis {
namespace {

constexpr Assumed all = Assumed::nothing, one = Assumed::one_thread, own = Assumed::grid_stays,
                  warps = Assumed::whole_warps;

// Loops over a block's threads: of one dimension first, then of several.
constexpr LaunchAssumption assumptions[] = {
    {"any launch", {all, all, all}},
    {"loops over threadIdx.x", {own, all, all}},
    {"loops over threadIdx.y", {all, own, all}},
    {"loops over threadIdx.z", {all, all, own}},
    {"loops over threadIdx.x and y", {own, own, all}},
    {"loops over threadIdx.x and z", {own, all, own}},
    {"loops over threadIdx.y and z", {all, own, own}},
    {"loops over threadIdx.x, y and z", {own, own, own}},
    {"one thread in z", {all, all, one}},
    {"one thread in z, loops over threadIdx.x", {own, all, one}},
    {"one thread in z, loops over threadIdx.y", {all, own, one}},
    {"one thread in z, loops over threadIdx.x and y", {own, own, one}},
    {"one thread in y and z", {all, one, one}},
    {"one thread in y and z, loops over threadIdx.x", {own, one, one}},
    {"whole warps", {warps, all, all}},
    {"whole warps, one thread in z", {warps, all, one}},
    {"whole warps, one thread in y and z", {warps, one, one}},
};

}  // namespace

std::span<const LaunchAssumption> launch_assumptions() {
    return assumptions;
}

}  // namespace trimtab::analysis
