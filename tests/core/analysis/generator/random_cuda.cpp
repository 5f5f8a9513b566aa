// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/random_cuda.h"

#include <fmt/format.h>

#include <array>

namespace trimtab::analysis::test {

const char* const random_cuda_prelude = R"(
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned u32; typedef unsigned long long u64;
typedef signed char s8; typedef short s16; typedef int s32; typedef long long s64; typedef unsigned __int128 u128;
#define GX (blockIdx.x * blockDim.x + threadIdx.x)
#define GY (blockIdx.y * blockDim.y + threadIdx.y)
#define TX (gridDim.x * blockDim.x)
#define ADD(p, v) __nvvm_atom_add_gen_i(p, v)
#define MAX(p, v) __nvvm_atom_max_gen_i(p, v)
#define OR(p, v) __nvvm_atom_or_gen_i(p, v)
#define BARRIER __syncthreads()
#define SHUFFLE(v, by) __nvvm_shfl_sync_bfly_i32(~0u, v, by, 31)
template <class T> __device__ inline T least(T a, T b) { return a < b ? a : b; }
template <class T> __device__ inline T most(T a, T b) { return a > b ? a : b; }
__device__ __attribute__((noinline)) int mixed(int a, int b) { return a > b ? a * 7 - b : b ^ (a << 2); }
__device__ __attribute__((noinline)) void put(int* at, int v) { if (v != 3) *at = v; }
__device__ inline u32 top(u64 a, u64 b, u64 c) { return (u32)((((u128)a << 64 | b) + (((u128)a << 64) | c)) >> 64); }
__device__ inline u32 product(u64 a, u64 b) { return (u32)(((u128)a * b) >> 60); }
struct Pair { int a, b; };
struct View { int* data; int step, limit; __device__ int& at(int i) const { return data[i * step]; } };
)";

namespace {

class RandomCuda {
  public:
    explicit RandomCuda(Draw& draw) : draw_(draw) {}

    std::string write(const std::string& name) {
        if (draw_.chance(20)) leak_ = one_of(leaks);
        const std::string body = pattern();
        return fmt::format("__global__ void {}(int* o, int* p, const int* {}t, {} n, {} m, {} k) {{\n{}}}\n",
                           name, draw_.chance(70) ? "__restrict__ " : "", one_of(types), one_of(types),
                           one_of(types), body);
    }

  private:
    static constexpr std::array<const char*, 11> types = {"int", "int", "int", "int", "u32", "u32",
                                                          "s64", "u64", "u64", "u16", "int"};
    static constexpr std::array<const char*, 10> narrow = {"int", "u32", "s64", "u64", "u16",
                                                           "s16", "u8",  "s8",  "int", "u32"};
    static constexpr std::array<const char*, 9> leaks = {
        "threadIdx.x",        "blockDim.x", "gridDim.x", "(gridDim.x * blockDim.x)", "blockIdx.x",
        "(threadIdx.x % 32)", "TX",         "TX",        "(GX / blockDim.x)"};

    template <class List>
    std::string one_of(const List& list) {
        return draw_.of(list);
    }

    // An integer of some type, over i, n, m and k.
    std::string value(unsigned depth, const std::string& i) {
        if (!leak_.empty() && draw_.chance(40)) {
            std::string leaked;
            std::swap(leaked, leak_);
            constexpr std::array<const char*, 7> ways = {"(int)top(m, ~0ull - {1}, {0})",
                                                         "({0} > {1} ? 2 : 5)",
                                                         "(int)({0} ^ {1})",
                                                         "mixed({0}, {1})",
                                                         "(int)product({0}, {1}ull << 59)",
                                                         "(u8)({0} * {1})",
                                                         "(int)(({0} + {1}) >> 3)"};
            return "(" + value(depth, i) + " + " +
                   fmt::format(fmt::runtime(draw_.of(ways)), leaked, draw_.below(200)) + ")";
        }
        if (depth == 0) {
            const std::array<std::string, 8> leaves = {
                i, i, i, "(int)n", "(int)m", "(int)k", std::to_string(draw_.below(70)), "k"};
            return draw_.of(leaves);
        }
        const std::string a = value(depth - 1, i), b = value(depth - 1, i);
        switch (draw_.below(13)) {
            case 0:
                return fmt::format("({} {} {} ? {} : {})", a, one_of(relations), b, value(depth - 1, i), b);
            case 1:
                return fmt::format("({})({})", one_of(narrow), a);
            case 2:
                return fmt::format("(int)top({}, {}, {})", a, b, value(depth - 1, i));
            case 3:
                return fmt::format("(int)product({}, {})", a, b);
            case 4:
                return fmt::format("mixed({}, {})", a, b);
            case 5:
                return fmt::format("({} {} {})", a, draw_.chance(50) ? "/" : "%", 1 + draw_.below(20));
            case 6:
                return fmt::format("(int)({}<s64>({}, {}))", draw_.chance(50) ? "least" : "most", a, b);
            case 7:
                return fmt::format("({} {} {})", a, draw_.chance(50) ? "<<" : ">>", draw_.below(9));
            case 8:
                return fmt::format("t[(u32)({}) & 255]", a);
            default:
                return fmt::format("({} {} {})", a, one_of(operators), b);
        }
    }
    static constexpr std::array<const char*, 6> relations = {"<", "<=", ">", ">=", "==", "!="};
    static constexpr std::array<const char*, 7> operators = {"+", "-", "*", "&", "|", "^", "+"};

