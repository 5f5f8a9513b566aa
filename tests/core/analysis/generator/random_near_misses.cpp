// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels of which each asks one question of the proof: all is as it should be but for one thing, or is after
// all. Where a rule forgets to look at that thing, the kernel is let pass, and its launches tell.
#include <fmt/format.h>

#include <array>
#include <string>

#include "generator/odd_kernel.h"
#include "generator/random_cuda.h"

namespace trimtab::analysis::test {
namespace {

class RandomNearMiss : OddKernel {
  public:
    explicit RandomNearMiss(Draw& draw) : OddKernel(draw) {}

    std::string write(const std::string& name) {
        using Question = std::string (RandomNearMiss::*)();
        static constexpr std::array<Question, 19> questions = {
            &RandomNearMiss::exchange_of_a_block,   &RandomNearMiss::exchange_of_a_block,
            &RandomNearMiss::value_behind_its_loop, &RandomNearMiss::value_of_the_iteration_before,
            &RandomNearMiss::value_of_a_branch,     &RandomNearMiss::value_kept_by_a_guard,
            &RandomNearMiss::value_on_the_stack,    &RandomNearMiss::test_of_the_loop,
            &RandomNearMiss::part_of_an_iteration,  &RandomNearMiss::entry_of_the_loop,
            &RandomNearMiss::the_first_thread,      &RandomNearMiss::places_of_atomics,
            &RandomNearMiss::sum_of_a_thread,       &RandomNearMiss::sum_of_a_block,
            &RandomNearMiss::sum_of_a_warp,         &RandomNearMiss::table_of_a_block,
            &RandomNearMiss::guard_of_the_tail,     &RandomNearMiss::place_of_an_element,
            &RandomNearMiss::number_of_a_test};
        std::string body = (this->*questions[below(questions.size())])();
        if (chance(15)) body += loop("u[i] = " + content() + ";");
        return fmt::format(
            "__global__ void {}(int* o, int* p, int* q, int* u, const int* {}t, int n, int m, int k) {{\n"
            "  __shared__ int c[64], s[260];\n"
            "  const int x = threadIdx.x, B = blockDim.x, r = blockIdx.x, g = r * B + x, T = gridDim.x * B;\n"
            "{}}}\n",
            name, chance(85) ? "__restrict__ " : "", body);
    }

  private:
    std::string keep() { return chance(75) ? "KEEP " : ""; }
    // for (i = g; i < n; i += T), in one of its forms.
    std::string loop(const std::string& what, const std::string& bound = "n") {
        if (chance(20))
            return fmt::format("  {}for (int i = g;; i += T) {{ if (i >= {}) break; {} }}\n", keep(), bound,
                               what);
        if (chance(15))
            return fmt::format("  {{ int i = g; {}while (i < {}) {{ {} i += T; }} }}\n", keep(), bound, what);
        return fmt::format("  {}for (int i = g; i < {}; i += T) {{ {} }}\n", keep(), bound, what);
    }
    std::string content() {
        return any(
            {"t[i & 255]", "i * 3 + m", "t[i]", "(t[i & 255] ^ i)", "i - k", "(i > k ? t[i & 255] : 5)"});
    }
    // Of the launch's shape, or of the thread.
    std::string shape() { return any({"T", "B", "gridDim.x", "(T & 63)", "T / 4"}); }
    std::string number() { return any({"9", "k", "m", "n", "t[3]", "(k & 15)"}); }
    static std::string opaque(const std::string& v, const std::string& of) {
        return fmt::format("asm(\"mov.u32 %0, %1;\" : \"=r\"({}) : \"r\"({}));", v, of);
    }

