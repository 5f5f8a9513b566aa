// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The families of OpenCL C's functions, each in a program of its own, against the host's.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "tests/emulation/opencl/platform/host.h"

namespace trimtab::opencl::test {
namespace {

// Runs `kernel` of the source over `in`, one work-item each, and gives what it wrote.
template <class Out, class In>
std::vector<Out> map(const std::string& source, const std::vector<In>& in, std::size_t out_each = 1,
                     std::size_t local = 0, const std::string& options = {}) {
    const Host host;
    const Program program = host.build(source, options);
    const Kernel kernel = host.kernel(program, "k");
    const Memory input = host.buffer(in), output = host.buffer(std::vector<Out>(in.size() * out_each));
    set_arguments(kernel, input, output);
    EXPECT_EQ(host.run(kernel, {in.size()}, local == 0 ? std::vector<std::size_t>{} : std::vector{local}),
              CL_SUCCESS);
    return host.read<Out>(output, in.size() * out_each);
}

std::vector<float> spread(float low, float high, std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = low + (high - low) * static_cast<float>(i) / static_cast<float>(count - 1);
    return values;
}

double units_apart(float found, double expected) {
    const auto rounded = static_cast<float>(expected);
    if (std::isnan(expected)) return std::isnan(found) ? 0 : 1e9;
    if (found == rounded) return 0;
    const float unit =
        std::nextafter(std::fabs(rounded), std::numeric_limits<float>::infinity()) - std::fabs(rounded);
    return std::fabs(found - expected) / unit;
}

struct Mathematics {
    const char* call;
    double (*reference)(double);
    float low, high;
    double most_units;  // OpenCL 1.2, table 7.2
};

TEST(OpenClLanguage, MathematicsKeepsItsBounds) {
    const Mathematics cases[] = {{"sin(x)", std::sin, -20, 20, 4},       {"cos(x)", std::cos, -20, 20, 4},
                                 {"tan(x)", std::tan, -1.4f, 1.4f, 5},   {"exp(x)", std::exp, -20, 20, 3},
                                 {"exp2(x)", std::exp2, -20, 20, 3},     {"log(x)", std::log, 0.01f, 100, 3},
                                 {"log2(x)", std::log2, 0.01f, 100, 3},  {"sqrt(x)", std::sqrt, 0, 100, 3},
                                 {"cbrt(x)", std::cbrt, -100, 100, 2},   {"atan(x)", std::atan, -10, 10, 5},
                                 {"asin(x)", std::asin, -1, 1, 4},       {"sinh(x)", std::sinh, -5, 5, 4},
                                 {"tanh(x)", std::tanh, -5, 5, 5},       {"erf(x)", std::erf, -3, 3, 16},
                                 {"lgamma(x)", std::lgamma, 3, 20, 100}, {"floor(x)", std::floor, -5, 5, 0},
                                 {"rint(x)", std::nearbyint, -5, 5, 0},  {"trunc(x)", std::trunc, -5, 5, 0},
                                 {"fabs(x)", std::fabs, -5, 5, 0}};
    std::string source =
        "kernel void k(global const float2* in, global float* out) { float x = in[get_global_id(0)].x;"
        " switch ((int)in[get_global_id(0)].y) {";
    std::vector<cl_float2> in;
    std::vector<std::pair<const Mathematics*, double>> expected;
    for (std::size_t i = 0; i < std::size(cases); ++i) {
        source += "case " + std::to_string(i) + ": out[get_global_id(0)] = " + cases[i].call + "; break;";
        for (const float x : spread(cases[i].low, cases[i].high, 101)) {
            in.push_back({{x, static_cast<float>(i)}});
            expected.emplace_back(&cases[i], cases[i].reference(x));
        }
    }
    const auto found = map<float>(source + "} }", in);
    for (std::size_t i = 0; i < in.size(); ++i)
        ASSERT_LE(units_apart(found[i], expected[i].second), expected[i].first->most_units)
            << expected[i].first->call << " at " << in[i].s[0] << ": " << found[i] << " for "
            << expected[i].second;
}

TEST(OpenClLanguage, MathematicsOfSeveralResults) {
    const auto found = map<float>(
        "kernel void k(global const float* in, global float* out) { size_t i = get_global_id(0); float x = "
        "in[i], w; int e;"
        "  out[8 * i] = fract(x, &w); out[8 * i + 1] = w; out[8 * i + 2] = frexp(x, &e); out[8 * i + 3] = e;"
        "  out[8 * i + 4] = modf(x, &w); out[8 * i + 5] = sincos(x, &w); out[8 * i + 6] = w;"
        "  out[8 * i + 7] = ldexp(x, 3) + pow(x * x + 1, 2) + pown(x, 3) + hypot(x, 4.0f) + fma(x, x, 1.0f) "
        "+ mad(x, 2, 1)"
        "    + fmod(x, 0.7f) + remainder(x, 0.7f) + copysign(3.0f, x) + fmax(x, 1.0f) + fmin(x, 1.0f) + "
        "fdim(x, 1.0f); }",
        spread(-3.3f, 3.9f, 64), 8);
    const auto in = spread(-3.3f, 3.9f, 64);
    for (std::size_t i = 0; i < in.size(); ++i) {
        const float x = in[i];
        int exponent = 0;
        const float mantissa = std::frexp(x, &exponent);
        EXPECT_FLOAT_EQ(found[8 * i], x - std::floor(x));
        EXPECT_EQ(found[8 * i + 1], std::floor(x));
        EXPECT_EQ(found[8 * i + 2], mantissa);
        EXPECT_EQ(found[8 * i + 3], static_cast<float>(exponent));
        EXPECT_NEAR(found[8 * i + 4], x - std::trunc(x), 1e-6);
        EXPECT_NEAR(found[8 * i + 5], std::sin(x), 1e-6);
        EXPECT_NEAR(found[8 * i + 6], std::cos(x), 1e-6);
        const double sum = std::ldexp(x, 3) + std::pow(x * x + 1.0, 2) + std::pow(double{x}, 3) +
                           std::hypot(x, 4.0) + (double{x} * x + 1) + (2.0 * x + 1) + std::fmod(x, 0.7f) +
                           std::remainder(x, 0.7f) + std::copysign(3.0, x) + std::fmax(x, 1.0f) +
                           std::fmin(x, 1.0f) + std::fdim(x, 1.0f);
        EXPECT_NEAR(found[8 * i + 7], sum, 1e-3 + 1e-5 * std::fabs(sum)) << x;
    }
}

TEST(OpenClLanguage, WholeNumbers) {
    std::vector<int> in{0, 1, -1, 7, -128, 2147483647, -2147483647 - 1, 0x12345678, 65536, -65537};
    const auto found = map<int>(
        "kernel void k(global const int* in, global int* out) { size_t i = get_global_id(0); int x = in[i];"
        "  out[10 * i] = abs(x); out[10 * i + 1] = add_sat(x, 5); out[10 * i + 2] = hadd(x, 3);"
        "  out[10 * i + 3] = rotate(x, 5); out[10 * i + 4] = clz(x); out[10 * i + 5] = popcount(x);"
        "  out[10 * i + 6] = mul_hi(x, 1000000); out[10 * i + 7] = clamp(x, -10, 10); out[10 * i + 8] = "
        "mad24(x & 0xff, 3, 4);"
        "  out[10 * i + 9] = abs_diff(x, 3); }",
        in, 10);
    for (std::size_t i = 0; i < in.size(); ++i) {
        const std::int64_t x = in[i];
        const auto bits = static_cast<std::uint32_t>(in[i]);
        EXPECT_EQ(static_cast<std::uint32_t>(found[10 * i]), static_cast<std::uint32_t>(std::abs(x)));
        EXPECT_EQ(found[10 * i + 1], std::min<std::int64_t>(x + 5, 2147483647));
        EXPECT_EQ(found[10 * i + 2], (x + 3) >> 1);
        EXPECT_EQ(static_cast<std::uint32_t>(found[10 * i + 3]), std::rotl(bits, 5));
        EXPECT_EQ(found[10 * i + 4], std::countl_zero(bits));
        EXPECT_EQ(found[10 * i + 5], std::popcount(bits));
        EXPECT_EQ(found[10 * i + 6], (x * 1000000) >> 32);
        EXPECT_EQ(found[10 * i + 7], std::clamp<std::int64_t>(x, -10, 10));
        EXPECT_EQ(found[10 * i + 8], (x & 0xff) * 3 + 4);
        EXPECT_EQ(static_cast<std::uint32_t>(found[10 * i + 9]), static_cast<std::uint32_t>(std::abs(x - 3)));
    }
}

TEST(OpenClLanguage, ConversionsRoundAndSaturate) {
    const std::vector<float> in{-1e10f, -300.7f, -2.5f,  -0.5f,    0.5f, 1.5f,
                                2.5f,   127.6f,  255.5f, 70000.3f, 1e10f};
    const auto found = map<int>(
        "kernel void k(global const float* in, global int* out) { size_t i = get_global_id(0); float x = "
        "in[i];"
        "  out[6 * i] = convert_char_sat(x); out[6 * i + 1] = convert_uchar_sat_rte(x); out[6 * i + 2] = "
        "convert_short_sat_rtp(x);"
        "  out[6 * i + 3] = convert_int_sat_rtn(x); out[6 * i + 4] = as_int(convert_float_rtz((double)x * "
        "1.1));"
        "  out[6 * i + 5] = as_int(convert_float(convert_long_sat(x))); }",
        in, 6);
    const auto saturated = [](double x, double low, double high) {
        return static_cast<int>(std::clamp(x, low, high));
    };
    for (std::size_t i = 0; i < in.size(); ++i) {
        const double x = in[i];
        EXPECT_EQ(found[6 * i], saturated(std::trunc(x), -128, 127)) << x;
        EXPECT_EQ(found[6 * i + 1], saturated(std::nearbyint(x), 0, 255)) << x;
        EXPECT_EQ(found[6 * i + 2], saturated(std::ceil(x), -32768, 32767)) << x;
        EXPECT_EQ(found[6 * i + 3], saturated(std::floor(x), -2147483648.0, 2147483647.0)) << x;
        float down = static_cast<float>(x * 1.1);
        if (std::fabs(double{down}) > std::fabs(x * 1.1)) down = std::nextafter(down, 0.0f);
        EXPECT_EQ(std::bit_cast<float>(found[6 * i + 4]), down) << x;
        EXPECT_EQ(std::bit_cast<float>(found[6 * i + 5]), static_cast<float>(static_cast<std::int64_t>(x)))
            << x;
    }
}

TEST(OpenClLanguage, VectorsGeometryAndRelations) {
    std::vector<cl_float4> in;
    for (int i = 0; i < 32; ++i)
        in.push_back(
            {{static_cast<float>(i) - 7, 0.5f * static_cast<float>(i), 3 - static_cast<float>(i), 1.25f}});
    const auto found = map<float>(
        "kernel void k(global const float4* in, global float* out) { size_t i = get_global_id(0); float4 v = "
        "in[i];"
        "  float4 u = v.wzyx + (float4)(1, 2, 3, 4);"
        "  out[8 * i] = dot(v, u); out[8 * i + 1] = length(v.xyz); out[8 * i + 2] = distance(v.xy, u.zw);"
        "  out[8 * i + 3] = cross(v, u).y; out[8 * i + 4] = normalize(v).x;"
        "  out[8 * i + 5] = select(v, u, isless(v, u)).z + any(v < 0) * 100 + all(v < 100.0f) * 1000;"
        "  out[8 * i + 6] = shuffle(v, (uint4)(3, 2, 1, 0)).y + shuffle2(v, u, (uint4)(5)).x;"
        "  out[8 * i + 7] = mix(v.x, v.y, 0.25f) + step(0.0f, v.z) + smoothstep(-5.0f, 5.0f, v.x) + "
        "sign(v.z) + clamp(v.y, 1.0f, 4.0f)"
        "    + degrees(0.01f) + (isnan(v.x) ? 7 : 0) + bitselect(1.0f, 2.0f, 0.0f) + signbit(v.x); }",
        in, 8);
    for (std::size_t i = 0; i < in.size(); ++i) {
        const auto& v = in[i].s;
        const float u[4] = {v[3] + 1, v[2] + 2, v[1] + 3, v[0] + 4};
        const float dot = v[0] * u[0] + v[1] * u[1] + v[2] * u[2] + v[3] * u[3];
        EXPECT_NEAR(found[8 * i], dot, 1e-3);
        EXPECT_NEAR(found[8 * i + 1], std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), 1e-4);
        EXPECT_NEAR(found[8 * i + 2], std::hypot(v[0] - u[2], v[1] - u[3]), 1e-4);
        EXPECT_NEAR(found[8 * i + 3], v[2] * u[0] - v[0] * u[2], 1e-3);
        EXPECT_NEAR(found[8 * i + 4], v[0] / std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3]),
                    1e-5);
        const bool negative = v[0] < 0 || v[1] < 0 || v[2] < 0 || v[3] < 0;
        EXPECT_NEAR(found[8 * i + 5], std::max(v[2], u[2]) + (negative ? 100 : 0) + 1000, 1e-3);
        EXPECT_EQ(found[8 * i + 6], v[2] + u[1]);
        const float t = std::clamp((v[0] + 5) / 10, 0.0f, 1.0f);
        const double sum = v[0] + (v[1] - v[0]) * 0.25 + (v[2] < 0 ? 0 : 1) + t * t * (3 - 2 * t) +
                           (v[2] > 0   ? 1
                            : v[2] < 0 ? -1
                                       : 0) +
                           std::clamp(v[1], 1.0f, 4.0f) + 0.57295779513 + 1.0 + (v[0] < 0 ? 1 : 0);
        EXPECT_NEAR(found[8 * i + 7], sum, 1e-3) << i;
    }
}

