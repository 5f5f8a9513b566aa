// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much hangs on the model's constants: perturbed at random, and fitted without one app at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/selection_quality/study.h"

namespace trimtab::bench {

struct ModelConstant {
    model::NodeIndex node = 0;
    double value = 0;
    std::string origin;
};
// Those that somebody judged or read off measurements; facts (a warp's lanes, a line's bytes) are not.
[[nodiscard]] std::vector<ModelConstant> model_constants(const model::RationalProgram& program);

// Geometric means of the study's efficiencies with every constant times exp(sigma * normal), `count` times.
[[nodiscard]] std::vector<double> perturbed_geomeans(const Study& study,
                                                     const model::RationalProgram& program, double sigma,
                                                     std::size_t count);

// For every app of `gpu`: constants are moved by factors, one after the other, as long as the geometric mean
// of the other apps' cases grows; then the app's own cases are scored.
[[nodiscard]] std::vector<LeftOut> leave_one_app_out(const Study& study,
                                                     const model::RationalProgram& program,
                                                     const std::string& gpu);

}  // namespace trimtab::bench