    // What a loop's last iteration leaves is another thing with other numbers of threads.
    std::string value_behind_its_loop() {
        const std::string leaves = any({"v = t[(i * 3) & 255]; o[i] = v;", "v = t[i]; o[i] = v;",
                                        "v = i; o[i] = 2;", "o[i] = v; v = i * 5;"});
        const std::string uses =
            any({"p[i] = v + i;", "p[i] = v;", "if (v > i) p[i] = 3;", "p[i] = t[v & 255];"});
        std::string text = "  int v = " + any({"0", "0", "k"}) + ";\n";
        switch (below(4)) {
            case 0:
                return text + "  if (g < n) {\n" + loop(leaves) + loop(uses) + "  }\n";
            case 1:
                return text + loop(leaves) + loop(uses);
            case 2:
                return text + loop(leaves) +
                       fmt::format("  if (g == 0) q[0] = {};\n", any({"v", "v + k", "t[v & 255]"}));
            default:
                return fmt::format("  int v; {}for (v = g; v < n; v += T) o[v] = {};\n  if ({}) q[3] = v;\n",
                                   keep(), any({"3", "t[v & 255]", "v + k"}),
                                   any({"g == 0", "g == 0 && n > 3"}));
        }
    }
    std::string value_of_the_iteration_before() {
        const std::string v =
            any({"v += t[i & 255]; o[i] = v;", "o[i] = v; v = t[i & 255];", "o[i] = v ^ i; v++;",
                 "v = v * 31 + i; o[i] = v & 255;", "if (t[i & 255] > 9) v = i; o[i] = v;",
                 "if (v > 2) o[i] = i; v = t[i & 255] & 3;"});
        return fmt::format("  int v = {};\n", any({"0", "k", "7"})) + loop(v);
    }
    std::string value_of_a_branch() {
        const std::string about =
            chance(50) ? shape() + " > 40" : any({"x > 3", "(g & 1)", "r == 1", "T > 100"});
        const std::string inner = any({"k > 3", "m > n", "t[5] > 9"});
        std::string text = "  int v = 7;\n";
        switch (below(3)) {
            case 0:
                text += fmt::format("  if ({}) {}\n", about, opaque("v", "9"));
                break;
            case 1:
                text += fmt::format("  if ({}) {{ if ({}) {} else {} }}\n", about, inner, opaque("v", "9"),
                                    opaque("v", "k"));
                break;
            default:
                text += fmt::format("  if ({}) {{ if ({}) {} else {{ {} if (m > 3) {} }} }} else {}\n", about,
                                    inner, opaque("v", "9"), opaque("v", "m"), opaque("v", "3"),
                                    opaque("v", "5"));
        }
        return text + (chance(50)
                           ? loop("o[i] = v + i;")
                           : loop(fmt::format("int w = v; if (i > k) {} o[i] = w;", opaque("w", "i"))));
    }
    // Instructions under a guard keep what was there before.
    std::string value_kept_by_a_guard() {
        const auto guarded = [&](const std::string& by, const std::string& made) {
            return fmt::format(
                "asm(\"{{ .reg .pred p; setp.gt.s32 p, %1, 3; @p {} }}\" : \"+r\"(v) : \"r\"({}), "
                "\"r\"({}));",
                made, by, number());
        };
        const std::string made = any(
            {"mov.u32 %0, 9;", "add.u32 %0, %2, 9;", "popc.b32 %0, %2;", "mul.hi.u32 %0, %2, 0x70000000;"});
        if (chance(50))
            return fmt::format("  int v = {};\n  {}\n", any({shape(), shape(), "k"}),
                               guarded(any({"k", "m"}), made)) +
                   loop("o[i] = v + i;");
        return loop(fmt::format("int v = {}; {} o[i] = v;", any({shape(), shape(), "i"}),
                                guarded(any({"t[i & 255]", "k", "i"}), made)));
    }
    std::string value_on_the_stack() {
        const std::string fill = fmt::format("a[0] = t[i & 255]; a[1] = i; a[2] = {}; a[3] = {}; ",
                                             any({"3", "m", shape()}), any({"k", "x", "i"}));
        if (chance(40))
            return "  int a[4];\n" +
                   loop(fill + any({"a[i & 3] = m; ", "a[k & 3] = i; ", ""}) + "o[i] = a[k & 3];");
        const std::string again =
            any({"a[i & 1] = i; ", "a[0] = m; a[1] = i; a[2] = 4; ", "", "a[k & 3] = i; "});
        const std::string first = loop(fill + "a[i & 3] = m; o[i] = a[k & 3];");
        const std::string second =
            loop(chance(50) ? again + "p[i] = a[m & 3];" : "p[i] = a[m & 3]; " + again);
        return "  int a[4];\n" +
               (chance(75) ? "  if (g < n) {\n" + first + second + "  }\n" : first + second);
    }

