// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The piece of a kernel in which a block's threads tell each other values, and what runs of it say of the block.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/analysis/sharing/exchange_run.h"
#include "core/analysis/sharing/warp_bytes.h"

namespace trimtab::analysis {

// The piece that holds all of the blocks, from one that all ways to them pass to one that all ways from them
// pass, both in the same loops. Nothing: there is none.
[[nodiscard]] std::optional<ExchangePiece> piece_around(const ptx::ControlFlow& flow,
                                                        const std::vector<ptx::BlockIndex>& held);

// By runs with that many threads: a line through the first two sizes, raised to lie above all others.
[[nodiscard]] WarpBytes dynamic_shared_of(std::span<const ExchangeOutcome> outcomes,
                                          std::span<const unsigned> threads);

}  // namespace trimtab::analysis
