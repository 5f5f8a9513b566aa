// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host half of CUPTI's range profiler: which metrics a chip has, what collects them, and what was collected. Needs no
// GPU.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "profiler/cupti/library.h"
#include "trimtab/error.h"

namespace trimtab::profiler::cupti {

// What collects some counters on a chip.
struct CounterPlan {
    std::vector<std::string> counters;  // that the chip has, of those asked for
    std::vector<std::string> missing;   // that it has not
    std::vector<std::uint8_t> image;    // the configuration
    std::size_t passes = 0;             // so often the launch is made
};

class HostProfiler {
  public:
    // `availability`: of the very GPU (cuptiProfilerGetCounterAvailability); empty: what the chip has at most. The error
    // names the chip that this CUPTI does not know.
    [[nodiscard]] static std::expected<HostProfiler, Error> open(std::shared_ptr<const Library> library,
                                                                 const std::string& chip,
                                                                 std::vector<std::uint8_t> availability = {});
    HostProfiler(HostProfiler&& other) noexcept;
    HostProfiler& operator=(HostProfiler&&) = delete;
    ~HostProfiler();

    // All in one configuration, which takes the fewest passes. Once for each object.
    [[nodiscard]] std::expected<CounterPlan, Error> plan(const std::vector<std::string>& counters);
    // Of one range of a counter data image, by name.
    [[nodiscard]] std::expected<std::map<std::string, double>, Error> evaluate(
        std::span<const std::uint8_t> counter_data, std::size_t range,
        const std::vector<std::string>& counters) const;

  private:
    HostProfiler(std::shared_ptr<const Library> library, std::string chip,
                 std::vector<std::uint8_t> availability)
        : library_(std::move(library)), chip_(std::move(chip)), availability_(std::move(availability)) {}
    [[nodiscard]] std::expected<CUpti_Profiler_Host_Object*, Error> make() const;
    void release(CUpti_Profiler_Host_Object* object) const;
    [[nodiscard]] bool has(const std::string& counter) const;

    std::shared_ptr<const Library> library_;
    std::string chip_;
    std::vector<std::uint8_t> availability_;
    CUpti_Profiler_Host_Object* object_ = nullptr;
};

}  // namespace trimtab::profiler::cupti
