// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run of ptxas, of whichever release, over one kernel.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

#include "core/ptx/binary.h"
#include "trimtab/error.h"

namespace trimtab::sass {

struct Cubin {
    std::string architecture;  // "sm_86"
    ptx::KernelResources resources;
    std::vector<std::byte> bytes;
};

// `kernel` of the PTX text, assembled by that ptxas for `architecture` ("sm_86") with its further options. The
// error is ptxas's, or that its cubin cannot be read or lacks the kernel.
[[nodiscard]] std::expected<Cubin, Error> run_ptxas(const std::string& ptxas, const std::string& ptx,
                                                    const std::string& kernel,
                                                    const std::string& architecture,
                                                    const std::vector<std::string>& options);

}  // namespace trimtab::sass
