// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metrics of launches, emulated once and remembered: a changed model is scored again in a moment.
#pragma once

#include <array>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/model/device.h"
#include "core/model/metrics.h"
#include "core/model/performance_model.h"
#include "core/model/rational_program.h"
#include "profiler/store.h"
#include "tools/trimtab/launch_options.h"
#include "trimtab/driver.h"
#include "trimtab/error.h"

namespace trimtab::bench {

// What the models read of one launch.
struct EmulatedMetrics {
    trimtab_image image{};
    model::MetricValues values{};
    std::map<std::array<double, 3>, double> footprints;  // sectors, by box of threads

    // infinity where the launch cannot be made; none where the program reads a footprint that is not here.
    [[nodiscard]] std::optional<double> predict_ns(const model::RationalProgram& program,
                                                   const trimtab_device& device,
                                                   const model::Launch& launch) const;
};

// Sampled blocks of that very launch, as `trimtab predict` runs them; footprints of the boxes that any model
// asks for.
[[nodiscard]] std::expected<EmulatedMetrics, Error> emulate(const tools::LaunchQuestion& question,
                                                            const model::Launch& launch,
                                                            std::uint64_t instruction_budget);

// Not for several threads: each has its own, over the same file.
class MetricsMemory {
  public:
    // `kind` keeps users apart. Empty path: nothing is remembered.
    MetricsMemory(std::string kind, const std::string& store_path);

    using Measure = std::function<std::expected<EmulatedMetrics, Error>()>;
    // Predicts from what is remembered under `key`; what is not, is measured. What cannot be measured is
    // remembered too.
    [[nodiscard]] std::expected<double, Error> predict_ns(const std::string& key,
                                                          const model::RationalProgram& program,
                                                          const trimtab_device& device,
                                                          const model::Launch& launch,
                                                          const Measure& measure);
    [[nodiscard]] std::size_t measured() const { return measured_; }
    void forget(bool all) { fresh_ = all; }  // measure again what is remembered

  private:
    std::string kind_, version_;
    profiler::ProfileStore store_;
    std::size_t measured_ = 0;
    bool fresh_ = false;
};

}  // namespace trimtab::bench
