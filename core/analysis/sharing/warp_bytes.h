// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dynamic shared memory that a block needs: so much for each of its warps, and some for all.
#pragma once

#include <cstdint>
#include <optional>

namespace trimtab::analysis {

struct WarpBytes {
    std::uint64_t a_warp = 0, a_block = 0;
    friend bool operator==(const WarpBytes&, const WarpBytes&) = default;
};

}  // namespace trimtab::analysis
