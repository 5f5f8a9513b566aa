// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mathematics of infinities, NaN and subnormal numbers, of scalars and of every width of vector (OpenCL C 3.0, sections 6.15.2
// and 7.5.1), against the host's.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "tests/emulation/opencl/platform/host.h"

namespace trimtab::opencl::test {
namespace {

template <class T>
constexpr const char* type_name = sizeof(T) == 4 ? "float" : "double";

constexpr std::size_t results = 11;
constexpr std::array<const char*, results> names{
    "fmod",   "remainder",          "remquo", "remquo's quotient", "ldexp",
    "fract",  "fract's whole part", "modf",   "modf's whole part", "log1p",
    "atan2pi"};

template <class T>
std::array<T, results> expected(T x, T y) {
    std::array<T, results> out{};
    int quotient = 0;
    out[0] = std::fmod(x, y);
    out[1] = std::remainder(x, y);
    out[2] = std::remquo(x, y, &quotient);
    // Seven bits of it, and undefined where there is none.
    out[3] = static_cast<T>(std::isfinite(x) && !std::isnan(y) && y != 0 ? quotient & 7 : 0);
    out[4] = std::ldexp(x, -3);
    out[5] =
        std::isinf(x) ? std::copysign(T{0}, x) : std::fmin(x - std::floor(x), std::nextafter(T{1}, T{0}));
    if (std::isnan(x)) out[5] = x;
    out[6] = std::floor(x);
    out[7] = std::modf(x, &out[8]);
    out[9] = std::log1p(x);
    out[10] = std::atan2(x, y) / std::numbers::pi_v<T>;
    return out;
}

template <class T>
std::vector<T> edges() {
    using Limits = std::numeric_limits<T>;
    return {0,
            -T{0},
            1,
            T{-1.5},
            T{7.25},
            Limits::denorm_min() * 1000,
            Limits::denorm_min() * -7001,
            T{1e30f},
            T{-0.1f},
            Limits::infinity(),
            -Limits::infinity(),
            Limits::quiet_NaN()};
}

template <class T>
void compare(const std::string& width) {
    const std::size_t n = width.empty() ? 1 : std::stoul(width);
    std::vector<T> x, y;
    for (const T a : edges<T>())
        for (const T b : edges<T>()) {
            x.push_back(a);
            y.push_back(b);
        }
    ASSERT_EQ(x.size() % n, 0u);
    const std::string real = type_name<T> + width, whole = "int" + width;
    const Host host;
    const Program program = host.build(
        "kernel void k(global const " + real + "* a, global const " + real + "* b, global " + real +
        "* out) { size_t i = get_global_id(0), n = get_global_size(0); " + real + " x = a[i], y = b[i], t; " +
        whole + " q; out[i] = fmod(x, y); out[n + i] = remainder(x, y); out[2 * n + i] = remquo(x, y, &q);" +
        "out[3 * n + i] = convert_" + real + "(q & 7); out[4 * n + i] = ldexp(x, -3);" +
        "out[5 * n + i] = fract(x, out + 6 * n + i); out[7 * n + i] = modf(x, &t); out[8 * n + i] = t;" +
        "out[9 * n + i] = log1p(x); out[10 * n + i] = atan2pi(x, y); }");
    const Kernel kernel = host.kernel(program, "k");
    const Memory a = host.buffer(x), b = host.buffer(y),
                 out = host.buffer(std::vector<T>(results * x.size()));
    set_arguments(kernel, a, b, out);
    ASSERT_EQ(host.run(kernel, {x.size() / n}), CL_SUCCESS);
    const auto found = host.read<T>(out, results * x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto right = expected(x[i], y[i]);
        for (std::size_t r = 0; r < results; ++r) {
            const T got = found[r * x.size() + i];
            if (std::isnan(right[r])) {
                EXPECT_TRUE(std::isnan(got)) << names[r] << " of " << x[i] << " and " << y[i] << ": " << got;
            } else if (r == 3) {
                if (std::isfinite(x[i]) && !std::isnan(y[i]) && y[i] != 0)
                    EXPECT_EQ(got, right[r]) << names[r] << " of " << x[i] << " and " << y[i];
            } else if (r < 9) {
                EXPECT_EQ(got, right[r]) << names[r] << " of " << x[i] << " and " << y[i] << ", " << real;
            } else {
                const T least = std::numeric_limits<T>::denorm_min();
                const T unit = std::fmax(std::fabs(right[r]) * std::numeric_limits<T>::epsilon(), least);
                EXPECT_TRUE(got == right[r] || std::fabs(got - right[r]) <= 6 * unit)
                    << names[r] << " of " << x[i] << " and " << y[i] << ", " << real << ": " << got << " for "
                    << right[r];
            }
        }
    }
}

TEST(OpenClLanguage, MathematicsOfEdges) {
    for (const char* width : {"", "2", "4", "8", "16"}) {
        compare<float>(width);
        compare<double>(width);
    }
}

}  // namespace
}  // namespace trimtab::opencl::test
