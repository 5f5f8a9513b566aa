// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUPTI, loaded when it is wanted: the host half (metrics, configurations) needs no GPU, the target half does.
#pragma once

#include <cuda.h>
// Wants cuda.h before it.
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::profiler::cupti {

// A parameter block of CUPTI's, zeroed, with its size filled in.
template <typename Params>
[[nodiscard]] Params block_of(std::size_t struct_bytes) {
    Params params{};
    params.structSize = struct_bytes;
    return params;
}

struct Calls {
    decltype(&cuptiGetResultString) get_result_string = nullptr;
    // Host.
    decltype(&cuptiProfilerHostGetSupportedChips) get_supported_chips = nullptr;
    decltype(&cuptiProfilerHostInitialize) host_initialize = nullptr;
    decltype(&cuptiProfilerHostDeinitialize) host_deinitialize = nullptr;
    decltype(&cuptiProfilerHostConfigAddMetrics) add_metrics = nullptr;
    decltype(&cuptiProfilerHostGetConfigImageSize) get_config_image_size = nullptr;
    decltype(&cuptiProfilerHostGetConfigImage) get_config_image = nullptr;
    decltype(&cuptiProfilerHostGetNumOfPasses) get_number_of_passes = nullptr;
    decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate = nullptr;
    // Target.
    decltype(&cuptiProfilerInitialize) initialize = nullptr;
    decltype(&cuptiProfilerDeInitialize) deinitialize = nullptr;
    decltype(&cuptiDeviceGetChipName) get_chip_name = nullptr;
    decltype(&cuptiProfilerGetCounterAvailability) get_availability = nullptr;
    decltype(&cuptiRangeProfilerEnable) enable = nullptr;
    decltype(&cuptiRangeProfilerDisable) disable = nullptr;
    decltype(&cuptiRangeProfilerGetCounterDataSize) get_counter_data_size = nullptr;
    decltype(&cuptiRangeProfilerCounterDataImageInitialize) initialize_counter_data = nullptr;
    decltype(&cuptiRangeProfilerSetConfig) set_config = nullptr;
    decltype(&cuptiRangeProfilerStart) start = nullptr;
    decltype(&cuptiRangeProfilerStop) stop = nullptr;
    decltype(&cuptiRangeProfilerPushRange) push_range = nullptr;
    decltype(&cuptiRangeProfilerPopRange) pop_range = nullptr;
    decltype(&cuptiRangeProfilerDecodeData) decode = nullptr;
    decltype(&cuptiRangeProfilerGetCounterDataInfo) get_counter_data_info = nullptr;
};

class Library {
  public:
    // `path`: empty: libcupti.so.13 where the loader finds it, or in the toolkit's folders. The error says what to do.
    [[nodiscard]] static std::expected<std::shared_ptr<const Library>, Error> open(
        const std::string& path = {});
    ~Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    [[nodiscard]] const Calls& calls() const { return calls_; }
    // That this CUPTI knows: "TU106".
    [[nodiscard]] std::vector<std::string> chips() const;
    // One line: what failed, and what can be done where that is known.
    [[nodiscard]] Error failure(CUptiResult result, const std::string& what) const;

  private:
    Library() = default;
    void* handle_ = nullptr;
    Calls calls_;
};

}  // namespace trimtab::profiler::cupti