    std::string test_of_the_loop() {
        const std::string what = any({"o[i] = " + content() + ";", "ADD(&p[3], 1);"});
        switch (below(6)) {
            case 0:
                return fmt::format("  {}for (int i = g; i < n - {}; i += T) {{ {} }}\n", keep(),
                                   any({"g", "x", "r"}), what);
            case 1:
                return fmt::format("  {}for (int i = g; i + {} < n; i += T) {{ {} }}\n", keep(),
                                   any({"g", "x", "T"}), what);
            case 2:
                return fmt::format("  if (g < n) {{ int i = g; {}do {{ {} i += T; }} while (i{} < n{}); }}\n",
                                   keep(), what, any({" + T", "", " + 5"}), any({"", " - 3", " - T"}));
            case 3:
                return fmt::format("  {}for (int i = g; (i & {}) < n; i += T) {{ {} if (i > 400) break; }}\n",
                                   keep(), any({"127", "1023"}), what);
            case 4:
                return fmt::format("  {}for (int i = g; i < n; i += {}) {{ {} }}\n", keep(),
                                   any({"2 * T", "T + 1", "B", "T"}), what);
            default:
                return fmt::format("  {}for (int i = g; {}; i += T) {{ {} }}\n", keep(),
                                   any({"(unsigned)(i - 3) < (unsigned)n", "i != n", "i * i < n",
                                        "(unsigned char)i < n", "i < n && t[i & 255] != 3"}),
                                   what);
        }
    }
    std::string part_of_an_iteration() {
        const std::string more = any({"p[i] = 7;", "ADD(&q[2], 1);", "p[i] = t[i & 255];"});
        switch (below(4)) {
            case 0:
                return fmt::format(
                    "  if (g < n) {{ int i = g; {}for (;;) {{ o[i] = 5; if (i + T >= n) break; {} i += T; }} "
                    "}}\n",
                    keep(), more);
            case 1:
                return fmt::format(
                    "  {{ int i = g; {}while (i < n) {{ o[i] = 5; i += T; if (i < n) {{ {} }} }} }}\n",
                    keep(), more);
            case 2:
                return fmt::format(
                    "  {{ int i = g; {}for (;;) {{ {} if (i >= n) break; o[i] = 5; i += T; }} }}\n", keep(),
                    chance(50) ? "ADD(&q[2], 1);" : "if (k > 3) ADD(&q[2], 1);");
            default:
                return loop(fmt::format("if ({}) {{ {} }} o[i] = 5;",
                                        any({"x < 3", "i - g > k", "T > i", "i == g"}), more));
        }
    }
    std::string entry_of_the_loop() {
        const std::string by =
            any({"g & 1", "x > 2", "g > 2", "g != 5", "g < m", "(g ^ 1) < n", "g < n - 1", "r < 2"});
        if (chance(40))
            return fmt::format("  int v = 0;\n{}  if (g < {}) {{\n{}    ADD(&q[1], v);\n  }}\n",
                               loop("v += t[i & 255];"), any({"m", "n", "k"}),
                               loop("p[i + 8] = 3;", any({"m", "n"})));
        return fmt::format("  if ({}) {{\n{}  }}\n", by, loop("o[i] = " + content() + ";"));
    }

    std::string the_first_thread() {
        const std::string before = loop("o[i] = " + content() + ";");
        const std::string first = any(
            {"g == 0", "g == 0", "(k & 1) == 0", "g != 0", "g == 1", "x == 0", "r == 0", "g < 1", "g <= k"});
        const std::string other = any({"k > 3", "T > 50", "t[3] > 4", "m == n", "B > 16"});
        const std::string by = any({"&&", "&&", "||", "&", "|"});
        const std::string test = by.size() == 2 ? fmt::format("{} {} {}", first, by, other)
                                                : fmt::format("int({}) {} int({})", first, by, other);
        const std::string what = any({"ADD(&q[1], 1);", "q[1] = k;", "q[1] = T;", "ADD(&q[1], k);"});
        return before + fmt::format("  if ({}) {{ {} }}\n", chance(35) ? first : test, what);
    }

    std::string places_of_atomics() {
        const std::string one = any({"&p[t[i & 255] & 31]", "&p[i & 31]", "&p[i]", "&p[k & 31]"}),
                          other = any({"p[t[(i + 3) & 255] & 31]", "p[i & 15]", "p[i + 5]", "p[(i + 5) & 31]",
                                       "p[k & 15]"});
        const std::string add =
            fmt::format("{}({}, {}); ", any({"ADD", "ADD", "MAX", "OR"}), one, any({"3", "i", "1"}));
        switch (below(4)) {
            case 0:
                return loop(add + fmt::format("{}(&{}, i);", any({"ADD", "MAX", "OR", "EXCHANGE"}), other));
            case 1:
                return loop(add + fmt::format("o[i] = {};", other));
            case 2:
                return loop(add + fmt::format("{} = i;", other));
            default:
                return loop(fmt::format("o[i] = {}({}, 1);", any({"ADD", "MAX", "EXCHANGE"}), one));
        }
    }

