// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The seam between the models and everything else: a performance model is a rational program, found by name.
#pragma once

#include <expected>
#include <string_view>
#include <vector>

#include "core/model/device.h"
#include "core/model/rational_program.h"
#include "trimtab/driver.h"
#include "trimtab/error.h"

namespace trimtab::model {

inline constexpr std::string_view default_model = "trimtab";

[[nodiscard]] const std::vector<std::string_view>& performance_model_names();
// Also "trimtab-without-<term>" (trimtab_model.h) and "gpuperf-benefits" (gpuperf.h), which explain. Built once, kept for the
// life of the process.
[[nodiscard]] std::expected<const RationalProgram*, Error> performance_model(std::string_view name);

// One launch, in the terms of the programs' inputs.
struct Launch {
    trimtab_dim3 extent{1, 1, 1};  // threads by dimension
    trimtab_dim3 block{1, 1, 1};
    double dynamic_shared_bytes = 0;
};
// The values of `program.inputs` in order. Grid is ceil(extent / block).
[[nodiscard]] std::vector<double> input_values(const RationalProgram& program, const trimtab_device& device,
                                               const trimtab_image& image, const Launch& launch);
// Those of programs that explain, too: inputs "architecture.<field of the device's architecture>".
[[nodiscard]] std::vector<double> input_values(const RationalProgram& program, const Device& device,
                                               const trimtab_image& image, const Launch& launch);

}  // namespace trimtab::model
