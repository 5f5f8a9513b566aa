// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/question.h"

#include <cmath>

#include "core/model/performance_model.h"
#include "emulation/emulator/metrics/metrics.h"

namespace trimtab::advice {
namespace {

model::Launch launch_of(const Question& question) {
    const auto threads = [](std::uint32_t blocks, std::uint32_t size) {
        const std::uint64_t product = std::uint64_t{blocks} * size;
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(product, 0xffffffffu));
    };
    return {.extent = {.x = threads(question.grid.x, question.block.x),
                       .y = threads(question.grid.y, question.block.y),
                       .z = threads(question.grid.z, question.block.z)},
            .block = question.block,
            .dynamic_shared_bytes = question.dynamic_shared_bytes};
}

std::map<std::string, double> named_values(const model::RationalProgram& program,
                                           const std::vector<double>& inputs, const Question& question) {
    const auto trace =
        program.trace(inputs, emulator::measured_metrics(question.values, question.footprints));
    std::map<std::string, double> named;
    for (std::size_t i = 0; i < trace.size(); ++i)
        if (const std::string& label = program.nodes[i].label; !label.empty()) named[label] = trace[i];
    return named;
}

}  // namespace

Question::Question(const emulator::LaunchProfile& profile, const trimtab_device& on)
    : values(profile.values),
      footprints(profile.footprints),
      image(profile.image),
      grid(profile.grid),
      block(profile.block),
      dynamic_shared_bytes(profile.dynamic_shared_bytes),
      device(on) {}

double Question::time_ns(std::string_view model_name) const {
    const auto program = model::performance_model(model_name);
    if (!program) return 0;
    const auto inputs = model::input_values(**program, device, image, launch_of(*this));
    const auto result = (*program)->evaluate(inputs, emulator::measured_metrics(values, footprints));
    return result.launchable && std::isfinite(result.time_ns) ? result.time_ns : 0;
}

std::map<std::string, double> Question::terms(std::string_view model_name) const {
    const auto program = model::performance_model(model_name);
    if (!program) return {};
    return named_values(**program, model::input_values(**program, device, image, launch_of(*this)), *this);
}

std::map<std::string, double> Question::terms(std::string_view model_name,
                                              const model::Device& described) const {
    const auto program = model::performance_model(model_name);
    if (!program) return {};
    model::Device of = described;
    of.values = device;
    return named_values(**program, model::input_values(**program, of, image, launch_of(*this)), *this);
}

void Question::fit_traffic(double bytes) {
    const Question whole = *this;
    double low = 1e-4, high = 4;
    constexpr int halvings = 24;
    for (int i = 0; i < halvings; ++i) {
        const double middle = std::sqrt(low * high);
        *this = whole;
        scale_footprints(middle);
        (terms()["DRAM_bytes"] < bytes ? low : high) = middle;
    }
}

void Question::scale_footprints(double factor) {
    for (emulator::FootprintSample& sample : footprints) sample.sectors *= factor;
    (*this)[model::Metric::footprint_sectors] *= factor;
}

}  // namespace trimtab::advice
