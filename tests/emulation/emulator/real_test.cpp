// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point instructions, one by one: IEEE 754 with PTX's own rules for NaN, subnormal numbers and
// saturation.
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>

#include "tests/emulation/emulator/instruction_runner.h"

namespace trimtab::emulator::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr Widths f32_widths{4, 4, 4, 4}, f64_widths{8, 8, 8, 8};

float f32(u64 bits) {
    return std::bit_cast<float>(static_cast<u32>(bits));
}
double f64(u64 bits) {
    return std::bit_cast<double>(bits);
}
u64 bits(float value) {
    return std::isnan(value) ? 0x7fffffffu : std::bit_cast<u32>(value);
}
u64 bits(double value) {
    return std::isnan(value) ? 0xfff8000000000000u : std::bit_cast<u64>(value);
}
float flushed(float value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

struct Mode {
    const char* name;
    int host;
};
const Mode modes[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

template <class T, class Compute>
T in_mode(int mode, T a, T b, T c, const Compute& compute) {
    volatile T x = a, y = b, z = c;
    std::fesetround(mode);
    volatile T result = compute(x, y, z);
    std::fesetround(FE_TONEAREST);
    return result;
}

template <class Compute>
void expect_rounded(const std::string& opcode, unsigned arity, const Compute& compute) {
    const std::string list = arity == 1 ? "%d, %a" : (arity == 2 ? "%d, %a, %b" : "%d, %a, %b, %c");
    const auto singles = f32_operands(arity), doubles = f64_operands(arity);
    for (const Mode& mode : modes) {
        const std::string name = opcode + "." + mode.name;
        expect_instruction(name + ".f32 " + list, f32_widths, singles, [&](const Operands& o) {
            return bits(in_mode(mode.host, f32(o.a), f32(o.b), f32(o.c), compute));
        });
        expect_instruction(name + ".ftz.f32 " + list, f32_widths, singles, [&](const Operands& o) {
            return bits(flushed(
                in_mode(mode.host, flushed(f32(o.a)), flushed(f32(o.b)), flushed(f32(o.c)), compute)));
        });
        expect_instruction(name + ".f64 " + list, f64_widths, doubles, [&](const Operands& o) {
            return bits(in_mode(mode.host, f64(o.a), f64(o.b), f64(o.c), compute));
        });
    }
}

TEST(Real, RoundedArithmetic) {
    expect_rounded("add", 2, [](auto a, auto b, auto) { return a + b; });
    expect_rounded("sub", 2, [](auto a, auto b, auto) { return a - b; });
    expect_rounded("mul", 2, [](auto a, auto b, auto) { return a * b; });
    expect_rounded("div", 2, [](auto a, auto b, auto) { return a / b; });
    expect_rounded("fma", 3, [](auto a, auto b, auto c) { return std::fma(a, b, c); });
    expect_rounded("sqrt", 1, [](auto a, auto, auto) { return std::sqrt(a); });
    expect_rounded("rcp", 1, [](auto a, auto, auto) { return 1 / a; });
}

// add.f32x2 and its like: the lower and the upper number, each as the instruction on f32 has it.
template <class Compute>
void expect_paired(const std::string& opcode, unsigned arity, const Compute& compute) {
    const std::string list = arity == 2 ? "%d, %a, %b" : "%d, %a, %b, %c";
    const auto singles = f32_operands(arity);
    std::vector<Operands> pairs;
    for (std::size_t i = 0; i < singles.size(); i++) {
        const Operands &low = singles[i], &high = singles[(i * 7 + 3) % singles.size()];
        const auto both = [](u64 below, u64 above) { return (below & 0xffffffffu) | above << 32; };
        pairs.push_back({both(low.a, high.a), both(low.b, high.b), both(low.c, high.c), 0});
    }
    for (const Mode& mode : modes) {
        const std::string name = opcode + "." + mode.name;
        const auto half = [&](const Operands& o, unsigned from, bool ftz) {
            const auto given = [&](u64 pair) { return ftz ? flushed(f32(pair >> from)) : f32(pair >> from); };
            const float made = in_mode(mode.host, given(o.a), given(o.b), given(o.c), compute);
            return bits(ftz ? flushed(made) : made) << from;
        };
        expect_instruction(name + ".f32x2 " + list, f64_widths, pairs,
                           [&](const Operands& o) { return half(o, 0, false) | half(o, 32, false); });
        expect_instruction(name + ".ftz.f32x2 " + list, f64_widths, pairs,
                           [&](const Operands& o) { return half(o, 0, true) | half(o, 32, true); });
    }
}

TEST(Real, PairedArithmetic) {
    expect_paired("add", 2, [](auto a, auto b, auto) { return a + b; });
    expect_paired("sub", 2, [](auto a, auto b, auto) { return a - b; });
    expect_paired("mul", 2, [](auto a, auto b, auto) { return a * b; });
    expect_paired("fma", 3, [](auto a, auto b, auto c) { return std::fma(a, b, c); });
}

TEST(Real, KnownResults) {
    const auto one = [](const std::string& text, u64 a, u64 b = 0, u64 c = 0) {
        const Operands operands[] = {{a, b, c, 0}};
        const auto results = run_instruction(text, f32_widths, operands);
        return results.empty() ? 0 : results[0];
    };
    // 1 + 2^-24 lies half-way; a fused multiply-add keeps what two roundings lose.
    EXPECT_EQ(one("add.f32 %d, %a, %b", bits(1.0f), bits(0x1p-24f)), bits(1.0f));
    EXPECT_EQ(one("add.rp.f32 %d, %a, %b", bits(1.0f), bits(0x1p-24f)), bits(1.0f + 0x1p-23f));
    EXPECT_EQ(one("fma.rn.f32 %d, %a, %b, %c", bits(1 + 0x1p-12f), bits(1 - 0x1p-12f), bits(-1.0f)),
              bits(-0x1p-24f));
    EXPECT_EQ(one("add.f32 %d, %a, %b", bits(INFINITY), bits(-INFINITY)), 0x7fffffffu);
    EXPECT_EQ(one("sub.rm.f32 %d, %a, %a", bits(1.0f)), bits(-0.0f));
    EXPECT_EQ(one("sqrt.rn.f32 %d, %a", bits(-1.0f)), 0x7fffffffu);
    EXPECT_EQ(one("add.f32 %d, %a, 0f3F000000", bits(0.25f)), bits(0.75f));
    EXPECT_EQ(one("add.f32 %d, %a, 1.5", bits(0.25f)), bits(1.75f));
}

TEST(Real, Saturation) {
    const auto saturated = [](float value) { return bits(value > 0 ? std::fmin(value, 1.0f) : 0.0f); };
    expect_instruction("add.sat.f32 %d, %a, %b", f32_widths, f32_operands(2),
                       [&](const Operands& o) { return saturated(f32(o.a) + f32(o.b)); });
    expect_instruction("fma.rn.sat.f32 %d, %a, %b, %c", f32_widths, f32_operands(3),
                       [&](const Operands& o) { return saturated(std::fma(f32(o.a), f32(o.b), f32(o.c))); });
    expect_instruction("mul.rz.ftz.sat.f32 %d, %a, %b", f32_widths, f32_operands(2), [&](const Operands& o) {
        const float product = in_mode(FE_TOWARDZERO, flushed(f32(o.a)), flushed(f32(o.b)), 0.0f,
                                      [](float a, float b, float) { return a * b; });
        return saturated(flushed(product));
    });
}

// A number beats a NaN, and +0 is above -0.
template <class T>
T minimum(T a, T b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
}
template <class T>
T maximum(T a, T b) {
    return -minimum(-a, -b);
}

TEST(Real, MinimaAndMaxima) {
    const auto singles = f32_operands(2), doubles = f64_operands(2);
    expect_instruction("min.f32 %d, %a, %b", f32_widths, singles,
                       [](const Operands& o) { return bits(minimum(f32(o.a), f32(o.b))); });
    expect_instruction("max.f32 %d, %a, %b", f32_widths, singles,
                       [](const Operands& o) { return bits(maximum(f32(o.a), f32(o.b))); });
    expect_instruction("max.ftz.f32 %d, %a, %b", f32_widths, singles,
                       [](const Operands& o) { return bits(maximum(flushed(f32(o.a)), flushed(f32(o.b)))); });
    expect_instruction("min.NaN.f32 %d, %a, %b", f32_widths, singles, [](const Operands& o) {
        if (std::isnan(f32(o.a)) || std::isnan(f32(o.b))) return u64{0x7fffffffu};
        return bits(minimum(f32(o.a), f32(o.b)));
    });
    expect_instruction("max.xorsign.abs.f32 %d, %a, %b", f32_widths, singles, [](const Operands& o) {
        const float a = f32(o.a), b = f32(o.b), r = maximum(std::fabs(a), std::fabs(b));
        return std::isnan(r) ? u64{0x7fffffffu} : bits(std::signbit(a) != std::signbit(b) ? -r : r);
    });
    expect_instruction("min.f64 %d, %a, %b", f64_widths, doubles,
                       [](const Operands& o) { return bits(minimum(f64(o.a), f64(o.b))); });
    expect_instruction("max.f64 %d, %a, %b", f64_widths, doubles,
                       [](const Operands& o) { return bits(maximum(f64(o.a), f64(o.b))); });
}

TEST(Real, SignsAndTests) {
    const auto singles = f32_operands(2), doubles = f64_operands(2);
    expect_instruction("copysign.f32 %d, %a, %b", f32_widths, singles,
                       [](const Operands& o) { return (o.b & 0x7fffffffu) | (o.a & 0x80000000u); });
    expect_instruction("copysign.f64 %d, %a, %b", f64_widths, doubles, [](const Operands& o) {
        return (o.b & 0x7fffffffffffffffu) | (o.a & 0x8000000000000000u);
    });
    expect_instruction("neg.f32 %d, %a", f32_widths, singles,
                       [](const Operands& o) { return o.a ^ 0x80000000u; });
    expect_instruction("abs.f64 %d, %a", f64_widths, doubles,
                       [](const Operands& o) { return o.a & 0x7fffffffffffffffu; });
    const auto test = [&](const char* property, bool (*holds)(float)) {
        expect_instruction(std::string("testp.") + property + ".f32 %q0, %a;\n selp.b32 %d, 1, 0, %q0",
                           f32_widths, singles, [=](const Operands& o) { return u64{holds(f32(o.a))}; });
    };
    test("finite", [](float a) { return std::isfinite(a); });
    test("infinite", [](float a) { return std::isinf(a); });
    test("number", [](float a) { return !std::isnan(a); });
    test("notanumber", [](float a) { return std::isnan(a); });
    test("normal", [](float a) { return std::isnormal(a); });
    test("subnormal", [](float a) { return std::fpclassify(a) == FP_SUBNORMAL; });
    expect_instruction("slct.f32.f32 %d, %a, %b, %c", f32_widths, f32_operands(3),
                       [](const Operands& o) { return f32(o.c) >= 0 ? o.a : o.b; });
}

TEST(Real, Comparisons) {
    struct Case {
        const char* name;
        bool (*holds)(double, double);
        bool of_nan;
    };
    const Case cases[] = {{"eq", [](double a, double b) { return a == b; }, false},
                          {"ne", [](double a, double b) { return a != b; }, false},
                          {"lt", [](double a, double b) { return a < b; }, false},
                          {"le", [](double a, double b) { return a <= b; }, false},
                          {"gt", [](double a, double b) { return a > b; }, false},
                          {"ge", [](double a, double b) { return a >= b; }, false},
                          {"equ", [](double a, double b) { return a == b; }, true},
                          {"neu", [](double a, double b) { return a != b; }, true},
                          {"ltu", [](double a, double b) { return a < b; }, true},
                          {"leu", [](double a, double b) { return a <= b; }, true},
                          {"gtu", [](double a, double b) { return a > b; }, true},
                          {"geu", [](double a, double b) { return a >= b; }, true},
                          {"num", [](double, double) { return true; }, false},
                          {"nan", [](double, double) { return false; }, true}};
    const auto singles = f32_operands(2), doubles = f64_operands(2);
    for (const Case& one : cases) {
        const auto holds = [&](double a, double b) {
            return u64{std::isnan(a) || std::isnan(b) ? one.of_nan : one.holds(a, b)};
        };
        const std::string name = std::string("setp.") + one.name,
                          rest = " %q0, %a, %b;\n selp.b32 %d, 1, 0, %q0";
        expect_instruction(name + ".f32" + rest, f32_widths, singles,
                           [&](const Operands& o) { return holds(f32(o.a), f32(o.b)); });
        expect_instruction(name + ".ftz.f32" + rest, f32_widths, singles,
                           [&](const Operands& o) { return holds(flushed(f32(o.a)), flushed(f32(o.b))); });
        expect_instruction(name + ".f64" + rest, {4, 8, 8, 8}, doubles,
                           [&](const Operands& o) { return holds(f64(o.a), f64(o.b)); });
        expect_instruction(
            std::string("set.") + one.name + ".f32.f32 %d, %a, %b", f32_widths, singles,
            [&](const Operands& o) { return bits(static_cast<float>(holds(f32(o.a), f32(o.b)))); });
    }
}

// The special-function unit's bounds (PTX ISA, the instructions' tables of errors).
double error_bound(const std::string& opcode, double exact) {
    if (opcode == "sin" || opcode == "cos")
        return std::ldexp(1.0, -20);  // absolute; the ISA: 2^-20.5 to -20.9
    if (opcode == "lg2") return std::fmax(std::ldexp(1.0, -22), std::fabs(exact) * std::ldexp(1.0, -22));
    if (opcode == "tanh") return std::fabs(exact) * std::ldexp(1.0, -11);
    return std::fabs(exact) * std::ldexp(1.0, -22);
}

TEST(Real, ApproximationsKeepTheIsaBounds) {
    struct Case {
        const char* opcode;
        double (*exact)(double);
        float low, high;
    };
    const Case cases[] = {{"ex2", std::exp2, -126, 127.9f},
                          {"lg2", std::log2, 1e-37f, 1e30f},
                          {"sin", std::sin, -6.28f, 6.28f},
                          {"cos", std::cos, -6.28f, 6.28f},
                          {"tanh", std::tanh, -10, 10},
                          {"rsqrt", [](double a) { return 1 / std::sqrt(a); }, 1e-37f, 1e30f},
                          {"rcp", [](double a) { return 1 / a; }, 1e-30f, 1e30f},
                          {"sqrt", [](double a) { return std::sqrt(a); }, 0, 1e30f}};
    for (const Case& one : cases) {
        std::vector<Operands> operands;
        for (int i = 0; i < 4096; i++) {
            const float t = static_cast<float>(i) / 4095;
            const bool wide = one.low > 0;
            const double ratio = static_cast<double>(one.high) / static_cast<double>(one.low);
            const float value =
                wide ? static_cast<float>(one.low * std::pow(ratio, t)) : one.low + t * (one.high - one.low);
            operands.push_back({bits(value), 0, 0, 0});
            operands.push_back({bits(1 + (t - 0.5f) * 0.01f), 0, 0, 0});
        }
        const auto results =
            run_instruction(std::string(one.opcode) + ".approx.f32 %d, %a", f32_widths, operands);
        ASSERT_EQ(results.size(), operands.size());
        for (std::size_t i = 0; i < operands.size(); i++) {
            const double exact = one.exact(static_cast<double>(f32(operands[i].a)));
            ASSERT_NEAR(f32(results[i]), exact, error_bound(one.opcode, exact))
                << one.opcode << " of " << f32(operands[i].a);
        }
    }
    // What stands in the ISA's tables of special values.
    const auto special = [](const std::string& text, float a) {
        const Operands operands[] = {{bits(a), 0, 0, 0}};
        const auto results = run_instruction(text, f32_widths, operands);
        return results.empty() ? 0 : results[0];
    };
    const float tiny = std::numeric_limits<float>::denorm_min();
    EXPECT_EQ(special("ex2.approx.f32 %d, %a", -INFINITY), bits(0.0f));
    EXPECT_EQ(special("ex2.approx.f32 %d, %a", INFINITY), bits(INFINITY));
    EXPECT_EQ(special("ex2.approx.ftz.f32 %d, %a", -140), bits(0.0f));
    EXPECT_EQ(special("ex2.approx.f32 %d, %a", -149), bits(tiny));
    EXPECT_EQ(special("lg2.approx.f32 %d, %a", 0), bits(-INFINITY));
    EXPECT_EQ(special("lg2.approx.ftz.f32 %d, %a", tiny), bits(-INFINITY));
    EXPECT_EQ(special("lg2.approx.f32 %d, %a", tiny), bits(-149.0f));
    EXPECT_EQ(special("lg2.approx.f32 %d, %a", -1), 0x7fffffffu);
    EXPECT_EQ(special("lg2.approx.f32 %d, %a", INFINITY), bits(INFINITY));
    EXPECT_EQ(special("sin.approx.f32 %d, %a", -0.0f), bits(-0.0f));
    EXPECT_EQ(special("sin.approx.f32 %d, %a", INFINITY), 0x7fffffffu);
    EXPECT_EQ(special("cos.approx.f32 %d, %a", 0), bits(1.0f));
    EXPECT_EQ(special("rsqrt.approx.f32 %d, %a", -0.0f), bits(-INFINITY));
    EXPECT_EQ(special("tanh.approx.f32 %d, %a", -INFINITY), bits(-1.0f));
    EXPECT_EQ(special("rcp.approx.ftz.f32 %d, %a", tiny), bits(INFINITY));
}

TEST(Real, ApproximateDoubles) {
    const auto operands = f64_operands(1);
    const auto upper = [](double value) {
        u64 out = bits(value);
        if ((out & 0x7ff0000000000000u) == 0) out &= 0x8000000000000000u;
        return out & 0xffffffff00000000u;
    };
    const auto flush64 = [](double a) {
        return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0, a) : a;
    };
    expect_instruction("rcp.approx.ftz.f64 %d, %a", f64_widths, operands,
                       [&](const Operands& o) { return upper(1 / flush64(f64(o.a))); });
    expect_instruction("rsqrt.approx.ftz.f64 %d, %a", f64_widths, operands,
                       [&](const Operands& o) { return upper(1 / std::sqrt(flush64(f64(o.a)))); });
}

}  // namespace
}  // namespace trimtab::emulator::test
