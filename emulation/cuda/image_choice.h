// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which image of a fat binary the emulated device runs, and where its register counts come from.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "core/ptx/binary.h"
#include "core/ptx/module.h"
#include "emulation/cuda/modules.h"

namespace trimtab::cuda {

struct ChosenImage {
    ptx::Module module;  // linked, where several fat binaries make one program
    unsigned architecture = 0;
    std::map<std::string, ptx::KernelResources, std::less<>> resources;
};

// PTX of the highest architecture not above the device's, as CUDA's driver picks; where all are above it, the
// lowest, since the emulator runs PTX of any. Register counts come from the cubin that such a device would
// run; where it has none, from the nearest.
[[nodiscard]] std::expected<ChosenImage, LoadError> choose_image(const Module& module,
                                                                 unsigned compute_capability);

// A fat binary's size, from its header; 0 where it is none.
[[nodiscard]] std::size_t fat_binary_bytes(const std::byte* start);

}  // namespace trimtab::cuda
