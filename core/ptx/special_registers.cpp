// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/special_registers.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/ptx/names.h"

namespace trimtab::ptx {
namespace {

using S = SpecialRegister;

constexpr SpecialInfo special_table[] = {
#define SPECIAL(enumerator, spelling, group, type) \
    {SpecialRegister::enumerator, spelling, SpecialGroup::group, Type::type},
#include "core/ptx/special_registers.def"
};

// Registers that PTX predefines and that have no enumerator of their own.
bool is_other_special(std::string_view spelling) {
    constexpr std::array whole = {std::string_view("%tid"),
                                  std::string_view("%ntid"),
                                  std::string_view("%ctaid"),
                                  std::string_view("%nctaid"),
                                  std::string_view("%clusterid"),
                                  std::string_view("%nclusterid"),
                                  std::string_view("%cluster_ctaid"),
                                  std::string_view("%cluster_nctaid"),
                                  std::string_view("%current_graph_exec")};
    if (std::find(whole.begin(), whole.end(), spelling) != whole.end()) return true;
    // A fourth component, which is 0 or 1, is there for the sake of .v4.
    if (spelling.ends_with(".w")) {
        spelling.remove_suffix(2);
        return std::find(whole.begin(), whole.end(), spelling) != whole.end();
    }
    if (spelling.starts_with("%reserved_smem_offset_")) return true;
    for (std::string_view prefix : {std::string_view("%pm"), std::string_view("%envreg")}) {
        if (!spelling.starts_with(prefix)) continue;
        std::string_view rest = spelling.substr(prefix.size());
        if (rest.ends_with("_64")) rest.remove_suffix(3);
        return !rest.empty() && rest.find_first_not_of("0123456789") == std::string_view::npos;
    }
    return false;
}

}  // namespace

const SpecialInfo& info(SpecialRegister special) {
    return special_table[static_cast<std::size_t>(special)];
}

std::string_view name(SpecialRegister special) {
    return info(special).name;
}

std::optional<SpecialRegister> find_special_register(std::string_view spelling) {
    if (spelling.empty()) return std::nullopt;
    const auto at = std::ranges::find(special_table, spelling, &SpecialInfo::name);
    if (at != std::end(special_table)) return at->special;
    if (is_other_special(spelling)) return SpecialRegister::other;
    return std::nullopt;
}

bool varies_in_warp(SpecialRegister special) {
    const SpecialGroup group = info(special).group;
    return group == SpecialGroup::lane || group == SpecialGroup::clock ||
           (special >= S::tid_x && special <= S::tid_z);
}

}  // namespace trimtab::ptx