    std::string something(const std::string& i) { return value(1 + draw_.below(3), i); }

    std::string bound() {
        constexpr std::array<const char*, 16> bounds = {"n",
                                                        "n",
                                                        "n",
                                                        "n",
                                                        "n",
                                                        "n",
                                                        "n - 1",
                                                        "n / 4",
                                                        "n * m",
                                                        "least<s64>(n, m)",
                                                        "(k > 3 ? n : m)",
                                                        "n + k",
                                                        "m",
                                                        "*p",
                                                        "t[3]",
                                                        "(u8)n"};
        return draw_.chance(70) ? "n" : one_of(bounds);
    }
    std::string inside(const std::string& i) {
        switch (draw_.below(12)) {
            case 0:
                return fmt::format("{} + {} < {}", i, draw_.below(4), bound());
            case 1:
                return fmt::format("{} - {} < {}", i, draw_.below(4), bound());
            case 2:
                return fmt::format("{} >= 0 && {} < {}", i, i, bound());
            case 3:
                return fmt::format("{} < {} && {} {} {}", i, bound(), something(i), one_of(relations), "k");
            case 4:
                return fmt::format("({}){} < {}", one_of(narrow), i, bound());
            case 5:
                return fmt::format("{} <= {}", i, bound());
            case 6:
                return fmt::format("{} != {}", i, bound());
            case 7:
                return fmt::format("(u64){} * {} < {}", i, 1 + draw_.below(4), bound());
            default:
                return fmt::format("{} < {}", i, bound());
        }
    }

    // What is done for an index.
    std::string effect(const std::string& i, unsigned depth = 1) {
        switch (draw_.below(16)) {
            case 0:
                return fmt::format("ADD(&o[(u32)({}) & 31], {});", something(i), something(i));
            case 1:
                return fmt::format("MAX(&o[{} & 7], {});", i, something(i));
            case 2:
                return fmt::format("o[{}] += {};", i, something(i));
            case 3:
                return fmt::format("o[2 * {0}] = {1}; o[2 * {0} + 1] = {2};", i, something(i), something(i));
            case 4:
                return fmt::format("if ({} {} {}) o[{}] = {};", something(i), one_of(relations), something(i),
                                   i, something(i));
            case 5:
                return fmt::format("put(&o[{}], {});", i, something(i));
            case 6:
                return fmt::format(
                    "{{ int a[4] = {{1, 2, 3, (int)k}}; a[{} & 3] = {}; o[{}] = a[(int)m & 3] + a[1]; }}",
                    something(i), something(i), i);
            case 7:
                return fmt::format("View v{{o, {}, (int)n}}; v.at({}) = {};", 1 + draw_.below(2), i,
                                   something(i));
            case 8:
                return fmt::format("((Pair*)o)[{}] = {{{}, {}}};", i, something(i), something(i));
            case 9:
                return fmt::format(
                    "{{ int s = 0; for (int j = 0; j < {}; j++) s = s * 3 + t[(j + {}) & 255]; o[{}] = s; }}",
                    draw_.chance(50) ? "(int)(m & 15)" : std::to_string(1 + draw_.below(6)), i, i);
            case 10:
                return fmt::format(
                    "{{ int s = 1; for (int j = 0; j < (int)({} & 15); j++) s += s * j; o[{}] = s; }}", i, i);
            case 11:
                if (depth == 0) return "";
                return effect(i, 0) + " " + fmt::format("p[{}] = {};", i, something(i));
            case 12:
                return fmt::format("{{ int old = ADD(&p[{}], 1); o[{}] = {}; }}", draw_.chance(50) ? "0" : i,
                                   i, draw_.chance(50) ? "(int)top(m, ~0ull - 20, old)" : "k");
            default:
                return fmt::format("o[{}] = {};", i, something(i));
        }
    }

