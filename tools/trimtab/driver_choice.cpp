#include "tools/trimtab/driver_choice.h"

#include <memory>

#include "analysis/legal_blocks.h"
#include "tools/trimtab/driver_search.h"

namespace trimtab::tools {

std::optional<RankedBlock> driver_choice(const RankedLaunch& launch) {
    const trimtab_context context{.launch = launch};
    const auto search = std::make_unique<trimtab_search>();
    search->context = &context;
    search->limits = &launch.limits;
    trimtab_search_blocks(search.get());
    if (search->tried_count == 0) return std::nullopt;
    const trimtab_choice* chosen = trimtab_found(search.get(), 0);
    return RankedBlock{.block = chosen->block, .ns = chosen->predicted_ns};
}

}  // namespace trimtab::tools
