// Files of this folder as text (CMakeLists.txt embeds them).
#pragma once

#include <string_view>

namespace trimtab::driver_gen {

extern const std::string_view box_geometry_inc, driver_begin_inc, block_search_inc, driver_end_inc;

}  // namespace trimtab::driver_gen
