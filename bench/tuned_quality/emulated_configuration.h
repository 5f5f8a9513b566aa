// Compiles one configuration and predicts it the way `trimtab predict` does.
#pragma once

#include <expected>
#include <string>

#include "bench/selection_quality/emulated_metrics.h"
#include "bench/tuned_quality/tuned_table.h"
#include "model/device.h"
#include "model/rational_program.h"
#include "trimtab/error.h"

namespace trimtab::bench {

struct EmulatorOptions {
    std::string source;    // the kernel's .cu
    std::string compiler;  // clang++
    model::Device device;
    std::uint32_t width = 4096, height = 4096;
    bool fresh = false;  // measure again what is remembered
};

class EmulatedConfigurations {
  public:
    // One object a thread.
    EmulatedConfigurations(EmulatorOptions options, const std::string& store_path);

    // One launch over the image.
    [[nodiscard]] std::expected<double, Error> predict_ns(const Configuration& configuration,
                                                          const model::RationalProgram& program);
    // The same launch by abstract emulation, not remembered.
    [[nodiscard]] std::expected<double, Error> emulate_ns(const Configuration& configuration);
    [[nodiscard]] std::size_t measured() const { return memory_.measured(); }  // not remembered before

  private:
    [[nodiscard]] std::expected<tools::LaunchQuestion, Error> compile(
        const Configuration& configuration) const;
    [[nodiscard]] std::expected<EmulatedMetrics, Error> measure(const Configuration& configuration,
                                                                const model::Launch& launch) const;

    EmulatorOptions options_;
    MetricsMemory memory_;
    std::string key_;  // of everything but the configuration
};

}  // namespace trimtab::bench
