// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels of several loops in a row: grid-stride, block-stride, both in one kernel, scaled, backwards and over
// two dimensions. Values go from loop to loop, and the first thread does things of its own.
#include <fmt/format.h>

#include "generator/odd_kernel.h"
#include "generator/random_cuda.h"

namespace trimtab::analysis::test {
namespace {

class RandomLoops : OddKernel {
  public:
    explicit RandomLoops(Draw& draw) : OddKernel(draw) {}

    std::string write(const std::string& name) {
        of_blocks_ = chance(45);
        const bool is_mixed = chance(10);
        std::string body;
        if (chance(25))
            body += fmt::format("  if ({} >= n{}) return;\n", first(), odd(10) ? " / 2" : "");
        else
            has_barriers_ = chance(30);
        if (chance(30)) body += handed_on();
        for (unsigned i = 1 + below(3); i > 0; i--) {
            if (is_mixed) of_blocks_ = chance(50);
            if (chance(25)) body += by_first();
            body += loop();
            if (chance(35)) body += between();
            if (has_barriers_ && chance(70)) body += barrier();
        }
        if (chance(45)) body += by_first();
        if (chance(20)) body += added();
        return fmt::format(
            "__global__ void {}(int* o, int* p, int* q, int* u, int* w, const int* {}t, int n, int m, int k) "
            "{{\n{}"
            "  int v0 = 0, v1 = {}, v2 = 0, a[4] = {{0, 1, 2, 3}};\n{}}}\n",
            name, chance(80) ? "__restrict__ " : "",
            "  const int x = threadIdx.x, r = blockIdx.x, g = blockIdx.x * blockDim.x + threadIdx.x;\n"
            "  const int B = blockDim.x, T = gridDim.x * blockDim.x;\n",
            any({"0", "0", "1", "n"}), body);
    }

  private:
    std::string first() const { return of_blocks_ ? "x" : "g"; }
    std::string step() const { return of_blocks_ ? "B" : "T"; }
    std::string carried() { return fmt::format("v{}", below(3)); }

