// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels with a grid-wide index whose blocks set something up in shared memory: tables with counters and
// pointers of their own, what the first thread puts there, neighbours' elements, sums of a block in one atomic.
#include <fmt/format.h>

#include "generator/odd_kernel.h"
#include "generator/random_cuda.h"

namespace trimtab::analysis::test {
namespace {

class RandomSetups : OddKernel {
  public:
    explicit RandomSetups(Draw& draw) : OddKernel(draw) {}

    std::string write(const std::string& name) {
        std::string body;
        switch (below(8)) {
            case 0:
            case 1:
            case 2:
                body = fill("c") + (chance(25) ? fill("d") : "") + barrier() + turns();
                break;
            case 3:
                body = by_first() + barrier() + turns();
                break;
            case 4:
                body = by_first() + fill("c") + barrier() + turns();
                break;
            case 5:
                body = neighbours();
                break;
            default:
                body = added();
        }
        return fmt::format(
            "__global__ void {}(int* o, int* p, const int* {}t, int n, int m, int k) {{\n"
            "  __shared__ int c[64], d[64], s[260];\n"
            "  const int x = threadIdx.x, B = blockDim.x, r = blockIdx.x, g = r * B + x, T = gridDim.x * B;\n"
            "{}}}\n",
            name, chance(80) ? "__restrict__ " : "", body);
    }

