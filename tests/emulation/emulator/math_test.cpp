// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libdevice's mathematics, as clang links it into the PTX, against the host's in extended precision, within
// the errors that NVIDIA documents (CUDA C++ programming guide, "Mathematical Functions").
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/emulation/emulator/compile.h"
#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::test {
namespace {

using Exact = long double (*)(long double, long double);

struct Function {
    const char* name;       // in binary64; binary32's has an f behind
    const char* arguments;  // of the call
    Exact exact;
    double low, high;       // of x; where low is positive, in geometric steps
    double ulps32, ulps64;  // documented
};

#define OF_X(function) [](long double x, long double) -> long double { return function(x); }
const Function functions[] = {
    {"sin", "x", OF_X(sinl), -50, 50, 2, 2},
    {"sin_far", "x", OF_X(sinl), 1e3, 1e7, 2, 2},
    {"cos", "x", OF_X(cosl), -50, 50, 2, 2},
    {"cos_far", "x", OF_X(cosl), 1e3, 1e7, 2, 2},
    {"tan", "x", OF_X(tanl), -1.5, 1.5, 4, 2},
    {"exp", "x", OF_X(expl), -80, 80, 2, 1},
    {"exp2", "x", OF_X(exp2l), -120, 120, 2, 1},
    {"exp10", "x", OF_X(exp10l), -37, 37, 2, 1},
    {"expm1", "x", OF_X(expm1l), -10, 10, 1, 1},
    {"log", "x", OF_X(logl), 1e-30, 1e30, 1, 1},
    {"log2", "x", OF_X(log2l), 1e-30, 1e30, 1, 1},
    {"log10", "x", OF_X(log10l), 1e-30, 1e30, 2, 1},
    {"log1p", "x", OF_X(log1pl), 1e-8, 1e8, 1, 1},
    {"sinh", "x", OF_X(sinhl), -20, 20, 3, 2},
    {"cosh", "x", OF_X(coshl), -20, 20, 2, 1},
    {"tanh", "x", OF_X(tanhl), -5, 5, 2, 1},
    {"asin", "x", OF_X(asinl), -1, 1, 4, 2},
    {"acos", "x", OF_X(acosl), -1, 1, 3, 2},
    {"atan", "x", OF_X(atanl), -20, 20, 2, 2},
    {"asinh", "x", OF_X(asinhl), -20, 20, 3, 3},
    {"acosh", "x", OF_X(acoshl), 1.01, 50, 4, 3},
    {"atanh", "x", OF_X(atanhl), -0.99, 0.99, 3, 2},
    {"cbrt", "x", OF_X(cbrtl), -50, 50, 1, 1},
    {"sqrt", "x", OF_X(sqrtl), 1e-20, 1e20, 3, 0.5},
    {"rsqrt", "x", OF_X(1 / sqrtl), 1e-20, 1e20, 2, 1},
    {"erf", "x", OF_X(erfl), -4, 4, 2, 2},
    {"erfc", "x", OF_X(erfcl), -4, 8, 4, 5},
    {"tgamma", "x", OF_X(tgammal), 0.1, 30, 11, 10},  // binary32: 5 in recent editions
    {"lgamma", "x", OF_X(lgammal), 3, 1e5, 6, 4},
    {"pow", "x, y", [](long double x, long double y) { return powl(x, y); }, 1e-3, 1e3, 4, 2},
    {"atan2", "x, y", [](long double x, long double y) { return atan2l(x, y); }, -20, 20, 3, 2},
    {"hypot", "x, y", [](long double x, long double y) { return hypotl(x, y); }, -20, 20, 3, 2},
    {"fmod", "x, y", [](long double x, long double y) { return fmodl(x, y); }, 0.01, 1e6, 0, 0},
    {"remainder", "x, y", [](long double x, long double y) { return remainderl(x, y); }, 0.01, 1e6, 0, 0},
    {"fdim", "x, y", [](long double x, long double y) { return fdiml(x, y); }, -20, 20, 0.5, 0.5},
    {"floor", "x", OF_X(floorl), -20, 20, 0, 0},
    {"ceil", "x", OF_X(ceill), -20, 20, 0, 0},
    {"trunc", "x", OF_X(truncl), -20, 20, 0, 0},
    {"round", "x", OF_X(roundl), -20, 20, 0, 0},
    {"rint", "x", OF_X(rintl), -20, 20, 0, 0},
    {"logb", "x", OF_X(logbl), 1e-20, 1e20, 0, 0},
};
#undef OF_X

std::string source() {
    std::string text;
    for (const Function& one : functions) {
        const std::string kernel = one.name;
        const std::string name = kernel.substr(0, kernel.find('_'));
        for (const bool narrow : {true, false}) {
            const std::string type = narrow ? "float" : "double", suffix = narrow ? "f" : "";
            text += "extern \"C\" __global__ void " + kernel + "_" + type + "(const " + type +
                    "* xs, const " + type + "* ys, " + type +
                    "* out, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
                    "    if (i < n) { " + type + " x = xs[i], y = ys[i]; out[i] = " + name + suffix + "(" +
                    one.arguments + "); (void)y; }\n}\n";
        }
    }
    return text;
}

// Distance in units of the last place of T next to the exact value.
template <class T>
double ulps(T got, long double exact) {
    using limits = std::numeric_limits<T>;
    if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) == std::isnan(got) ? 0 : 1e9;
    const T nearest = static_cast<T>(exact);
    if (std::isinf(nearest) || nearest == got) return std::isinf(nearest) && got != nearest ? 1e9 : 0;
    const int exponent = std::max(std::ilogb(exact), limits::min_exponent - 1);
    const long double unit = ldexpl(1, exponent - limits::digits + 1);
    return static_cast<double>(fabsl(static_cast<long double>(got) - exact) / unit);
}