    // Of all its iterations, added where all threads add.
    std::string summed(const std::string& v, const std::string& start, const std::string& of = "t[i]") {
        return fmt::format("  int v = {};\n", start) + loop(v + fmt::format(" += {};", of));
    }
    std::string sum_of_a_thread() {
        const std::string to = any({"&q[1]", "&q[1]", "&q[g & 1]", "&q[x & 3]", "&q[T & 7]"});
        switch (below(6)) {
            case 0:
                return fmt::format("  int v = {};\n  if (g < n) {{ v = {};\n{}  }}\n  ADD({}, v);\n",
                                   any({"5", "k", "0"}), any({"0", "0", "1"}), loop("v += t[i & 255];"), to);
            case 1:
                return summed("v", any({"0", "0", "5"}),
                              any({"t[i & 255]", "t[i & 255] + T", "x", "t[i & 255] * B"})) +
                       fmt::format("  ADD({}, v);\n", to);
            case 2:
                return "  int v = 0;\n" +
                       loop(any({"v = t[i & 255] - v;", "v -= t[i & 255];", "v = v * 2 + 1;",
                                 "v ^= t[i & 255];"})) +
                       fmt::format("  {}({}, v);\n", any({"ADD", "ADD", "OR", "MAX"}), to);
            case 3:
                return fmt::format("  int v = {};\n", any({"0", "-0x7fffffff - 1"})) +
                       loop(any({"v = most<int>(t[i & 255], v);", "v = (int)most<unsigned>(t[i & 255], v);",
                                 "v = least<int>(t[i & 255], v);"})) +
                       fmt::format("  {}(&q[1], v);\n", any({"MAX", "MAXU", "ADD"}));
            case 4:
                return "  int v = 0;\n" +
                       loop(fmt::format("if ({}) v += t[i & 255];",
                                        any({"x < 3", "t[i & 255] > 4", "T > i"}))) +
                       fmt::format("  ADD({}, v);\n", to);
            default:
                return summed("v", "0") +
                       fmt::format("  {}ADD({}, v);\n", any({"", "if (x != 3) ", "if (g > 0) "}), to);
        }
    }
    std::string tree(const std::string& from) {
        return fmt::format(
            "  s[x] = {};\n  BARRIER;\n  for (int h = {}; h > 0; h /= 2) {{ if (x < h) {{ v = s[x]; s[x] = v "
            "{} s[x + h]; }} BARRIER; }}\n",
            from, any({"B / 2", "B / 2", "B / 2", "B / 4"}), any({"+", "+", "+", "-", "|"}));
    }
    std::string sum_of_a_block() {
        const std::string start = any({"0", "0", "0", "3"});
        const std::string made =
            chance(70) ? summed("v", start)
                       : fmt::format("  int v = {};\n  if (g < n) v = t[g];\n", any({start, "5"}));
        return made + tree(any({"v", "v", "v", "v + 1", "v * 2"})) +
               fmt::format("  if ({}) {{ ADD({}, {}); {}}}\n",
                           any({"x == 0", "x == 0", "x == 0", "x < 3", "x == 1"}),
                           any({"&q[1]", "&q[1]", "&q[r]", "&q[r & 1]"}),
                           any({"s[0]", "s[0]", "s[0]", "s[0] + s[1]", "s[0] + 3", "s[1]", "s[x]"}),
                           any({"", "", "", "ADD(&p[1], 1); ", "o[5] = 3; "}));
    }
    std::string sum_of_a_warp() {
        const std::string beside = any({"", "", "o[i] = q[1]; ", "o[i] = q[i]; "});
        std::string text =
            fmt::format("  int v = {};\n", any({"0", "0", "0", "2"})) + loop(beside + "v += t[i];");
        text += fmt::format("  for (int h = {}; h > 0; h /= 2) v += {}(v, h);\n",
                            any({"16", "16", "16", "8"}), any({"SHUFFLE_DOWN", "SHUFFLE_XOR"}));
        if (chance(20)) text += "  v += SHUFFLE_XOR(v, 1);\n";
        return text + fmt::format("  if ((x & {}) == {}) ADD({}, {});\n", any({"31", "31", "31", "15", "63"}),
                                  any({"0", "0", "0", "1"}),
                                  any({"&q[1]", "&q[1]", "&q[r & 1]", "&q[x / 32]"}),
                                  any({"v", "v", "v", "v + 1", "v * 2"}));
    }