TEST(OpenClLanguage, VectorsInMemoryAndHalf) {
    std::vector<float> in(96);
    std::iota(in.begin(), in.end(), -20.0f);
    const auto found = map<float>(
        "kernel void k(global const float* in, global float* out) {"
        "  size_t i = get_global_id(0); if (i >= 8) return;"
        "  float3 v = vload3(i, in + 1); vstore3(v.zyx, i, out);"
        "  vstore_half_rte(v.x + 0.3f, i, (global half*)(out + 40)); out[60 + i] = vload_half(i, (global "
        "half*)(out + 40));"
        "  float8 w = vload8(0, in + i); vstore4(w.odd, 0, out + 68 + 0); if (i == 7) vstore2(w.s07, 0, out "
        "+ 80); }",
        in);
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(found[3 * i], in[1 + 3 * i + 2]);
        EXPECT_EQ(found[3 * i + 2], in[1 + 3 * i]);
        EXPECT_NEAR(found[60 + i], in[1 + 3 * i] + 0.3f, 0.02) << "a half has eleven bits";
    }
    EXPECT_EQ(found[80], in[7]);
    EXPECT_EQ(found[81], in[14]);
}

TEST(OpenClLanguage, LocalMemoryBarriersAndCopies) {
    std::vector<float> in(256);
    std::iota(in.begin(), in.end(), 1.0f);
    const auto found = map<float>(
        "kernel void k(global const float* in, global float* out) {"
        "  local float tile[64], sums[64]; size_t g = get_group_id(0), l = get_local_id(0);"
        "  event_t e = async_work_group_copy(tile, in + 64 * g, 64, 0);"
        "  wait_group_events(1, &e);"
        "  sums[l] = tile[63 - l]; barrier(CLK_LOCAL_MEM_FENCE);"
        "  for (uint half_size = 32; half_size > 0; half_size /= 2) {"
        "    if (l < half_size) sums[l] += sums[l + half_size]; barrier(CLK_LOCAL_MEM_FENCE); }"
        "  out[get_global_id(0)] = tile[l] + sums[0]; mem_fence(CLK_GLOBAL_MEM_FENCE); prefetch(in, 4); }",
        in, 1, 64);
    for (std::size_t i = 0; i < in.size(); ++i) {
        float sum = 0;
        for (std::size_t j = 0; j < 64; ++j) sum += in[i / 64 * 64 + j];
        ASSERT_EQ(found[i], in[i] + sum);
    }
}

