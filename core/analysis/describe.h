// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From linked PTX to kernel descriptions: parameters, data parameters, guards, and the re-blocking proof.
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/launches/description.h"
#include "core/analysis/launches/kernel_sources.h"
#include "core/ptx/binary.h"
#include "core/ptx/module.h"
#include "trimtab/error.h"

namespace trimtab::analysis {

// One image of a fat binary: its linked PTX, and ptxas's numbers where a cubin of the same architecture lies
// beside it.
struct Image {
    const ptx::Module* module = nullptr;
    std::string architecture;
    std::map<std::string, ptx::KernelResources>
        resources;               // may be empty: registers are then estimated, and said to be
    std::string resources_from;  // "ptxas sm_75"
};

// What the user allows beyond what leaves the same bytes.
struct Permissions {
    // In every kernel; TRIMTAB_TUNE(reassociate) says it of one.
    bool reassociate = false;
};

// Describes every kernel of the images; the verdict is the conjunction over all of them, and everything else
// is of the first. `threads` do it at once; what comes out is the same.
[[nodiscard]] std::expected<std::vector<KernelDescription>, Error> describe(std::span<const Image> images,
                                                                            const KernelSources& sources,
                                                                            const Permissions& allowed = {},
                                                                            unsigned threads = 1);

// The linked PTX of each architecture of a fat binary, in the order of the architectures' first images.
[[nodiscard]] std::expected<std::vector<ptx::Module>, Error> modules_of(const ptx::FatBinary& binary,
                                                                        const std::string& origin);

// All the steps for one fat binary: parse each PTX image, pair it with its cubin, describe. The modules are
// given back for profiling.
struct DescribedFatBinary {
    std::string hash;
    std::vector<ptx::Module> modules;  // one per PTX image
    std::vector<KernelDescription> kernels;
};
[[nodiscard]] std::expected<DescribedFatBinary, Error> describe_fat_binary(const ptx::FatBinary& binary,
                                                                           const KernelSources& sources,
                                                                           const std::string& origin,
                                                                           const Permissions& allowed = {},
                                                                           unsigned threads = 1);

}  // namespace trimtab::analysis
