// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Advice from the records that a program's launches left in a file.
#pragma once

#include <expected>
#include <string>

#include "core/model/device.h"
#include "emulation/schedule/settings.h"
#include "tools/advice/advise.h"
#include "trimtab/error.h"

namespace trimtab::tools {

struct AdvisedRun {
    advice::Advice advice;
    model::Device device;  // that it is about
    int exit_code = 0;     // of the program
};
// What the records say that TRIMTAB_PROFILES had `program` leave in a file. Records that cannot be read are noted, and
// an error where none can.
// Of the device as `settings` have it, times included.
[[nodiscard]] std::expected<AdvisedRun, Error> advice_of(const std::string& records,
                                                         const std::string& program,
                                                         const schedule::Settings& settings = {});

}  // namespace trimtab::tools
