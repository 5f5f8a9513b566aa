// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/random_kernel.h"

#include <array>

#include "generator/kernel_parts.h"

namespace trimtab::analysis::test {
namespace {

class RandomKernel : KernelParts {
  public:
    explicit RandomKernel(Draw& draw) : KernelParts(draw) {}

    KernelText write() {
        output_ = w_.pointer();
        other_ = w_.pointer();
        table_ = w_.pointer();
        n_ = w_.size();
        m_ = w_.size();
        if (draw_.chance(40)) w_.scope().push_back(w_.size());
        w_.scope().push_back(m_);
        if (draw_.chance(25)) w_.leak(special());
        switch (draw_.below(16)) {
            case 0:
            case 1:
            case 2:
                guarded();
                break;
            case 3:
            case 4:
            case 5:
                grid_stride();
                break;
            case 6:
                vectors_and_rest();
                break;
            case 7:
                strided_plane();
                break;
            case 8:
            case 9:
                block_stride();
                break;
            case 10:
                plane();
                break;
            case 11:
                private_slots();
                break;
            case 12:
                warps();
                break;
            case 13:
                shared_table();
                break;
            case 14:
                shared_sum();
                break;
            default:
                unguarded();
        }
        w_.here("$DONE");
        return w_.kernel();
    }

  private:
    void guarded() {
        const std::string g = index('x');
        if (draw_.chance(10)) w_.scope().push_back(w_.loaded(table_, "5", true));
        leave(outside(g, n_));
        if (draw_.chance(20)) leave(outside(g, m_));
        effect(g);
        if (draw_.chance(30)) effect(g);
    }
    void unguarded() {
        const std::string g = index('x');
        if (draw_.chance(50)) w_.scope().push_back(total('x'));
        effect(g);
    }
    void plane() {
        const std::string x = index('x'), y = index('y'), flat = w_.word();
        if (draw_.chance(25)) {
            const std::string row = total('x');
            w_.put("mad.lo.s32 {}, {}, {}, {};", flat, y, row, x);
            leave(outside(flat, n_));
        } else {
            leave(outside(x, n_));
            if (draw_.chance(85)) leave(outside(y, m_));
            w_.put("mad.lo.s32 {}, {}, {}, {};", flat, y, draw_.chance(80) ? n_ : m_, x);
        }
        w_.scope().push_back(x);
        w_.scope().push_back(y);
        effect(flat);
    }

