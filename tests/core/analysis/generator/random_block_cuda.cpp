// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels whose blocks work as units: rows, tables, barriers, values that threads tell each other. Each
// has one place, now and then, where it is not as it should be.
#include <fmt/format.h>

#include <array>

#include "generator/random_cuda.h"

namespace trimtab::analysis::test {
namespace {

struct Reduction {
    const char *start, *turn, *joined;  // of s, of what a turn adds, and of a and b
    const char* type = "int";
};
// Floating-point sums are of small integers: exact in any order.
constexpr std::array<Reduction, 8> reductions = {
    {{"0", "s += {}", "({} + {})"},
     {"-0x7fffffff - 1", "s = most<int>(s, {})", "most<int>({}, {})"},
     {"0x7fffffff", "s = least<int>(s, {})", "least<int>({}, {})"},
     {"0", "s |= {}", "({} | {})"},
     {"-1", "s &= {}", "({} & {})"},
     {"0", "s ^= {}", "({} ^ {})"},
     {"0.0f", "s += (float)(({}) & 255)", "({} + {})", "float"},
     {"0.0f", "s -= (float)(({}) & 255)", "({} + {})", "float"}}};

class RandomBlock {
  public:
    explicit RandomBlock(Draw& draw) : draw_(draw) {
        // Most kernels are as they should be, or nearly so: what is refused tests little.
        defects_ = draw_.chance(45) ? 0 : 1 + draw_.below(2);
    }

    std::string write(const std::string& name) {
        std::string parts;
        for (unsigned i = 1 + draw_.below(2); i > 0; i--) parts += part();
        const bool rows = draw_.chance(35);
        const std::string row = rows ? "  for (int r = blockIdx.x; r < k; r += gridDim.x) {\n"
                                     : "  { const int r = blockIdx.x;\n";
        return fmt::format(
            "__global__ void {}(int* o, int* p, const int* {}t, int n, int m, int k) {{\n"
            "  {}"
            "  __shared__ int s1[256], table[256]; __shared__ float f0[256], f1[256];\n"
            "  const int T = blockDim.x, x = threadIdx.x; int j1 = 0, j2 = 0;\n"
            "{}{}  {}}}\n}}\n",
            name, draw_.chance(80) ? "__restrict__ " : "", slots_of_trees(), row, parts,
            rows ? barrier() : "");
    }

  private:
    // Is this a place where it is not as it should be? There are as many as the kernel was given.
    bool odd(unsigned percent) {
        if (defects_ == 0 || !draw_.chance(percent)) return false;
        defects_--;
        return true;
    }

    std::string slots_of_trees() {
        if (draw_.chance(30)) return "extern __shared__ int s0[];\n";
        return fmt::format("__shared__ int s0[{}];\n", draw_.chance(90) ? 256 : 96);
    }
    std::string barrier() { return odd(20) ? "" : "__syncthreads();\n"; }
    std::string bound() { return draw_.chance(85) ? "n" : draw_.chance(80) ? "(n & 63)" : "m"; }
    // Its index is `j`, or one that the kernel keeps when the loop is over.
    std::string loop(const std::string& end, std::string& index) {
        constexpr std::array<const char*, 4> names = {"j", "j", "j1", "j2"};
        index = draw_.of(names);
        return fmt::format("for ({}{} = {}; {} {} {}; {} += {})", index == "j" ? "int " : "", index,
                           odd(6) ? "x + 1" : "x", index, odd(6) ? "<=" : "<", end, index,
                           odd(6) ? "(T + 1)" : "T");
    }
    std::string value(const std::string& i) {
        if (odd(12)) {
            constexpr std::array<const char*, 5> leaks = {"x", "T", "j1", "j2", "(x & 31)"};
            return draw_.of(leaks);
        }
        const std::array<std::string, 7> values = {fmt::format("t[({} + 13 * r) & 255]", i),
                                                   fmt::format("(t[{} & 255] * 3 + {})", i, i),
                                                   fmt::format("({} ^ (int)k)", i),
                                                   fmt::format("(t[{} & 255] > 2)", i),
                                                   fmt::format("t[(r * 7 + {}) & 255] % 5", i),
                                                   fmt::format("({} + r)", i),
                                                   i};
        return draw_.of(values);
    }
    std::string joined(const Reduction& by, const std::string& a, const std::string& b) {
        const bool is_unlike = odd(5);
        const Reduction& used = is_unlike ? draw_.of(reductions) : by;
        return fmt::format(fmt::runtime(is_float(by) == is_float(used) ? used.joined : by.joined), a, b);
    }
    static bool is_float(const Reduction& by) { return by.type[0] == 'f'; }

