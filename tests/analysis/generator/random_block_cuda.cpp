// Random kernels whose blocks work as units: rows, tables, barriers, values that threads tell each other. Each
// has one place, now and then, where it is not as it should be.
#include <fmt/format.h>

#include <array>

#include "generator/random_cuda.h"

namespace trimtab::analysis::test {
namespace {

struct Reduction {
    const char *start, *turn, *joined;  // of s, of what a turn adds, and of a and b
};
constexpr std::array<Reduction, 6> reductions = {
    {{"0", "s += {}", "({} + {})"},
     {"-0x7fffffff - 1", "s = most<int>(s, {})", "most<int>({}, {})"},
     {"0x7fffffff", "s = least<int>(s, {})", "least<int>({}, {})"},
     {"0", "s |= {}", "({} | {})"},
     {"-1", "s &= {}", "({} & {})"},
     {"0", "s ^= {}", "({} ^ {})"}}};

class RandomBlock {
  public:
    explicit RandomBlock(Draw& draw) : draw_(draw) {}

    std::string write(const std::string& name) {
        std::string parts;
        for (unsigned i = 1 + draw_.below(2); i > 0; i--) parts += part();
        const bool rows = draw_.chance(35);
        const std::string row = rows ? "  for (int r = blockIdx.x; r < k; r += gridDim.x) {\n"
                                     : "  { const int r = blockIdx.x;\n";
        return fmt::format(
            "__global__ void {}(int* o, int* p, const int* {}t, int n, int m, int k) {{\n"
            "  __shared__ int s0[{}], s1[256], table[256]; const int T = blockDim.x, x = threadIdx.x;\n"
            "{}{}  {}}}\n}}\n",
            name, draw_.chance(80) ? "__restrict__ " : "", draw_.chance(80) ? 256 : 96, row, parts,
            rows ? barrier() : "");
    }

  private:
    // Left out where it is not as it should be.
    std::string barrier() { return draw_.chance(7) ? "" : "__syncthreads();\n"; }
    std::string bound() { return draw_.chance(85) ? "n" : draw_.chance(50) ? "(n & 63)" : "m"; }
    std::string value(const std::string& i) {
        const std::array<std::string, 7> values = {fmt::format("t[({} + 13 * r) & 255]", i),
                                                   fmt::format("(t[{} & 255] * 3 + {})", i, i),
                                                   fmt::format("({} ^ (int)k)", i),
                                                   fmt::format("(t[{} & 255] > 2)", i),
                                                   fmt::format("t[(r * 7 + {}) & 255] % 5", i),
                                                   fmt::format("({} + r)", i),
                                                   draw_.chance(15)   ? "x"
                                                   : draw_.chance(15) ? "T"
                                                                      : i};
        return draw_.of(values);
    }
    std::string joined(const Reduction& by, const std::string& a, const std::string& b) {
        const Reduction& used = draw_.chance(4) ? draw_.of(reductions) : by;
        return fmt::format(fmt::runtime(used.joined), a, b);
    }

    std::string part() {
        switch (draw_.below(6)) {
            case 0:
                return table();
            case 1:
                return histogram();
            default:
                return reduction();
        }
    }
    std::string table() {
        return fmt::format(
            "    for (int j = x; j < 64; j += T) table[j] = {};\n    {}"
            "    for (int j = x; j < {}; j += T) p[r * 64 + j] = table[{} & 63];\n    {}",
            value("j"), barrier(), draw_.chance(80) ? "64" : "n",
            draw_.chance(50) ? "(63 - j)" : "t[j & 255]", barrier());
    }
    std::string histogram() {
        return fmt::format(
            "    for (int j = x; j < 32; j += T) table[128 + j] = 0;\n    {}"
            "    for (int j = x; j < {}; j += T) __nvvm_atom_add_gen_i(&table[128 + ({} & 31)], {});\n    {}"
            "    for (int j = x; j < 32; j += T) o[32 * r + j] = table[128 + j];\n    {}",
            barrier(), bound(), value("j"), draw_.chance(50) ? "1" : "j", barrier(), barrier());
    }
    std::string reduction() {
        const Reduction& by = draw_.of(reductions);
        const std::string start = draw_.chance(90) ? by.start : "7";
        std::string text =
            fmt::format("    {{ int s = {}; for (int j = x; j < {}; j += T) {{ {}{}; }}\n", start, bound(),
                        draw_.chance(20) ? fmt::format("if ({} > 1) ", value("j")) : "",
                        fmt::format(fmt::runtime(by.turn), value("j")));
        text += draw_.chance(50) ? tree(by) : slots(by, start);
        return text + "    " + use() + barrier() + "    }\n";
    }
    std::string tree(const Reduction& by) {
        const char* const half = draw_.chance(92) ? "T / 2" : draw_.chance(50) ? "32" : "(T + 1) / 2";
        return fmt::format(
            "    s0[x] = s; {}    for (int w = {}; w > {}; w /= 2) {{ if (x < w) s0[x] = {}; {} }}\n"
            "    s = s0[{}];\n",
            barrier(), half, draw_.chance(94) ? 0 : 1,
            joined(by, "s0[x]", draw_.chance(95) ? "s0[x + w]" : "s0[x ^ w]"), barrier(),
            draw_.chance(95) ? "0" : "1");
    }
    std::string shuffles(const Reduction& by, unsigned from) {
        constexpr std::array<const char*, 2> kinds = {"__nvvm_shfl_sync_bfly_i32(~0u, s, w, 31)",
                                                      "__nvvm_shfl_sync_down_i32(~0u, s, w, 31)"};
        return fmt::format("for (int w = {}; w > 0; w /= 2) s = {};\n", from,
                           joined(by, "s", draw_.of(kinds)));
    }
    std::string slots(const Reduction& by, const std::string& start) {
        std::string text = "    " + shuffles(by, draw_.chance(94) ? 16 : 8);
        text += fmt::format("    if (x % 32 == {}) s1[x / 32] = s;\n    {}", draw_.chance(92) ? 0 : 31,
                            barrier());
        if (draw_.chance(50)) {
            text += fmt::format(
                "    if (x {} 32) {{ s = x < {} ? s1[x] : {}; {} }}\n    if (x == 0) s1[40] = s; {}    s = "
                "s1[40];\n",
                draw_.chance(95) ? "<" : "<=", draw_.chance(94) ? "T / 32" : "4",
                draw_.chance(94) ? start : "0", shuffles(by, 16), barrier());
        } else {
            text += fmt::format("    s = {}; for (int w = 0; w < {}; w++) s = {};\n",
                                draw_.chance(94) ? start : "3", draw_.chance(94) ? "T / 32" : "2",
                                joined(by, "s", "s1[w]"));
        }
        return text;
    }
    std::string use() {
        switch (draw_.below(5)) {
            case 0:
                return "if (x == 0) o[r] = s;\n    ";
            case 1:
                return "if (x == 0) __nvvm_atom_add_gen_i(o, s);\n    ";
            case 2:
                return "for (int j = x; j < n; j += T) o[r * n + j] = s + j;\n    ";
            case 3:
                return draw_.chance(50) ? "if (x == 1) o[r] = s;\n    "
                                        : "if (x == 0) p[r] = s * 3 + T;\n    ";
            default:
                return "if (x == 0) p[r] = s * 3 + 1;\n    ";
        }
    }

    Draw& draw_;
};

}  // namespace

std::string random_block_kernel(Draw& draw, const std::string& name) {
    return RandomBlock(draw).write(name);
}

}  // namespace trimtab::analysis::test
