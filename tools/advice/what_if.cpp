// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/what_if.h"

#include <algorithm>

#include "tools/advice/remedies.h"

namespace trimtab::advice {
namespace {

constexpr NamedRemedy table[] = {
    {"coalesce-loads", coalesce_loads},
    {"pack-loads", pack_loads},
    {"coalesce-stores", coalesce_stores},
    {"spread-banks", spread_banks},
    {"keep-in-registers", keep_in_registers},
    {"sum-in-registers", sum_in_registers},
    {"read-only", read_only},
    {"tile-loads", tile_loads},
    {"use-floats", use_floats},
    {"converge", converge},
    {"fewer-resources", fewer_resources},
    {"more-blocks", more_blocks},
    {"even-waves", even_waves},
    {"larger-blocks", larger_blocks},
    {"more-threads", more_threads},
    {"fewer-launches", fewer_launches},
};

}  // namespace

Remedy remedy_named(std::string_view name) {
    const auto* const found = std::ranges::find(table, name, &NamedRemedy::name);
    return found == std::end(table) ? nullptr : found->ask;
}

std::vector<std::string_view> remedy_names() {
    std::vector<std::string_view> names;
    for (const NamedRemedy& remedy : table) names.push_back(remedy.name);
    return names;
}

}  // namespace trimtab::advice