class Mathematics : public testing::Test {
  protected:
    static void SetUpTestSuite() { program_ = load(compile_cuda(source(), "-O2")); }
    static void TearDownTestSuite() { program_.reset(); }
    void SetUp() override { ASSERT_NE(program_, nullptr); }

    template <class T>
    void check(const Function& one, double allowed) {
        const int n = 3000;
        std::vector<T> x(n), y(n), out(n);
        for (int i = 0; i < n; i++) {
            const double t = i / (n - 1.0);
            x[i] = static_cast<T>(one.low > 0 ? one.low * std::pow(one.high / one.low, t)
                                              : one.low + t * (one.high - one.low));
            y[i] = static_cast<T>(0.1 + (i * 37 % 101) * 0.07);
        }
        const std::string kernel = std::string(one.name) + (sizeof(T) == 4 ? "_float" : "_double");
        memory_.clear();
        run(*program_, memory_, kernel, {{(n + 127) / 128, 1, 1}, {128, 1, 1}},
            Parameters(memory_.add(x), memory_.add(y), memory_.add(out), n));
        for (int i = 0; i < n; i++) {
            const double error = ulps(out[i], one.exact(x[i], y[i]));
            // Half a unit more: the host's reference and the last rounding.
            ASSERT_LE(error, allowed == 0 ? 0 : allowed + 0.5)
                << kernel << " of " << x[i] << ", " << y[i] << " is " << out[i];
        }
    }

    static std::shared_ptr<Program> program_;
    HostMemory memory_;
};
std::shared_ptr<Program> Mathematics::program_;

TEST_F(Mathematics, Binary32) {
    for (const Function& one : functions) check<float>(one, one.ulps32);
}

TEST_F(Mathematics, Binary64) {
    for (const Function& one : functions) check<double>(one, one.ulps64);
}

TEST_F(Mathematics, SpecialValues) {
    const double inf = INFINITY, nan = NAN, tiny = std::numeric_limits<double>::denorm_min();
    const auto value = [&](const char* kernel, double a, double b = 0) {
        std::vector<double> x = {a}, y = {b}, out(1);
        memory_.clear();
        run(*program_, memory_, std::string(kernel) + "_double", {},
            Parameters(memory_.add(x), memory_.add(y), memory_.add(out), 1));
        return out[0];
    };
    EXPECT_EQ(value("exp", -inf), 0);
    EXPECT_EQ(value("exp", 1000), inf);
    EXPECT_EQ(value("log", 0), -inf);
    EXPECT_TRUE(std::isnan(value("log", -1)));
    EXPECT_TRUE(std::isnan(value("sin", inf)));
    EXPECT_EQ(value("pow", 0, 0), 1);
    EXPECT_EQ(value("pow", -2, 3), -8);
    EXPECT_TRUE(std::isnan(value("pow", -2, 0.5)));
    EXPECT_EQ(value("pow", nan, 0), 1);
    EXPECT_EQ(value("sqrt", tiny), std::sqrt(tiny));
    EXPECT_DOUBLE_EQ(value("cbrt", tiny * 8), 2 * std::cbrt(tiny));
    EXPECT_EQ(value("tgamma", 171.7), inf);
    EXPECT_EQ(value("atan2", -0.0, -1), -M_PI);
    EXPECT_EQ(value("fmod", 5.5, inf), 5.5);
    EXPECT_EQ(value("erf", inf), 1);
}

}  // namespace
}  // namespace trimtab::emulator::test
