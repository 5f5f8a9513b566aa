// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/opcodes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ptx/names.h"

namespace trimtab::ptx {
namespace {

using O = Opcode;
using C = OpcodeClass;

constexpr std::array table = std::to_array<OpcodeInfo>({
    {O::unknown, "unknown", C::other, Pipe::other, reads_result},
    {O::abs, "abs", C::pure},
    {O::activemask, "activemask", C::warp, Pipe::warp_collective},
    {O::add, "add", C::pure},
    {O::addc, "addc", C::pure, Pipe::by_type, takes_carry},
    {O::alloca_, "alloca", C::pure, Pipe::by_type, takes_stack_pointer | sets_stack_pointer},
    {O::and_, "and", C::pure},
    {O::applypriority, "applypriority", C::other, Pipe::by_type, no_result},
    {O::atom, "atom", C::atomic, Pipe::by_space},
    {O::bar, "bar", C::barrier, Pipe::barrier, result_by_form | suspends},
    {O::barrier, "barrier", C::barrier, Pipe::barrier, result_by_form | suspends},
    {O::bfe, "bfe", C::pure},
    {O::bfi, "bfi", C::pure},
    {O::bfind, "bfind", C::pure},
    {O::bmsk, "bmsk", C::pure},
    {O::bra, "bra", C::control, Pipe::control, no_result | jumps},
    {O::brev, "brev", C::pure},
    {O::brkpt, "brkpt", C::trap, Pipe::other, no_result},
    {O::brx, "brx", C::control, Pipe::control, no_result | jumps},
    {O::call, "call", C::call, Pipe::control, suspends},
    {O::clz, "clz", C::pure},
    {O::cnot, "cnot", C::pure},
    {O::copysign, "copysign", C::pure},
    {O::cos, "cos", C::pure, Pipe::special_function},
    {O::cp, "cp", C::copy, Pipe::by_space, no_result},
    {O::createpolicy, "createpolicy", C::other},
    {O::cvt, "cvt", C::pure, Pipe::conversion},
    {O::cvta, "cvta", C::pure, Pipe::conversion},
    {O::discard, "discard", C::other, Pipe::by_type, no_result},
    {O::div, "div", C::pure},
    {O::dp2a, "dp2a", C::pure},
    {O::dp4a, "dp4a", C::pure},
    {O::elect, "elect", C::warp, Pipe::warp_collective, suspends},
    {O::ex2, "ex2", C::pure, Pipe::special_function},
    {O::exit, "exit", C::control, Pipe::control, no_result | leaves},
    {O::fence, "fence", C::fence, Pipe::other, no_result},
    {O::fma, "fma", C::pure},
    {O::fns, "fns", C::pure},
    {O::getctarank, "getctarank", C::cluster},
    {O::griddepcontrol, "griddepcontrol", C::cluster, Pipe::by_type, no_result},
    {O::isspacep, "isspacep", C::pure},
    {O::istypep, "istypep", C::other},
    {O::ld, "ld", C::load, Pipe::by_space},
    {O::ldmatrix, "ldmatrix", C::warp},
    {O::ldu, "ldu", C::load, Pipe::by_space},
    {O::lg2, "lg2", C::pure, Pipe::special_function},
    {O::lop3, "lop3", C::pure},
    {O::mad, "mad", C::pure},
    {O::mad24, "mad24", C::pure},
    {O::madc, "madc", C::pure, Pipe::by_type, takes_carry},
    {O::mapa, "mapa", C::cluster},
    {O::match, "match", C::warp, Pipe::warp_collective, suspends},
    {O::max, "max", C::pure},
    {O::mbarrier, "mbarrier", C::barrier, Pipe::by_type, result_by_form},
    {O::membar, "membar", C::fence, Pipe::other, no_result},
    {O::min, "min", C::pure},
    {O::mma, "mma", C::warp},
    {O::mov, "mov", C::pure, Pipe::integer},
    {O::movmatrix, "movmatrix", C::warp},
    {O::mul, "mul", C::pure},
    {O::mul24, "mul24", C::pure},
    {O::multimem, "multimem", C::other, Pipe::by_type, result_by_form},
    {O::nanosleep, "nanosleep", C::other, Pipe::other, no_result},
    {O::neg, "neg", C::pure},
    {O::not_, "not", C::pure},
    {O::or_, "or", C::pure},
    {O::pmevent, "pmevent", C::other, Pipe::other, no_result},
    {O::popc, "popc", C::pure},
    {O::prefetch, "prefetch", C::hint, Pipe::other, no_result},
    {O::prefetchu, "prefetchu", C::hint, Pipe::other, no_result},
    {O::prmt, "prmt", C::pure},
    {O::rcp, "rcp", C::pure, Pipe::special_function},
    {O::red, "red", C::atomic, Pipe::by_space, no_result},
    {O::redux, "redux", C::warp, Pipe::warp_collective, suspends},
    {O::rem, "rem", C::pure},
    {O::ret, "ret", C::control, Pipe::control, no_result | leaves},
    {O::rsqrt, "rsqrt", C::pure, Pipe::special_function},
    {O::sad, "sad", C::pure},
    {O::selp, "selp", C::pure, Pipe::integer},
    {O::set, "set", C::pure, Pipe::integer},
    {O::setmaxnreg, "setmaxnreg", C::other, Pipe::by_type, no_result},
    {O::setp, "setp", C::pure},
    {O::shf, "shf", C::pure},
    {O::shfl, "shfl", C::warp, Pipe::warp_collective, suspends},
    {O::shl, "shl", C::pure},
    {O::shr, "shr", C::pure},
    {O::sin, "sin", C::pure, Pipe::special_function},
    {O::slct, "slct", C::pure, Pipe::integer},
    {O::sqrt, "sqrt", C::pure, Pipe::special_function},
    {O::st, "st", C::store, Pipe::by_space, no_result},
    {O::stackrestore, "stackrestore", C::pure, Pipe::by_type,
     no_result | takes_stack_pointer | sets_stack_pointer},
    {O::stacksave, "stacksave", C::pure, Pipe::by_type, takes_stack_pointer},
    {O::stmatrix, "stmatrix", C::warp, Pipe::by_type, no_result},
    {O::sub, "sub", C::pure},
    {O::subc, "subc", C::pure, Pipe::by_type, takes_carry},
    {O::suld, "suld", C::surface_load},
    {O::suq, "suq", C::image_query},
    {O::sured, "sured", C::other, Pipe::by_type, no_result},
    {O::sust, "sust", C::surface_store, Pipe::by_type, no_result},
    {O::szext, "szext", C::pure},
    {O::tanh, "tanh", C::pure, Pipe::special_function},
    {O::testp, "testp", C::pure},
    {O::tex, "tex", C::texture},
    {O::tld4, "tld4", C::texture},
    {O::trap, "trap", C::trap, Pipe::other, no_result | leaves},
    {O::txq, "txq", C::image_query},
    {O::vabsdiff, "vabsdiff", C::pure, Pipe::by_type, is_video},
    {O::vabsdiff2, "vabsdiff2", C::pure, Pipe::by_type, is_video},
    {O::vabsdiff4, "vabsdiff4", C::pure, Pipe::by_type, is_video},
    {O::vadd, "vadd", C::pure, Pipe::by_type, is_video},
    {O::vadd2, "vadd2", C::pure, Pipe::by_type, is_video},
    {O::vadd4, "vadd4", C::pure, Pipe::by_type, is_video},
    {O::vavrg2, "vavrg2", C::pure, Pipe::by_type, is_video},
    {O::vavrg4, "vavrg4", C::pure, Pipe::by_type, is_video},
    {O::vmad, "vmad", C::pure, Pipe::by_type, is_video},
    {O::vmax, "vmax", C::pure, Pipe::by_type, is_video},
    {O::vmax2, "vmax2", C::pure, Pipe::by_type, is_video},
    {O::vmax4, "vmax4", C::pure, Pipe::by_type, is_video},
    {O::vmin, "vmin", C::pure, Pipe::by_type, is_video},
    {O::vmin2, "vmin2", C::pure, Pipe::by_type, is_video},
    {O::vmin4, "vmin4", C::pure, Pipe::by_type, is_video},
    {O::vote, "vote", C::warp, Pipe::warp_collective, suspends},
    {O::vset, "vset", C::pure, Pipe::by_type, is_video},
    {O::vset2, "vset2", C::pure, Pipe::by_type, is_video},
    {O::vset4, "vset4", C::pure, Pipe::by_type, is_video},
    {O::vshl, "vshl", C::pure, Pipe::by_type, is_video},
    {O::vshr, "vshr", C::pure, Pipe::by_type, is_video},
    {O::vsub, "vsub", C::pure, Pipe::by_type, is_video},
    {O::vsub2, "vsub2", C::pure, Pipe::by_type, is_video},
    {O::vsub4, "vsub4", C::pure, Pipe::by_type, is_video},
    {O::wgmma, "wgmma", C::warp, Pipe::by_type, result_by_form | reads_result},
    {O::wmma, "wmma", C::warp, Pipe::by_type, result_by_form},
    {O::xor_, "xor", C::pure},
});

constexpr bool follows_enumeration() {
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (table[i].opcode != static_cast<Opcode>(i)) return false;
    }
    return table.size() == static_cast<std::size_t>(O::xor_) + 1;
}
static_assert(follows_enumeration());

constexpr auto by_name = [] {
    std::array<std::pair<std::string_view, Opcode>, table.size()> out;
    for (std::size_t i = 0; i < table.size(); ++i) out[i] = {table[i].name, table[i].opcode};
    std::sort(out.begin(), out.end());
    return out;
}();

}  // namespace

