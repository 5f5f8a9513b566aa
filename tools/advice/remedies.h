// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The remedies, by subject. Each is asked for by name: what_if.h.
#pragma once

#include "tools/advice/what_if.h"

namespace trimtab::advice {

[[nodiscard]] inline double real(std::uint64_t count) {
    return static_cast<double>(count);
}

// Memory: remedies_memory.cpp.
[[nodiscard]] std::optional<WhatIf> coalesce_loads(const Subject& subject);
[[nodiscard]] std::optional<WhatIf> pack_loads(const Subject& subject);
[[nodiscard]] std::optional<WhatIf> coalesce_stores(const Subject& subject);
[[nodiscard]] std::optional<WhatIf> spread_banks(const Subject& subject);
[[nodiscard]] std::optional<WhatIf> keep_in_registers(const Subject& subject);
[[nodiscard]] std::optional<WhatIf> sum_in_registers(const Subject& subject);
[[nodiscard]] std::optional<WhatIf> read_only(const Subject& subject);
// Reuse: remedies_reuse.cpp.
[[nodiscard]] std::optional<WhatIf> tile_loads(const Subject& subject);
// Instructions: remedies_instructions.cpp.
[[nodiscard]] std::optional<WhatIf> use_floats(const Subject& subject);
[[nodiscard]] std::optional<WhatIf> converge(const Subject& subject);
// The launch: remedies_launch.cpp.
[[nodiscard]] std::optional<WhatIf> fewer_resources(const Subject& subject);
[[nodiscard]] std::optional<WhatIf> more_blocks(const Subject& subject);
[[nodiscard]] std::optional<WhatIf> even_waves(const Subject& subject);
[[nodiscard]] std::optional<WhatIf> larger_blocks(const Subject& subject);
[[nodiscard]] std::optional<WhatIf> more_threads(const Subject& subject);
[[nodiscard]] std::optional<WhatIf> fewer_launches(const Subject& subject);

}  // namespace trimtab::advice