TEST(OpenClLanguage, AtomicsAddUp) {
    const Host host;
    const Program program = host.build(
        "kernel void k(global int* g, local int* l) {"
        "  if (get_local_id(0) == 0) *l = 0; barrier(CLK_LOCAL_MEM_FENCE);"
        "  atomic_inc(l); atomic_add(g, 2); atomic_max(g + 1, (int)get_global_id(0)); atomic_min(g + 2, "
        "-(int)get_global_id(0));"
        "  atomic_or(g + 3, 1 << (get_global_id(0) % 30)); atomic_xor(g + 4, 1); atomic_sub(g + 5, 1);"
        "  int old; do { old = g[6]; } while (atomic_cmpxchg(g + 6, old, old + 3) != old);"
        "  barrier(CLK_LOCAL_MEM_FENCE); if (get_local_id(0) == 0) atomic_add(g + 7, *l); }");
    const Kernel kernel = host.kernel(program, "k");
    const Memory values = host.buffer(std::vector<int>(8));
    set_arguments(kernel, values, Local{4});
    ASSERT_EQ(host.run(kernel, {256}, {32}), CL_SUCCESS);
    EXPECT_THAT(host.read<int>(values, 8),
                testing::ElementsAre(512, 255, -255, (1 << 30) - 1, 0, -256, 768, 256));
}