const OpcodeInfo& info(Opcode opcode) {
    return table[static_cast<std::size_t>(opcode)];
}

std::string_view name(Opcode opcode) {
    return info(opcode).name;
}

Opcode find_opcode(std::string_view base) {
    const auto at = std::ranges::lower_bound(by_name, base, {}, &std::pair<std::string_view, Opcode>::first);
    return at == by_name.end() || at->first != base ? Opcode::unknown : at->second;
}

bool is_pure(Opcode opcode) {
    return info(opcode).opcode_class == OpcodeClass::pure;
}

bool is_elementwise(const Instruction& instruction) {
    if (!is_pure(instruction.opcode)) return false;
    for (const State state : {State::carry, State::stack}) {
        if (reads(instruction, state) || writes(instruction, state)) return false;
    }
    return true;
}

bool has(const Instruction& instruction, std::string_view suffix) {
    return std::ranges::find(instruction.suffixes, suffix) != instruction.suffixes.end();
}

bool ends_block(Opcode opcode) {
    return info(opcode).has(jumps | leaves);
}

bool is_load(const Instruction& instruction) {
    return info(instruction.opcode).opcode_class == OpcodeClass::load;
}

bool is_ordered(const Instruction& instruction) {
    return instruction.modifiers.semantics != MemorySemantics::weak ||
           instruction.modifiers.cache == CacheOp::cv;
}

bool reads(const Instruction& instruction, State state) {
    return info(instruction.opcode).has(state == State::carry ? takes_carry : takes_stack_pointer);
}

bool writes(const Instruction& instruction, State state) {
    if (state == State::stack) return info(instruction.opcode).has(sets_stack_pointer);
    return instruction.modifiers.carry_out || instruction.opcode == Opcode::call;
}

}  // namespace trimtab::ptx
