// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver programs' search over blocks (driver_gen/block_search.inc) as C++, asking the interpreted model.
// Included by driver_choice.cpp alone. The text is C99, and warned of where it is generated.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <numeric>

#include "core/analysis/launches/legal_blocks.h"
#include "tools/trimtab/ranking.h"

namespace trimtab::tools {
namespace {

struct trimtab_context {
    const RankedLaunch& launch;
};
constexpr const double* trimtab_no_scale = nullptr;

int trimtab_is_annotated(const trimtab_context* context) {
    return context->launch.annotated != nullptr ? 1 : 0;
}
const trimtab_context* trimtab_at(const trimtab_context* context, trimtab_dim3 /*block*/) {
    return context;
}
int trimtab_allows(const trimtab_context* context, const trimtab_limits* limits, trimtab_dim3 block) {
    return analysis::is_legal(*limits, block) && is_stated(context->launch, block) ? 1 : 0;
}
trimtab_dim3 trimtab_grid(const trimtab_context* /*context*/, const trimtab_limits* limits,
                          trimtab_dim3 block) {
    return analysis::covering_grid(*limits, block);
}
int trimtab_predict(const trimtab_context* context, trimtab_dim3 block, const double* /*scale*/, double* ns) {
    const auto predicted = predicted_ns(context->launch, block);
    if (predicted) *ns = *predicted;
    return predicted ? 1 : 0;
}
double trimtab_common_divisor(std::uint32_t a, std::uint32_t b) {
    return std::gcd(a, b);
}

#include "driver_gen/block_search.inc"

}  // namespace
}  // namespace trimtab::tools