    std::string part() {
        switch (draw_.below(8)) {
            case 0:
                return table();
            case 1:
                return histogram();
            case 2:
            case 3:
                return copy();
            default:
                return reduction();
        }
    }
    // Elements of one array to another, which may be the same.
    std::string copy() {
        std::string i;
        const std::string head = loop(bound(), i);
        const std::string to = odd(10) ? (draw_.chance(50) ? "j1" : "j2") : i;
        const unsigned step = draw_.chance(70) ? 1 : 2 + draw_.below(2);
        const unsigned other = draw_.chance(80) ? step : 1 + draw_.below(3);
        return fmt::format("    {} {}[{} * {} + {}] = {}[{} * {} + {}] + {};\n", head,
                           draw_.chance(80) ? "p" : "o", step, to, draw_.below(2),
                           draw_.chance(60) ? "o" : "p", other, i, draw_.below(2), value(i));
    }
    std::string table() {
        std::string i, k;
        const std::string head = loop(odd(8) ? "63" : "64", i);
        std::string text = fmt::format("    {} table[{}] = {};\n    {}", head, i, value(i), barrier());
        const std::string second = loop(odd(8) ? "n" : "64", k);
        const std::string from =
            draw_.chance(50) ? fmt::format("(63 - {})", k) : fmt::format("t[{} & 255]", k);
        return text +
               fmt::format("    {} p[r * 64 + {}] = table[{} & 63];\n    {}", second, k, from, barrier());
    }
    std::string histogram() {
        std::string i, j, k;
        const std::string fill = loop("32", i), count = loop(bound(), j), out = loop("32", k);
        const std::string zeros = odd(5) ? "31" : "0";
        std::string text = fmt::format("    {} table[128 + {}] = {};\n    {}", fill, i, zeros, barrier());
        text += fmt::format("    {} __nvvm_atom_add_gen_i(&table[128 + ({} & 31)], {});\n    {}", count,
                            value(j), draw_.chance(50) ? "1" : value(j), barrier());
        return text + fmt::format("    {} o[32 * r + {}] = table[128 + {}];\n    {}", out, k, k, barrier());
    }
    std::string reduction() {
        const Reduction& by = draw_.of(reductions);
        const std::string start = odd(6) ? "7" : by.start;
        std::string i;
        const std::string head = loop(bound(), i);
        std::string text = fmt::format("    {{ {} s = {}; {} {{ {}{}; }}\n", by.type, start, head,
                                       draw_.chance(20) ? fmt::format("if ({} > 1) ", value(i)) : "",
                                       fmt::format(fmt::runtime(by.turn), value(i)));
        text += draw_.chance(50) ? tree(by) : slots(by, start);
        return text + "    " + use(by) + barrier() + "    }\n";
    }
    std::string tree(const Reduction& by) {
        const std::string s = is_float(by) ? "f0" : "s0";
        const char* const half = !odd(8) ? "T / 2" : draw_.chance(50) ? "32" : "(T + 1) / 2";
        const std::string last = odd(6) ? "1" : "0", other = odd(5) ? "[x ^ w]" : "[x + w]";
        return fmt::format(
            "    {0}[x] = s; {1}    for (int w = {2}; w > {3}; w /= 2) {{ if (x {4} w) {0}[x] = {5}; {6} }}\n"
            "    s = {0}[{7}];\n",
            s, barrier(), half, last, odd(5) ? "<=" : "<", joined(by, s + "[x]", s + other), barrier(),
            odd(5) ? "1" : "0");
    }
    std::string shuffles(const Reduction& by, unsigned from) {
        const char* const kind = draw_.chance(50) ? "bfly" : "down";
        return fmt::format(
            "for (int w = {}; w > 0; w /= 2) s = {};\n", from,
            joined(by, "s",
                   fmt::format("__nvvm_shfl_sync_{}_{}(~0u, s, w, 31)", kind, is_float(by) ? "f32" : "i32")));
    }
    std::string slots(const Reduction& by, const std::string& start) {
        const std::string s = is_float(by) ? "f1" : "s1";
        std::string text = "    " + shuffles(by, odd(6) ? 8 : 16);
        text += fmt::format("    if (x % 32 == {}) {}[x / 32] = s;\n    {}", odd(8) ? 31 : 0, s, barrier());
        if (draw_.chance(50)) {
            const std::string below = odd(5) ? "<=" : "<", count = odd(6) ? "4" : "T / 32";
            text += fmt::format(
                "    if (x {} 32) {{ s = x < {} ? {}[x] : {}; {} }}\n    if (x == 0) {}[40] = s; {}    s = "
                "{}[40];\n",
                below, count, s, odd(6) ? "5" : start, shuffles(by, 16), s, barrier(), s);
        } else {
            text += fmt::format("    s = {}; for (int w = 0; w < {}; w++) s = {};\n", odd(6) ? "3" : start,
                                odd(6) ? "2" : "T / 32", joined(by, "s", s + "[w]"));
        }
        return text;
    }
    std::string use(const Reduction& by) {
        if (odd(10))
            return draw_.chance(50) ? "if (x == 1) o[r] = s;\n    " : "if (x == 0) p[r] = s * 3 + T;\n    ";
        std::string i;
        switch (draw_.below(4)) {
            case 0:
                return "if (x == 0) o[r] = s;\n    ";
            case 1:
                return is_float(by) ? "if (x == 0) __nvvm_atom_add_gen_f((float*)p, s);\n    "
                                    : "if (x == 0) __nvvm_atom_add_gen_i(o, s);\n    ";
            case 2: {
                const std::string head = loop("n", i);
                return fmt::format("{} o[r * n + {}] = s + {};\n    ", head, i, i);
            }
            default:
                return "if (x == 0) p[r] = s * 3 + 1;\n    ";
        }
    }

    Draw& draw_;
    unsigned defects_ = 0;
};

}  // namespace

std::string random_block_kernel(Draw& draw, const std::string& name) {
    return RandomBlock(draw).write(name);
}

}  // namespace trimtab::analysis::test
