// What a driver program's own search chooses for a launch: the runtime's answer, without its C compiled.
#pragma once

#include <optional>

#include "tools/trimtab/ranking.h"

namespace trimtab::tools {

// Nothing: no block that the search tries is legal and can be launched.
[[nodiscard]] std::optional<RankedBlock> driver_choice(const RankedLaunch& launch);

}  // namespace trimtab::tools
