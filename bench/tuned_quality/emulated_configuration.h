// Compiles one configuration and measures its metrics on the emulator, the way `trimtab predict` does, and
// remembers both, so that a changed model is scored again in a moment.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "bench/tuned_quality/tuned_table.h"
#include "model/device.h"
#include "model/metrics.h"
#include "model/rational_program.h"
#include "profiler/store.h"
#include "trimtab/driver.h"
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
    // `store` is for this object alone (one a thread).
    EmulatedConfigurations(EmulatorOptions options, const std::string& store_path);

    // One launch over the image, as `program` predicts it.
    [[nodiscard]] std::expected<double, Error> predict_ns(const Configuration& configuration,
                                                          const model::RationalProgram& program);
    [[nodiscard]] std::size_t measured() const { return measured_; }  // not remembered before

  private:
    struct Measured;
    [[nodiscard]] std::expected<Measured, Error> measure(const Configuration& configuration,
                                                         const model::RationalProgram& program,
                                                         const std::string& key);

    EmulatorOptions options_;
    profiler::ProfileStore store_;
    std::string key_;  // of everything but the configuration
    std::size_t measured_ = 0;
};

}  // namespace trimtab::bench