    // A row a block: its threads' iterations come together in s, and what comes of it is alike in all of them.
    std::string exchange_of_a_block() {
        const std::string content = any({"t[(i + 13 * r) & 255]", "(t[i & 255] ^ i)", "i * 3 + r"});
        std::string text =
            fmt::format("  int v = 0, e = 0, w = 0;\n  {}for (int i = x; i < n; i += B) {{ v += {}; {}}}\n",
                        keep(), content, any({"", "e += t[i & 255]; "}));
        const unsigned odd_one = below(10);
        const std::string put = odd_one == 0 ? any({"v + 1", "x < 16 ? v : e", "v + k"}) : "v";
        if (chance(15))
            text += fmt::format("  if ({}) {{\n", any({"B > 64", "T > 96", "k > 3", "n > 9"})) +
                    exchanged(put, odd_one) + "  }\n";
        else
            text += exchanged(put, odd_one);
        const std::string known = odd_one == 1 ? any({"v", "v", "s[1]", "(w ^ s[0])"}) : "w";
        // Something else in the same place, and what was known of it asked for again.
        if (chance(30))
            text += fmt::format("  BARRIER;\n  {}\n  BARRIER;\n{}",
                                any({"if (x == 0) s[0] = B;", "if (x == 0) s[0] = k;", "s[x] = e;"}),
                                chance(50) ? "  w = s[0];\n" : exchanged("e", 9));
        switch (below(3)) {
            case 0:
                return text + fmt::format("  if (x == {}) o[r] = {};\n", any({"0", "0", "0", "1"}), known);
            case 1:
                return text + fmt::format("  for (int i = x; i < n; i += B) o[r * n + i] = {} + i;\n", known);
            default:
                return text + fmt::format("  if (x == 0 && {} > 3) o[r] = 1;\n", known);
        }
    }
    std::string exchanged(const std::string& put, unsigned odd_one) {
        if (chance(50)) {
            const std::string half = odd_one == 2 ? any({"B / 4", "32"}) : "B / 2";
            const std::string joined = odd_one == 3 ? any({"s[x] + s[x + h] + h", "s[x] + s[x + h] + 1",
                                                           "s[x] | s[x + h]", "s[x] + s[x ^ h]"})
                                                    : "s[x] + s[x + h]";
            const std::string told =
                odd_one == 4 ? any({"s[0] + s[1]", "s[1]", "s[x & 1]", "s[0] + e"}) : "s[0]";
            // What threads keep of it is known to the first one alone.
            const std::string step = odd_one == 1 ? "{ v += s[x + h]; s[x] = v; }" : "s[x] = " + joined + ";";
            return fmt::format(
                "  s[x] = {};\n  BARRIER;\n  for (int h = {}; h > 0; h /= 2) {{ if (x < h) {} BARRIER; }}\n"
                "  {}w = {};\n",
                put, half, step,
                odd_one == 5
                    ? any({"if (x == 0 && t[3] > 9) s[0] = 7; BARRIER; ", "if (x == 0) s[0] += k; BARRIER; "})
                    : "",
                told);
        }
        const std::string shuffle = any({"SHUFFLE_XOR(v, h)", "SHUFFLE_DOWN(v, h)"});
        const std::string inner =
            odd_one == 6 && chance(50)
                ? any({"if (x == 0) ADD(&o[100 + r], v); ", "if (lane == 0) v += 1; ", "v += h; "})
                : "";
        std::string text = fmt::format(
            "  {{ const int lane = x & 31; v = {};\n  for (int h = {}; h > 0; h /= 2) {{ v += {}; {}}}\n"
            "  if (lane == 0) s[x / 32] = v;\n  BARRIER;\n",
            put, odd_one == 2 ? "8" : "16", shuffle, inner);
        if (odd_one == 6 || chance(20))
            return text +
                   fmt::format("  for (int j = 0; j < B / 32; j++) {{ w += s[j]; {}}} }}\n",
                               odd_one == 6
                                   ? any({"if (x == 0) ADD(&p[r], w); ", "if (x == 0 && w > 90) p[r] = j; "})
                                   : "");
        const std::string idle = odd_one == 7 ? any({"5", "k", "s[0]", "1"}) : "0";
        text += fmt::format(
            "  if (x < 32) {{ v = lane < {} ? s[lane] : {}; for (int h = {}; h > 0; h /= 2) v += {}; if "
            "(lane == 0) s[{}] = v; }}\n"
            "  BARRIER;\n  w = s[{}]; }}\n",
            odd_one == 8 ? "2" : "B / 32", idle, any({"16", "4"}), shuffle, "40",
            odd_one == 4 ? any({"0", "x & 1", "1"}) : "40");
        return text;
    }

