// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/metrics/footprint_shape.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace trimtab::emulator {
namespace {

// Bits of a term say which of x, y and z it is a product of.
double term(std::size_t bits, double x, double y, double z) {
    return ((bits & 1) != 0 ? x : 1) * ((bits & 2) != 0 ? y : 1) * ((bits & 4) != 0 ? z : 1);
}

auto shape(const FootprintSample& sample) {
    return std::tuple(sample.x, sample.y, sample.z);
}

// Are all extents of `a` at most those of `b`?
bool lies_in(const FootprintSample& a, const FootprintSample& b) {
    return a.x <= b.x && a.y <= b.y && a.z <= b.z;
}

// Square of the distance of two shapes, by ratios.
double distance2(const FootprintSample& a, const FootprintSample& b) {
    const double x = std::log(a.x / b.x), y = std::log(a.y / b.y), z = std::log(a.z / b.z);
    return x * x + y * y + z * z;
}

struct NormalEquations {
    std::array<std::array<double, 8>, 8> left{};
    std::array<double, 8> right{};

    // For these unknowns alone, by Cholesky's method; empty where they are not independent.
    [[nodiscard]] std::vector<double> solve(const std::vector<std::size_t>& unknowns) const {
        const std::size_t n = unknowns.size();
        std::array<std::array<double, 8>, 8> lower{};
        std::vector<double> x(n);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                double rest = left[unknowns[i]][unknowns[j]];
                for (std::size_t k = 0; k < j; ++k) rest -= lower[i][k] * lower[j][k];
                if (i == j && rest <= 1e-12 * left[unknowns[i]][unknowns[i]]) return {};
                lower[i][j] = i == j ? std::sqrt(rest) : rest / lower[j][j];
            }
            x[i] = right[unknowns[i]];
            for (std::size_t k = 0; k < i; ++k) x[i] -= lower[i][k] * x[k];
            x[i] /= lower[i][i];
        }
        for (std::size_t i = n; i-- > 0;) {
            for (std::size_t k = i + 1; k < n; ++k) x[i] -= lower[k][i] * x[k];
            x[i] /= lower[i][i];
        }
        return x;
    }
};

}  // namespace

FootprintShape::FootprintShape(std::vector<FootprintSample> samples) : samples_(std::move(samples)) {
    std::erase_if(samples_, [](const FootprintSample& s) {
        return !(s.x > 0 && s.y > 0 && s.z > 0 && s.sectors > 0 && std::isfinite(s.sectors));
    });
    std::ranges::sort(samples_, [](const FootprintSample& a, const FootprintSample& b) {
        return std::pair(shape(a), -a.sectors) < std::pair(shape(b), -b.sectors);
    });
    const auto same = std::ranges::unique(samples_, {}, shape);
    samples_.erase(same.begin(), same.end());
    fit();
}

// Least squares of relative errors with coefficients >= 0: of every choice of terms, the one that errs least.
// Where samples do not tell choices apart, few terms go before many and those of more dimensions before
// others: in a dimension of which nothing is known footprints grow in proportion.
void FootprintShape::fit() {
    if (samples_.empty()) return;
    std::array<double, term_count> scale{};
    for (const FootprintSample& sample : samples_)
        for (std::size_t t = 0; t < term_count; ++t)
            scale[t] = std::max(scale[t], term(t, sample.x, sample.y, sample.z) / sample.sectors);
    NormalEquations equations;
    for (const FootprintSample& sample : samples_) {
        std::array<double, term_count> row;
        for (std::size_t t = 0; t < term_count; ++t)
            row[t] = term(t, sample.x, sample.y, sample.z) / sample.sectors / scale[t];
        for (std::size_t t = 0; t < term_count; ++t) {
            equations.right[t] += row[t];
            for (std::size_t u = 0; u < term_count; ++u) equations.left[t][u] += row[t] * row[u];
        }
    }
    // A subset's bit 0 is the term of all three dimensions.
    constexpr std::array<std::size_t, term_count> most_dimensions_first{7, 3, 5, 6, 1, 2, 4, 0};
    constexpr double better = 1e-10;
    double least = std::numeric_limits<double>::infinity();
    for (int size = 1; size <= static_cast<int>(term_count); ++size) {
        for (unsigned subset = 1; subset < 1u << term_count; ++subset) {
            if (std::popcount(subset) != size) continue;
            std::vector<std::size_t> terms;
            for (std::size_t i = 0; i < term_count; ++i)
                if ((subset >> i & 1) != 0) terms.push_back(most_dimensions_first[i]);
            const std::vector<double> solution = equations.solve(terms);
            if (solution.empty() || std::ranges::any_of(solution, [](double c) { return c < 0; })) continue;
            // |A c - 1|^2 where c solves the normal equations.
            double error = static_cast<double>(samples_.size());
            for (std::size_t i = 0; i < terms.size(); ++i) error -= solution[i] * equations.right[terms[i]];
            if (error > least - better) continue;
            least = error;
            coefficients_.fill(0);
            for (std::size_t i = 0; i < terms.size(); ++i)
                coefficients_[terms[i]] = solution[i] / scale[terms[i]];
        }
    }
}

double FootprintShape::fitted(double x, double y, double z) const {
    double sum = 0;
    for (std::size_t t = 0; t < term_count; ++t) sum += coefficients_[t] * term(t, x, y, z);
    return sum;
}

double FootprintShape::sectors(double x, double y, double z) const {
    const FootprintSample box{x, y, z, 0};
    if (samples_.empty() || !(x > 0 && y > 0 && z > 0)) return 0;
    double weights = 0, logarithms = 0;
    double least = 0, most = std::numeric_limits<double>::infinity();
    for (const FootprintSample& sample : samples_) {
        const double distance = distance2(sample, box);
        if (distance == 0) return sample.sectors;
        weights += 1 / distance;
        logarithms += std::log(sample.sectors / fitted(sample.x, sample.y, sample.z)) / distance;
        if (lies_in(sample, box)) least = std::max(least, sample.sectors);
        if (lies_in(box, sample)) most = std::min(most, sample.sectors);
    }
    const double judged = fitted(x, y, z) * std::exp(logarithms / weights);
    return std::clamp(judged, std::min(least, most), most);
}

}  // namespace trimtab::emulator
