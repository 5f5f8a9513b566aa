// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/loops/exported_loops.h"

#include <algorithm>

#include "core/analysis/values/guards.h"

namespace trimtab::analysis {

std::optional<GridStrideLoop> export_loop(const SymbolTable& table, const StridedLoop& loop) {
    GridStrideLoop result{loop.dimension, {}, {}, loop.is_of_rows};
    for (const Symbolic& test : loop.exits) {
        auto exits = to_expression(table, test, ptx::Type::pred);
        if (!exits) return std::nullopt;
        result.exits.push_back(std::move(*exits));
    }
    return result;
}

bool export_accesses(const SymbolTable& table, const std::vector<StridedAccess>& found,
                     std::span<const StridedLoop> loops, std::vector<GridStrideAccess>& to) {
    for (const StridedAccess& access : found) {
        auto address = to_expression(table, access.address, ptx::Type::u64);
        if (!address) return false;
        GridStrideAccess result{std::move(*address), access.bytes, access.writes,
                                access.reduction,    access.once,  access.phases};
        for (std::size_t loop = 0; loop < std::min(loops.size(), most_numbered_loops); loop++)
            if (!loops[loop].is_of_rows &&
                std::ranges::find(access.loops, loops[loop].header) != access.loops.end())
                result.loops |= std::uint64_t{1} << loop;
        if (std::ranges::find(to, result) == to.end()) to.push_back(std::move(result));
    }
    return true;
}

}  // namespace trimtab::analysis
