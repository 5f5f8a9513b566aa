// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the driver program of one kernel: C99 that includes <trimtab/driver.h> alone.
#pragma once

#include <expected>
#include <string>

#include "core/analysis/launches/description.h"
#include "core/model/rational_program.h"
#include "driver_gen/fits.h"
#include "trimtab/error.h"

namespace trimtab::driver_gen {

// The text of <kernel>.driver.c, which defines `const trimtab_driver trimtab_driver_<id>` (weakly: two
// objects may hold the driver of one kernel). evaluate() computes what RationalProgram::evaluate with
// metric_function(fits) does, to the last bit; compile with -ffp-contract=off. An error where the description
// and the fits disagree about D.
[[nodiscard]] std::expected<std::string, Error> print_driver(const analysis::KernelDescription& description,
                                                             const KernelFits& fits,
                                                             const model::RationalProgram& program);

// What every driver program begins with, behind its first comment.
[[nodiscard]] const std::string& common_driver_text();

}  // namespace trimtab::driver_gen
