// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels whose blocks or warps bring a sum of the launch together, and add it to global memory by one atomic
// each. Each has one place, now and then, where it is not as it should be.
#include <fmt/format.h>

#include <array>

#include "generator/random_cuda.h"

namespace trimtab::analysis::test {
namespace {

struct Operation {
    const char *atomic, *join, *neutral;  // join: of {0} and {1}
    bool ignores_twice;
};
constexpr std::array<Operation, 4> operations = {{{"ADD", "{0} + {1}", "0", false},
                                                  {"ADD", "{0} + {1}", "0", false},
                                                  {"MAX", "most({0}, {1})", "-0x7fffffff - 1", true},
                                                  {"OR", "{0} | {1}", "0", true}}};

class RandomSums {
  public:
    explicit RandomSums(Draw& draw) : draw_(draw), by_(draw.of(operations)) {
        // Most kernels are as they should be, or nearly so: what is refused tests little.
        defects_ = draw_.chance(45) ? 0 : 1 + draw_.below(2);
    }

    std::string write(const std::string& name) {
        std::string body = fmt::format("  int v = {};\n", odd(8) ? "1" : by_.neutral) + turns();
        switch (draw_.below(4)) {
            case 0:
                body += tree();
                break;
            case 1:
                body += warps() + flush("v", odd(12) ? "x % 64 == 0" : "x % 32 == 0");
                break;
            case 2:
                body += all_lanes();
                break;
            default:
                body += slots_of_warps();
        }
        if (odd(10)) body += "  p[blockIdx.x] = s[0];\n";
        return fmt::format(
            "__global__ void {}(int* o, int* p, const int* {}t, int n, int m, int k_) {{\n"
            "  __shared__ int s[{}]; const int T = blockDim.x, x = threadIdx.x;\n{}}}\n",
            name, draw_.chance(80) ? "__restrict__ " : "", draw_.chance(80) ? 1024 : 64, body);
    }

  private:
    // Is this a place where it is not as it should be? There are as many as the kernel was given.
    bool odd(unsigned percent) {
        if (defects_ == 0 || !draw_.chance(percent)) return false;
        defects_--;
        return true;
    }
    std::string barrier() { return odd(10) ? "" : "  __syncthreads();\n"; }
    std::string joined(const std::string& a, const std::string& b) {
        const Operation& by = odd(5) ? draw_.of(operations) : by_;
        return fmt::format(fmt::runtime(by.join), a, b);
    }
    std::string number() {
        if (odd(8)) {
            constexpr std::array<const char*, 4> leaks = {"x", "T", "(int)blockIdx.x", "s[x]"};
            return draw_.of(leaks);
        }
        constexpr std::array<const char*, 4> values = {"1", "t[i & 255]", "(i ^ m)", "(t[i] & 7)"};
        return draw_.of(values);
    }
    std::string turns() {
        const std::string also = draw_.chance(20) ? "p[i] = i + m; " : "";
        if (draw_.chance(75))
            return fmt::format("  for (int i = GX; i < n; i += {}TX) {{ {}v = {}; }}\n", odd(4) ? "2 * " : "",
                               also, joined("v", number()));
        return fmt::format("  {{ const int i = GX; if (i < n) {{ {}v = {}; }} }}\n", also, number());
    }
    // `value` to one place of global memory.
    std::string flush(const std::string& value, const std::string& who) {
        const Operation& by = odd(6) ? draw_.of(operations) : by_;
        const std::string to = !odd(6) ? (draw_.chance(70) ? "o" : "o + m") : "o + (blockIdx.x & 3)";
        const std::string also = odd(6) ? (draw_.chance(50) ? " ADD(o + 9, 1);" : " p[7] = v;") : "";
        return fmt::format("  if ({}) {{ {}({}, {});{} }}\n", who, by.atomic, to,
                           odd(6) ? value + " + 1" : value, also);
    }
    std::string first() { return odd(10) ? (draw_.chance(50) ? "x < 2" : "x == 32") : "x == 0"; }
    std::string tree() {
        return fmt::format(
                   "  s[x] = v;\n{}  for (int h = T / 2; h > {}; h /= 2) {{\n    if (x < h) s[x] = {};\n  {} "
                   " }}\n",
                   barrier(), odd(8) ? "1" : "0", joined("s[x]", "s[x + h]"), barrier()) +
               flush("s[0]", first());
    }
    std::string warps() {
        return fmt::format(
            "  for (int w = {}; w > 0; w /= 2) {{ const int b = __nvvm_shfl_sync_down_i32(~0u, v, w, {}); "
            "v = {}; }}\n",
            odd(8) ? "8" : "16", odd(5) ? "15" : "31", joined("v", "b"));
    }
    // Every lane has all: only what may be taken twice may be added by each.
    std::string all_lanes() {
        const std::string text =
            fmt::format("  for (int w = 16; w > 0; w /= 2) {{ const int b = SHUFFLE(v, w); v = {}; }}\n",
                        joined("v", "b"));
        return text + flush("v", by_.ignores_twice || odd(30) ? "true" : "x % 32 == 5");
    }
    std::string slots_of_warps() {
        const std::string idle = odd(10) ? "3" : by_.neutral;
        return warps() + fmt::format(
                             "  if (x % 32 == 0) s[x / 32] = v;\n{}  if (x < 32) {{\n  v = x < T / 32 ? s[x] "
                             ": {};\n{}{}  }}\n",
                             barrier(), idle, warps(), flush("v", first()));
    }

    Draw& draw_;
    const Operation& by_;
    unsigned defects_ = 0;
};

}  // namespace

std::string random_sum_kernel(Draw& draw, const std::string& name) {
    return RandomSums(draw).write(name);
}

}  // namespace trimtab::analysis::test
