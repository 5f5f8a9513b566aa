// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/base/cache_path.h"

#include <fmt/format.h>

#include <cstdlib>

namespace trimtab::base {

std::string cache_path(std::string_view name) {
    if (const char* cache = secure_getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
        return fmt::format("{}/trimtab/{}", cache, name);
    if (const char* home = secure_getenv("HOME"); home != nullptr && *home == '/')
        return fmt::format("{}/.cache/trimtab/{}", home, name);
    return {};
}

}  // namespace trimtab::base
