// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the patterns of random kernels are made of: indices, guards, loops, effects, and values that another
// block changes.
#pragma once

#include <array>
#include <string>

#include "generator/ptx_writer.h"

namespace trimtab::analysis::test {

class KernelParts {
  protected:
    explicit KernelParts(Draw& draw) : draw_(draw), w_(draw) {}

    std::string special() {
        constexpr std::array<const char*, 6> names = {"%tid.x",    "%ntid.x",   "%ctaid.x",
                                                      "%nctaid.x", "%nctaid.x", "%laneid"};
        const std::string result = w_.word();
        if (draw_.chance(40)) {
            const std::string blocks = read("nctaid.x"), threads = read("ntid.x");
            w_.put("mul.lo.u32 {}, {}, {};", result, blocks, threads);
        } else {
            w_.put("mov.u32 {}, {};", result, draw_.of(names));
        }
        return result;
    }
    std::string read(const char* name) {
        std::string result = w_.word();
        w_.put("mov.u32 {}, %{};", result, name);
        return result;
    }
    std::string index(char dimension) {
        const std::string block = read(fmt::format("ctaid.{}", dimension).c_str()),
                          size = read(fmt::format("ntid.{}", dimension).c_str()),
                          thread = read(fmt::format("tid.{}", dimension).c_str());
        std::string result = w_.word();
        const std::string product = w_.word(), wide = w_.wide(), thread_wide = w_.wide();
        switch (draw_.below(6)) {
            case 0:
            case 1:
            case 2:
                w_.put("mad.lo.s32 {}, {}, {}, {};", result, block, size, thread);
                break;
            case 3:
                w_.put("mul.lo.s32 {}, {}, {};", product, size, block);
                w_.put("add.s32 {}, {}, {};", result, thread, product);
                break;
            case 4:
                w_.put("mul.wide.u32 {}, {}, {};", wide, block, size);
                w_.put("cvt.u64.u32 {}, {};", thread_wide, thread);
                w_.put("add.s64 {}, {}, {};", wide, wide, thread_wide);
                w_.put("cvt.u32.u64 {}, {};", result, wide);
                break;
            default:
                w_.put("mad.lo.cc.u32 {}, {}, {}, {};", result, block, size, thread);
                w_.put("madc.hi.u32 {}, {}, {}, 0;", product, block, size);
        }
        return result;
    }
    std::string total(char dimension) {
        const std::string blocks = read(fmt::format("nctaid.{}", dimension).c_str()),
                          size = read(fmt::format("ntid.{}", dimension).c_str());
        std::string result = w_.word();
        w_.put("mul.lo.s32 {}, {}, {};", result, blocks, size);
        return result;
    }

