// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bodies that trimtab++ adds to kernels whose block is built in: blockDim stands in the place of the constant
// (docs/legality.md, "Hard-coded blocks").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/analysis/launches/description.h"

namespace trimtab::analysis {

// By dimension, the size that is built into the kernel that this is the body of; 0: none is. Nothing: it is no such
// body.
[[nodiscard]] std::optional<std::array<std::uint32_t, 3>> built_in_block(const KernelDescription& body);

// Is a launch of the kernel one of the body, if its block has the built-in size?
[[nodiscard]] bool has_built_in_block_of(const KernelDescription& body, const KernelDescription& kernel);

// May no launch of it have another block, so that its launches may as well be those of such a body?
[[nodiscard]] bool keeps_its_block(const KernelDescription& kernel);

// Why a launch with this block is none of the body's; empty: it is one.
[[nodiscard]] std::string built_in_block_mismatch(const KernelDescription& body,
                                                  const std::array<std::uint64_t, 3>& block);

}  // namespace trimtab::analysis
