// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exact integer functions of the block, against counting thread by thread.
#include "driver_gen/variables.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace trimtab::driver_gen {
namespace {

struct Counted {
    double boxes = 0, warps_per_box = 0, lanes_per_warp = 0, rows_per_warp = 0, planes_per_warp = 0;
};

// Walks every thread of every box of the grid that covers [0, end).
Counted count(const std::array<unsigned, 3>& first, const std::array<unsigned, 3>& end, unsigned x,
              unsigned y, unsigned z) {
    double boxes = 0, warps = 0, lanes = 0, rows = 0, planes = 0, all_warps = 0;
    const auto inside = [&](unsigned i, unsigned d) { return i >= first[d] && i < end[d]; };
    for (unsigned k = 0; k < end[2]; k += z)
        for (unsigned j = 0; j < end[1]; j += y)
            for (unsigned i = 0; i < end[0]; i += x) {
                std::set<unsigned> covered;
                std::vector<std::set<unsigned>> warp_rows((x * y * z + 31) / 32),
                    warp_planes(warp_rows.size());
                for (unsigned t = 0; t < x * y * z; ++t) {
                    warp_rows[t / 32].insert(t / x);
                    warp_planes[t / 32].insert(t / (x * y));
                    if (inside(i + t % x, 0) && inside(j + t / x % y, 1) && inside(k + t / (x * y), 2)) {
                        covered.insert(t / 32);
                        ++lanes;
                    }
                }
                for (const auto& met : warp_rows) rows += static_cast<double>(met.size());
                for (const auto& met : warp_planes) planes += static_cast<double>(met.size());
                all_warps += static_cast<double>(warp_rows.size());
                boxes += covered.empty() ? 0 : 1;
                warps += static_cast<double>(covered.size());
            }
    return {.boxes = boxes,
            .warps_per_box = warps / boxes,
            .lanes_per_warp = lanes / warps,
            .rows_per_warp = rows / all_warps,
            .planes_per_warp = planes / all_warps};
}

TEST(Variables, AgreeWithCountingEveryThread) {
    const std::vector<std::array<unsigned, 3>> blocks{{32, 8, 1}, {1, 32, 1}, {8, 8, 1},  {24, 4, 1},
                                                      {5, 32, 1}, {4, 4, 4},  {16, 2, 3}, {40, 4, 2},
                                                      {64, 1, 1}, {2, 32, 2}, {12, 8, 1}, {96, 2, 1}};
    const std::vector<std::pair<std::array<unsigned, 3>, std::array<unsigned, 3>>> ranges{
        {{0, 0, 0}, {64, 64, 1}},
        {{0, 0, 0}, {67, 35, 5}},
        {{1, 3, 0}, {66, 41, 2}},
        {{30, 7, 1}, {33, 8, 2}}};
    for (const auto& [first, end] : ranges)
        for (const auto& block : blocks) {
            IndexRanges indices;
            for (int d = 0; d < 3; ++d) {
                indices.first[d].constant = first[d];
                indices.end[d].constant = end[d];
            }
            const auto [x, y, z] = block;
            const auto value = [&](VariableKind kind) {
                return evaluate({.kind = kind}, indices, {}, x, y, z);
            };
            const Counted expected = count(first, end, x, y, z);
            SCOPED_TRACE(::testing::Message()
                         << x << "," << y << "," << z << " over " << end[0] << "," << end[1]);
            EXPECT_EQ(value(VariableKind::boxes), expected.boxes);
            EXPECT_DOUBLE_EQ(value(VariableKind::covered_warps), expected.warps_per_box);
            EXPECT_DOUBLE_EQ(value(VariableKind::covered_lanes), expected.lanes_per_warp);
            if (first == std::array<unsigned, 3>{0, 0, 0}) {
                EXPECT_DOUBLE_EQ(value(VariableKind::covered_x) * ((end[0] + x - 1) / x), end[0]);
                EXPECT_DOUBLE_EQ(value(VariableKind::covered_y) * ((end[1] + y - 1) / y), end[1]);
            }
            if (x * y * z % 32 != 0) continue;
            EXPECT_NEAR(value(VariableKind::warp_rows), expected.rows_per_warp,
                        x * y % 32 == 0 ? 1e-12 : 0.4);
            EXPECT_NEAR(value(VariableKind::warp_planes), expected.planes_per_warp, 0.34);
        }
}

TEST(Variables, RowsAndPlanesOfWholeWarpsAreExact) {
    const IndexRanges none;
    const auto rows = [&](double x, double y) {
        return evaluate({.kind = VariableKind::warp_rows}, none, {}, x, y, 1);
    };
    EXPECT_EQ(rows(32, 8), 1);
    EXPECT_EQ(rows(8, 8), 4);
    EXPECT_EQ(rows(24, 4), 2);  // 24 + 8, 16 + 16, 8 + 24
    EXPECT_EQ(rows(1, 32), 32);
    EXPECT_EQ(rows(4, 2), 2);  // a block smaller than a warp
    EXPECT_EQ(evaluate({.kind = VariableKind::warp_planes}, none, {}, 4, 4, 4), 2);
}

TEST(Variables, CoveredIndicesOfABoxOfManyBlocks) {
    IndexRanges ranges;
    ranges.end[1].constant = 100;
    const auto covered = [&](double y) {
        return evaluate({.kind = VariableKind::covered_y}, ranges, {}, 32, y, 1);
    };
    EXPECT_EQ(covered(25), 25);
    EXPECT_EQ(covered(100), 100);
    EXPECT_EQ(covered(1e6), 100);  // larger than the launch
    EXPECT_EQ(covered(1.5), 1.5);  // between one row of blocks and two
    EXPECT_EQ(covered(0.5), 0.5);
}

TEST(Variables, AlignmentIsTheCommonDivisor) {
    const std::vector<double> data{100, -3, 1e300};
    const auto alignment = [&](std::uint32_t parameter, double x) {
        return evaluate({.kind = VariableKind::alignment, .data = parameter, .unit = 8}, {}, data, x, 1, 1);
    };
    EXPECT_EQ(alignment(Variable::no_data, 24), 8);
    EXPECT_EQ(alignment(0, 32), 4);
    EXPECT_EQ(alignment(0, 2), 2);
    EXPECT_GE(alignment(1, 32), 1);  // what is no size has an answer all the same
    EXPECT_GE(alignment(2, 32), 1);
}

TEST(Variables, AnEmptyRangeHasNoBoxes) {
    IndexRanges ranges;
    ranges.end = {
        LinearForm{.constant = -4, .terms = {}}, {.constant = 8, .terms = {}}, {.constant = 1, .terms = {}}};
    for (const VariableKind kind :
         {VariableKind::boxes, VariableKind::covered_warps, VariableKind::covered_lanes})
        EXPECT_EQ(evaluate({.kind = kind}, ranges, {}, 32, 8, 1), 0);
}

TEST(Variables, RangesAreClippedToTheExtent) {
    IndexRanges ranges;
    ranges.first[0] = {.constant = -2, .terms = {}};
    ranges.end[0] = {.constant = -1, .terms = {{0, 2}}};
    ranges.extent[0] = 1;
    EXPECT_EQ(ranges.evaluate(std::vector<double>{50, 1000})[1], 99);
    EXPECT_EQ(ranges.evaluate(std::vector<double>{50, 64})[1], 64);
    EXPECT_EQ(ranges.evaluate(std::vector<double>{50, 64})[0], 0);
}

}  // namespace
}  // namespace trimtab::driver_gen
