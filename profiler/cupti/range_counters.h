// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The target half: counters of one launch on the GPU of this process, made as often as the counters take passes.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "profiler/cupti/host_profiler.h"

namespace trimtab::profiler::cupti {

// How a launch is made again.
struct RepeatedLaunch {
    std::function<bool()> restore;  // the memory that it starts from; before every pass
    std::function<bool()> launch;   // and waits for it; false: it failed
};

class RangeCounters {
  public:
    // Of the current context's device. The error: counters are forbidden, the chip is not known, there is none.
    [[nodiscard]] static std::expected<RangeCounters, Error> open(std::shared_ptr<const Library> library,
                                                                  CUcontext context,
                                                                  std::size_t device_ordinal,
                                                                  const std::vector<std::string>& counters);
    RangeCounters(RangeCounters&& other) noexcept;
    RangeCounters& operator=(RangeCounters&&) = delete;
    ~RangeCounters();

    [[nodiscard]] const CounterPlan& plan() const { return plan_; }
    [[nodiscard]] const std::string& chip() const { return chip_; }
    // Sums over the launch. Times measured meanwhile say nothing.
    [[nodiscard]] std::expected<std::map<std::string, double>, Error> count(const RepeatedLaunch& launch);

  private:
    RangeCounters(std::shared_ptr<const Library> library, HostProfiler host)
        : library_(std::move(library)), host_(std::move(host)) {}
    [[nodiscard]] std::expected<void, Error> prepare_counter_data();
    [[nodiscard]] std::expected<void, Error> collect(const RepeatedLaunch& launch);

    std::shared_ptr<const Library> library_;
    HostProfiler host_;
    CounterPlan plan_;
    std::string chip_;
    CUpti_RangeProfiler_Object* object_ = nullptr;
    std::vector<std::uint8_t> counter_data_;
};

}  // namespace trimtab::profiler::cupti
