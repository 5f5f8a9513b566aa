// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels with a grid-wide index whose blocks fill tables, or count into bins that they add to global memory.
// Each has one place, now and then, where it is not as it should be.
#include <fmt/format.h>

#include <array>

#include "generator/random_cuda.h"

namespace trimtab::analysis::test {
namespace {

struct Counting {
    const char *call, *neutral;
};
constexpr std::array<Counting, 4> countings = {{{"__nvvm_atom_add_gen_i", "0"},
                                                {"__nvvm_atom_add_gen_i", "0"},
                                                {"__nvvm_atom_max_gen_i", "-0x7fffffff - 1"},
                                                {"__nvvm_atom_or_gen_i", "0"}}};

class RandomTables {
  public:
    explicit RandomTables(Draw& draw) : draw_(draw) {
        // Most kernels are as they should be, or nearly so: what is refused tests little.
        defects_ = draw_.chance(45) ? 0 : 1 + draw_.below(2);
    }

    std::string write(const std::string& name) {
        has_bins_ = draw_.chance(65);
        has_table_ = !has_bins_ || draw_.chance(30);
        counting_ = draw_.of(countings);
        std::string body;
        if (has_table_) body += sweep("16", fmt::format("c[k] = {};", filled()));
        if (has_bins_) body += sweep("16", fmt::format("s[k] = {};", odd(8) ? "1" : counting_.neutral));
        body += barrier() + turns() + (has_bins_ ? barrier() + flush() : "");
        return fmt::format(
            "__global__ void {}(int* o, int* p, const int* {}t, int n, int m, int k_) {{\n"
            "  __shared__ int s[20], c[20];\n  const int T = blockDim.x, x = threadIdx.x; int last = "
            "0;\n{}}}\n",
            name, draw_.chance(80) ? "__restrict__ " : "", body);
    }

  private:
    // Is this a place where it is not as it should be? There are as many as the kernel was given.
    bool odd(unsigned percent) {
        if (defects_ == 0 || !draw_.chance(percent)) return false;
        defects_--;
        return true;
    }
    std::string barrier() { return odd(15) ? "" : "  __syncthreads();\n"; }

    // For each k below the bound, by the block's threads or by the first of them.
    std::string sweep(const std::string& bound, const std::string& what) {
        const std::string end = !odd(6) ? bound : draw_.chance(50) ? "15" : "(T & 15)";
        const std::string skips = odd(5) ? (draw_.chance(50) ? "if (blockIdx.x > 0) " : "if (n > 40) ") : "";
        if (draw_.chance(40))
            return fmt::format("  {}if (x {} {}) {{ const int k = x{}; {} }}\n", skips, odd(4) ? "<=" : "<",
                               end, odd(4) ? " + 1" : "", what);
        return fmt::format("  {}for (int k = {}; k < {}; k += {}) {{ {} {}}}\n", skips,
                           odd(5) ? "x + 1" : "x", end, odd(5) ? "2 * T" : "T", what,
                           odd(5) ? "last = k; " : "");
    }
    std::string filled() {
        if (odd(12)) {
            constexpr std::array<const char*, 6> leaks = {
                "x", "T", "(int)blockIdx.x", "t[k] + (int)gridDim.x", "o[k]", "(last += t[k])"};
            return draw_.of(leaks);
        }
        constexpr std::array<const char*, 5> values = {"t[k]", "t[2 * k + 1] * 3", "k * k + m", "t[k] + k_",
                                                       "7 * k"};
        return draw_.of(values);
    }
    std::string place() {
        if (odd(8)) return draw_.chance(50) ? "(x & 15)" : "(T & 15)";
        constexpr std::array<const char*, 4> places = {"(t[i & 255] & 15)", "(i & 15)",
                                                       "((i * 7 + t[i & 255]) & 15)", "(t[i] & 15)"};
        return draw_.of(places);
    }
    std::string number() {
        if (odd(8)) {
            constexpr std::array<const char*, 4> leaks = {"x", "T", "last", "s[3]"};
            return draw_.of(leaks);
        }
        constexpr std::array<const char*, 4> values = {"1", "t[i & 255]", "(i ^ m)", "(t[i] & 7)"};
        return has_table_ && draw_.chance(60) ? fmt::format("c[{}]", place()) : draw_.of(values);
    }
    std::string turn() {
        std::string text;
        if (has_bins_) {
            const Counting& by = odd(8) ? draw_.of(countings) : counting_;
            text += fmt::format("{}{}(&s[{}], {}); ", odd(6) ? "p[i] = " : "", by.call, place(), number());
            if (odd(4)) text += "s[2] = 1; ";
        }
        if (!has_bins_ || draw_.chance(25)) {
            constexpr std::array<const char*, 4> to = {"p[i]", "p[i]", "o[i]", "p[t[i & 255] & 63]"};
            text += fmt::format("{} = {}; ", draw_.of(to), number());
        }
        return text;
    }
    std::string turns() {
        if (draw_.chance(45))
            return fmt::format("  for (int i = blockIdx.x * T + x; i < n; i += {}gridDim.x * T) {{ {}}}\n",
                               odd(4) ? "2 * " : "", turn());
        if (odd(8))
            return fmt::format("  const int i = blockIdx.x * T + x;\n  if (i >= n) return;\n  {}\n", turn());
        return fmt::format("  {{ const int i = blockIdx.x * T + x;\n  if (i < n) {{ {}}} }}\n", turn());
    }
    std::string flush() {
        const Counting& by = odd(6) ? draw_.of(countings) : counting_;
        const std::string to = !odd(8)            ? (draw_.chance(70) ? "k" : "2 * k + 3")
                               : draw_.chance(50) ? "k + 16 * blockIdx.x"
                                                  : "k + x";
        const std::string value = !odd(8) ? "s[k]" : draw_.chance(50) ? "s[k] / 2" : "s[15 - k]";
        std::string what = odd(5) ? fmt::format("o[{}] = {};", to, value)
                                  : fmt::format("{}(&o[{}], {});", by.call, to, value);
        if (draw_.chance(20)) what = fmt::format("if (s[k] != {}) {}", counting_.neutral, what);
        if (odd(4)) what += " p[k] = s[k];";
        return sweep("16", what);
    }

    Draw& draw_;
    unsigned defects_ = 0;
    bool has_bins_ = false, has_table_ = false;
    Counting counting_ = countings[0];
};

}  // namespace

std::string random_table_kernel(Draw& draw, const std::string& name) {
    return RandomTables(draw).write(name);
}

}  // namespace trimtab::analysis::test
