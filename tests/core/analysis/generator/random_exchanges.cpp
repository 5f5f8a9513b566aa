// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels whose blocks bring values together several times, in one shared array: sums, extremes and bits of a
// whole block or of a part of it, by shuffles, by trees and by both, with what idle lanes hold, and with results that
// are read again later.
#include <fmt/format.h>

#include <array>

#include "generator/odd_kernel.h"
#include "generator/random_cuda.h"

namespace trimtab::analysis::test {
namespace {

struct Joining {
    const char *type, *identity, *joined;
    const char* turn;                       // of a value
    std::array<const char*, 3> look_alike;  // what idle lanes must not hold, but often do
};
constexpr const char* least_int = "(-0x7fffffff - 1)";
// Floating-point sums are of small integers: exact in any order.
constexpr std::array<Joining, 9> joinings = {{
    {"int", "0", "({} + {})", "{}", {"1", "s[0]", "k"}},
    {"int", "0", "({} + {})", "{}", {"1", "-1", "x"}},
    {"int", least_int, "most<int>({}, {})", "{}", {"0", "-1000000", "n"}},
    {"int", "0x7fffffff", "least<int>({}, {})", "{}", {"0", "64", "-1"}},
    {"int", "0", "({} | {})", "{}", {"1", "x", "k"}},
    {"int", "-1", "({} & {})", "{}", {"0", "0x7fffffff", "1"}},
    {"int", "0", "({} ^ {})", "{}", {"1", "7", "B"}},
    {"float", "-INFINITE", "LARGER({}, {})", "(float)({})", {"0.0f", "1.17549435e-38f", "-3.0e4f"}},
    {"float", "INFINITE", "SMALLER({}, {})", "(float)({})", {"0.0f", "1.17549435e-38f", "100.0f"}},
}};
// Of numbers that round: what comes of them is compared within a bound, so that nothing may be decided by them.
constexpr Joining rounded_sum = {
    "float", "0.0f", "({} + {})", "1.0f / (float)(3 + (({}) & 255))", {"1.0f", "0.5f", "(float)k"}};
constexpr Joining float_sum = {
    "float", "0.0f", "({} + {})", "(float)(({}) & 255)", {"1.0f", "1.17549435e-38f", "(float)k"}};

class RandomExchanges : OddKernel {
  public:
    explicit RandomExchanges(Draw& draw) : OddKernel(draw) {}

    std::string write(const std::string& name) {
        is_float_ = chance(25);
        rows_ = chance(25);
        std::string body;
        for (unsigned i = chance(45) ? 1 : 2; i > 0; i--) body += section();
        body += uses();
        const std::string type = is_float_ ? "float" : "int";
        const std::string row = rows_ ? "  for (int r = blockIdx.x; r < (k & 7); r += gridDim.x) {\n"
                                      : "  { const int r = blockIdx.x;\n";
        return fmt::format(
            "__global__ void {}(int* o, int* p, const int* {}t, int n, int m, int k) {{\n"
            "  {} {} u[40]; __shared__ int c[4];\n"
            "  const int x = threadIdx.x, B = blockDim.x, lane = x & 31, warp = x / 32;\n"
            "{}  {} v0 = 0, v1 = 0, v2 = 0;\n{}{}  }}\n}}\n",
            name, chance(85) ? "__restrict__ " : "",
            fmt::format(
                fmt::runtime(!is_float_ && chance(25) ? "extern __shared__ {} s[];" : "__shared__ {} s[{}];"),
                type, chance(90) ? 256 : 128),
            "__shared__ " + type, row, type, body, rows_ ? barrier() : "");
    }

  private:
    std::string array() { return odd(4) ? "u" : array_; }

    std::string value(const std::string& i) {
        if (odd(10)) return any({"x", "B", "v0", "v1", "lane"});
        return any({fmt::format("t[({} + 13 * r) & 255]", i), fmt::format("(t[{} & 255] * 3 + {})", i, i), i,
                    fmt::format("-(t[{} & 255] & 63) - 1", i), fmt::format("({} ^ k)", i),
                    fmt::format("(t[({} + r) & 255] & 31)", i)});
    }
    std::string join(const std::string& a, const std::string& b) {
        const Joining& by = odd(5) && !is_float_ ? joinings[below(7)] : by_;
        return fmt::format(fmt::runtime(by.joined), a, b);
    }
    std::string idle() { return odd(22) ? by_.look_alike[below(3)] : std::string(by_.identity); }

