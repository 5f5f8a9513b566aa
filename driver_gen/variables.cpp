// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/variables.h"

#include <algorithm>

namespace trimtab::driver_gen {

namespace {

#include "driver_gen/box_geometry.inc"

std::string data_name(std::uint32_t data, std::span<const std::string> names) {
    return data < names.size() ? names[data] : "D[" + std::to_string(data) + "]";
}

}  // namespace

std::string name(const Variable& variable, std::span<const std::string> data_names) {
    const std::string offset = variable.offset == 0  ? ""
                               : variable.offset > 0 ? " + " + std::to_string(variable.offset)
                                                     : " - " + std::to_string(-variable.offset);
    const auto alignment = [&](const char* what) {
        std::string text = "alignment(" + std::string(what) + ", " + std::to_string(variable.unit);
        if (variable.data != Variable::no_data) text += ", " + data_name(variable.data, data_names) + offset;
        return text + ")";
    };
    std::string remainder =
        "(" + data_name(variable.data, data_names) + " % " + std::to_string(variable.unit) + ")";
    switch (variable.kind) {
        case VariableKind::data:
            return data_name(variable.data, data_names);
        case VariableKind::box_x:
            return "x";
        case VariableKind::box_y:
            return "y";
        case VariableKind::box_z:
            return "z";
        case VariableKind::covered_x:
            return "covered_x";
        case VariableKind::covered_y:
            return "covered_y";
        case VariableKind::covered_z:
            return "covered_z";
        case VariableKind::lanes_x:
            return "lanes_x";
        case VariableKind::warp_rows:
            return "warp_rows";
        case VariableKind::warp_planes:
            return "warp_planes";
        case VariableKind::warps:
            return "warps";
        case VariableKind::boxes:
            return "boxes";
        case VariableKind::covered_warps:
            return "covered_warps";
        case VariableKind::covered_lanes:
            return "covered_lanes";
        case VariableKind::alignment:
            return alignment("x");
        case VariableKind::alignment_y:
            return alignment("y");
        case VariableKind::alignment_rows:
            return alignment("warp_rows");
        case VariableKind::remainder:
            return remainder;
        case VariableKind::has_remainder:
            return "(" + remainder + " > 0)";
        case VariableKind::halvings:
            return "halvings";
    }
    return "";
}

double evaluate(const Variable& variable, const IndexRanges& ranges, std::span<const double> data, double x,
                double y, double z) {
    const auto boxes_of = [](const std::array<double, 6>& range, double width_x, double width_y,
                             double width_z) -> std::array<double, 3> {
        return {trimtab_boxes(range[0], range[1], width_x), trimtab_boxes(range[2], range[3], width_y),
                trimtab_boxes(range[4], range[5], width_z)};
    };
    const auto covered = [&](std::size_t dimension, double width) {
        const auto range = ranges.evaluate(data);
        const double first = range[2 * dimension], end = range[2 * dimension + 1];
        return trimtab_covered_indices(first, end, width, trimtab_boxes(first, end, width));
    };
    const auto alignment = [&](double size) {
        const double divisor = trimtab_common_divisor(size, variable.unit);
        return variable.data == Variable::no_data
                   ? divisor
                   : trimtab_common_divisor(divisor, data[variable.data] + variable.offset);
    };
    switch (variable.kind) {
        case VariableKind::data:
            return data[variable.data];
        case VariableKind::box_x:
            return x;
        case VariableKind::box_y:
            return y;
        case VariableKind::box_z:
            return z;
        case VariableKind::covered_x:
            return covered(0, x);
        case VariableKind::covered_y:
            return covered(1, y);
        case VariableKind::covered_z:
            return covered(2, z);
        case VariableKind::lanes_x:
            return trimtab_lanes_x(x);
        case VariableKind::warp_rows:
            return trimtab_rows_met(x, y * z);
        case VariableKind::warp_planes:
            return trimtab_rows_met(x * y, z);
        case VariableKind::warps:
            return trimtab_warps(x, y, z);
        case VariableKind::boxes: {
            const auto boxes = boxes_of(ranges.evaluate(data), x, y, z);
            return boxes[0] * boxes[1] * boxes[2];
        }
        case VariableKind::covered_warps:
        case VariableKind::covered_lanes: {
            const auto range = ranges.evaluate(data);
            const auto boxes = boxes_of(range, x, y, z);
            const double warps = trimtab_covered_warps(range.data(), boxes.data(), x, y, z);
            return variable.kind == VariableKind::covered_warps
                       ? warps
                       : trimtab_covered_lanes(range.data(), boxes.data(), warps);
        }
        case VariableKind::alignment:
            return alignment(x);
        case VariableKind::alignment_y:
            return alignment(y);
        case VariableKind::alignment_rows:
            return alignment(trimtab_rows_met(x, y * z));
        case VariableKind::remainder:
            return trimtab_remainder(data[variable.data], variable.unit);
        case VariableKind::has_remainder:
            return trimtab_remainder(data[variable.data], variable.unit) > 0 ? 1 : 0;
        case VariableKind::halvings:
            return trimtab_halvings(x, y, z);
    }
    return 0;
}

}  // namespace trimtab::driver_gen
