// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/special_registers.h"

#include <algorithm>
#include <array>

#include "ptx/names.h"

namespace trimtab::ptx {
namespace {

using S = SpecialRegister;
using G = SpecialGroup;

constexpr std::array table = std::to_array<SpecialInfo>({
    {S::tid_x, "%tid.x", G::launch},
    {S::tid_y, "%tid.y", G::launch},
    {S::tid_z, "%tid.z", G::launch},
    {S::ntid_x, "%ntid.x", G::launch},
    {S::ntid_y, "%ntid.y", G::launch},
    {S::ntid_z, "%ntid.z", G::launch},
    {S::ctaid_x, "%ctaid.x", G::launch},
    {S::ctaid_y, "%ctaid.y", G::launch},
    {S::ctaid_z, "%ctaid.z", G::launch},
    {S::nctaid_x, "%nctaid.x", G::launch},
    {S::nctaid_y, "%nctaid.y", G::launch},
    {S::nctaid_z, "%nctaid.z", G::launch},
    {S::laneid, "%laneid", G::lane},
    {S::warpid, "%warpid", G::machine},
    {S::nwarpid, "%nwarpid", G::machine},
    {S::smid, "%smid", G::machine},
    {S::nsmid, "%nsmid", G::machine},
    {S::gridid, "%gridid", G::other, Type::u64},
    {S::lanemask_eq, "%lanemask_eq", G::lane},
    {S::lanemask_le, "%lanemask_le", G::lane},
    {S::lanemask_lt, "%lanemask_lt", G::lane},
    {S::lanemask_ge, "%lanemask_ge", G::lane},
    {S::lanemask_gt, "%lanemask_gt", G::lane},
    {S::clock, "%clock", G::clock},
    {S::clock_hi, "%clock_hi", G::clock},
    {S::clock64, "%clock64", G::clock, Type::u64},
    {S::globaltimer, "%globaltimer", G::clock, Type::u64},
    {S::globaltimer_lo, "%globaltimer_lo", G::clock},
    {S::globaltimer_hi, "%globaltimer_hi", G::clock},
    {S::dynamic_smem_size, "%dynamic_smem_size", G::shared_size},
    {S::total_smem_size, "%total_smem_size", G::shared_size},
    {S::aggr_smem_size, "%aggr_smem_size", G::shared_size},
    {S::warp_size, "WARP_SZ", G::launch},
    {S::is_explicit_cluster, "%is_explicit_cluster", G::other, Type::pred},
    {S::clusterid_x, "%clusterid.x", G::other},
    {S::clusterid_y, "%clusterid.y", G::other},
    {S::clusterid_z, "%clusterid.z", G::other},
    {S::nclusterid_x, "%nclusterid.x", G::other},
    {S::nclusterid_y, "%nclusterid.y", G::other},
    {S::nclusterid_z, "%nclusterid.z", G::other},
    {S::cluster_ctaid_x, "%cluster_ctaid.x", G::other},
    {S::cluster_ctaid_y, "%cluster_ctaid.y", G::other},
    {S::cluster_ctaid_z, "%cluster_ctaid.z", G::other},
    {S::cluster_nctaid_x, "%cluster_nctaid.x", G::other},
    {S::cluster_nctaid_y, "%cluster_nctaid.y", G::other},
    {S::cluster_nctaid_z, "%cluster_nctaid.z", G::other},
    {S::cluster_ctarank, "%cluster_ctarank", G::other},
    {S::cluster_nctarank, "%cluster_nctarank", G::other},
    {S::other, "", G::other},
});

constexpr bool follows_enumeration() {
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (table[i].special != static_cast<SpecialRegister>(i)) return false;
    }
    return table.size() == static_cast<std::size_t>(S::other) + 1;
}
static_assert(follows_enumeration());

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
    return table[static_cast<std::size_t>(special)];
}

std::string_view name(SpecialRegister special) {
    return info(special).name;
}

std::optional<SpecialRegister> find_special_register(std::string_view spelling) {
    if (spelling.empty()) return std::nullopt;
    const auto at = std::ranges::find(table, spelling, &SpecialInfo::name);
    if (at != table.end()) return at->special;
    if (is_other_special(spelling)) return SpecialRegister::other;
    return std::nullopt;
}

bool varies_in_warp(SpecialRegister special) {
    const SpecialGroup group = info(special).group;
    return group == SpecialGroup::lane || group == SpecialGroup::clock ||
           (special >= S::tid_x && special <= S::tid_z);
}

}  // namespace trimtab::ptx