    // A predicate that holds for indices from a bound on, or nearly so.
    std::string outside(const std::string& g, const std::string& bound) {
        std::string result = w_.truth();
        const std::string a = w_.word(), b = w_.word(), wide = w_.wide(), wide_bound = w_.wide(),
                          inverse = w_.truth();
        const bool is_signed = draw_.chance(60);
        switch (draw_.below(14)) {
            default:
                w_.put("setp.ge.{} {}, {}, {};", is_signed ? "s32" : "u32", result, g, bound);
                break;
            case 0:
                w_.put("setp.gt.{} {}, {}, {};", is_signed ? "s32" : "u32", result, g, bound);
                break;
            case 1:
                w_.put("add.s32 {}, {}, {};", a, g, static_cast<int>(draw_.below(7)) - 3);
                w_.put("setp.ge.{} {}, {}, {};", is_signed ? "s32" : "u32", result, a, bound);
                break;
            case 2:
                w_.put("cvt.{} {}, {};", is_signed ? "s64.s32" : "u64.u32", wide, g);
                w_.put("cvt.{} {}, {};", is_signed ? "s64.s32" : "u64.u32", wide_bound, bound);
                w_.put("setp.ge.{} {}, {}, {};", draw_.chance(50) ? "s64" : "u64", result, wide, wide_bound);
                break;
            case 3:
                w_.put("mul.lo.s32 {}, {}, {};", a, g, 1 + draw_.below(4));
                w_.put("add.s32 {}, {}, {};", b, a, draw_.below(4));
                w_.put("setp.ge.{} {}, {}, {};", is_signed ? "s32" : "u32", result, b, bound);
                break;
            case 4:
                w_.put("shr.s32 {}, {}, {};", a, bound, draw_.below(3));
                w_.put("setp.ge.{} {}, {}, {};", is_signed ? "s32" : "u32", result, g, a);
                break;
            case 5:
                w_.put("sub.cc.u32 {}, {}, {};", a, g, bound);
                w_.put("subc.u32 {}, 0, 0;", b);
                w_.put("setp.eq.s32 {}, {}, 0;", result, b);
                break;
            case 6: {
                w_.put("setp.ge.s32 {}, {}, {};", inverse, g, bound);
                const std::string also = w_.compared(1);
                w_.put("{}.pred {}, {}, {};", draw_.chance(70) ? "or" : "and", result, inverse, also);
                break;
            }
            case 7:
                w_.put("setp.lt.{} {}, {}, {};", is_signed ? "s32" : "u32", inverse, g, bound);
                w_.put("not.pred {}, {};", result, inverse);
                break;
            case 8:
                w_.put("min.s32 {}, {}, {};", a, bound, m_);
                w_.put("setp.ge.s32 {}, {}, {};", result, g, a);
                break;
            case 9: {
                const std::string chosen = w_.compared(1);
                w_.put("selp.b32 {}, {}, {}, {};", a, bound, m_, chosen);
                w_.put("setp.ge.s32 {}, {}, {};", result, g, a);
                break;
            }
            case 10:
                w_.put("and.b32 {}, {}, {};", a, g, draw_.chance(50) ? 255 : 0xffff);
                w_.put("setp.ge.{} {}, {}, {};", is_signed ? "s32" : "u32", result, a, bound);
                break;
        }
        return result;
    }
    void leave(const std::string& truth) { w_.put("@{} bra $DONE;", truth); }

    // What is stored for an element.
    std::string result(const std::string& own) {
        w_.scope().push_back(own);
        w_.scope().push_back(own);
        std::string made = w_.value(1 + draw_.below(3));
        if (draw_.chance(25)) made = plus(made, w_.loaded(other_, own, draw_.chance(50)));
        if (draw_.chance(20)) {
            const std::string at = w_.value(1), masked = w_.word();
            w_.put("and.b32 {}, {}, 255;", masked, at);
            made = plus(made, w_.loaded(table_, masked, draw_.chance(85)));
        }
        if (draw_.chance(10)) made = w_.through_stack(made);
        if (draw_.chance(8)) made = w_.through_call(made);
        if (draw_.chance(12)) made = after_turns(made);
        w_.scope().resize(w_.scope().size() - 2);
        return made;
    }
    std::string plus(const std::string& a, const std::string& b) {
        std::string sum = w_.word();
        w_.put("{} {}, {}, {};", draw_.chance(70) ? "add.s32" : "xor.b32", sum, a, b);
        return sum;
    }
    // A loop inside: a constant or an argument bounds it, or it is triangular.
    std::string after_turns(const std::string& start) {
        std::string sum = w_.word();
        const std::string k = w_.word(), head = w_.label(), end = w_.label(), over = w_.truth();
        w_.put("mov.u32 {}, {};", sum, start);
        w_.put("mov.u32 {}, 0;", k);
        const std::string bound = draw_.chance(50) ? std::to_string(draw_.below(6)) : draw_.of(w_.scope()),
                          least = w_.word();
        w_.put("and.b32 {}, {}, 15;", least, bound);
        w_.here(head);
        w_.put("setp.ge.s32 {}, {}, {};", over, k, draw_.chance(70) ? least : bound);
        w_.put("@{} bra {};", over, end);
        w_.put("mad.lo.s32 {}, {}, 3, {};", sum, sum, k);
        w_.put("add.s32 {}, {}, 1;", k, k);
        w_.put("bra {};", head);
        w_.here(end);
        return sum;
    }