    std::string leak() {
        if (chance(70)) {
            const std::string v = carried();
            return any({v, v, fmt::format("(int)(((unsigned){} * 2654435761u) >> 20)", v),
                        fmt::format("({} & ~31)", v), fmt::format("({} > 3 ? 2 : 7)", v),
                        fmt::format("({} / 64)", v)});
        }
        return any({"x", "B", "T", "g", "(x & 31)", "(T > 100)", "(int)gridDim.x"});
    }
    // What the first loop leaves, as it is or changed, for a loop behind it; or what all threads have alike.
    std::string handed_on() {
        const std::string v = carried(), w = any({v, v, "v" + std::to_string(below(3))});
        std::string made;
        take_array();
        if (odd(75)) {
            const std::string leave = any({v + " = i;", v + "++;", v + " = t[i & 255];", v + " = i * 3 + m;",
                                           fmt::format("if (t[i & 255] > 9) {} = i;", v)});
            made = fmt::format("  {}for (int i = {}; i < n; i += {}) {{ {} {} }}\n",
                               chance(70) ? "KEEP " : "", first(), step(), store("i"), leave);
        } else {
            made = fmt::format("  {} = {};\n", v, any({"n", "t[5]", "m & 63", of_blocks_ ? "r" : "k"}));
        }
        const std::string change =
            any({"(int)(((unsigned){} * 2654435761u) >> 20)", "{} & ~31", "{}", "{} / 8 + k", "t[{} & 255]"});
        made += fmt::format("  {} = {};\n", w, fmt::format(fmt::runtime(change), v));
        take_array();
        const std::string use = any({"{2}{0} = {1} ^ i;", "{2}{0} = {1} + i;", "if ({1} > i) {2}{0} = i;",
                                     "{2}{0} = {1} > 5 ? i : k;", "{2}{0} = t[({1} + i) & 255];"});
        made += fmt::format("  {}for (int i = {}; i < n; i += {}) {{ {} }}\n", chance(70) ? "KEEP " : "",
                            first(), step(), fmt::format(fmt::runtime(use), element("i"), w, array_));
        // Who makes no turn of the first loop has no turn of the second one either.
        return chance(50) ? fmt::format("  if ({} < n) {{\n{}  }}\n", first(), made) : made;
    }
    // Of the index, and of what every thread has.
    std::string value(const std::string& i) {
        if (odd(18)) return fmt::format("({} {} {})", leak(), any({"^", "+", "-"}), i);
        const std::string row = of_blocks_ ? "r" : "k";
        return any({fmt::format("({} * 3 + m)", i), fmt::format("t[{} & 255]", i),
                    fmt::format("(t[({} + 13 * {}) & 255] ^ {})", i, row, i), i,
                    fmt::format("({} > k ? t[{} & 255] : {})", i, i, row), fmt::format("({} + {})", i, row)});
    }
    // An element that the index alone has, in its row. Each loop has an array of its own: which thread has the index may
    // be another one in another loop, and threads that race tell nothing.
    std::string element(const std::string& i) {
        const std::string own =
            odd(6) ? any({"(" + i + " / 2)", "v1", "(" + i + " & 63)", "(" + i + " + 1)"}) : i;
        return fmt::format("[{}{}]", of_blocks_ ? "r * n + " : "", own);
    }
    void take_array() {
        before_ = array_;
        if (!odd(6)) array_ = std::string(1, "opqu"[loops_++ % 4]);
    }
    std::string store(const std::string& i) {
        std::string made = value(i);
        // What a loop before it left.
        if (loops_ > 1 && chance(25)) {
            const bool is_ordered = has_barriers_ && of_blocks_;
            const std::string other =
                is_ordered ? any({fmt::format("(n - 1 - {})", i), fmt::format("({} ^ 1)", i), i}) : i;
            made += fmt::format(" + {}[{}{}]", before_, of_blocks_ ? "r * n + " : "", other);
        }
        if (chance(8)) {
            const std::string bin = fmt::format("&u[-200 + (t[{} & 255] & 31)]", i);
            if (odd(12)) return fmt::format("{}({}, {});", any({"MAX", "EXCHANGE", "OR"}), bin, made);
            if (odd(12)) return fmt::format("{}{} = ADD({}, 1);", array_, element(i), bin);
            return fmt::format("ADD({}, {});", bin, made);
        }
        // A small array of the turn's own, or of the thread's.
        if (chance(6)) {
            const bool is_kept = odd(40);
            return fmt::format("{}a[{}] = {}; {}{}{} = a[{} & 3];",
                               is_kept ? "" : "a[0] = k; a[1] = m; a[2] = 5; a[3] = n; ",
                               is_kept ? i + " & 3" : any({"1", i + " & 3", "0"}), made, "", array_,
                               element(i), any({"t[" + i + " & 255]", i, i + " + 1"}));
        }
        if (chance(15)) return fmt::format("if ({} > 2) {}{} = {};", value(i), array_, element(i), made);
        return fmt::format("{}{} = {};", array_, element(i), made);
    }
    // Something for the code behind the loop.
    std::string carry(const std::string& i) {
        const std::string v = carried();
        return any({fmt::format("{} = {};", v, i), fmt::format("{}++;", v),
                    fmt::format("{} = {} * 31 + {};", v, v, i), fmt::format("{} += t[{} & 255];", v, i),
                    fmt::format("if (t[{} & 255] > 9) {} = 1;", i, v), fmt::format("{} = t[{} & 255];", v, i),
                    fmt::format("{} = {} + T;", v, i), fmt::format("{} ^= {};", v, i)});
    }
    std::string turn(const std::string& i) {
        std::string text;
        const bool carries = chance(40);
        if (carries && chance(50)) text += carry(i) + " ";
        for (unsigned s = 1 + below(2); s > 0; s--) text += store(i) + " ";
        if (carries) text += carry(i) + " ";
        return text;
    }
    std::string bound() {
        if (odd(6)) return any({"(n - v0)", "n + v1", "T", "t[3]", "(n & ~31) + v2"});
        return chance(80) ? "n" : any({"m", "(n & 63)", "(n / 2)", "n - 1"});
    }
    // One array, of which two loops have a part each: by several elements what is whole of them, and one by one the rest.
    std::string parts() {
        take_array();
        const unsigned many = chance(50) ? 1 : 2 + below(3);
        const std::string whole =
            many == 1 ? any({"n / 2", "(n & ~31)", "(m & 63)"}) : fmt::format("n / {}", many);
        const std::string rest = odd(20) ? any({" - 1", " - 4", " / 2", " * 0"}) : any({"", "", " + 1"});
        std::string stores;
        for (unsigned e = 0; e < many; e++)
            stores += fmt::format("{0}{1} = {2}; ", array_, element(fmt::format("({} * i + {})", many, e)),
                                  value("i"));
        return fmt::format(
            "  {0}for (int i = {1}; i < {2}; i += {3}) {{ {4}}}\n"
            "  {5}for (int i = {6} * ({2}){7} + {1}; i < n; i += {3}) {{ {8} }}\n",
            chance(70) ? "KEEP " : "", first(), whole, step(), stores, chance(70) ? "KEEP " : "", many, rest,
            turn("i"));
    }
    std::string loop() {
        if (chance(15)) return parts();
        take_array();
        const std::string keep = chance(70) ? "KEEP " : "";
        const std::string from = odd(4) ? first() + " + 1" : first();
        const std::string by = odd(4) ? any({"2 * " + step(), "64", of_blocks_ ? "T" : "B"}) : step();
        const std::string end = bound();
        switch (below(10)) {
            case 0:  // backwards
                return fmt::format("  {}for (int i = {} - 1 - ({}); i >= 0; i -= {}) {{ {} }}\n", keep, end,
                                   from, by, turn("i"));
            case 1: {  // several elements a turn
                const unsigned many = 2 + below(3);
                return fmt::format("  {}for (int i = {} * ({}); i < {}; i += {} * ({})) {{ {} {} }}\n", keep,
                                   many, from, end, many, by, turn("i"),
                                   turn(fmt::format("(i + {})", 1 + below(many))));
            }
            case 2:  // left from the middle of a turn
                return fmt::format("  {}for (int i = {};; i += {}) {{ if (i >= {}) break; {} }}\n", keep,
                                   from, by, end, turn("i"));
            case 3:  // tested at the end of a turn
                return fmt::format(
                    "  if ({1} < {2}) {{ int i = {3}; {0}do {{ {4} i += {5}; }} while (i < {6}); }}\n", keep,
                    from, end, from, turn("i"), by, odd(10) ? end + " - 1" : end);
            case 4: {  // the index is known behind the loop
                const std::string v = carried();
                return fmt::format("  {0}for ({1} = {2}; {1} < {3}; {1} += {4}) {{ {5} }}\n", keep, v, from,
                                   end, by, turn(v));
            }
            case 5:  // in 64 bits, with a pointer of its own
                return fmt::format(
                    "  {{ const int* at = t + (({0}) & 63); {1}for (long long i = {0}; i < {2}; i += {3}, at "
                    "+= {4}) {{ {5} "
                    "if (i < 190) {6}{7} = *at; }} }}\n",
                    from, keep, end, by, odd(30) ? "1" : by, turn("(int)i"), array_, element("(int)i"));
            default:
                if (odd(6))
                    return fmt::format("  {}for (int i = {}; {}; i += {}) {{ {} }}\n", keep, from,
                                       any({"(unsigned)(i - 3) < (unsigned)n", "i != n", "(i & 127) < n",
                                            "i * i < n", "(unsigned char)i < n"}),
                                       by, turn("i"));
                return fmt::format("  {}for (int i = {}; i < {}; i += {}) {{ {} }}\n", keep, from, end, by,
                                   turn("i"));
        }
    }
    // What goes from one loop to the next is made into something else.
    std::string between() {
        const std::string v = carried(), w = carried();
        return "  " +
               any({fmt::format("{} = (int)(((unsigned){} * 2654435761u) >> 20);", v, w),
                    fmt::format("{} &= ~31;", v), fmt::format("{} = {} > 5 ? {} : k;", v, w, w),
                    fmt::format("if ({} < m) {} = n;", w, v), fmt::format("{} = {} / 4;", v, w),
                    fmt::format("{} = 0;", v)}) +
               "\n";
    }

