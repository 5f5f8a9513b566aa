// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/ptx_writer.h"

#include <array>
#include <utility>

namespace trimtab::analysis::test {
namespace {

constexpr std::array<const char*, 22> constants = {
    "0",  "1",  "2",  "3",   "4",   "5",  "7",  "8",  "15",  "16",    "31",
    "32", "63", "64", "100", "255", "-1", "-2", "-5", "256", "65535", "0x7fffffff"};

}  // namespace

std::string PtxWriter::pointer() {
    const std::string raw = wide(), global = wide();
    put("ld.param.u64 {}, [k_{}];", raw, parameters_.size());
    put("cvta.to.global.u64 {}, {};", global, raw);
    parameters_.push_back("\t.param .u64 .ptr .global .align 4 k_");
    return global;
}

std::string PtxWriter::size() {
    std::string name = word();
    put("ld.param.u32 {}, [k_{}];", name, parameters_.size());
    parameters_.push_back("\t.param .u32 k_");
    return name;
}

std::string PtxWriter::wide_size() {
    std::string name = wide();
    put("ld.param.u64 {}, [k_{}];", name, parameters_.size());
    parameters_.push_back("\t.param .u64 k_");
    return name;
}

std::string PtxWriter::value(unsigned depth) {
    if (!leak_.empty() && draw_.chance(40)) {
        const std::string leaked = std::exchange(leak_, {}), with = value(depth > 0 ? depth - 1 : 0);
        std::string result;
        if (draw_.chance(35)) {
            // No other way than the carry.
            const std::string low = word();
            result = word();
            put("{}.cc.u32 {}, {}, -{};", draw_.chance(70) ? "add" : "sub", low, leaked, draw_.below(300));
            put("addc.u32 {}, 0, 0;", result);
        } else {
            scope_.insert(scope_.end(), 2, leaked);
            result = draw_.chance(15) ? through_stack(leaked) : binary(2);
            scope_.resize(scope_.size() - 2);
        }
        const std::string sum = word();
        put("xor.b32 {}, {}, {};", sum, result, with);
        return sum;
    }
    if (depth == 0 || draw_.chance(15))
        return scope_.empty() || draw_.chance(25) ? draw_.of(constants) : draw_.of(scope_);
    switch (draw_.below(10)) {
        case 0:
            return carried(depth - 1);
        case 1: {
            const std::string result = word();
            const std::string truth = compared(depth - 1), a = value(depth - 1), b = value(depth - 1);
            put("selp.b32 {}, {}, {}, {};", result, a, b, truth);
            return result;
        }
        case 2: {
            const std::string result = word(), from = wide_value(depth - 1);
            put("cvt.u32.u64 {}, {};", result, from);
            return result;
        }
        case 3:
            return odd(depth - 1);
        case 4: {
            const std::string result = word(), a = value(depth - 1), truth = compared(depth - 1),
                              b = value(depth - 1);
            put("mov.u32 {}, {};", result, a);
            put("@{} add.s32 {}, {}, {};", truth, result, result, b);
            return result;
        }
        default:
            return binary(depth);
    }
}

std::string PtxWriter::binary(unsigned depth) {
    constexpr std::array<const char*, 18> operations = {
        "add.s32", "add.s32", "sub.s32", "mul.lo.s32", "and.b32",    "or.b32",
        "xor.b32", "min.s32", "max.s32", "min.u32",    "max.u32",    "shl.b32",
        "shr.u32", "shr.s32", "div.u32", "rem.u32",    "mul.hi.u32", "mul24.lo.s32"};
    const std::string operation = draw_.of(operations), result = word();
    std::string a = value(depth - 1), b = value(depth - 1);
    if (operation.starts_with("sh")) b = std::to_string(draw_.below(32));
    if (operation.starts_with("div") || operation.starts_with("rem")) b = std::to_string(1 + draw_.below(40));
    put("{} {}, {}, {};", operation, result, a, b);
    return result;
}

std::string PtxWriter::odd(unsigned depth) {
    const std::string result = word(), a = value(depth), b = value(depth), c = value(depth);
    constexpr std::array<const char*, 10> narrow = {"u8.u32",  "s8.s32",  "u16.u32", "s16.s32", "u8.u32",
                                                    "u16.u32", "s16.s32", "s8.s32",  "u16.u32", "u8.u32"};
    switch (draw_.below(13)) {
        case 0:
            put("mad.lo.s32 {}, {}, {}, {};", result, a, b, c);
            break;
        case 1:
            put("bfe.u32 {}, {}, {}, {};", result, a, draw_.below(20), 1 + draw_.below(12));
            break;
        case 2:
            put("bfi.b32 {}, {}, {}, {}, {};", result, a, b, draw_.below(20), 1 + draw_.below(12));
            break;
        case 3:
            put("prmt.b32 {}, {}, {}, {:#x};", result, a, b, draw_.below(0x10000));
            break;
        case 4:
            put("lop3.b32 {}, {}, {}, {}, {:#x};", result, a, b, c, draw_.below(256));
            break;
        case 5:
            put("shf.{}.wrap.b32 {}, {}, {}, {};", draw_.chance(50) ? "l" : "r", result, a, b,
                draw_.below(32));
            break;
        case 6:
            put("popc.b32 {}, {};", result, a);
            break;
        case 7:
            put("abs.s32 {}, {};", result, a);
            break;
        case 8: {
            const std::string kind = draw_.of(narrow), half = fmt::format("%rs{}", words_++);
            const std::string to = kind.substr(0, kind.find('.')), bits = to[0] == 's' ? "s16" : "u16";
            put("cvt.{}.u32 {}, {};", to.ends_with("16") ? to : bits, half, a);
            put("cvt.{}.{} {}, {};", to[0] == 's' ? "s32" : "u32", to, result, half);
            break;
        }
        case 9:
            put("sad.u32 {}, {}, {}, {};", result, a, b, c);
            break;
        case 10:
            put("slct.b32.s32 {}, {}, {}, {};", result, a, b, c);
            break;
        case 11:
            put("set.lt.u32.s32 {}, {}, {};", result, a, b);
            break;
        default:
            put("{} {}, {};", draw_.chance(50) ? "not.b32" : "neg.s32", result, a);
    }
    return result;
}

// Sums of two words each, of which one half is the result.
std::string PtxWriter::carried(unsigned depth) {
    const std::string low = word(), high = word(), a = value(depth), b = value(depth), c = value(depth);
    constexpr std::array<const char*, 6> limits = {"-1",         "0xfffffff0", "0xffffffc0",
                                                   "0xffffff00", "0x80000000", "0xffffffe0"};
    const std::string with = draw_.chance(60) ? draw_.of(limits) : b;
    switch (draw_.below(4)) {
        case 0:
            put("add.cc.u32 {}, {}, {};", low, a, with);
            put("addc.u32 {}, {}, 0;", high, draw_.chance(50) ? "0" : c);
            break;
        case 1:
            put("sub.cc.u32 {}, {}, {};", low, a, b);
            put("subc.u32 {}, {}, 0;", high, draw_.chance(50) ? "0" : c);
            break;
        case 2:
            put("mad.lo.cc.u32 {}, {}, {}, {};", low, a, b, with);
            put("madc.hi.u32 {}, {}, {}, {};", high, a, b, c);
            break;
        default:
            put("add.cc.u32 {}, {}, {};", low, a, with);
            put("addc.cc.u32 {}, {}, {};", low, c, with);
            put("addc.u32 {}, 0, 0;", high);
    }
    return draw_.chance(75) ? high : low;
}

std::string PtxWriter::wide_value(unsigned depth) {
    const std::string result = wide();
    if (depth == 0) {
        put("cvt.{} {}, {};", draw_.chance(50) ? "u64.u32" : "s64.s32", result, value(0));
        return result;
    }
    switch (draw_.below(5)) {
        case 0: {
            const std::string a = value(depth - 1), b = value(depth - 1);
            put("mul.wide.{} {}, {}, {};", draw_.chance(50) ? "u32" : "s32", result, a, b);
            break;
        }
        case 1: {
            const std::string a = value(depth - 1), b = value(depth - 1);
            put("mov.b64 {}, {{{}, {}}};", result, a, b);
            break;
        }
        case 2: {
            const std::string a = wide_value(depth - 1), b = wide_value(depth - 1), low = wide();
            put("{}.cc.u64 {}, {}, {};", draw_.chance(50) ? "add" : "sub", low, a, b);
            put("addc.u64 {}, {}, 0;", result, draw_.chance(50) ? "0" : low);
            break;
        }
        default: {
            constexpr std::array<const char*, 8> operations = {"add.s64", "sub.s64", "mul.lo.s64", "and.b64",
                                                               "or.b64",  "xor.b64", "shl.b64",    "shr.u64"};
            const std::string operation = draw_.of(operations), a = wide_value(depth - 1);
            const std::string b =
                operation.starts_with("sh") ? std::to_string(draw_.below(40)) : wide_value(depth - 1);
            put("{} {}, {}, {};", operation, result, a, b);
        }
    }
    return result;
}

std::string PtxWriter::compared(unsigned depth) {
    constexpr std::array<const char*, 6> relations = {"lt", "le", "gt", "ge", "eq", "ne"};
    std::string result = truth();
    if (draw_.chance(15)) {
        const std::string a = wide_value(depth), b = wide_value(depth);
        put("setp.{}.s64 {}, {}, {};", draw_.of(relations), result, a, b);
    } else {
        const std::string a = value(depth), b = value(depth);
        put("setp.{}.{} {}, {}, {};", draw_.of(relations), draw_.chance(50) ? "s32" : "u32", result, a, b);
    }
    return result;
}

std::string PtxWriter::element(const std::string& base, const std::string& index, bool is_signed) {
    std::string address = wide();
    const std::string offset = wide();
    if (index.starts_with("%rd")) {
        put("shl.b64 {}, {}, 2;", offset, index);
    } else if (draw_.chance(70)) {
        put("mul.wide.{} {}, {}, 4;", is_signed ? "s32" : "u32", offset, index);
    } else {
        put("cvt.{} {}, {};", is_signed ? "s64.s32" : "u64.u32", offset, index);
        put("shl.b64 {}, {}, 2;", offset, offset);
    }
    put("add.s64 {}, {}, {};", address, base, offset);
    return address;
}

std::string PtxWriter::loaded(const std::string& base, const std::string& index, bool read_only) {
    const std::string address = element(base, index);
    std::string result = word();
    put("ld.global{}.u32 {}, [{}{}];", read_only ? ".nc" : "", result, address, draw_.chance(20) ? "+4" : "");
    return result;
}

void PtxWriter::store(const std::string& base, const std::string& index, const std::string& value) {
    const std::string address = element(base, index);
    put("st.global.u32 [{}], {};", address, value);
}

std::string PtxWriter::through_stack(const std::string& value) {
    has_stack_ = true;
    const std::string base = wide(), offset = wide(), address = wide();
    std::string result = word();
    put("mov.u64 {}, stack;", base);
    if (draw_.chance(50)) {
        const unsigned at = 4 * draw_.below(4);
        put("st.local.u32 [{}+{}], {};", base, at, value);
        put("ld.local.u32 {}, [{}+{}];", result, base, at);
        return result;
    }
    const std::string at = this->value(1), index = word();
    put("and.b32 {}, {}, 3;", index, at);
    put("mul.wide.u32 {}, {}, 4;", offset, index);
    put("add.s64 {}, {}, {};", address, base, offset);
    put("st.local.u32 [{}], {};", address, value);
    put("ld.local.u32 {}, [{}];", result, address);
    return result;
}

std::string PtxWriter::through_call(const std::string& value) {
    if (!std::exchange(has_function_, true)) {
        before.emplace_back(
            ".func (.param .b32 out) helper(.param .b32 a)\n{\n\t.reg .b32 %r<9>;\n\t.reg .pred %p<3>;");
        before.emplace_back("\tld.param.u32 %r1, [a];");
        if (draw_.chance(15))
            before.emplace_back(draw_.chance(50) ? "\tmov.u32 %r2, %tid.x;" : "\tmov.u32 %r2, %nctaid.x;");
        else
            before.emplace_back("\tshl.b32 %r2, %r1, 3;");
        before.emplace_back(
            "\tsetp.lt.s32 %p1, %r1, 40;\n\t@%p1 add.s32 %r1, %r1, %r2;\n\txor.b32 %r3, %r1, 21;");
        before.emplace_back("\tst.param.b32 [out], %r3;\n\tret;\n}");
    }
    std::string result = word();
    const std::string argument = word();
    put("mov.u32 {}, {};", argument, value);
    put("{{");
    put(".param .b32 argument;");
    put(".param .b32 returned;");
    put("st.param.b32 [argument], {};", argument);
    put("call.uni (returned), helper, (argument);");
    put("ld.param.b32 {}, [returned];", result);
    put("}}");
    return result;
}

KernelText PtxWriter::kernel() const {
    KernelText kernel;
    const auto add = [&](const std::string& text) {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            kernel.lines.push_back(text.substr(at, end - at));
            at = end + 1;
        }
    };
    add(".version 7.0\n.target sm_75\n.address_size 64");
    for (const std::string& text : before) add(text);
    add(".visible .entry k(");
    for (std::size_t i = 0; i < parameters_.size(); i++)
        add(fmt::format("{}{}{}", parameters_[i], i, i + 1 < parameters_.size() ? "," : ""));
    add(")\n{");
    kernel.body_first = kernel.lines.size();
    add("\t.reg .pred %p<400>;\n\t.reg .b16 %rs<2000>;\n\t.reg .b32 %r<2000>;\n\t.reg .b64 %rd<2000>;");
    if (has_stack_) add("\t.local .align 8 .b8 stack[16];");
    kernel.lines.insert(kernel.lines.end(), lines_.begin(), lines_.end());
    add("\tret;");
    kernel.body_end = kernel.lines.size();
    add("}");
    return kernel;
}

}  // namespace trimtab::analysis::test
