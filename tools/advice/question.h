// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One launch as the models see it, to be asked again with something changed.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/device.h"
#include "core/model/rational_program.h"
#include "emulation/emulator/metrics/launch_profile.h"

namespace trimtab::advice {

struct Question {
    model::MetricValues values{};
    std::vector<emulator::FootprintSample> footprints;
    trimtab_image image{};
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    double dynamic_shared_bytes = 0;
    trimtab_device device{};

    Question() = default;
    Question(const emulator::LaunchProfile& profile, const trimtab_device& on);

    [[nodiscard]] double& operator[](model::Metric metric) {
        return values[static_cast<std::size_t>(metric)];
    }
    [[nodiscard]] double operator[](model::Metric metric) const {
        return values[static_cast<std::size_t>(metric)];
    }
    [[nodiscard]] double threads() const { return double{1} * block.x * block.y * block.z; }
    // 0 where the block cannot be launched.
    [[nodiscard]] double time_ns(std::string_view model = "trimtab") const;
    // Every named term of a model.
    [[nodiscard]] std::map<std::string, double> terms(std::string_view model = "trimtab") const;
    // The same of a model that reads the device's architecture, too. The numbers of the device are this question's.
    [[nodiscard]] std::map<std::string, double> terms(std::string_view model,
                                                      const model::Device& described) const;
    // What a block or several of them touch, times `factor`.
    void scale_footprints(double factor);
    // Footprints of a size at which the model has memory move `bytes`, as near as that can be had.
    void fit_traffic(double bytes);
};

}  // namespace trimtab::advice