TEST(OpenClLanguage, WorkGroupsAndSubGroupsTogether) {
    std::vector<int> in(128);
    std::iota(in.begin(), in.end(), 1);
    const auto found = map<int>(
        "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n"
        "kernel void k(global const int* in, global int* out) { size_t i = get_global_id(0); int x = in[i];"
        "  out[6 * i] = work_group_reduce_add(x); out[6 * i + 1] = work_group_scan_exclusive_add(x);"
        "  out[6 * i + 2] = work_group_broadcast(x, 5); out[6 * i + 3] = work_group_any(x == 70);"
        "  out[6 * i + 4] = sub_group_reduce_max(x); out[6 * i + 5] = sub_group_scan_inclusive_add(x); }",
        in, 6, 64, "-cl-std=CL3.0");
    for (std::size_t i = 0; i < in.size(); ++i) {
        const std::size_t group = i / 64 * 64, warp = i / 32 * 32;
        const auto sum = [&](std::size_t from, std::size_t to) {
            return std::accumulate(in.begin() + static_cast<std::ptrdiff_t>(from),
                                   in.begin() + static_cast<std::ptrdiff_t>(to), 0);
        };
        ASSERT_EQ(found[6 * i], sum(group, group + 64));
        ASSERT_EQ(found[6 * i + 1], sum(group, i));
        ASSERT_EQ(found[6 * i + 2], in[group + 5]);
        ASSERT_EQ(found[6 * i + 3] != 0, group == 64);
        ASSERT_EQ(found[6 * i + 4], in[warp + 31]);
        ASSERT_EQ(found[6 * i + 5], sum(warp, i + 1));
    }
}

