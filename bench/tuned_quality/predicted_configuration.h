// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles one configuration and predicts it both ways, as `trimtab predict` and `trimtab emulate` do.
#pragma once

#include <expected>
#include <string>

#include "bench/selection_quality/emulated_metrics.h"
#include "bench/tuned_quality/tuned_kernel.h"
#include "core/model/device.h"
#include "core/model/rational_program.h"
#include "emulation/schedule/traced_launch.h"
#include "trimtab/error.h"

namespace trimtab::bench {

struct PredictorOptions {
    TunedKernel kernel;
    std::string compiler;  // clang++
    model::Device device;
    bool fresh = false;     // measure again what is remembered
    bool from_ptx = false;  // abstract emulation of PTX though machine code could be had
};

class PredictedConfigurations {
  public:
    // One object a thread.
    PredictedConfigurations(PredictorOptions options, const std::string& store_path);

    // By the closed form; what was counted is remembered.
    [[nodiscard]] std::expected<double, Error> closed_form_ns(const Values& values,
                                                              const model::RationalProgram& program);
    // By abstract emulation; nothing but the compiled code is remembered.
    [[nodiscard]] std::expected<double, Error> emulated_ns(const Values& values);
    // The configuration, compiled, as the command line would ask for it.
    [[nodiscard]] std::expected<tools::LaunchQuestion, Error> question(const Values& values) const;

  private:
    struct Compiled {
        ConfiguredLaunch launch;
        std::string ptx_path;
        std::string key;  // of the PTX and the launch
    };
    [[nodiscard]] std::expected<Compiled, Error> compile(const Values& values) const;
    [[nodiscard]] std::expected<tools::LaunchQuestion, Error> question(const Compiled& compiled) const;

    PredictorOptions options_;
    MetricsMemory memory_;
    std::string source_key_;  // of the source and the flags
};

}  // namespace trimtab::bench
