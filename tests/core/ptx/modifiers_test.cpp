// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How mnemonics are taken apart: what the PTX ISA's syntax lines say, instruction by instruction.
#include <functional>

#include "fixtures.h"

namespace trimtab::ptx {
namespace {

struct ModifierCase {
    std::string text;
    Opcode opcode;
    Type type, source_type;
    unsigned destinations;
    std::function<bool(const Modifiers&)> check = [](const Modifiers&) { return true; };
};

using M = const Modifiers&;

const std::vector<ModifierCase>& cases() {
    static const std::vector<ModifierCase> list = {
        {"add.s32 %r1, %r2, %r3;", Opcode::add, Type::s32, Type::none, 1},
        {"add.rn.ftz.sat.f32 %f1, %f2, %f3;", Opcode::add, Type::f32, Type::none, 1,
         [](M m) { return m.rounding == Rounding::rn && m.ftz && m.sat; }},
        {"add.cc.u32 %r1, %r2, %r3;", Opcode::add, Type::u32, Type::none, 1, [](M m) { return m.carry_out; }},
        {"mul.wide.s32 %rd1, %r2, %r3;", Opcode::mul, Type::s32, Type::none, 1,
         [](M m) { return m.multiply_part == MultiplyPart::wide; }},
        {"mul.hi.u64 %rd1, %rd2, %rd3;", Opcode::mul, Type::u64, Type::none, 1,
         [](M m) { return m.multiply_part == MultiplyPart::hi; }},
        {"madc.hi.cc.u32 %r1, %r2, %r3, %r4;", Opcode::madc, Type::u32, Type::none, 1,
         [](M m) { return m.multiply_part == MultiplyPart::hi && m.carry_out; }},
        {"mul24.lo.s32 %r1, %r2, %r3;", Opcode::mul24, Type::s32, Type::none, 1,
         [](M m) { return m.multiply_part == MultiplyPart::lo; }},
        {"fma.rn.relu.f16x2 %r1, %r2, %r3, %r4;", Opcode::fma, Type::f16x2, Type::none, 1,
         [](M m) { return m.relu; }},
        {"min.NaN.xorsign.abs.f32 %f1, %f2, %f3;", Opcode::min, Type::f32, Type::none, 1,
         [](M m) { return m.nan_ && m.xorsign_abs; }},
        {"div.full.f32 %f1, %f2, %f3;", Opcode::div, Type::f32, Type::none, 1,
         [](M m) { return m.rounding == Rounding::full; }},
        {"cvt.rn.f32.s32 %f1, %r1;", Opcode::cvt, Type::f32, Type::s32, 1,
         [](M m) { return m.rounding == Rounding::rn; }},
        {"cvt.rzi.sat.u32.f32 %r1, %f1;", Opcode::cvt, Type::u32, Type::f32, 1,
         [](M m) { return m.rounding == Rounding::rzi && m.sat; }},
        {"cvt.rn.f16x2.f32 %r1, %f1, %f2;", Opcode::cvt, Type::f16x2, Type::f32, 1},
        {"cvt.rn.satfinite.e4m3x2.f32 %rs1, %f1, %f2;", Opcode::cvt, Type::e4m3x2, Type::f32, 1},
        {"cvta.to.global.u64 %rd1, %rd2;", Opcode::cvta, Type::u64, Type::none, 1,
         [](M m) { return m.to && m.space == Space::global; }},
        {"cvta.local.u64 %rd1, %rd2;", Opcode::cvta, Type::u64, Type::none, 1,
         [](M m) { return !m.to && m.space == Space::local; }},
        {"isspacep.shared %p1, %rd1;", Opcode::isspacep, Type::none, Type::none, 1,
         [](M m) { return m.space == Space::shared; }},
        {"setp.lt.s32 %p1, %r1, %r2;", Opcode::setp, Type::s32, Type::none, 1,
         [](M m) { return m.comparison == Comparison::lt; }},
        {"setp.ltu.and.ftz.f32 %p1|%p2, %f1, %f2, !%p3;", Opcode::setp, Type::f32, Type::none, 2,
         [](M m) { return m.comparison == Comparison::ltu && m.boolean_op == BooleanOp::and_ && m.ftz; }},
        {"setp.lo.u32 %p1, %r1, %r2;", Opcode::setp, Type::u32, Type::none, 1,
         [](M m) { return m.comparison == Comparison::lo && m.multiply_part == MultiplyPart::none; }},
        {"set.eq.u32.f32 %r1, %f1, %f2;", Opcode::set, Type::u32, Type::f32, 1,
         [](M m) { return m.comparison == Comparison::eq; }},
        {"slct.f32.s32 %f1, %f2, %f3, %r1;", Opcode::slct, Type::f32, Type::s32, 1},
        {"ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];", Opcode::ld, Type::f32, Type::none, 1,
         [](M m) { return m.space == Space::global && m.nc && m.vector_width == 4; }},
        {"ld.volatile.shared.u32 %r1, [%r2];", Opcode::ld, Type::u32, Type::none, 1,
         [](M m) { return m.space == Space::shared && m.semantics == MemorySemantics::volatile_; }},
        {"ld.acquire.gpu.global.u32 %r1, [%rd2];", Opcode::ld, Type::u32, Type::none, 1,
         [](M m) { return m.semantics == MemorySemantics::acquire && m.scope == Scope::gpu; }},
        {"ld.const.f32 %f1, [%rd1];", Opcode::ld, Type::f32, Type::none, 1,
         [](M m) { return m.space == Space::constant; }},
        {"ld.param::entry.b32 %r1, [n];", Opcode::ld, Type::b32, Type::none, 1,
         [](M m) { return m.space == Space::param; }},
        {"ld.global.L1::no_allocate.L2::128B.cs.b32 %r1, [%rd1];", Opcode::ld, Type::b32, Type::none, 1,
         [](M m) { return m.cache == CacheOp::cs; }},
        {"ld.shared::cluster.u32 %r1, [%r2];", Opcode::ld, Type::u32, Type::none, 1,
         [](M m) { return m.space == Space::shared_cluster; }},
        {"ld.u32 %r1, [%rd1];", Opcode::ld, Type::u32, Type::none, 1,
         [](M m) { return m.space == Space::generic; }},
        {"st.shared::cta.v2.b64 [%r1], {%rd1, %rd2};", Opcode::st, Type::b64, Type::none, 0,
         [](M m) { return m.space == Space::shared && m.vector_width == 2; }},
        {"st.wt.global.u8 [%rd1], %rs1;", Opcode::st, Type::u8, Type::none, 0,
         [](M m) { return m.cache == CacheOp::wt; }},
        {"atom.global.add.f32 %f1, [%rd1], %f2;", Opcode::atom, Type::f32, Type::none, 1,
         [](M m) {
             return m.atomic == AtomicOp::add && m.space == Space::global && m.scope == Scope::gpu &&
                    m.semantics == MemorySemantics::relaxed;
         }},
        {"atom.acq_rel.sys.shared.cas.b64 %rd1, [%r1], %rd2, %rd3;", Opcode::atom, Type::b64, Type::none, 1,
         [](M m) {
             return m.atomic == AtomicOp::cas && m.scope == Scope::sys &&
                    m.semantics == MemorySemantics::acq_rel;
         }},
        {"atom.global.and.b32 _, [%rd1], 7;", Opcode::atom, Type::b32, Type::none, 1,
         [](M m) { return m.atomic == AtomicOp::and_ && m.boolean_op == BooleanOp::none; }},
        {"red.global.gpu.max.s32 [%rd1], %r2;", Opcode::red, Type::s32, Type::none, 0,
         [](M m) { return m.atomic == AtomicOp::max; }},
        {"redux.sync.xor.b32 %r1, %r2, 0xffffffff;", Opcode::redux, Type::b32, Type::none, 1,
         [](M m) { return m.atomic == AtomicOp::xor_ && m.sync; }},
        {"shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;", Opcode::shfl, Type::b32, Type::none, 2,
         [](M m) { return m.shuffle == ShuffleMode::bfly && m.sync; }},
        {"shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;", Opcode::shfl, Type::b32, Type::none, 1,
         [](M m) { return m.shuffle == ShuffleMode::idx; }},
        {"vote.sync.ballot.b32 %r1, %p1, -1;", Opcode::vote, Type::b32, Type::none, 1,
         [](M m) { return m.vote == VoteMode::ballot; }},
        {"vote.sync.any.pred %p1, !%p2, -1;", Opcode::vote, Type::pred, Type::none, 1,
         [](M m) { return m.vote == VoteMode::any; }},
        {"bar.sync 0;", Opcode::bar, Type::none, Type::none, 0, [](M m) { return m.sync; }},
        {"bar.red.popc.u32 %r1, 0, !%p1;", Opcode::bar, Type::u32, Type::none, 1,
         [](M m) { return m.boolean_op == BooleanOp::popc; }},
        {"barrier.cluster.arrive.release.aligned;", Opcode::barrier, Type::none, Type::none, 0,
         [](M m) {
             return m.arrive && m.aligned && m.scope == Scope::cluster &&
                    m.semantics == MemorySemantics::release;
         }},
        {"membar.gl;", Opcode::membar, Type::none, Type::none, 0, [](M m) { return m.scope == Scope::gpu; }},
        {"fence.sc.sys;", Opcode::fence, Type::none, Type::none, 0,
         [](M m) { return m.scope == Scope::sys && m.semantics == MemorySemantics::acq_rel; }},
        {"shf.l.wrap.b32 %r1, %r2, %r3, %r4;", Opcode::shf, Type::b32, Type::none, 1,
         [](M m) { return m.left && !m.right && m.wrap; }},
        {"shf.r.clamp.b32 %r1, %r2, %r3, %r4;", Opcode::shf, Type::b32, Type::none, 1,
         [](M m) { return m.right && m.clamp; }},
        {"lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x3f, %p2;", Opcode::lop3, Type::b32, Type::none, 2,
         [](M m) { return m.boolean_op == BooleanOp::or_; }},
        {"prmt.b32.f4e %r1, %r2, %r3, %r4;", Opcode::prmt, Type::b32, Type::none, 1},
        {"bfe.u32 %r1, %r2, 4, 8;", Opcode::bfe, Type::u32, Type::none, 1},
        {"dp4a.u32.s32 %r1, %r2, %r3, %r4;", Opcode::dp4a, Type::u32, Type::s32, 1},
        {"cp.async.cg.shared.global [%r1], [%rd1], 16;", Opcode::cp, Type::none, Type::none, 0,
         [](M m) {
             return m.to_space == Space::shared && m.space == Space::global && m.cache == CacheOp::cg;
         }},
        {"cp.async.wait_group 0;", Opcode::cp, Type::none, Type::none, 0},
        {"mbarrier.init.shared.b64 [%r1], 4;", Opcode::mbarrier, Type::b64, Type::none, 0},
        {"mbarrier.arrive.shared.b64 %rd1, [%r1];", Opcode::mbarrier, Type::b64, Type::none, 1},
        {"mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2;", Opcode::mbarrier, Type::b64, Type::none, 1},
        {"elect.sync _|%p1, 0xffffffff;", Opcode::elect, Type::none, Type::none, 2},
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, "
         "{%f1,%f2,%f3,%f4};",
         Opcode::mma, Type::f32, Type::f16, 1, [](M m) { return m.sync && m.aligned; }},
        {"wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {%f1,%f2,%f3,%f4}, %r1;", Opcode::wmma,
         Type::f32, Type::none, 0},
        {"tex.2d.v4.f32.s32 {%r1,%r2,%r3,%r4}, [%rd1, {%r5, %r6}];", Opcode::tex, Type::f32, Type::s32, 1,
         [](M m) { return m.vector_width == 4; }},
        {"sust.b.2d.v4.b32.zero [%rd1, {%r5, %r6}], {%r1,%r2,%r3,%r4};", Opcode::sust, Type::b32, Type::none,
         0},
        {"activemask.b32 %r1;", Opcode::activemask, Type::b32, Type::none, 1},
        {"match.all.sync.b32 %r1|%p1, %r2, -1;", Opcode::match, Type::b32, Type::none, 2},
        {"nanosleep.u32 20;", Opcode::nanosleep, Type::u32, Type::none, 0},
        {"vadd4.u32.u32.u32 %r1, %r2, %r3, %r4;", Opcode::vadd4, Type::u32, Type::u32, 1},
        {"vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1;", Opcode::vadd, Type::u32, Type::u32, 1},
        {"vmad.s32.s32.s32 %r1, -%r2.h0, %r3, %r4;", Opcode::vmad, Type::s32, Type::s32, 1},
        // What nobody here can compute stays unknown: formats without a Type, parts of operands, new
        // instructions.
        {"cvt.rn.satfinite.e2m1x2.f32 %rs1, %f1, %f2;", Opcode::unknown, Type::none, Type::f32, 1},
        {"add.u32 %r1, %r2.b0, %r3;", Opcode::unknown, Type::u32, Type::none, 1},
        {"tcgen05.commit.cta_group::1.b64 [%rd1];", Opcode::unknown, Type::b64, Type::none, 0},
        {"frobnicate.b32 %r1, %r2, whatever;", Opcode::unknown, Type::b32, Type::none, 1},
    };
    return list;
}

TEST(Modifiers, EveryInstructionFormIsDecoded) {
    for (const ModifierCase& c : cases()) {
        SCOPED_TRACE(c.text);
        const Module module = kernel_module(c.text);
        ASSERT_EQ(module.functions.size(), 1u);
        ASSERT_EQ(module.functions[0].body.size(), 1u);
        const Instruction& i = module.functions[0].body[0];
        EXPECT_EQ(i.opcode, c.opcode) << name(i.opcode);
        EXPECT_EQ(i.type, c.type) << name(i.type);
        EXPECT_EQ(i.source_type, c.source_type) << name(i.source_type);
        EXPECT_EQ(i.destination_count, c.destinations);
        EXPECT_TRUE(c.check(i.modifiers));
        EXPECT_EQ(i.mnemonic, c.text.substr(0, c.text.find_first_of(" ;")));
        std::string joined = i.mnemonic.substr(0, i.mnemonic.find('.'));
        for (const std::string& suffix : i.suffixes) joined += "." + suffix;
        EXPECT_EQ(joined, i.mnemonic);
    }
}

TEST(Modifiers, BlanksInsideAMnemonicDoNotMatter) {
    const Module module = kernel_module("ld .global /* of floats */ .f32 %f1, [%rd1];");
    ASSERT_EQ(module.functions[0].body.size(), 1u);
    EXPECT_EQ(module.functions[0].body[0].mnemonic, "ld.global.f32");
    EXPECT_EQ(module.functions[0].body[0].modifiers.space, Space::global);
}

TEST(Names, EverySpellingIsDistinct) {
    for (unsigned i = 1; i <= static_cast<unsigned>(Opcode::xor_); ++i) {
        const auto opcode = static_cast<Opcode>(i);
        if (opcode == Opcode::bra || opcode == Opcode::brx || opcode == Opcode::call)
            continue;  // they need operands
        const Module module = kernel_module(std::string(name(opcode)) + ";");
        ASSERT_FALSE(module.functions.empty()) << name(opcode);
        EXPECT_EQ(module.functions[0].body.at(0).opcode, opcode) << name(opcode);
    }
}

}  // namespace
}  // namespace trimtab::ptx
