// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/emulation/emulator/jit/random_kernel.h"

#include <fmt/format.h>

#include <random>

namespace trimtab::emulator::test {
namespace {

constexpr unsigned integers = 10, reals = 4, predicates = 4, wides = 2;

class Writer {
  public:
    explicit Writer(std::uint32_t seed) : random_(seed) {}

    std::string kernel(unsigned count) {
        text_ =
            ".version 7.8\n.target sm_75\n.address_size 64\n"
            ".visible .entry random(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"
            ".reg .pred %p<4>, %t<2000>;\n.reg .b32 %r<10>, %c<2000>;\n.reg .f32 %f<4>;\n.reg .b64 %d<2>, "
            "%a<9>;\n"
            ".shared .align 4 .b8 tile[4096];\n"
            "ld.param.u64 %a0, [out];\nld.param.u64 %a1, [in];\nld.param.u32 %r0, [n];\n"
            "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %laneid;\n"
            "mov.u32 %c0, %ntid.x;\nmad.lo.s32 %c1, %r2, %c0, %r1;\n"  // thread in the block
            "shl.b32 %c2, %c1, 2;\nmov.u32 %c3, tile;\nadd.s32 %c2, %c3, %c2;\n"
            "mov.u32 %c4, %ntid.y;\nmul.lo.s32 %c5, %c0, %c4;\nmad.lo.s32 %c6, %r3, %c5, %c1;\n"
            "mov.u32 %r5, 5;\nadd.s32 %r6, %r1, %r2;\nmov.u32 %r7, %c6;\nxor.b32 %r8, %r1, %r3;\n"
            "mad.lo.s32 %r9, %r2, %r0, %r1;\n"
            "cvt.rn.f32.s32 %f0, %r1;\nmov.f32 %f1, 0f3F800000;\ncvt.rn.f32.u32 %f2, %r7;\nmov.f32 %f3, "
            "0fBF000000;\n"
            "cvt.u64.u32 %d0, %r1;\ncvt.s64.s32 %d1, %r9;\n"
            "setp.lt.s32 %p0, %r1, 7;\nsetp.eq.s32 %p1, %r3, 1;\nsetp.ne.s32 %p2, %r2, 0;\nsetp.gt.u32 %p3, "
            "%r4, 20;\n"
            "st.shared.u32 [%c2], %r7;\nbar.sync 0;\n";
        next_count_ = 10;
        statements(count, 3, true);
        finish();
        return text_;
    }

  private:
    unsigned pick(unsigned n) { return static_cast<unsigned>(random_() % n); }
    std::string r() { return fmt::format("%r{}", pick(integers)); }
    std::string f() { return fmt::format("%f{}", pick(reals)); }
    std::string d() { return fmt::format("%d{}", pick(wides)); }
    std::string p() { return fmt::format("%p{}", pick(predicates)); }
    std::string r_or_literal() {
        return pick(3) == 0 ? fmt::format("{}", static_cast<int>(pick(64)) - 16) : r();
    }
    std::string guard() { return pick(6) == 0 ? fmt::format("@{}{} ", pick(2) == 0 ? "!" : "", p()) : ""; }
    template <class... A>
    void line(fmt::format_string<A...> form, A&&... arguments) {
        text_ += fmt::format(form, std::forward<A>(arguments)...) + "\n";
    }

    void arithmetic() {
        constexpr const char* binary[] = {"add.s32", "sub.s32", "mul.lo.s32", "min.s32",    "max.u32",
                                          "and.b32", "or.b32",  "xor.b32",    "mul.hi.u32", "rem.u32",
                                          "div.s32", "shl.b32", "shr.s32",    "shr.u32",    "mul.hi.s32"};
        constexpr const char* real[] = {"add.f32", "sub.f32",    "mul.f32",     "min.f32",
                                        "max.f32", "div.rn.f32", "add.ftz.f32", "mul.rz.f32"};
        constexpr const char* compare[] = {"eq.s32", "lt.u32", "ge.s32", "ne.s32", "lt.s32"};
        switch (pick(18)) {
            case 0:
            case 1:
            case 2:
            case 3:
            case 4:
                line("{}{} {}, {}, {};", guard(), binary[pick(15)], r(), r(), r_or_literal());
                break;
            case 5:
                line("{}mad.lo.s32 {}, {}, {}, {};", guard(), r(), r(), r_or_literal(), r());
                break;
            case 6:
                line("{}{} {}, {}, {};", guard(), real[pick(8)], f(), f(), f());
                break;
            case 7:
                line("{}fma.rn.f32 {}, {}, {}, {};", guard(), f(), f(), f(), f());
                break;
            case 8:
                line("setp.{} {}, {}, {};", compare[pick(5)], p(), r(), r_or_literal());
                break;
            case 9:
                line("setp.{}.and.s32 {}|{}, {}, {}, {};", pick(2) == 0 ? "lt" : "ne", p(), p(), r(), r(),
                     p());
                break;
            case 10:
                line("selp.b32 {}, {}, {}, {};", r(), r(), r_or_literal(), p());
                break;
            case 11:
                line("{}mul.wide.{} {}, {}, {};", guard(), pick(2) == 0 ? "s32" : "u32", d(), r(), pick(9));
                break;
            case 12:
                line("add.s64 {}, {}, {};\ncvt.u32.u64 {}, {};", d(), d(), d(), r(), d());
                break;
            case 13:
                line("cvt.rzi.s32.f32 {}, {};\ncvt.rn.f32.s32 {}, {};", r(), f(), f(), r());
                break;
            case 14:
                line("setp.gt.f32 {}, {}, {};\nneg.f32 {}, {};", p(), f(), f(), f(), f());
                break;
            case 15:
                line("popc.b32 {}, {};\nbfe.u32 {}, {}, {}, {};", r(), r(), r(), r(), pick(20), pick(12));
                break;
            case 16:
                line("{}mov.b32 {}, {};\nmov.b32 {}, {};", guard(), f(), r(), r(), f());
                break;
            default:
                line("shf.l.wrap.b32 {}, {}, {}, {};\nprmt.b32 {}, {}, {}, 0x3120;", r(), r(), r(), r(), r(),
                     r(), r());
                break;
        }
    }

