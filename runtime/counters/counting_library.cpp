// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/counters/counting_library.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "profiler/cupti/counters.h"
#include "profiler/cupti/range_counters.h"

namespace {

namespace cupti = trimtab::profiler::cupti;

void tell(std::string_view text, char* why, std::size_t why_bytes) {
    if (why_bytes == 0) return;
    const std::size_t length = std::min(text.size(), why_bytes - 1);
    std::memcpy(why, text.data(), length);
    why[length] = '\0';
}

}  // namespace

extern "C" {

void* trimtab_open_counters(void* context, std::size_t device_ordinal, unsigned use, char* why,
                            std::size_t why_bytes) {
    try {
        auto library = cupti::Library::open();
        if (!library) {
            tell(library.error().text(), why, why_bytes);
            return nullptr;
        }
        auto counters =
            cupti::RangeCounters::open(std::move(*library), static_cast<CUcontext>(context), device_ordinal,
                                       cupti::counters_for({.atomics = (use & trimtab_counts_atomics) != 0,
                                                            .shared = (use & trimtab_counts_shared) != 0,
                                                            .local = (use & trimtab_counts_local) != 0}));
        if (counters) return std::make_unique<cupti::RangeCounters>(std::move(*counters)).release();
        tell(counters.error().text(), why, why_bytes);
    } catch (const std::exception& error) {
        tell(error.what(), why, why_bytes);
    }
    return nullptr;
}

const char* trimtab_counted_chip(void* session) {
    return static_cast<cupti::RangeCounters*>(session)->chip().c_str();
}

bool trimtab_count_launch(void* session, const TrimtabCountedLaunch* launch, char* why,
                          std::size_t why_bytes) {
    try {
        const auto counted = static_cast<cupti::RangeCounters*>(session)->count(
            {.restore = [launch] { return launch->restore(launch->own); },
             .launch = [launch] { return launch->launch(launch->own); }});
        if (!counted) {
            tell(counted.error().text(), why, why_bytes);
            return false;
        }
        for (const auto& [counter, value] : *counted) launch->take(launch->own, counter.c_str(), value);
        return true;
    } catch (const std::exception& error) {
        tell(error.what(), why, why_bytes);
    }
    return false;
}

void trimtab_close_counters(void* session) {
    const std::unique_ptr<cupti::RangeCounters> ended(static_cast<cupti::RangeCounters*>(session));
}
}
