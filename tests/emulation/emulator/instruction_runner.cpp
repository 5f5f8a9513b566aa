// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/emulation/emulator/instruction_runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::test {
namespace {

constexpr std::uint64_t untouched = 0xa5a5a5a5a5a5a5a5u;

std::string kernel_text(const std::string& text, const Widths& widths, bool guarded) {
    const auto load = [](char name, unsigned width, unsigned place) {
        return fmt::format("ld.global.b{} %{}, [%at+{}];\n", width * 8, name, place * 8);
    };
    std::string body = load('a', widths.a, 0) + load('b', widths.b, 1) + load('c', widths.c, 2);
    body +=
        "ld.global.b32 %e, [%at+24];\nld.global.b32 %w0, [%at];\nand.b32 %w0, %w0, 1;\n"
        "setp.ne.u32 %p, %w0, 0;\n";
    body += fmt::format("mov.b{} %d, {};\n", widths.d * 8,
                        widths.d == 2 ? 0xa5a5 : untouched >> (64 - 8 * widths.d));
    std::string statements = text;
    if (guarded) {
        body += "and.b32 %w0, %i, 1;\nsetp.ne.u32 %guard, %w0, 0;\n@%guard ";
        for (std::size_t at = 0; (at = statements.find(";\n", at)) != std::string::npos; at++)
            statements.insert(at + 2, "@%guard ");
    }
    body += statements + ";\n";
    return fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry test(.param .u64 in, .param .u64 out, .param .u32 n) {{
.reg .pred %p, %guard, %past, %q<4>;
.reg .b16 %h<4>;
.reg .b32 %i, %n, %x, %e, %w<4>;
.reg .b64 %at, %to, %l<4>;
.reg .b{} %a; .reg .b{} %b; .reg .b{} %c; .reg .b{} %d;
mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %x, %tid.x;
mad.lo.u32 %i, %i, %n, %x;
ld.param.u32 %n, [n];
setp.ge.u32 %past, %i, %n;
@%past exit;
ld.param.u64 %at, [in]; ld.param.u64 %to, [out];
mad.wide.u32 %at, %i, 32, %at;
mad.wide.u32 %to, %i, 8, %to;
{}
st.global.b{} [%to], %d;
ret;
}})",
                       widths.a * 8, widths.b * 8, widths.c * 8, widths.d * 8, body, widths.d * 8);
}

std::uint64_t truncated(std::uint64_t value, unsigned bytes) {
    return bytes >= 8 ? value : value & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

}  // namespace

std::vector<std::uint64_t> run_instruction(const std::string& text, const Widths& widths,
                                           std::span<const Operands> operands) {
    std::vector<Operands> in(operands.begin(), operands.end());
    const auto n = static_cast<std::uint32_t>(in.size());
    std::vector<std::uint64_t> results[2];
    for (const bool guarded : {false, true}) {
        const auto program = load(kernel_text(text, widths, guarded));
        if (program == nullptr) return {};
        HostMemory memory;
        std::vector<std::uint64_t>& out = results[guarded ? 1 : 0];
        out.resize(n);
        run(*program, memory, "test", {{(n + 127) / 128, 1, 1}, {128, 1, 1}},
            Parameters(memory.add(in), memory.add(out), n));
    }
    for (std::uint32_t i = 0; i < n; i++) {
        const std::uint64_t expected = i % 2 == 1 ? results[0][i] : truncated(untouched, widths.d);
        EXPECT_EQ(truncated(results[1][i], widths.d), truncated(expected, widths.d))
            << text << " under a guard, lane " << i % 32;
        if (testing::Test::HasFailure()) break;
    }
    return results[0];
}

void expect_instruction(const std::string& text, const Widths& widths, std::span<const Operands> operands,
                        const Reference& reference) {
    const std::vector<std::uint64_t> results = run_instruction(text, widths, operands);
    ASSERT_EQ(results.size(), operands.size());
    for (std::size_t i = 0; i < operands.size(); i++) {
        const Operands& o = operands[i];
        const Operands seen{truncated(o.a, widths.a), truncated(o.b, widths.b), truncated(o.c, widths.c),
                            o.e};
        ASSERT_EQ(fmt::format("{:#x}", results[i]),
                  fmt::format("{:#x}", truncated(reference(seen), widths.d)))
            << fmt::format("{} of {:#x}, {:#x}, {:#x}, {:#x}", text, seen.a, seen.b, seen.c, seen.e);
    }
}

std::vector<Operands> integer_operands(unsigned bits, unsigned b_bits, unsigned c_bits) {
    const auto values = [](unsigned width) {
        const std::uint64_t top = std::uint64_t{1} << (width - 1);
        std::vector<std::uint64_t> all = {0,
                                          1,
                                          2,
                                          3,
                                          7,
                                          31,
                                          32,
                                          33,
                                          63,
                                          64,
                                          65,
                                          255,
                                          256,
                                          top,
                                          top - 1,
                                          top + 1,
                                          ~std::uint64_t{0},
                                          ~std::uint64_t{0} - 1,
                                          0x12345678u,
                                          0x9abcdef012345678u};
        return all;
    };
    std::vector<Operands> all;
    std::uint64_t salt = 0x9e3779b97f4a7c15u;
    for (const std::uint64_t a : values(bits)) {
        for (const std::uint64_t b : values(b_bits)) {
            // The third operand takes its values in turn.
            const auto third = values(c_bits);
            salt = salt * 6364136223846793005u + 1442695040888963407u;
            all.push_back(
                {a, b, third[(salt >> 33) % third.size()], static_cast<std::uint32_t>(salt >> 40) % 40});
        }
    }
    return all;
}

namespace {

template <class T, class Bits>
std::vector<Operands> real_operands(unsigned arity) {
    using limits = std::numeric_limits<T>;
    std::vector<T> values = {T{0},
                             -T{0},
                             T{1},
                             T{-1},
                             T{0.5},
                             T{1.5},
                             T{2.5},
                             T{-2.5},
                             T{3},
                             T(1) / 3,
                             limits::min(),
                             -limits::min(),
                             limits::denorm_min(),
                             -limits::denorm_min(),
                             limits::min() / 3,
                             limits::max(),
                             limits::lowest(),
                             limits::infinity(),
                             -limits::infinity(),
                             limits::quiet_NaN(),
                             -limits::quiet_NaN(),
                             limits::epsilon(),
                             1 + limits::epsilon(),
                             1 - limits::epsilon() / 2,
                             T(2147483648.0),
                             T(-2147483904.0),
                             T(4294967296.0),
                             T(1e19),
                             T(123456.789),
                             T(-0.001)};
    std::vector<Operands> all;
    const auto bits = [](T value) { return static_cast<std::uint64_t>(std::bit_cast<Bits>(value)); };
    std::size_t turn = 0;
    for (const T a : values) {
        if (arity == 1) {
            all.push_back({bits(a), 0, 0, 0});
            continue;
        }
        for (const T b : values) {
            if (arity == 2) {
                all.push_back({bits(a), bits(b), 0, 0});
                continue;
            }
            for (int i = 0; i < 4; i++)
                all.push_back({bits(a), bits(b), bits(values[(turn += 7) % values.size()]), 0});
        }
    }
    return all;
}

}  // namespace

std::vector<Operands> f32_operands(unsigned arity) {
    return real_operands<float, std::uint32_t>(arity);
}
std::vector<Operands> f64_operands(unsigned arity) {
    return real_operands<double, std::uint64_t>(arity);
}

}  // namespace trimtab::emulator::test
