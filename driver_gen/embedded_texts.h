// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files of this folder as text (CMakeLists.txt embeds them).
#pragma once

#include <string_view>

namespace trimtab::driver_gen {

extern const std::string_view box_geometry_inc, other_values_inc, driver_begin_inc, no_annotation_inc,
    annotation_begin_inc, annotation_end_inc, block_search_inc, driver_judge_inc, driver_end_inc;

}  // namespace trimtab::driver_gen
