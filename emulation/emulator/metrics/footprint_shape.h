// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Footprints of boxes of threads by their shape: as measured where they were, else from the measured ones.
#pragma once

#include <array>
#include <vector>

namespace trimtab::emulator {

// What a box of x * y * z threads touches.
struct FootprintSample {
    double x = 1, y = 1, z = 1;
    double sectors = 0;
};

// Between and beyond the samples: multilinear in the extents, no coefficient negative, which is what arrays
// indexed by some of the dimensions make (a product's box reads rows by y and columns by x); times what the
// samples differ from that, the nearer the more; within what samples inside and around the box allow.
class FootprintShape {
  public:
    // Of samples of one shape the largest counts: the others were cut off by the grid's edge.
    explicit FootprintShape(std::vector<FootprintSample> samples);
    [[nodiscard]] bool empty() const { return samples_.empty(); }
    [[nodiscard]] double sectors(double x, double y, double z) const;

  private:
    static constexpr std::size_t term_count = 8;  // products of some of x, y and z
    void fit();
    [[nodiscard]] double fitted(double x, double y, double z) const;

    std::vector<FootprintSample> samples_;
    std::array<double, term_count> coefficients_{};
};

}  // namespace trimtab::emulator