    std::string table_of_a_block() {
        const std::string end = any({"16", "16", "B", "16 + (r & 1)", "(B & 31)", "m"});
        const std::string what = any({"t[i] + m", "t[i]", "i * k", "t[i] + B", "i * r"});
        std::string fill;
        switch (below(5)) {
            case 0:
                fill = fmt::format("  {}for (int i = x; i < {}; i += {}) c[i & 63] = {};\n", keep(), end,
                                   any({"B", "B", "32", "2 * B"}), what);
                break;
            case 1:
                fill = fmt::format("  if (x < {}) {{ const int i = x; c[i & 63] = {}; }}\n",
                                   any({"16", "16", "B", "32"}), what);
                break;
            case 2:
                fill = fmt::format(
                    "  {{ int i = x; if (i < {}) {}do {{ c[i & 63] = {}; i += B; }} while (i < {}); }}\n",
                    end, keep(), what, any({end, "16", "12"}));
                break;
            case 3:
                fill = fmt::format("  {}for (int i = x; i < 16; i += B) {{ {} c[i] = {}; }}\n", keep(),
                                   any({"if (t[i] == 3) break;", "if (i == k) continue;", ""}), what);
                break;
            default:
                fill = fmt::format(
                    "  {0}for (int i = x; i < {1}; i += B) c[i] = {2};\n  BARRIER;\n"
                    "  {0}for (int i = x; i < {3}; i += B) c[i] = {4};\n",
                    keep(), "16", what, any({"16", "8", "B"}), any({"t[i] + 2", "5", "i"}));
        }
        return fill + "  BARRIER;\n" +
               loop(fmt::format("o[i] = c[{}] + i;",
                                any({"i & 15", "t[i & 255] & 15", "i & 7", "(i + r) & 15"})));
    }

    std::string guard_of_the_tail() {
        const std::string tail = any({"g >= n", "g >= n", "g > n", "g >= n - 1"}),
                          other = any({"k > 3", "k & 1", "k < m", "t[3] > 3"});
        const std::string what = fmt::format("  o[g] = {};\n", any({"5", "t[g & 255]", "g"}));
        switch (below(5)) {
            case 0:
                return fmt::format("  if ({}) {{ asm volatile(\"\"); if ({}) return; }}\n", tail, other) +
                       what;
            case 1:
                return fmt::format("  if ({}) {{ if ({}) return; }}\n", other, tail) + what;
            case 2:
                return fmt::format("  if ({} {} {}) return;\n", tail, any({"&&", "||"}), other) + what;
            case 3:
                return fmt::format(
                           "  if ({}) {{ if ({}) return; asm volatile(\"\"); }} else {{ if ({}) return; }}\n",
                           other, tail, any({"g >= m", "g >= m", "g > 5"})) +
                       what;
            default:
                return fmt::format("  const int v = t[g{}];\n  if ({}) return;\n  o[g] = v;\n",
                                   any({"", " & 255", " * 7"}), tail);
        }
    }
    std::string place_of_an_element() {
        const std::string at =
            any({"i / 2", "i & 63", "i ^ 1", "i + 1", "i * 2", "i * 2 + 1", "n - 1 - i", "(i * 7) & 127"});
        switch (below(3)) {
            case 0:
                return loop(fmt::format("o[i] = {}; p[i] = o[{}];", content(), at));
            case 1:
                return loop(fmt::format("o[{}] = {};", at, content()));
            default:
                return loop("o[i] = " + content() + ";") + loop(fmt::format("p[i] = o[{}];", any({at, "i"})));
        }
    }
    std::string number_of_a_test() {
        const std::string as =
            any({"(unsigned)g", "(unsigned char)g", "(short)g", "(unsigned)(g - 3)", "g + 0x7fffff00",
                 "(g << 24)", "(g & 63)", "g / -2", "(g | 3)", "(g & ~3)"});
        return fmt::format("  if ({} >= {}) return;\n  o[g] = {};\n", as,
                           any({"n", "(unsigned)n", "n - 5", "m", "n * 3"}), any({"7", "g", "t[g & 255]"}));
    }
};

}  // namespace

std::string random_near_miss(Draw& draw, const std::string& name) {
    return RandomNearMiss(draw).write(name);
}

}  // namespace trimtab::analysis::test