    void grid_stride() {
        const std::string g = index('x'), all = total('x');
        if (draw_.chance(20)) leave(outside(g, n_));
        if (draw_.chance(12)) return unrolled(g, all);
        if (draw_.chance(15)) return summed(g, all);
        const unsigned times = draw_.chance(40) ? 2 : 1;
        std::string before = g;
        for (unsigned t = 0; t < times; t++) {
            const std::string first = draw_.chance(92) ? g : before,
                              step = draw_.chance(95) ? all : plus(before, all);
            before = loop(first, t == 0 || draw_.chance(40) ? n_ : m_, step, [&](const std::string& i) {
                effect(i);
                if (draw_.chance(30)) effect(i);
                if (draw_.chance(6)) w_.scope().push_back(draw_.chance(50) ? g : before);
            });
        }
        if (draw_.chance(15)) {
            const std::string first = w_.truth();
            w_.put("setp.ne.s32 {}, {}, 0;", first, g);
            leave(first);
            w_.store(other_, "400", n_);
        }
    }
    // for four elements at a time, and for those that are left.
    void vectors_and_rest() {
        const std::string g = index('x'), all = total('x'), fours = w_.word(), rest = w_.word(),
                          first = w_.word();
        w_.put("shr.s32 {}, {}, 2;", fours, n_);
        w_.put("and.b32 {}, {}, -4;", rest, n_);
        w_.put("add.s32 {}, {}, {};", first, rest, g);
        loop(g, fours, all, [&](const std::string& i) {
            const std::string place = w_.word(), value = draw_.chance(70) ? i : result(i);
            w_.put("shl.b32 {}, {}, 2;", place, i);
            const std::string address = w_.element(output_, place);
            w_.put("st.global.v4.u32 [{}], {{{}, {}, {}, {}}};", address, value, i, value, n_);
        });
        loop(draw_.chance(90) ? first : g, n_, all,
             [&](const std::string& i) { w_.store(output_, i, result(i)); });
    }
    void strided_plane() {
        const std::string x = index('x'), y = index('y'), all_x = total('x'), all_y = total('y');
        const bool rows_first = draw_.chance(70);
        loop(rows_first ? y : x, rows_first ? m_ : n_, rows_first ? all_y : all_x, [&](const std::string& i) {
            loop(rows_first ? x : y, rows_first ? n_ : m_, rows_first ? all_x : all_y,
                 [&](const std::string& j) {
                     const std::string flat = w_.word();
                     w_.put("mad.lo.s32 {}, {}, {}, {};", flat, rows_first ? i : j,
                            draw_.chance(90) ? n_ : m_, rows_first ? j : i);
                     w_.scope().push_back(i);
                     effect(flat);
                     w_.scope().pop_back();
                 });
        });
    }
    // A block's sum by halves, as an atomic or as a word of its own.
    void shared_sum() {
        w_.before.emplace_back(".shared .align 4 .b8 slots[1024];");
        const std::string thread = read("tid.x"), size = read("ntid.x"), block = read("ctaid.x"),
                          g = index('x');
        const std::string own = w_.word(), half = w_.word(), outer = w_.truth(), head = w_.label(),
                          end = w_.label(), skip = w_.label(), sum = w_.word(), mine = shared_slot(thread);
        w_.put("mov.u32 {}, 0;", own);
        w_.put("@{} bra {};", outside(g, n_), skip);
        w_.put("mov.u32 {}, {};", own, w_.loaded(table_, g, true));
        w_.here(skip);
        w_.put("st.shared.u32 [{}], {};", mine, own);
        w_.put("bar.sync 0;");
        w_.put("mov.u32 {}, {};", half, size);
        w_.here(head);
        w_.put("shr.u32 {}, {}, 1;", half, half);
        w_.put("setp.eq.s32 {}, {}, 0;", outer, half);
        w_.put("@{} bra {};", outer, end);
        const std::string idle = w_.truth(), over = w_.label(), partner = w_.word(), a = w_.word(),
                          b = w_.word();
        w_.put("setp.ge.u32 {}, {}, {};", idle, thread, half);
        w_.put("@{} bra {};", idle, over);
        w_.put("add.s32 {}, {}, {};", partner, thread, half);
        w_.put("ld.shared.u32 {}, [{}];", a, mine);
        w_.put("ld.shared.u32 {}, [{}];", b, shared_slot(partner));
        w_.put("{} {}, {}, {};", draw_.chance(80) ? "add.s32" : "max.s32", sum, a, b);
        w_.put("st.shared.u32 [{}], {};", mine, sum);
        w_.here(over);
        w_.put("bar.sync 0;");
        w_.put("bra {};", head);
        w_.here(end);
        const std::string other = w_.truth(), all = w_.word();
        w_.put("setp.ne.s32 {}, {}, 0;", other, thread);
        leave(other);
        w_.put("ld.shared.u32 {}, [{}];", all, mine);
        if (draw_.chance(60))
            w_.put("red.global.add.u32 [{}], {};", output_, all);
        else
            w_.store(output_, block, all);
    }
    // Two turns at a time, and a rest.
    void unrolled(const std::string& g, const std::string& all) {
        const std::string i = w_.word(), head = w_.label(), rest = w_.label(), after = w_.truth(),
                          next = w_.word(), two = w_.word(), over = w_.truth();
        w_.put("mov.u32 {}, {};", i, g);
        w_.put("shl.b32 {}, {}, 1;", two, all);
        w_.here(head);
        w_.put("add.s32 {}, {}, {};", next, i, all);
        w_.put("setp.ge.s32 {}, {}, {};", after, next, n_);
        w_.put("@{} bra {};", after, rest);
        w_.store(output_, i, w_.loaded(table_, i, true));
        w_.store(output_, next, w_.loaded(table_, next, true));
        w_.put("add.s32 {}, {}, {};", i, i, two);
        w_.put("bra {};", head);
        w_.here(rest);
        w_.put("setp.ge.s32 {}, {}, {};", over, i, n_);
        leave(over);
        w_.store(output_, i, w_.loaded(table_, i, true));
        if (draw_.chance(70)) {
            w_.put("add.s32 {}, {}, {};", i, i, all);
            w_.put("bra {};", rest);
        }
    }
    // A sum over a thread's turns, which one atomic adds.
    void summed(const std::string& g, const std::string& all) {
        const std::string sum = w_.word();
        w_.put("mov.u32 {}, {};", sum, draw_.chance(80) ? "0" : "1");
        constexpr std::array<std::array<const char*, 2>, 4> kinds = {
            {{"add.s32", "add.u32"}, {"max.s32", "max.s32"}, {"or.b32", "or.b32"}, {"add.s32", "max.s32"}}};
        const auto& kind = draw_.of(kinds);
        loop(g, n_, all, [&](const std::string& i) {
            w_.put("{} {}, {}, {};", kind[0], sum, sum, w_.loaded(table_, i, draw_.chance(80)));
        });
        w_.put("red.global.{} [{}], {};", kind[1], output_, sum);
    }