TEST(OpenClLanguage, DoublesAndLongs) {
    std::vector<double> in{-3.75, 0.1, 1e100, 12345.678, -2.5e-7};
    const auto found = map<double>(
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
        "kernel void k(global const double* in, global double* out) { size_t i = get_global_id(0); double x "
        "= in[i];"
        "  out[4 * i] = sqrt(fabs(x)) * 2; out[4 * i + 1] = exp(-fabs(x) * 1e-9); out[4 * i + 2] = fma(x, x, "
        "1.0);"
        "  out[4 * i + 3] = (double)(convert_long_sat(x) / 3 + mul_hi(0x123456789abcdefL, 0x100000000L)); }",
        in, 4);
    for (std::size_t i = 0; i < in.size(); ++i) {
        const double x = in[i];
        EXPECT_DOUBLE_EQ(found[4 * i], std::sqrt(std::fabs(x)) * 2);
        EXPECT_DOUBLE_EQ(found[4 * i + 1], std::exp(-std::fabs(x) * 1e-9));
        EXPECT_DOUBLE_EQ(found[4 * i + 2], std::fma(x, x, 1.0));
        const std::int64_t whole = x > 9.2e18 ? INT64_MAX : static_cast<std::int64_t>(x);
        EXPECT_DOUBLE_EQ(found[4 * i + 3], static_cast<double>(whole / 3 + 0x1234567));
    }
}