    unsigned fresh() { return next_count_++; }

    void memory() {
        const unsigned c = fresh();
        switch (pick(6)) {
            case 0:  // anywhere in the input
                line("and.b32 %c{0}, {1}, 4095;\nmul.wide.u32 %a2, %c{0}, 4;\nadd.s64 %a2, %a1, %a2;", c,
                     r());
                line("{}ld.global.u32 {}, [%a2];", guard(), r());
                break;
            case 1:  // the same for all, or one behind the other
                line("and.b32 %c{0}, %r{1}, 63;\nadd.s32 %c{0}, %c{0}, %r{2};\nand.b32 %c{0}, %c{0}, 4095;",
                     c, pick(2) == 0 ? 3 : 5, pick(2) == 0 ? 1 : 3);
                line("mul.wide.s32 %a2, %c{}, 4;\nadd.s64 %a2, %a1, %a2;\nld.global.nc.u32 {}, [%a2];", c,
                     r());
                break;
            case 2:
                line(
                    "mul.wide.u32 %a2, %c1, 8;\nadd.s64 %a2, %a1, %a2;\nld.global.v2.u32 {{{}, {}}}, "
                    "[%a2+{}];",
                    "%r4", "%r6", 8 * pick(16));
                break;
            case 3:
                line("{}st.shared.u32 [%c2], {};", guard(), r());
                break;
            case 4:
                line("ld.shared.u32 {}, [%c2];", r());
                break;
            default:
                line("ld.shared.u32 {}, [tile+{}];\nld.global.u16 %c{}, [%a1+{}];\nadd.s32 {}, {}, %c{};",
                     r(), 0, c, 2 * pick(100), r(), r(), c);
                break;
        }
    }

    void collective() {
        const unsigned c = fresh();
        // All lanes of the warp are here: the first eight at least. Those that are not there have no value.
        switch (pick(4)) {
            case 0:
                line("shfl.sync.bfly.b32 {}, {}, {}, 31, -1;", r(), r(), 1 + pick(7));
                break;
            case 1:
                line("shfl.sync.down.b32 {}|{}, {}, {}, 0x1807, -1;", r(), p(), r(), 1 + pick(8));
                break;
            case 2:
                line("vote.sync.ballot.b32 {}, {}, -1;", r(), p());
                break;
            default:
                line(
                    "bar.sync 0;\nst.shared.u32 [%c2], {};\nbar.sync 0;\nld.shared.u32 %c{}, "
                    "[tile+{}];\nadd.s32 {}, {}, "
                    "%c{};\nbar.sync 0;",
                    r(), c, 4 * pick(32), r(), r(), c);
                break;
        }
    }

    // `together`: all threads of the block are.
    void statements(unsigned count, unsigned depth, bool together) {
        for (unsigned i = 0; i < count; i++) {
            const unsigned kind = pick(12);
            if (kind < 6) {
                for (unsigned n = 1 + pick(4); n > 0; n--) arithmetic();
            } else if (kind < 8) {
                memory();
            } else if (kind == 8 && together) {
                collective();
            } else if (depth > 0 && kind < 11) {
                branch(depth);
            } else if (depth > 0) {
                loop(depth, together);
            }
        }
    }

    void branch(unsigned depth) {
        const unsigned label = next_label_++;
        line("@{}{} bra L{}_else;", pick(2) == 0 ? "!" : "", p(), label);
        statements(1 + pick(3), depth - 1, false);
        if (pick(2) == 0) {
            line("bra L{}_end;\nL{}_else:", label, label);
            statements(1 + pick(3), depth - 1, false);
            line("L{}_end:", label);
        } else {
            line("L{}_else:", label);
        }
    }

    void loop(unsigned depth, bool together) {
        const unsigned label = next_label_++, c = fresh(), t = next_predicate_++;
        const bool uniform = pick(2) == 0;
        if (uniform)
            line("mov.u32 %c{}, {};", c, 1 + pick(4));
        else
            line("and.b32 %c{0}, {1}, 7;\nadd.s32 %c{0}, %c{0}, 1;", c, r());
        line("L{}:", label);
        statements(1 + pick(3), depth - 1, together && uniform);
        if (!together && pick(3) == 0) line("@{} bra L{}_out;", p(), label);
        line("add.s32 %c{0}, %c{0}, -1;\nsetp.gt.s32 %t{1}, %c{0}, 0;\n@%t{1} bra L{2};\nL{2}_out:", c, t,
             label);
    }

    void finish() {
        line("mul.wide.u32 %a3, %c6, {};\nadd.s64 %a3, %a0, %a3;", 4 * random_kernel_outputs);
        for (unsigned i = 0; i < integers; i++) line("st.global.u32 [%a3+{}], %r{};", 4 * i, i);
        for (unsigned i = 0; i < reals; i++) line("st.global.f32 [%a3+{}], %f{};", 4 * (integers + i), i);
        line("st.global.u64 [%a3+{}], %d0;\nret;\n}}", 4 * (integers + reals));
    }

    std::mt19937 random_;
    std::string text_;
    unsigned next_label_ = 0, next_count_ = 0, next_predicate_ = 0;
};

}  // namespace

std::string random_kernel(std::uint32_t seed, unsigned statements) {
    return Writer(seed).kernel(statements);
}

}  // namespace trimtab::emulator::test