    std::string test_of_others() {
        if (odd(45)) {
            const std::string v = carried();
            return any({v + " > 40", "n > T", "B > 40", v + " == 1", "T < 100", v + " != 0", "x < 3"});
        }
        return any({"n > 20", "k != m", "t[3] > 2", of_blocks_ ? "r != 1" : "m > 3"});
    }
    // if (g == 0), in one of its forms, with tests of something else.
    std::string by_first() {
        const std::string index = first(), other = test_of_others(), second = test_of_others();
        const std::string to =
            odd(10) ? fmt::format("{}[{}{}]", array_, of_blocks_ ? "r * n + " : "", below(40))
            // Rows of another length than the loops' may meet them, and no launch admits that.
            : of_blocks_ && chance(80)
                ? fmt::format("w[{} + 64 * r]", below(40))
                : fmt::format("p[-{}{}]", 1 + below(40), of_blocks_ ? " - 50 * r" : "");
        const std::string what =
            odd(12) ? leak() : any({"n", "k + 1", "t[5]", of_blocks_ ? "r * 3" : "m", "t[n & 63]"});
        const std::string body =
            chance(80) ? fmt::format("{} = {};", to, what) : fmt::format("ADD(&{}, {});", to, what);
        const unsigned form = below(12);
        if (odd(8)) return fmt::format("  if ({} == 0 || {}) {{ {} }}\n", index, other, body);
        switch (form) {
            case 0:
            case 1:
                return fmt::format("  if ({} == 0) {{ {} }}\n", index, body);
            case 2:
            case 3:
                return fmt::format("  if ({} == 0 && {}) {{ {} }}\n", index, other, body);
            case 4:
                return fmt::format("  if ({}) if ({} == 0) {{ {} }}\n", other, index, body);
            case 5:
                return fmt::format("  if ({} == 0) {{ if ({}) {{ {} }} else {} = 5; }}\n", index, other, body,
                                   to);
            case 6:
                return fmt::format("  if (({} | ({})) == 0) {{ {} }}\n", index,
                                   odd(60) ? any({carried(), "(B - 32)", "(T & 64)"}) : any({"k", "(n & 3)"}),
                                   body);
            case 7:
                return fmt::format("  if (!({} || {} || {})) {{ {} }}\n", index, other, second, body);
            case 8:
                return fmt::format("  if ({} == 0 && {} && {}) {{ {} }}\n", index, other, second, body);
            case 9:  // a select in the place of a branch
                return fmt::format("  if ({} == 0) {} = {} ? {} : 9;\n", index, to, other, what);
            case 10:
                return fmt::format("  {{ const bool b = {} == 0; const bool c = {}; if (b & c) {{ {} }} }}\n",
                                   index, other, body);
            default:
                return fmt::format("  if ({} == 0) {{ if ({}) {{ if ({}) {{ {} }} }} }}\n", index, other,
                                   second, body);
        }
    }
    // What each thread has, to one place.
    std::string added() {
        return fmt::format("  {}(&p[-100{}], {});\n", any({"ADD", "ADD", "MAX", "OR"}),
                           of_blocks_ ? " - r" : "", carried());
    }

