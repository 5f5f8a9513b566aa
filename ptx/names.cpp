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
constexpr std::array opcode_names = {std::string_view("unknown"),      std::string_view("abs"),
                                     std::string_view("activemask"),   std::string_view("add"),
                                     std::string_view("addc"),         std::string_view("alloca"),
                                     std::string_view("and"),          std::string_view("applypriority"),
                                     std::string_view("atom"),         std::string_view("bar"),
                                     std::string_view("barrier"),      std::string_view("bfe"),
                                     std::string_view("bfi"),          std::string_view("bfind"),
                                     std::string_view("bmsk"),         std::string_view("bra"),
                                     std::string_view("brev"),         std::string_view("brkpt"),
                                     std::string_view("brx"),          std::string_view("call"),
                                     std::string_view("clz"),          std::string_view("cnot"),
                                     std::string_view("copysign"),     std::string_view("cos"),
                                     std::string_view("cp"),           std::string_view("createpolicy"),
                                     std::string_view("cvt"),          std::string_view("cvta"),
                                     std::string_view("discard"),      std::string_view("div"),
                                     std::string_view("dp2a"),         std::string_view("dp4a"),
                                     std::string_view("elect"),        std::string_view("ex2"),
                                     std::string_view("exit"),         std::string_view("fence"),
                                     std::string_view("fma"),          std::string_view("fns"),
                                     std::string_view("getctarank"),   std::string_view("griddepcontrol"),
                                     std::string_view("isspacep"),     std::string_view("istypep"),
                                     std::string_view("ld"),           std::string_view("ldmatrix"),
                                     std::string_view("ldu"),          std::string_view("lg2"),
                                     std::string_view("lop3"),         std::string_view("mad"),
                                     std::string_view("mad24"),        std::string_view("madc"),
                                     std::string_view("mapa"),         std::string_view("match"),
                                     std::string_view("max"),          std::string_view("mbarrier"),
                                     std::string_view("membar"),       std::string_view("min"),
                                     std::string_view("mma"),          std::string_view("mov"),
                                     std::string_view("movmatrix"),    std::string_view("mul"),
                                     std::string_view("mul24"),        std::string_view("multimem"),
                                     std::string_view("nanosleep"),    std::string_view("neg"),
                                     std::string_view("not"),          std::string_view("or"),
                                     std::string_view("pmevent"),      std::string_view("popc"),
                                     std::string_view("prefetch"),     std::string_view("prefetchu"),
                                     std::string_view("prmt"),         std::string_view("rcp"),
                                     std::string_view("red"),          std::string_view("redux"),
                                     std::string_view("rem"),          std::string_view("ret"),
                                     std::string_view("rsqrt"),        std::string_view("sad"),
                                     std::string_view("selp"),         std::string_view("set"),
                                     std::string_view("setmaxnreg"),   std::string_view("setp"),
                                     std::string_view("shf"),          std::string_view("shfl"),
                                     std::string_view("shl"),          std::string_view("shr"),
                                     std::string_view("sin"),          std::string_view("slct"),
                                     std::string_view("sqrt"),         std::string_view("st"),
                                     std::string_view("stackrestore"), std::string_view("stacksave"),
                                     std::string_view("stmatrix"),     std::string_view("sub"),
                                     std::string_view("subc"),         std::string_view("suld"),
                                     std::string_view("suq"),          std::string_view("sured"),
                                     std::string_view("sust"),         std::string_view("szext"),
                                     std::string_view("tanh"),         std::string_view("testp"),
                                     std::string_view("tex"),          std::string_view("tld4"),
                                     std::string_view("trap"),         std::string_view("txq"),
                                     std::string_view("vabsdiff"),     std::string_view("vabsdiff2"),
                                     std::string_view("vabsdiff4"),    std::string_view("vadd"),
                                     std::string_view("vadd2"),        std::string_view("vadd4"),
                                     std::string_view("vavrg2"),       std::string_view("vavrg4"),
                                     std::string_view("vmad"),         std::string_view("vmax"),
                                     std::string_view("vmax2"),        std::string_view("vmax4"),
                                     std::string_view("vmin"),         std::string_view("vmin2"),
                                     std::string_view("vmin4"),        std::string_view("vote"),
                                     std::string_view("vset"),         std::string_view("vset2"),
                                     std::string_view("vset4"),        std::string_view("vshl"),
                                     std::string_view("vshr"),         std::string_view("vsub"),
                                     std::string_view("vsub2"),        std::string_view("vsub4"),
                                     std::string_view("wgmma"),        std::string_view("wmma"),
                                     std::string_view("xor")};
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
static_assert(opcode_names.size() == static_cast<std::size_t>(Opcode::xor_) + 1);
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
constexpr auto opcodes_sorted = sorted(opcode_names);
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
std::string_view name(Opcode opcode) {
    return opcode_names[static_cast<std::size_t>(opcode)];
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

Opcode find_opcode(std::string_view base) {
    return find<Opcode>(opcodes_sorted, base).value_or(Opcode::unknown);
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