    // A value of each thread's turns, and what the block makes of it.
    std::string section() {
        by_ = !is_float_   ? joinings[below(7)]
              : chance(30) ? (chance(50) ? rounded_sum : float_sum)
                           : joinings[7 + below(2)];
        array_ = chance(80) ? "s" : "u";
        to_ = fmt::format("v{}", below(3));
        const std::string bound = chance(80) ? "n" : any({"m", "(n & 63)"});
        std::string text = fmt::format("  {{ {} v = {};\n", by_.type, idle());
        if (chance(8))
            text += fmt::format("  v = {};\n", fmt::format(fmt::runtime(by_.turn), value("x")));
        else
            text += fmt::format(
                "  {}for (int i = {}; i < {}; i += {}) {{ {}v = {}; }}\n", chance(70) ? "KEEP " : "",
                odd(4) ? "x + 1" : "x", bound, odd(4) ? "2 * B" : "B",
                chance(15) ? fmt::format("if ({} > 2) ", value("i")) : "",
                fmt::format(fmt::runtime(by_.joined), "v", fmt::format(fmt::runtime(by_.turn), value("i"))));
        text += exchange();
        if (chance(60)) text += barrier();
        text += "  }\n";
        if (chance(25)) text += use();
        return text;
    }
    std::string shuffles(const std::string& from) {
        const bool is_odd = odd(4);
        const std::string how =
            std::string(chance(50) ? "SHUFFLE_XOR" : "SHUFFLE_DOWN") + (is_float_ ? "F" : "");
        return fmt::format("for (int d = {}; d > 0; d /= 2) v = {};", is_odd ? "8" : from,
                           join("v", how + "(v, d)"));
    }
    std::string tree(const std::string& half, const std::string& last) {
        const std::string s = array_;
        return fmt::format("  for (int d = {}; d > {}; d /= 2) {{ if (x {} d) {}[x] = {}; {} }}\n", half,
                           last, odd(4) ? "<=" : "<", s,
                           join(s + "[x]", s + any({"[x + d]", "[x + d]", "[x ^ d]"})),
                           odd(10) ? "" : "BARRIER;");
    }
    std::string exchange() {
        const std::string s = array_;
        const std::string told = chance(70) ? "0" : any({"32", "33"});
        // What one thread goes over alone takes long to prove.
        switch (chance(3) ? 7 : chance(12) ? 8 : below(7)) {
            case 0:
            case 1: {  // slots of warps, the first warp, all
                std::string text = fmt::format("  {}\n  if (lane == {}) {}[warp] = v;\n{}", shuffles("16"),
                                               odd(5) ? "1" : "0", array(), barrier());
                text += fmt::format(
                    "  v = x < {} ? {}[lane] : {};\n  if (warp == 0) {{ {} if (lane == 0) {}[{}] = v; }}\n",
                    odd(6) ? any({"4", "B / 16", "2"}) : "B / 32", s, idle(), shuffles("16"), s, told);
                return text + barrier() + fmt::format("  {} = {}[{}];\n", to_, array(), told);
            }
            case 2:  // the first warp's alone
                return fmt::format("  {}\n  if (lane == 0) {}[warp] = v;\n{}  {} = {}[{}];\n", shuffles("16"),
                                   s, barrier(), to_, s, odd(40) ? "1" : "0");
            case 3:  // a tree
                return fmt::format("  {}[x] = v;\n{}", s, barrier()) +
                       tree(odd(6) ? any({"32", "16", "(B + 1) / 2"}) : "B / 2", odd(5) ? "1" : "0") +
                       fmt::format("  {} = {}[{}];\n", to_, array(), odd(5) ? "1" : "0");
            case 4:  // a tree down to a warp, and shuffles
                return fmt::format("  {}[x] = v;\n{}", s, barrier()) + tree("B / 2", odd(10) ? "32" : "16") +
                       fmt::format(
                           "  if (x < 32) {{ v = {0}[x]; {1} if (x == 0) {0}[0] = v; }}\n{2}  {3} = "
                           "{0}[0];\n",
                           s, shuffles(odd(10) ? "16" : "8"), barrier(), to_);
            case 5:  // shuffles, and a tree over the warps' slots
                return fmt::format("  {}\n  if (lane == 0) {}[warp] = v;\n{}", shuffles("16"), s, barrier()) +
                       tree(odd(8) ? "2" : "B / 64", "0") + fmt::format("  {} = {}[0];\n", to_, s);
            case 6: {  // one thread, or all, over all slots
                const std::string what = fmt::format("v = {}; for (int w = 0; w < {}; w++) v = {};", idle(),
                                                     odd(6) ? "2" : "B / 32", join("v", s + "[w]"));
                std::string text =
                    fmt::format("  {}\n  if (lane == 0) {}[warp] = v;\n{}", shuffles("16"), s, barrier());
                if (chance(50)) return text + fmt::format("  {} {} = v;\n", what, to_);
                text += fmt::format("  if (x == 0) {{ {} {}[33] = v; }}\n{}  {} = {}[33];\n", what, s,
                                    barrier(), to_, s);
                return text;
            }
            case 7:  // each thread's own, by one thread
                return fmt::format(
                    "  {}[x] = v;\n{}  if (x == 0) {{ for (int j = 1; j < {}; j++) v = {}; {}[0] = v; }}\n{} "
                    " {} = {}[0];\n",
                    s, barrier(), odd(10) ? "32" : "B", join("v", s + "[j]"), s, barrier(), to_, s);
            default:  // only the first thread has it
                return fmt::format(
                    "  {}\n  if (lane == 0) {}[warp] = v;\n{}  if (warp == 0) {{ v = lane < {} ? {}[lane] : "
                    "{}; {} }}\n  if (x == 0) {} = v;\n",
                    shuffles("16"), s, barrier(), odd(6) ? "2" : "B / 32", s, idle(), shuffles("16"), to_);
        }
    }
    std::string known() {
        const std::string v = fmt::format("v{}", below(3));
        if (odd(14)) return any({"s[0]", "s[1]", "u[0]", v + " + x", v + " + B"});
        return is_float_ ? any({v, v, v + " + v0"}) : any({v, v, v + " ^ v1", v + " * 3 + r", v + " - v0"});
    }
    std::string use() {
        const std::string type = is_float_ ? "(float*)" : "";
        switch (below(6)) {
            case 0:
            case 1:
                return fmt::format("  if (x == {}) ({}o)[r + 8 * {}] = {};\n", odd(6) ? "1" : "0", type,
                                   below(4), known());
            case 2:
                return fmt::format("  {}for (int i = x; i < n; i += B) ({}p)[r * n + i] = {} + i;\n",
                                   chance(70) ? "KEEP " : "", type, known());
            case 3:
                if (is_float_ && odd(60))
                    return fmt::format(
                        fmt::runtime(
                            any({"  if (x == 0 && ((int)({} * 1048576.0f) & 1)) o[40 + r] = 1;\n",
                                 "  if (x == 0) p[100 * r + ((int)({} * 1048576.0f) & 63)] = 1;\n"})),
                        known());
                return fmt::format("  if (x == 0 && {} > 3) o[40 + r] = 1;\n", known());
            case 4:
                return is_float_ ? std::string() : fmt::format("  if (x == 0) ADD(&o[60], {});\n", known());
            default:
                return fmt::format("  {}if (x == 0) c[{}] = (int)({});\n{}  if (x == 0) o[70 + r] = c[0];\n",
                                   barrier(), chance(80) ? 0 : 1, known(), barrier());
        }
    }
    std::string uses() {
        std::string text = use();
        if (chance(30)) text += use();
        return text;
    }

    Joining by_ = joinings[0];
    std::string array_ = "s", to_ = "v0";
    bool is_float_ = false, rows_ = false;
};

}  // namespace

std::string random_exchanges_kernel(Draw& draw, const std::string& name) {
    return RandomExchanges(draw).write(name);
}

}  // namespace trimtab::analysis::test