    bool of_blocks_ = false, has_barriers_ = false;
    unsigned loops_ = 0;
    std::string array_ = "o", before_ = "o";
};

// Over y and x.
class RandomPlanes : OddKernel {
  public:
    explicit RandomPlanes(Draw& draw) : OddKernel(draw) {}

    std::string write(const std::string& name) {
        x_ = kind();
        y_ = kind();
        std::string body;
        for (unsigned i = 1 + below(2); i > 0; i--) body += nest();
        if (chance(40)) body += by_first();
        return fmt::format(
            "__global__ void {}(int* o, int* p, int* q, int* u, const int* {}t, int n, int m, int k) {{\n"
            "  const int w = n & 31, h = m & 31;\n"
            "  const int gx = {}, sx = {}, gy = {}, sy = {};\n  int v = 0;\n{}}}\n",
            name, chance(80) ? "__restrict__ " : "", x_.first, x_.step, y_.first, y_.step, body);
    }

  private:
    struct Axis {
        std::string first, step;
        bool is_loop = true;
    };
    Axis kind() {
        const bool is_x = ++axes_ == 1;
        const std::string d = is_x ? "x" : "y";
        if (chance(25)) return {fmt::format("threadIdx.{}", d), fmt::format("blockDim.{}", d)};
        return {fmt::format("blockIdx.{0} * blockDim.{0} + threadIdx.{0}", d),
                fmt::format("gridDim.{0} * blockDim.{0}", d), chance(70)};
    }
    std::string axis(const Axis& of, const std::string& d, const std::string& end) {
        const std::string i = d == "x" ? "x" : "y";
        if (!of.is_loop) return fmt::format("const int {0} = g{0}; if ({0} < {1})", i, end);
        return fmt::format("for (int {0} = g{0}; {0} < {1}; {0} += s{2})", i, end,
                           odd(5) ? (d == "x" ? "y" : "x") : d);
    }
    std::string value() {
        if (odd(20))
            return any({"v", "(gx ^ y)", "(gy + x)", "sx", "(sy > 3)", "(v + x)",
                        "(int)(threadIdx.y * blockDim.x)"});
        return any({"(x + y)", "x * y", "t[(y * w + x) & 255]", "t[x & 255]", "(t[y & 255] ^ x)", "k"});
    }
    std::string turn() {
        const std::string to(1, "opqu"[nests_++ % 4]);
        const std::string at = odd(8) ? any({"x * w + y", "y + x", "y * w + (x / 2)", "y * w"})
                                      : any({"y * w + x", "y * w + x", "x * h + y", "y * 32 + x"});
        std::string text = chance(25) ? fmt::format("if ({} > 4) {}[{}] = {};", value(), to, at, value())
                                      : fmt::format("{}[{}] = {};", to, at, value());
        if (chance(30)) text += any({" v++;", " v = x;", " v = y;", " v += t[x & 255];"});
        return text;
    }
    std::string nest() {
        const std::string xs = axis(x_, "x", odd(5) ? "w - 1" : "w"), ys = axis(y_, "y", "h");
        const std::string inner = turn();
        const bool is_y_first = chance(70);
        const std::string reset = chance(50) ? (odd(15) ? "" : "v = 0;") : "";
        if (x_.is_loop && y_.is_loop)
            return fmt::format("  {} {{ {} {} {{ {} }} }}\n", is_y_first ? ys : xs, reset,
                               is_y_first ? xs : ys, inner);
        if (y_.is_loop || x_.is_loop) {
            // What is no loop goes outside.
            const bool y_is_outside = !y_.is_loop;
            return fmt::format("  {{ {} {{ {} {{ {} }} }} }}\n", y_is_outside ? ys : xs,
                               y_is_outside ? xs : ys, inner);
        }
        return fmt::format("  {{ const int x = gx, y = gy; if (x < w && y < h) {{ {} }} }}\n", inner);
    }
    std::string by_first() {
        const std::string test =
            odd(25) ? any({"gx == 0", "gy == 0", "gx == 0 || gy == 0", "gx == 0 && sy > 2"})
                    : any({"gx == 0 && gy == 0", "(gx | gy) == 0", "gy == 0 && gx == 0 && k > 2"});
        return fmt::format("  if ({}) p[-{}] = {};\n", test, 1 + below(40),
                           odd(20) ? "v" : any({"k", "t[7]", "w"}));
    }

    Axis x_, y_;
    unsigned axes_ = 0, nests_ = 0;
};

}  // namespace

std::string random_loops_kernel(Draw& draw, const std::string& name) {
    return RandomLoops(draw).write(name);
}

std::string random_planes_kernel(Draw& draw, const std::string& name) {
    return RandomPlanes(draw).write(name);
}

}  // namespace trimtab::analysis::test