    // Where a thread's turns ended is in the first loop's register, and in the second loop it is no index.
    std::string turns_after_turns(const std::string& index) {
        const std::string used = draw_.chance(50) ? "i" : "j";
        return fmt::format(
            "  {0} i = GX, j = GX;\n  for (; i < {1}; i += TX) {{ {2} }}\n"
            "  for (; j < {3}; j += TX) p[{4}] = {5};\n",
            index, bound(), effect("i"), draw_.chance(70) ? "m" : bound(), used,
            something(draw_.chance(80) ? "j" : "i"));
    }
    // One turn's place is another's, at another pace.
    std::string turns_that_may_meet(const std::string& index) {
        constexpr std::array<const char*, 8> places = {"2 * i", "2 * i + 1", "i",     "i + 5",
                                                       "3 * i", "n - 1 - i", "4 * i", "i + n"};
        const std::string head = draw_.chance(70)
                                     ? fmt::format("for ({} i = GX; i < n; i += TX)", index)
                                     : fmt::format("for ({} i = threadIdx.x; i < n; i += blockDim.x)", index);
        return fmt::format("  {} {}[{}] = {}[{}] + {};\n", head, draw_.chance(85) ? "o" : "p", one_of(places),
                           draw_.chance(85) ? "o" : "p", one_of(places), something("i"));
    }
    std::string pattern() {
        const std::string type = one_of(types), index = draw_.chance(85) ? type : one_of(narrow);
        switch (draw_.below(16)) {
            case 14:
                return turns_after_turns(index);
            case 15:
                return turns_that_may_meet(index);
            case 0:
            case 1:
            case 2:
                return fmt::format("  {} i = GX;\n  if ({}) {{ {} }}\n", index, inside("i"), effect("i"));
            case 3:
                return fmt::format("  {} i = GX;\n  if (!({})) return;\n  {}\n", index, inside("i"),
                                   effect("i"));
            case 4:
            case 5:
                return fmt::format(
                    "  {}\n  for ({} i = GX{}; {}; i += {}TX) {{ {} }}\n",
                    draw_.chance(20) ? fmt::format("#pragma unroll {}\n", 1 + draw_.below(4)) : "", index,
                    draw_.chance(15) ? " + 1" : "", inside("i"), draw_.chance(5) ? "2 * " : "", effect("i"));
            case 6:
                return fmt::format(
                    "  for ({0} i = threadIdx.x; {1}; i += blockDim.x) {{ int e = blockIdx.x * {2} + i; {3} "
                    "}}\n",
                    index, inside("i"), draw_.chance(85) ? "n" : "m", effect("e"));
            case 7:
                return fmt::format(
                    "  {0} x = GX, y = GY;\n  if (x < n && y < m) {{ int i = y * {1} + x; {2} }}\n", index,
                    draw_.chance(85) ? "n" : "m", effect("i"));
            case 8:
                return fmt::format(
                    "  int s = 0;\n  for ({} i = GX; {}; i += TX) s {} t[i & 255];\n  {}(o, s);\n", index,
                    inside("i"), draw_.chance(70) ? "+=" : "|=",
                    draw_.chance(70)   ? "ADD"
                    : draw_.chance(50) ? "OR"
                                       : "MAX");
            case 9:
                return fmt::format(
                    "  __shared__ int s[64];\n  for (int j = threadIdx.x; j < 64; j += blockDim.x) s[j] = "
                    "t[j] + k;\n  BARRIER;\n  {} i = GX;\n  if ({}) o[i] = s[{} & 63] + {};\n",
                    index, inside("i"), something("i"), something("i"));
            case 10:
                return fmt::format(
                    "  int w = GX / 32, l = {} % 32, s = 0;\n  if (!({})) return;\n  for (int j = l; j < m; "
                    "j += "
                    "32) s += t[(w * (int)m + j) & 255];\n  for (int d = 16; d > 0; d /= 2) s += SHUFFLE(s, "
                    "d);\n  if (l == 0) o[w] = s;\n",
                    draw_.chance(60) ? "GX" : "threadIdx.x", inside("w"));
            case 11:
                return fmt::format(
                    "  for (int r = blockIdx.x; r < m; r += gridDim.x)\n    for (int j = threadIdx.x; j < n; "
                    "j "
                    "+= blockDim.x) {{ int e = r * n + j; {} }}\n",
                    effect("e"));
            case 12:
                return fmt::format(
                    "  int b = blockIdx.x * (blockDim.x * 2) + threadIdx.x;\n  if (b < n) o[b] = {};\n  if "
                    "(b + "
                    "blockDim.x < n) o[b + blockDim.x] = {};\n",
                    something(draw_.chance(80) ? "b" : "(b + blockDim.x)"), something("(b + blockDim.x)"));
            default:
                return fmt::format(
                    "  __shared__ int s[128];\n  {} i = GX;\n  {}s[threadIdx.x] = {};\n  {}\n  if ({}) o[i] "
                    "= "
                    "s[threadIdx.x{}] + k;\n",
                    index, draw_.chance(50) ? "if (i >= n) return;\n  " : "", something("i"),
                    draw_.chance(50) ? "BARRIER;" : "", inside("i"), draw_.chance(10) ? " ^ 1" : "");
        }
    }

    Draw& draw_;
    std::string leak_;
};

}  // namespace

std::string random_cuda_kernel(Draw& draw, const std::string& name) {
    return RandomCuda(draw).write(name);
}

}  // namespace trimtab::analysis::test