    void block_stride() {
        const std::string row = read("ctaid.x"), thread = read("tid.x"), size = read("ntid.x");
        const std::string base = w_.word();
        w_.scope().push_back(row);
        w_.put("mul.lo.s32 {}, {}, {};", base, row, draw_.chance(80) ? n_ : m_);
        if (draw_.chance(25)) leave(outside(row, m_));
        const auto columns = [&](const std::string& from) {
            const unsigned times = draw_.chance(30) ? 2 : 1;
            std::string before = thread;
            for (unsigned t = 0; t < times; t++) {
                before = loop(draw_.chance(92) ? thread : before, n_, size, [&](const std::string& k) {
                    const std::string place = w_.word();
                    w_.put("add.s32 {}, {}, {};", place, from, k);
                    w_.scope().push_back(draw_.chance(92) ? k : before);
                    effect(place);
                    w_.scope().pop_back();
                });
                if (draw_.chance(30)) w_.put("bar.sync 0;");
            }
        };
        if (draw_.chance(75)) return columns(base);
        // Rows in turn.
        const std::string rows = read("nctaid.x");
        loop(row, m_, rows, [&](const std::string& r) {
            const std::string from = w_.word();
            w_.put("mul.lo.s32 {}, {}, {};", from, r, n_);
            columns(from);
        });
    }

    void private_slots() {
        w_.before.emplace_back(".shared .align 4 .b8 slots[1024];");
        const std::string thread = read("tid.x"), g = index('x');
        const bool barrier = draw_.chance(60);
        if (!barrier || draw_.chance(70)) leave(outside(g, n_));
        const std::string mine = shared_slot(thread);
        w_.put("st.shared.u32 [{}], {};", mine, result(g));
        if (barrier) w_.put("bar.sync 0;");
        const std::string back = w_.word();
        w_.put("ld.shared.u32 {}, [{}{}];", back, mine, draw_.chance(8) ? "+4" : "");
        if (draw_.chance(50)) leave(outside(g, n_));
        w_.store(output_, g, plus(back, result(g)));
    }
    // A table that each block fills and all its threads read.
    void shared_table() {
        w_.before.emplace_back(".shared .align 4 .b8 slots[256];");
        const std::string thread = read("tid.x"), size = read("ntid.x"), g = index('x');
        loop(thread, "64", size, [&](const std::string& k) {
            w_.put("st.shared.u32 [{}], {};", shared_slot(k), w_.loaded(table_, k, draw_.chance(70)));
        });
        if (draw_.chance(90)) w_.put("bar.sync 0;");
        leave(outside(g, n_));
        const std::string masked = w_.word(), found = w_.word();
        w_.put("and.b32 {}, {}, 63;", masked, w_.loaded(other_, g, true));
        w_.put("ld.shared.u32 {}, [{}];", found, shared_slot(masked));
        w_.store(output_, g, plus(found, result(g)));
    }

    // Each warp, or part of one, does a row of its own.
    void warps() {
        const unsigned bits = draw_.chance(60) ? 5 : 1 + draw_.below(5);
        const std::string g = index('x'), row = w_.word(), lane = w_.word(),
                          from = draw_.chance(50) ? g : read("tid.x");
        w_.put("shr.u32 {}, {}, {};", row, g, bits);
        w_.put("and.b32 {}, {}, {};", lane, from, (1u << bits) - 1);
        if (draw_.chance(25)) {
            const std::string warps = w_.word();
            w_.put("shr.u32 {}, {}, {};", warps, total('x'), bits);
            loop(row, n_, warps, [&](const std::string& r) { row_of_a_warp(r, lane, bits); });
            return;
        }
        leave(outside(row, n_));
        row_of_a_warp(row, lane, bits);
    }
    void row_of_a_warp(const std::string& row, const std::string& lane, unsigned bits) {
        const std::string base = w_.word(), sum = w_.word();
        w_.put("mul.lo.s32 {}, {}, {};", base, row, m_);
        w_.put("mov.u32 {}, 0;", sum);
        loop(lane, m_, std::to_string(1u << bits), [&](const std::string& k) {
            const std::string place = w_.word();
            w_.put("add.s32 {}, {}, {};", place, base, k);
            w_.put("add.s32 {}, {}, {};", sum, sum, w_.loaded(table_, place, true));
            if (draw_.chance(50)) w_.store(other_, place, k);
        });
        if (draw_.chance(60) && bits == 5) {
            for (unsigned step = 16; step > 0; step /= 2) {
                const std::string got = w_.word();
                w_.put("shfl.sync.{}.b32 {}, {}, {}, 31, -1;", draw_.chance(90) ? "bfly" : "down", got, sum,
                       step);
                w_.put("add.s32 {}, {}, {};", sum, sum, got);
            }
        }
        if (draw_.chance(70)) {
            const std::string other = w_.truth();
            const std::string skip = w_.label();
            w_.put("setp.ne.s32 {}, {}, 0;", other, lane);
            w_.put("@{} bra {};", other, skip);
            w_.store(output_, row, sum);
            w_.here(skip);
        } else {
            w_.put("red.global.add.u32 [{}], {};", w_.element(output_, row), sum);
        }
    }
};

}  // namespace

KernelText random_kernel(Draw& draw) {
    return RandomKernel(draw).write();
}

}  // namespace trimtab::analysis::test