  private:
    // A table, filled by all threads or by the first ones.
    std::string fill(const std::string& c) {
        const std::string end = odd(6) ? any({"15", "(B & 15)", "(n & 15)"}) : any({"16", "16", "32"});
        const std::string skips = odd(5) ? any({"if (r > 0) ", "if (n > 40) ", "if (x > 2) "}) : "";
        const std::string keep = chance(70) ? "KEEP " : "";
        const std::string from = odd(5) ? "x + 1" : "x", by = odd(5) ? any({"2 * B", "32"}) : "B";
        const std::string step =
            odd(40) ? any({"r", "r + 1", "B", "T", "(int)gridDim.x"}) : any({"3", "k", "m", "n"});
        // Not every test leaves the loop from a bound on.
        const std::string test = odd(10) ? any({"(unsigned)(i - 3) < 13u", "(unsigned)(i - 2) < (unsigned)m",
                                                "i != 16", "(i & 31) < 15"})
                                         : "i < " + end;
        const std::string loop = fmt::format("{}for (int i = {}; {}; i += {}", keep, from, test, by);
        switch (below(8)) {
            case 0:
                return fmt::format("  {}if (x < {}) {}[x] = {};\n", skips, end, c, content("x"));
            case 1:  // a counter that goes beside the index
                return fmt::format("  {}{{ int w = x * ({}); {}, w += B * ({})) {}[i] = w; }}\n", skips, step,
                                   loop, odd(25) ? "k + 1" : step, c);
            case 2:  // a pointer that advances
                return fmt::format("  {}{{ const int* q = t + x; {}, q += {}) {}[i] = *q; }}\n", skips, loop,
                                   odd(30) ? any({"1", "T", "32"}) : "B", c);
            case 3:
                return fmt::format("  {}{}) {}[i] = i * ({});\n", skips, loop, c, step);
            case 4:  // turns are counted
                return fmt::format("  {}{{ int w = {}; {}) {{ {}[i] = {}; w++; }} }}\n", skips,
                                   any({"0", "k", "m"}), loop, c, odd(50) ? "w + i" : content("i"));
            default:
                return fmt::format("  {}{}) {}[i] = {};\n", skips, loop, c, content("i"));
        }
    }
    std::string content(const std::string& i) {
        if (odd(22))
            return any({"x", "B", "r", i + " * r", i + " * B", "(" + i + " + 1) * (int)gridDim.x",
                        "o[" + i + "]", "t[" + i + "] + r", "t[(" + i + " + r) & 255]",
                        "t[" + i + " * B & 255]", "(" + i + " ^ r)"});
        return any({"t[" + i + "]", "t[2 * " + i + " + 1] * 3", i + " * " + i + " + m", "t[" + i + "] + k",
                    "7 * " + i, "(" + i + " << 3) - n", i + " * k"});
    }
    std::string by_first() {
        std::string text = odd(6) ? "  if (x == 1) { " : odd(4) ? "  if (g == 0) { " : "  if (x == 0) { ";
        for (unsigned at = 0; at < 4; at++)
            if (!odd(4))
                text += fmt::format("d[{}] = {}; ", at,
                                    odd(12) ? any({"r", "B", "T", "o[3]", "t[r]"})
                                            : any({"n", "t[1]", "7", "k * 2", "t[n & 31]"}));
        return text + "}\n";
    }
    std::string place() {
        if (odd(8)) return any({"(x & 15)", "(B & 15)", "(r & 3)"});
        return any({"(t[i & 255] & 15)", "(i & 15)", "((i * 7 + t[i & 255]) & 15)", "(i & 3)"});
    }
    std::string turn() {
        const std::string c = chance(60) ? "c" : "d";
        const std::string what =
            odd(10) ? any({"x", "T", "c[x & 15]", "d[r & 3]"})
                    : fmt::format("{}[{}]", c, c == "d" ? any({"i & 3", "2", "0"}) : place());
        return fmt::format("{}[i] = {} + {}; ", chance(60) ? "o" : "p", what, any({"i", "k", "0"}));
    }
    std::string turns() {
        if (chance(35))
            return fmt::format("  {}for (int i = g; i < n; i += T) {{ {}}}\n", chance(70) ? "KEEP " : "",
                               turn());
        return fmt::format("  {{ const int i = g; if (i < n{}) {{ {}}} }}\n", odd(5) ? " + 1" : "", turn());
    }
    // A stencil, or elements that threads of one block hand each other.
    std::string neighbours() {
        return fmt::format(
            "  s[x + 1] = g < n ? t[g & 255] : 0;\n  if (x == 0) s[0] = g > 0 ? t[(g - 1) & 255] : 0;\n"
            "  if (x == B - 1) s[x + 2] = g + 1 < n ? t[(g + 1) & 255] : 0;\n{}  if (g < n) o[g] = {};\n",
            barrier(),
            any({"s[x] + s[x + 1] + s[x + 2]", "s[x + 1]", "s[x + 1] - s[x]", "s[B - x]",
                 "s[x + 1] + s[1]"}));
    }
    // Of each thread, or of its turns, to one place of the grid's.
    std::string added() {
        std::string text;
        const std::string op = any({"ADD", "ADD", "ADD", "MAX", "OR", "MAXU"});
        const bool is_sum = op == "ADD";
        const std::string start = odd(8)        ? any({"1", "-1", "k", "0"})
                                  : op == "MAX" ? "(-0x7fffffff - 1)"
                                                : "0";
        const std::string joined = odd(6)        ? any({"v - {}", "v * {}", "{} - v", "most<int>(v, {})"})
                                   : op == "ADD" ? "v + {}"
                                   : op == "MAX" ? "most<int>(v, {})"
                                   : op == "MAXU"
                                       ? (odd(15) ? "most<int>(v, {})" : "(int)most<unsigned>(v, {})")
                                       : "v | {}";
        const auto join = [&](const std::string& with) { return fmt::format(fmt::runtime(joined), with); };
        const std::string own =
            odd(8) ? any({"x", "T", "1", "(i ^ B)"}) : any({"t[i & 255]", "i", "(t[i & 255] & i)"});
        if (chance(50))
            text += fmt::format("  int v = {}; for (int i = g; i < n; i += T) v = {};\n", start, join(own));
        else
            text += fmt::format("  int v = {}; {{ const int i = g; if (i < n) v = {}; }}\n", start, own);
        const std::string to =
            odd(8) ? any({"&o[r]", "&o[g & 7]", "&o[x & 3]"}) : any({"&o[0]", "&p[k & 7]"});
        switch (below(6)) {
            case 0:  // by atomics in shared memory
                return fmt::format(
                    "  if (x == 0) s[0] = {};\n{}{}  {}(&s[0], v);\n{}  if (x == 0) {}({}, s[0]);\n", start,
                    barrier(), text, op, barrier(), odd(5) ? "MAX" : op, to);
            case 1:  // a tree
                text += fmt::format(
                    "  s[x] = v;\n{}  for (int h = {}; h > 0; h /= 2) {{ if (x < h) {{ v = s[x]; s[x] = {}; "
                    "}} {} }}\n",
                    barrier(), odd(6) ? "32" : "B / 2", join("s[x + h]"), odd(8) ? "" : "BARRIER;");
                return text + fmt::format("  if (x == 0) {}({}, s[{}]);\n", op, to, odd(6) ? "1" : "0");
            case 2:  // a warp
            case 3:
                text += fmt::format("  for (int h = {}; h > 0; h /= 2) v = {};\n", odd(6) ? "8" : "16",
                                    join(any({"SHUFFLE_XOR(v, h)", "SHUFFLE_DOWN(v, h)"})));
                return text + fmt::format("  if ((x & {}) == 0) {}({}, v);\n", odd(6) ? "15" : "31", op, to);
            case 4:  // each thread
                return text + fmt::format("  {}{}({}, v);\n", odd(8) ? "if (x != 3) " : "",
                                          is_sum && odd(8) ? "MAX" : op, to);
            default:  // slots of warps, added by the first thread
                text += fmt::format(
                    "  for (int h = 16; h > 0; h /= 2) v = {};\n  if ((x & 31) == 0) s[x / 32] = v;\n{}",
                    join("SHUFFLE_DOWN(v, h)"), barrier());
                return text +
                       fmt::format("  if (x == 0) {{ for (int j = 1; j < {}; j++) v = {}; {}({}, v); }}\n",
                                   odd(8) ? "2" : "(B + 31) / 32", join("s[j]"), op, to);
        }
    }
};

}  // namespace

std::string random_setups_kernel(Draw& draw, const std::string& name) {
    return RandomSetups(draw).write(name);
}

}  // namespace trimtab::analysis::test
