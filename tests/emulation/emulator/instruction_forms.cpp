// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/emulation/emulator/instruction_forms.h"

#include <fmt/format.h>

#include <sstream>

namespace trimtab::emulator::test {
namespace {

constexpr const char* integers = "u16 s16 u32 s32 u64 s64";
constexpr const char* words = "u32 s32 u64 s64";
constexpr const char* bits = "b16 b32 b64";
constexpr const char* halves = "f16 f16x2 bf16 bf16x2";
constexpr const char* reals = "f32 f64";
constexpr const char* memory = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64";

constexpr Form forms[] = {
    {"Integers", "add.$t $d, $a, $b", integers},
    {"Integers", "add.$t $d, $a, $b", "u16x2 s16x2"},
    {"Integers", "add.sat.$t $d, $a, $b", "s32"},
    {"Integers", "sub.$t $d, $a, $b", integers},
    {"Integers", "sub.sat.$t $d, $a, $b", "s32"},
    {"Integers", "mul.lo.$t $d, $a, $b", integers},
    {"Integers", "mul.hi.$t $d, $a, $b", integers},
    {"Integers", "mul.wide.$t $D, $a, $b", "u16 s16 u32 s32"},
    {"Integers", "mad.lo.$t $d, $a, $b, $c", integers},
    {"Integers", "mad.hi.$t $d, $a, $b, $c", integers},
    {"Integers", "mad.wide.$t $D, $a, $b, $D", "u16 s16 u32 s32"},
    {"Integers", "mad.hi.sat.$t $d, $a, $b, $c", "s32"},
    {"Integers", "mul24.lo.$t $d, $a, $b", "u32 s32"},
    {"Integers", "mul24.hi.$t $d, $a, $b", "u32 s32"},
    {"Integers", "mad24.lo.$t $d, $a, $b, $c", "u32 s32"},
    {"Integers", "mad24.hi.$t $d, $a, $b, $c", "u32 s32"},
    {"Integers", "mad24.hi.sat.$t $d, $a, $b, $c", "s32"},
    {"Integers", "sad.$t $d, $a, $b, $c", integers},
    {"Integers", "div.$t $d, $a, $b", integers},
    {"Integers", "rem.$t $d, $a, $b", integers},
    {"Integers", "abs.$t $d, $a", "s16 s32 s64"},
    {"Integers", "neg.$t $d, $a", "s16 s32 s64"},
    {"Integers", "min.$t $d, $a, $b", integers},
    {"Integers", "max.$t $d, $a, $b", integers},
    {"Integers", "min.$t $d, $a, $b", "u16x2 s16x2"},
    {"Integers", "max.$t $d, $a, $b", "u16x2 s16x2"},
    {"Integers", "min.relu.$t $d, $a, $b", "s16x2 s32"},
    {"Integers", "max.relu.$t $d, $a, $b", "s16x2 s32"},
    {"Integers", "dp4a.$t.$t $d, $a, $b, $c", "u32 s32"},
    {"Integers", "dp2a.lo.$t.$t $d, $a, $b, $c", "u32 s32"},
    {"Integers", "dp2a.hi.$t.$t $d, $a, $b, $c", "u32 s32"},
    {"Integers", "add.cc.$t $d, $a, $b", words},
    {"Integers", "addc.cc.$t $d, $a, $b", words},
    {"Integers", "sub.cc.$t $d, $a, $b", words},
    {"Integers", "subc.$t $d, $a, $b", words},
    {"Integers", "mad.lo.cc.$t $d, $a, $b, $c", words},
    {"Integers", "madc.hi.cc.$t $d, $a, $b, $c", words},
    {"Bits", "and.$t $d, $a, $b", bits},
    {"Bits", "or.$t $d, $a, $b", bits},
    {"Bits", "xor.$t $d, $a, $b", bits},
    {"Bits", "not.$t $d, $a", bits},
    {"Bits", "cnot.$t $d, $a", bits},
    {"Bits", "and.pred $p, $p, $P", ""},
    {"Bits", "or.pred $p, $p, $P", ""},
    {"Bits", "xor.pred $p, $p, $P", ""},
    {"Bits", "not.pred $p, $P", ""},
    {"Bits", "shl.$t $d, $a, $w", bits},
    {"Bits", "shr.$t $d, $a, $w", "b16 b32 b64 u16 s16 u32 s32 u64 s64"},
    {"Bits", "shf.l.wrap.$t $d, $a, $b, $c", "b32"},
    {"Bits", "shf.r.clamp.$t $d, $a, $b, $c", "b32"},
    {"Bits", "lop3.$t $d, $a, $b, $c, 0x96", "b32"},
    {"Bits", "lop3.or.$t $d|$p, $a, $b, $c, 0x96, $P", "b32"},
    {"Bits", "popc.$t $w, $a", "b32 b64"},
    {"Bits", "clz.$t $w, $a", "b32 b64"},
    {"Bits", "bfind.$t $w, $a", words},
    {"Bits", "bfind.shiftamt.$t $w, $a", words},
    {"Bits", "fns.$t $d, $a, $b, $c", "b32"},
    {"Bits", "brev.$t $d, $a", "b32 b64"},
    {"Bits", "bfe.$t $d, $a, $w, $w", words},
    {"Bits", "bfi.$t $d, $a, $b, $w, $w", "b32 b64"},
    {"Bits", "bmsk.clamp.$t $d, $a, $b", "b32"},
    {"Bits", "szext.wrap.$t $d, $a, $b", "u32 s32"},
    {"Bits", "prmt.$t $d, $a, $b, $c", "b32"},
    {"Bits", "prmt.b32.$t $w, $w, $w, $w", "f4e b4e rc8 ecl ecr rc16"},
    {"Reals", "add.$t $d, $a, $b", reals},
    {"Reals", "sub.rz.$t $d, $a, $b", reals},
    {"Reals", "mul.rm.$t $d, $a, $b", reals},
    {"Reals", "fma.rp.$t $d, $a, $b, $c", reals},
    {"Reals", "fma.rn.ftz.sat.$t $d, $a, $b, $c", "f32"},
    {"Reals", "div.rn.$t $d, $a, $b", reals},
    {"Reals", "div.rz.$t $d, $a, $b", reals},
    {"Reals", "div.approx.ftz.$t $d, $a, $b", "f32"},
    {"Reals", "div.full.$t $d, $a, $b", "f32"},
    {"Reals", "rcp.rn.$t $d, $a", reals},
    {"Reals", "rcp.rp.$t $d, $a", reals},
    {"Reals", "rcp.approx.ftz.$t $d, $a", reals},
    {"Reals", "sqrt.rn.$t $d, $a", reals},
    {"Reals", "sqrt.rm.$t $d, $a", reals},
    {"Reals", "sqrt.approx.$t $d, $a", "f32"},
    {"Reals", "rsqrt.approx.$t $d, $a", reals},
    {"Reals", "rsqrt.approx.ftz.$t $d, $a", "f64"},
    {"Reals", "sin.approx.$t $d, $a", "f32"},
    {"Reals", "cos.approx.ftz.$t $d, $a", "f32"},
    {"Reals", "lg2.approx.$t $d, $a", "f32"},
    {"Reals", "ex2.approx.ftz.$t $d, $a", "f32"},
    {"Reals", "tanh.approx.$t $d, $a", "f32"},
    {"Reals", "abs.$t $d, $a", reals},
    {"Reals", "neg.$t $d, $a", reals},
    {"Reals", "min.$t $d, $a, $b", reals},
    {"Reals", "max.NaN.xorsign.abs.$t $d, $a, $b", "f32"},
    {"Reals", "min.$t $d, $a, $b, $c", "f32"},
    {"Reals", "copysign.$t $d, $a, $b", reals},
    {"Reals", "testp.subnormal.$t $p, $a", reals},
    {"Reals", "add.rn.$t $d, $a, $b", "f32x2"},
    {"Reals", "sub.rz.$t $d, $a, $b", "f32x2"},
    {"Reals", "mul.rn.ftz.$t $d, $a, $b", "f32x2"},
    {"Reals", "fma.rn.$t $d, $a, $b, $c", "f32x2"},
    {"Halves", "add.$t $d, $a, $b", halves},
    {"Halves", "sub.$t $d, $a, $b", halves},
    {"Halves", "mul.$t $d, $a, $b", halves},
    {"Halves", "fma.rn.$t $d, $a, $b, $c", halves},
    {"Halves", "fma.rn.relu.$t $d, $a, $b, $c", halves},
    {"Halves", "add.ftz.sat.$t $d, $a, $b", "f16 f16x2"},
    {"Halves", "neg.$t $d, $a", halves},
    {"Halves", "abs.$t $d, $a", halves},
    {"Halves", "min.$t $d, $a, $b", halves},
    {"Halves", "max.NaN.$t $d, $a, $b", halves},
    {"Halves", "ex2.approx.$t $d, $a", "f16 f16x2"},
    {"Halves", "ex2.approx.ftz.$t $d, $a", "bf16 bf16x2"},
    {"Halves", "tanh.approx.$t $d, $a", halves},
    {"Comparisons", "setp.lt.and.$t $p|$P, $a, $b, $P",
     "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f32 f64"},
    {"Comparisons", "setp.ltu.$t $p|$P, $a, $b", "f16x2 bf16x2"},
    {"Comparisons", "set.gt.u32.$t $w, $a, $b", "u16 u32 u64 s16 s32 s64 f16 bf16 f32 f64 f16x2 bf16x2"},
    {"Comparisons", "set.eq.f32.$t $w, $a, $b", "s32 f32 f64"},
    {"Comparisons", "set.le.$t.$t $d, $a, $b", "f16 bf16 f16x2 bf16x2"},
    {"Comparisons", "set.eq.and.u32.$t $w, $a, $b, $P", "s32 f32"},
    {"Comparisons", "selp.$t $d, $a, $b, $p", "b16 b32 b64 f32 f64"},
    {"Comparisons", "slct.$t.s32 $d, $a, $b, $w", "b16 b32 b64 f32 f64"},
    {"Comparisons", "slct.$t.f32 $d, $a, $b, $w", "b16 b32 b64 f32 f64"},
    {"Conversions", "cvt.rn.f32.$t $w, $a", "u16 s16 u32 s32 u64 s64 f64"},
    {"Conversions", "cvt.f32.$t $w, $a", "f16 bf16"},
    {"Conversions", "cvt.rp.f64.$t $l, $a", "u64 s64"},
    {"Conversions", "cvt.rzi.s32.$t $w, $a", "f16 bf16 f32 f64"},
    {"Conversions", "cvt.rni.sat.u64.$t $l, $a", "f16 f32 f64"},
    {"Conversions", "cvt.s64.$t $l, $a", integers},
    {"Conversions", "cvt.sat.s8.$t $h, $a", integers},
    {"Conversions", "cvt.rn.$t.f32 $d, $w", "f16 bf16"},
    {"Conversions", "cvt.rz.relu.$t.f32 $d, $w, $w", "f16x2 bf16x2"},
    {"Conversions", "cvt.rna.$t.f32 $d, $w", "tf32"},
    {"Conversions", "cvt.rn.satfinite.$t.f32 $d, $w, $w", "e4m3x2 e5m2x2"},
    {"Conversions", "cvt.rn.satfinite.$t.f16x2 $d, $w", "e4m3x2 e5m2x2"},
    {"Conversions", "cvt.rn.f16x2.$t $w, $a", "e4m3x2 e5m2x2"},
    {"Conversions", "cvt.rn.satfinite.e2m1x2.f32 $h, $w, $w", ""},
    {"Conversions", "cvt.pack.sat.$t.s32.b32 $w, $w, $w, $w", "u8 s8"},
    {"Conversions", "cvt.pack.sat.$t.s32 $w, $w, $w", "u16 s16"},
    {"Moves and memory", "mov.$t $d, $a", "b16 b32 b64 b128 f32 f64"},
    {"Moves and memory", "mov.b64 $l, {$w, $w}", ""},
    {"Moves and memory", "mov.b32 {$h, $h}, $w", ""},
    {"Moves and memory", "mov.b128 {$l, $l}, $q", ""},
    {"Moves and memory", "cvta.to.$t.u64 $l, $l", "global shared local const param"},
    {"Moves and memory", "isspacep.$t $p, $l", "global shared shared::cluster local const param"},
    {"Moves and memory", "ld.global.$t $d, [$G]", memory},
    {"Moves and memory", "ld.global.nc.L1::no_allocate.v4.$t {$d, $a, $b, $c}, [$G]", "u8 u16 b32 f32"},
    {"Moves and memory", "ld.global.$t $q, [$G]", "b128"},
    {"Moves and memory", "ld.volatile.shared.$t $d, [$S]", memory},
    {"Moves and memory", "ld.acquire.gpu.$t $d, [$G]", "u32 u64"},
    {"Moves and memory", "ld.relaxed.sys.global.$t $d, [$G]", "u16 u32 u64"},
    {"Moves and memory", "ldu.global.$t $d, [$G]", "u32 f64"},
    {"Moves and memory", "ld.global.L2::cache_hint.$t $d, [$G], $l", "u32"},
    {"Moves and memory", "st.global.$t [$G], $a", memory},
    {"Moves and memory", "st.cs.global.v2.$t [$G], {$a, $b}", "u8 u32 u64 f32 f64"},
    {"Moves and memory", "st.release.cta.shared.$t [$S], $a", "u32 u64"},
    {"Moves and memory", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.$t [$S], $a, [$S]",
     "b32"},
    {"Moves and memory", "prefetch.global.L2 [$G]", ""},
    {"Moves and memory", "prefetchu.L1 [$G]", ""},
    {"Moves and memory", "discard.global.L2 [$G], 128", ""},
    {"Moves and memory", "applypriority.global.L2::evict_normal [$G], 128", ""},
    {"Moves and memory", "createpolicy.fractional.L2::evict_last.b64 $l, 0f3F800000", ""},
    {"Moves and memory", "mapa.shared::cluster.u32 $w, $w, $w", ""},
    {"Moves and memory", "getctarank.shared::cluster.u32 $w, $w", ""},
    {"Moves and memory", "alloca.u64 $l, $l, 16", ""},
    {"Moves and memory", "stacksave.u64 $l", ""},
    {"Moves and memory", "stackrestore.u64 $l", ""},
    {"Moves and memory", "multimem.ld_reduce.relaxed.gpu.global.add.u32 $w, [$G]", ""},
    {"Atomics", "atom.global.add.$t $d, [$G], $a", "u32 s32 u64 f32 f64"},
    {"Atomics", "atom.add.noftz.$t $d, [$G], $a", "f16 f16x2 bf16 bf16x2"},
    {"Atomics", "atom.shared.min.$t $d, [$S], $a", words},
    {"Atomics", "atom.global.max.$t $d, [$G], $a", words},
    {"Atomics", "atom.global.and.$t $d, [$G], $a", "b32 b64"},
    {"Atomics", "atom.global.xor.$t $d, [$G], $a", "b32 b64"},
    {"Atomics", "atom.global.inc.$t $d, [$G], $a", "u32"},
    {"Atomics", "atom.shared.dec.$t $d, [$S], $a", "u32"},
    {"Atomics", "atom.acq_rel.sys.global.exch.$t $d, [$G], $a", "b32 b64 b128"},
    {"Atomics", "atom.relaxed.cta.cas.$t $d, [$G], $a, $b", "b16 b32 b64 b128"},
    {"Atomics", "red.gpu.global.or.$t [$G], $a", "b32 b64"},
    {"Atomics", "red.global.add.v4.$t [$G], {$a, $b, $c, $a}", "f32"},
    {"Atomics", "red.global.v2.$t.max.noftz [$G], {$a, $b}", "f16 bf16 f16x2 bf16x2"},
    {"Fences and barriers", "membar.$t", "cta gl sys"},
    {"Fences and barriers", "fence.$t", "sc.gpu acq_rel.cta proxy.async mbarrier_init.release.cluster"},
    {"Fences and barriers", "bar.sync $w, $w", ""},
    {"Fences and barriers", "bar.arrive $w, $w", ""},
    {"Fences and barriers", "barrier.sync.aligned 0", ""},
    {"Fences and barriers", "bar.red.popc.u32 $w, 0, $p", ""},
    {"Fences and barriers", "bar.red.and.pred $p, 0, $P", ""},
    {"Fences and barriers", "bar.warp.sync $w", ""},
    {"Fences and barriers", "barrier.cluster.arrive", ""},
    {"Fences and barriers", "barrier.cluster.wait", ""},
    {"Fences and barriers", "mbarrier.init.shared.b64 [$S], $w", ""},
    {"Fences and barriers", "mbarrier.inval.shared.b64 [$S]", ""},
    {"Fences and barriers", "mbarrier.arrive.shared.b64 $l, [$S]", ""},
    {"Fences and barriers", "mbarrier.arrive_drop.shared.b64 $l, [$S], $w", ""},
    {"Fences and barriers", "mbarrier.arrive.expect_tx.shared.b64 $l, [$S], $w", ""},
    {"Fences and barriers", "mbarrier.expect_tx.relaxed.cta.shared.b64 [$S], $w", ""},
    {"Fences and barriers", "mbarrier.complete_tx.relaxed.cta.shared.b64 [$S], $w", ""},
    {"Fences and barriers", "mbarrier.test_wait.shared.b64 $p, [$S], $l", ""},
    {"Fences and barriers", "mbarrier.try_wait.parity.shared.b64 $p, [$S], $w", ""},
    {"Fences and barriers", "mbarrier.pending_count.b64 $w, $l", ""},
    {"Fences and barriers", "griddepcontrol.$t", "wait launch_dependents"},
    {"Asynchronous copies", "cp.async.ca.shared.global [$S], [$G], 8", ""},
    {"Asynchronous copies", "cp.async.cg.shared.global [$S], [$G], 16, $w", ""},
    {"Asynchronous copies", "cp.async.$t", "commit_group wait_all"},
    {"Asynchronous copies", "cp.async.wait_group 1", ""},
    {"Asynchronous copies", "cp.async.mbarrier.arrive.noinc.shared.b64 [$S]", ""},
    {"Asynchronous copies",
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$S], [$G], $w, [$S]", ""},
    {"Asynchronous copies", "cp.async.bulk.global.shared::cta.bulk_group [$G], [$S], $w", ""},
    {"Asynchronous copies", "cp.async.bulk.wait_group.read 0", ""},
    {"Asynchronous copies",
     "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$S], [$G, {$w, $w}], [$S]",
     ""},
    {"Asynchronous copies", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [$G], [$S], $w", ""},
    {"Lanes", "shfl.sync.$t.b32 $w|$p, $w, $w, $w, $w", "up down bfly idx"},
    {"Lanes", "shfl.$t.b32 $w, $w, $w, $w", "up down bfly idx"},
    {"Lanes", "vote.sync.$t.pred $p, $P, $w", "all any uni"},
    {"Lanes", "vote.sync.ballot.b32 $w, $p, $w", ""},
    {"Lanes", "match.any.sync.$t $w, $a, $w", "b32 b64"},
    {"Lanes", "match.all.sync.$t $w|$p, $a, $w", "b32 b64"},
    {"Lanes", "activemask.b32 $w", ""},
    {"Lanes", "redux.sync.$t $w, $w, $w", "add.s32 min.u32 max.s32 and.b32 or.b32 xor.b32"},
    {"Lanes", "redux.sync.min.abs.NaN.f32 $w, $w, $w", ""},
    {"Lanes", "elect.sync $w|$p, $w", ""},
    {"Matrices",
     "wmma.load.a.sync.aligned.row.m16n16k16.global.$t {$w, $w, $w, $w, $w, $w, $w, $w}, [$G], $w", "f16"},
    {"Matrices", "wmma.load.b.sync.aligned.col.m16n16k16.shared.$t {$w, $w, $w, $w}, [$S], $w", "bf16"},
    {"Matrices", "wmma.load.a.sync.aligned.row.m8n8k32.global.$t {$w}, [$G], $w", "s4 u4"},
    {"Matrices",
     "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {$w, $w, $w, $w, $w, $w, $w, $w}, {$w, $w, "
     "$w, $w}, {$w, $w, $w, $w}, {$w, $w, $w, $w, $w, $w, $w, $w}",
     ""},
    {"Matrices",
     "wmma.mma.sync.aligned.row.col.m16n16k16.s32.$t.$t.s32 {$w, $w, $w, $w, $w, $w, $w, $w}, {$w, $w}, {$w, "
     "$w}, {$w, $w, $w, $w, $w, $w, $w, $w}",
     "s8 u8"},
    {"Matrices",
     "wmma.store.d.sync.aligned.col.m16n16k16.global.$t [$G], {$w, $w, $w, $w, $w, $w, $w, $w}, $w",
     "f32 s32"},
    {"Matrices",
     "mma.sync.aligned.m16n8k16.row.col.f32.$t.$t.f32 {$w, $w, $w, $w}, {$w, $w, $w, $w}, {$w, $w}, {$w, $w, "
     "$w, $w}",
     "f16 bf16"},
    {"Matrices",
     "mma.sync.aligned.m16n8k32.row.col.f32.$t.$t.f32 {$w, $w, $w, $w}, {$w, $w, $w, $w}, {$w, $w}, {$w, $w, "
     "$w, $w}",
     "e4m3 e5m2"},
    {"Matrices",
     "mma.sync.aligned.m16n8k64.row.col.satfinite.s32.$t.$t.s32 {$w, $w, $w, $w}, {$w, $w, $w, $w}, {$w, "
     "$w}, {$w, $w, $w, $w}",
     "s4 u4"},
    {"Matrices",
     "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.$t.popc {$w, $w, $w, $w}, {$w, $w, $w, $w}, {$w, $w}, "
     "{$w, $w, $w, $w}",
     "xor and"},
    {"Matrices", "mma.sync.aligned.m8n8k4.row.col.$t.$t.$t.$t {$l, $l}, {$l}, {$l}, {$l, $l}", "f64"},
    {"Matrices",
     "mma.sync.aligned.m8n8k4.row.col.f32.$t.$t.f32 {$w, $w, $w, $w, $w, $w, $w, $w}, {$w, $w}, {$w, $w}, "
     "{$w, $w, $w, $w, $w, $w, $w, $w}",
     "f16"},
    {"Matrices",
     "mma.sp.sync.aligned.m16n8k16.row.col.f32.$t.$t.f32 {$w, $w, $w, $w}, {$w, $w}, {$w, $w}, {$w, $w, $w, "
     "$w}, $w, 0x0",
     "f16"},
    {"Matrices", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {$w, $w, $w, $w}, [$S]", ""},
    {"Matrices", "stmatrix.sync.aligned.m8n8.x2.shared.b16 [$S], {$w, $w}", ""},
    {"Matrices", "movmatrix.sync.aligned.m8n8.trans.b16 $w, $w", ""},
    {"Matrices", "wgmma.fence.sync.aligned", ""},
    {"Textures and surfaces", "tex.1d.v4.$t.s32 {$w, $w, $w, $w}, [$l, {$w}]", "f32 s32 u32"},
    {"Textures and surfaces", "tex.2d.v4.$t.f32 {$w, $w, $w, $w}, [$l, {$w, $w}]", "f32 s32 u32"},
    {"Textures and surfaces", "tex.$t.v4.f32.f32 {$w, $w, $w, $w}, [$l, {$w, $w, $w, $w}]",
     "3d a2d cube acube"},
    {"Textures and surfaces", "tex.level.2d.v4.f32.f32 {$w, $w, $w, $w}, [$l, {$w, $w}], $w", ""},
    {"Textures and surfaces", "tex.grad.2d.v4.f32.f32 {$w, $w, $w, $w}, [$l, {$w, $w}], {$w, $w}, {$w, $w}",
     ""},
    {"Textures and surfaces", "tld4.$t.2d.v4.f32.f32 {$w, $w, $w, $w}, [$l, {$w, $w}]", "r g b a"},
    {"Textures and surfaces", "txq.$t.b32 $w, [$l]",
     "width height depth num_mipmap_levels normalized_coords channel_order"},
    {"Textures and surfaces", "suld.b.2d.v4.$t.clamp {$d, $a, $b, $c}, [$l, {$w, $w}]", "b8 b16 b32"},
    {"Textures and surfaces", "suld.b.$t.b32.zero $w, [$l, {$w, $w, $w, $w}]", "3d a2d"},
    {"Textures and surfaces", "sust.b.2d.$t.trap [$l, {$w, $w}], {$a}", "b8 b16 b32 b64"},
    {"Textures and surfaces", "sust.p.2d.b32.trap [$l, {$w, $w}], {$w}", ""},
    {"Textures and surfaces", "sured.b.add.2d.u32.trap [$l, {$w, $w}], $w", ""},
    {"Textures and surfaces", "suq.$t.b32 $w, [$l]", "width height"},
    {"Video", "vadd.s32.u32.s32.sat $w.b0, $w.h1, $w, $w", ""},
    {"Video", "v$t.u32.u32.u32.add $w, $w.b1, $w.b2, $w", "add sub absdiff min max"},
    {"Video", "v$t.u32.u32.u32.clamp $w, $w, $w", "shl shr"},
    {"Video", "vmad.s32.s32.s32.shr15 $w, $w.h0, $w.h1, -$w", ""},
    {"Video", "vset.s32.u32.ge $w, $w, $w", ""},
    {"Video", "v$t2.s32.s32.s32.sat $w, $w, $w, $w", "add sub avrg absdiff min max"},
    {"Video", "v$t4.u32.u32.u32.add $w, $w, $w, $w", "add sub avrg absdiff min max"},
    {"Video", "vset$t.u32.u32.ne $w, $w, $w, $w", "2 4"},
    {"The rest", "nanosleep.u32 100", ""},
    {"The rest", "pmevent 1", ""},
    {"The rest", "setmaxnreg.inc.sync.aligned.u32 128", ""},
    {"The rest", "trap", ""},
    {"The rest", "brkpt", ""},
    {"The rest", "exit", ""},
    {"The rest", "mov.u32 $w, %$t",
     "tid.x ctaid.y nctaid.z laneid warpid nwarpid smid nsmid lanemask_lt clock clock_hi globaltimer_lo "
     "dynamic_smem_size total_smem_size aggr_smem_size cluster_ctarank cluster_nctaid.x pm0 envreg3"},
    {"The rest", "mov.u64 $l, %$t", "clock64 globaltimer gridid"},
};

}  // namespace

std::span<const Form> instruction_forms() {
    return forms;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> out;
    std::stringstream stream(text);
    for (std::string word; stream >> word;) out.push_back(word);
    if (out.empty()) out.emplace_back();
    return out;
}

namespace {

unsigned width_of(const std::string& type) {
    if (type == "f32x2") return 64;
    if (type.ends_with("x2")) return type.starts_with("e") ? 16 : 32;
    const std::size_t digits = type.find_first_of("0123456789");
    if (digits == std::string::npos || type == "tf32") return 32;
    if (type.starts_with("bf")) return 16;
    const unsigned width = static_cast<unsigned>(std::stoul(type.substr(digits)));
    return width == 8 ? 16 : width == 16 || width == 64 || width == 128 ? width : 32;
}

}  // namespace

std::string instantiated(const std::string& text, const std::string& type) {
    const unsigned width = width_of(type);
    std::string out;
    unsigned turn = 0;
    for (std::size_t i = 0; i < text.size(); i++) {
        if (text[i] != '$') {
            out += text[i];
            continue;
        }
        const char what = text[++i];
        switch (what) {
            case 't':
                out += type;
                break;
            case 'D':
                out += fmt::format("%x{}_4", 2 * width);
                break;
            case 'h':
                out += fmt::format("%x16_{}", turn++ % 8);
                break;
            case 'w':
                out += fmt::format("%x32_{}", turn++ % 16);
                break;
            case 'l':
                out += fmt::format("%x64_{}", turn++ % 8);
                break;
            case 'q':
                out += "%x128_0";
                break;
            case 'p':
                out += "%p0";
                break;
            case 'P':
                out += "%p1";
                break;
            case 'G':
                out += "%x64_7";
                break;
            case 'S':
                out += "%x32_15";
                break;
            default:
                out += fmt::format("%x{}_{}", width, what == 'd' ? 0 : what - 'a' + 1);
                break;
        }
    }
    return out;
}

}  // namespace trimtab::emulator::test