    // What one index does.
    void effect(const std::string& own) {
        const std::string place = where(own);
        switch (draw_.below(10)) {
            case 0: {
                const std::string made = result(own), bin = w_.word();
                w_.put("and.b32 {}, {}, 31;", bin, made);
                const std::string address = w_.element(output_, bin);
                constexpr std::array<const char*, 6> kinds = {"add.u32", "add.u32", "max.s32",
                                                              "min.u32", "or.b32",  "xor.b32"};
                const std::string old = w_.word();
                if (draw_.chance(80)) {
                    w_.put("red.global.{} [{}], {};", draw_.of(kinds), address,
                           draw_.chance(50) ? made : "1");
                } else {
                    w_.put("atom.global.{} {}, [{}], {};", draw_.of(kinds), old, address, made);
                    if (draw_.chance(60)) w_.store(other_, own, hidden(old));
                }
                break;
            }
            case 1: {
                const std::string old = w_.loaded(output_, place, false);
                w_.store(output_, place, plus(old, result(own)));
                break;
            }
            case 2: {
                const std::string truth = w_.compared(1), skip = w_.label();
                w_.put("@{} bra {};", truth, skip);
                w_.store(output_, place, result(own));
                w_.here(skip);
                break;
            }
            default:
                w_.store(output_, place, result(own));
                if (draw_.chance(20)) w_.store(other_, own, result(own));
        }
    }
    // A word that must not matter, in some disguise.
    std::string hidden(const std::string& word) {
        const std::string high = w_.word(), low = w_.word();
        switch (draw_.below(4)) {
            case 0:
                w_.put("add.cc.u32 {}, {}, 0xffffffe0;", low, word);
                w_.put("addc.u32 {}, 0, 0;", high);
                return high;
            case 1: {
                const std::string truth = w_.truth();
                w_.put("setp.gt.u32 {}, {}, 20;", truth, word);
                w_.put("selp.b32 {}, 3, 4, {};", high, truth);
                return high;
            }
            case 2:
                return w_.through_stack(word);
            default:
                w_.put("and.b32 {}, {}, 0;", high, word);
                return high;
        }
    }
    // The element of an index: itself, scaled, moved, now and then one that indices share.
    std::string where(const std::string& own) {
        const std::string place = w_.word();
        switch (draw_.below(12)) {
            case 0:
                w_.put("shl.b32 {}, {}, 1;", place, own);
                return place;
            case 1:
                w_.put("add.s32 {}, {}, {};", place, own, draw_.below(9));
                return place;
            case 2:
                w_.put("mad.lo.s32 {}, {}, 3, 1;", place, own);
                return place;
            case 3:
                w_.put("sub.s32 {}, 200, {};", place, own);
                return place;
            case 4:
                if (draw_.chance(60)) return own;
                w_.put("xor.b32 {}, {}, 1;", place, own);
                return place;
            default:
                return own;
        }
    }

    // for (i = first; i < bound; i += step), tested before each turn or after it, as compilers turn it. Gives
    // the register of i, which holds behind the loop where it ended.
    template <class Body>
    std::string loop(const std::string& first, const std::string& bound, const std::string& step,
                     const Body& body) {
        std::string i = w_.word();
        const std::string head = w_.label(), end = w_.label();
        const bool turned = draw_.chance(50);
        w_.put("mov.u32 {}, {};", i, first);
        w_.here(head);
        if (turned) {
            const std::string over = w_.truth(), again = w_.truth();
            w_.put("setp.ge.s32 {}, {}, {};", over, i, bound);
            w_.put("@{} bra {};", over, end);
            const std::string inner = w_.label();
            w_.here(inner);
            body(i);
            w_.put("add.s32 {}, {}, {};", i, i, step);
            w_.put("setp.lt.s32 {}, {}, {};", again, i, bound);
            w_.put("@{} bra {};", again, inner);
        } else {
            w_.put("@{} bra {};", outside(i, bound), end);
            body(i);
            if (draw_.chance(4)) w_.put("@{} bra {};", w_.compared(1), end);
            w_.put("add.s32 {}, {}, {};", i, draw_.chance(3) ? first : i, step);
            w_.put("bra {};", head);
        }
        w_.here(end);
        return i;
    }

    std::string shared_slot(const std::string& index) {
        const std::string offset = w_.word(), base = w_.word();
        std::string address = w_.word();
        w_.put("shl.b32 {}, {}, 2;", offset, index);
        w_.put("mov.u32 {}, slots;", base);
        w_.put("add.s32 {}, {}, {};", address, base, offset);
        return address;
    }

    Draw& draw_;
    PtxWriter w_;
    std::string output_, other_, table_, n_, m_;
};

}  // namespace trimtab::analysis::test
