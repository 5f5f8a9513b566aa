// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// H of one launch: the description of the device that it runs on.
#pragma once

#include <string>

#include "trimtab/driver.h"

namespace trimtab::choosing {

struct KnownDevice {
    trimtab_device values{};
    std::string name;  // its slug; for a GPU that no description matches, CUDA's name of it
};

}  // namespace trimtab::choosing
