#include "ptx/names.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace trimtab::ptx {
namespace {

// Each list follows its enumeration in types.h.
constexpr std::array type_names = {
    std::string_view("none"),       std::string_view("pred"),   std::string_view("b8"),
    std::string_view("b16"),        std::string_view("b32"),    std::string_view("b64"),
    std::string_view("b128"),       std::string_view("u8"),     std::string_view("u16"),
    std::string_view("u32"),        std::string_view("u64"),    std::string_view("s8"),
    std::string_view("s16"),        std::string_view("s32"),    std::string_view("s64"),
    std::string_view("f16"),        std::string_view("f16x2"),  std::string_view("bf16"),
    std::string_view("bf16x2"),     std::string_view("tf32"),   std::string_view("e4m3"),
    std::string_view("e5m2"),       std::string_view("e4m3x2"), std::string_view("e5m2x2"),
    std::string_view("f32"),        std::string_view("f32x2"),  std::string_view("f64"),
    std::string_view("u16x2"),      std::string_view("s16x2"),  std::string_view("texref"),
    std::string_view("samplerref"), std::string_view("surfref")};
constexpr std::array space_names = {std::string_view(""),
                                    std::string_view("reg"),
                                    std::string_view("sreg"),
                                    std::string_view("param"),
                                    std::string_view("global"),
                                    std::string_view("shared"),
                                    std::string_view("shared::cluster"),
                                    std::string_view("local"),
                                    std::string_view("const"),
                                    std::string_view("tex")};
constexpr std::array special_names = {std::string_view("%tid.x"),
                                      std::string_view("%tid.y"),
                                      std::string_view("%tid.z"),
                                      std::string_view("%ntid.x"),
                                      std::string_view("%ntid.y"),
                                      std::string_view("%ntid.z"),
                                      std::string_view("%ctaid.x"),
                                      std::string_view("%ctaid.y"),
                                      std::string_view("%ctaid.z"),
                                      std::string_view("%nctaid.x"),
                                      std::string_view("%nctaid.y"),
                                      std::string_view("%nctaid.z"),
                                      std::string_view("%laneid"),
                                      std::string_view("%warpid"),
                                      std::string_view("%nwarpid"),
                                      std::string_view("%smid"),
                                      std::string_view("%nsmid"),
                                      std::string_view("%gridid"),
                                      std::string_view("%lanemask_eq"),
                                      std::string_view("%lanemask_le"),
                                      std::string_view("%lanemask_lt"),
                                      std::string_view("%lanemask_ge"),
                                      std::string_view("%lanemask_gt"),
                                      std::string_view("%clock"),
                                      std::string_view("%clock_hi"),
                                      std::string_view("%clock64"),
                                      std::string_view("%globaltimer"),
                                      std::string_view("%globaltimer_lo"),
                                      std::string_view("%globaltimer_hi"),
                                      std::string_view("%dynamic_smem_size"),
                                      std::string_view("%total_smem_size"),
                                      std::string_view("%aggr_smem_size"),
                                      std::string_view("WARP_SZ"),
                                      std::string_view("%is_explicit_cluster"),
                                      std::string_view("%clusterid.x"),
                                      std::string_view("%clusterid.y"),
                                      std::string_view("%clusterid.z"),
                                      std::string_view("%nclusterid.x"),
                                      std::string_view("%nclusterid.y"),
                                      std::string_view("%nclusterid.z"),
                                      std::string_view("%cluster_ctaid.x"),
                                      std::string_view("%cluster_ctaid.y"),
                                      std::string_view("%cluster_ctaid.z"),
                                      std::string_view("%cluster_nctaid.x"),
                                      std::string_view("%cluster_nctaid.y"),
                                      std::string_view("%cluster_nctaid.z"),
                                      std::string_view("%cluster_ctarank"),
                                      std::string_view("%cluster_nctarank"),
                                      std::string_view("")};

static_assert(type_names.size() == static_cast<std::size_t>(Type::surfref) + 1);
static_assert(space_names.size() == static_cast<std::size_t>(Space::tex) + 1);
static_assert(special_names.size() == static_cast<std::size_t>(SpecialRegister::other) + 1);

// A list sorted for binary search: {spelling, place in the enumeration}.
template <std::size_t n>
constexpr auto sorted(const std::array<std::string_view, n>& names) {
    std::array<std::pair<std::string_view, std::size_t>, n> out;
    for (std::size_t i = 0; i < n; ++i) out[i] = {names[i], i};
    std::sort(out.begin(), out.end());
    return out;
}

constexpr auto types_sorted = sorted(type_names);
constexpr auto spaces_sorted = sorted(space_names);
constexpr auto specials_sorted = sorted(special_names);

template <class Enum, class Table>
std::optional<Enum> find(const Table& table, std::string_view spelling) {
    const auto at =
        std::lower_bound(table.begin(), table.end(), spelling,
                         [](const auto& entry, std::string_view text) { return entry.first < text; });
    if (at == table.end() || at->first != spelling) return std::nullopt;
    return static_cast<Enum>(at->second);
}

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

std::string_view name(Type type) {
    return type_names[static_cast<std::size_t>(type)];
}
std::string_view name(Space space) {
    return space_names[static_cast<std::size_t>(space)];
}
std::string_view name(SpecialRegister special) {
    return special_names[static_cast<std::size_t>(special)];
}

std::optional<Type> find_type(std::string_view spelling) {
    if (spelling == "none") return std::nullopt;
    return find<Type>(types_sorted, spelling);
}

std::optional<Space> find_space(std::string_view spelling) {
    if (spelling == "shared::cta") return Space::shared;
    if (spelling.starts_with("param::")) return Space::param;
    if (spelling.empty()) return std::nullopt;
    return find<Space>(spaces_sorted, spelling);
}

std::optional<SpecialRegister> find_special_register(std::string_view spelling) {
    if (spelling.empty()) return std::nullopt;
    if (const auto found = find<SpecialRegister>(specials_sorted, spelling)) return found;
    if (is_other_special(spelling)) return SpecialRegister::other;
    return std::nullopt;
}

Type type_of(SpecialRegister special) {
    switch (special) {
        case SpecialRegister::clock64:
        case SpecialRegister::globaltimer:
        case SpecialRegister::gridid:
            return Type::u64;
        case SpecialRegister::is_explicit_cluster:
            return Type::pred;
        default:
            return Type::u32;
    }
}

}  // namespace trimtab::ptx