// OpenCL C 3.0, section 6.15.6: 1 of a scalar that it holds for, -1 (all bits) of a vector's element.
TEST(OpenClLanguage, RelationsOfScalarsAndVectors) {
    constexpr float infinity = std::numeric_limits<float>::infinity(),
                    nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> in{0, -0.0f, 1.5f, -1.5f, infinity, -infinity, nan, 1e-40f};
    const std::pair<const char*, bool (*)(float)> relations[] = {
        {"isinf(x)", [](float x) { return std::isinf(x); }},
        {"isnan(x)", [](float x) { return std::isnan(x); }},
        {"isfinite(x)", [](float x) { return std::isfinite(x); }},
        {"isnormal(x)", [](float x) { return std::isnormal(x); }},
        {"signbit(x)", [](float x) { return std::signbit(x); }},
        {"isequal(x, x)", [](float x) { return x == x; }},
        {"isnotequal(x, y)", [](float x) { return x != 1.5f; }},
        {"isless(x, y)", [](float x) { return x < 1.5f; }},
        {"isgreaterequal(x, y)", [](float x) { return x >= 1.5f; }},
        {"islessgreater(x, y)", [](float x) { return x < 1.5f || x > 1.5f; }},
        {"isordered(x, x)", [](float x) { return !std::isnan(x); }},
        {"isunordered(x, x)", [](float x) { return std::isnan(x); }}};
    constexpr std::size_t widths = 6;
    std::string source =
        "kernel void k(global const float* in, global int* out) { size_t i = get_global_id(0);";
    std::size_t place = 0;
    for (const auto& relation : relations)
        for (const char* width : {"", "2", "3", "4", "8", "16"}) {
            const std::string type = "float" + std::string(width);
            source += "{ " + type + " x = (" + type + ")in[i], y = (" + type + ")1.5f; out[i * " +
                      std::to_string(std::size(relations) * widths) + " + " + std::to_string(place++) +
                      "] = " + relation.first + (*width == 0 ? "" : ".y") + "; }";
        }
    const auto found = map<int>(source + " }", in, place);
    for (std::size_t i = 0; i < in.size(); ++i)
        for (std::size_t r = 0; r < std::size(relations); ++r)
            for (std::size_t w = 0; w < widths; ++w)
                EXPECT_EQ(found[i * place + r * widths + w],
                          relations[r].second(in[i]) ? (w == 0 ? 1 : -1) : 0)
                    << relations[r].first << " at " << in[i] << ", form " << w;
}

// OpenCL C 3.0, section 6.12 (preprocessor macros): an unknown one would count as 0, and hide what a source keeps for newer
// devices.
TEST(OpenClLanguage, MacrosNameTheDevice) {
    const std::string source =
        "#if !defined(__OPENCL_VERSION__) || __OPENCL_VERSION__ < CL_VERSION_1_2 || __IMAGE_SUPPORT__ != 1\n"
        "#error not the device that it is\n"
        "#endif\n"
        "kernel void k(global const int* in, global int* out) { out[0] = __OPENCL_VERSION__ + in[0]; "
        "out[1] = __OPENCL_C_VERSION__; }";
    const Host host;
    std::array<char, 64> version{};
    ASSERT_EQ(clGetDeviceInfo(host.device(), CL_DEVICE_VERSION, version.size(), version.data(), nullptr),
              CL_SUCCESS);
    int major = 0, minor = 0;
    ASSERT_EQ(std::sscanf(version.data(), "OpenCL %d.%d", &major, &minor), 2) << version.data();
    EXPECT_EQ(map<int>(source, std::vector<int>{0}, 2), (std::vector{100 * major + 10 * minor, 120}));
    EXPECT_EQ(map<int>(source, std::vector<int>{0}, 2, 0, "-cl-std=CL3.0")[1], 300);
    EXPECT_EQ(map<int>(source, std::vector<int>{0}, 2, 0, "-D__OPENCL_VERSION__=120 -Werror")[0], 120)
        << "a program that takes it for another";
}

// NVIDIA's compilers take PTX within OpenCL C, and `typeof` with it.
TEST(OpenClLanguage, AssemblyIsPtx) {
    const auto found = map<int>(
        "kernel void k(global const int* in, global int* out) { size_t i = get_global_id(0); int sum;"
        "  asm(\"add.s32 %0, %1, %2;\" : \"=r\"(sum) : \"r\"(in[i]), \"r\"(5)); typeof(sum) twice = 2 * sum;"
        "  asm volatile(\"red.global.add.s32 [%0], %1;\" :: \"l\"(out + i), \"r\"(twice)); }",
        std::vector<int>{1, 2, -30});
    EXPECT_EQ(found, (std::vector{12, 14, -50}));
}

TEST(OpenClLanguage, PrintfReachesStandardOutput) {
    testing::internal::CaptureStdout();
    map<int>(
        "kernel void k(global const int* in, global int* out) {"
        "  out[0] = printf(\"%s: %d %5.2f\\n\", \"work-item\", in[get_global_id(0)], 1.5f); }",
        std::vector<int>{41});
    std::fflush(stdout);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "work-item: 41  1.50\n");
}

}  // namespace
}  // namespace trimtab::opencl::test
