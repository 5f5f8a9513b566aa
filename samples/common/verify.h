// Checking device results against sums computed in double precision on the CPU.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <vector>

#include "random.h"

namespace sample {

// A sum with what is needed to bound the rounding error of a single-precision evaluation of it.
class Sum {
  public:
    void add(double term) {
        value_ += term;
        magnitude_ += std::fabs(term);
        ++terms_;
    }
    double value() const { return value_; }

    // Rounding errors of n additions behave like a random walk: sqrt(n) steps of about half an epsilon of the
    // magnitude. The factor 4 leaves room for the products and for other orders of evaluation.
    double tolerance() const {
        return 4.0 * std::numeric_limits<float>::epsilon() * magnitude_ * std::sqrt(terms_ + 4.0);
    }

  private:
    double value_ = 0.0;
    double magnitude_ = 0.0;
    double terms_ = 0.0;
};

// Counts mismatches and names the first one on stderr.
class Verifier {
  public:
    void within(const char* array, std::size_t index, double got, double expected, double tolerance) {
        if (std::fabs(got - expected) <= tolerance) return;  // false for NaN as well
        if (mismatches_++ == 0)
            std::fprintf(stderr, "%s[%zu] is %.9g, expected %.9g (tolerance %.2g)\n", array, index, got,
                         expected, tolerance);
    }
    void equals(const char* array, std::size_t index, float got, const Sum& expected) {
        within(array, index, got, expected.value(), expected.tolerance());
    }

    // Prints the verdict; returns the exit status of the program.
    int finish() const {
        if (mismatches_ > 0) std::fprintf(stderr, "%zu mismatches\n", mismatches_);
        std::printf("%s\n", mismatches_ == 0 ? "PASS" : "FAIL");
        return mismatches_ == 0 ? 0 : 1;
    }

  private:
    std::size_t mismatches_ = 0;
};

// The outputs to check out of `total`, when one costs `work_each` operations on the CPU: all, or as many as a
// second or so allows; then the first, the last, and a fixed pseudo-random choice.
inline std::vector<std::size_t> outputs_to_check(std::size_t total, std::size_t work_each) {
    const std::size_t budget = std::size_t{1} << 27;
    const std::size_t wanted = budget / (work_each > 0 ? work_each : 1) + 2;
    std::vector<std::size_t> chosen;
    if (total <= wanted) {
        chosen.resize(total);
        std::iota(chosen.begin(), chosen.end(), std::size_t{0});
        return chosen;
    }
    chosen = {0, total - 1};
    while (chosen.size() < wanted) chosen.push_back(mix(chosen.size()) % total);
    return chosen;
}

}  // namespace sample
