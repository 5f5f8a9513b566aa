// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/advised_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/temporary_folder.h"
#include "core/model/device.h"
#include "core/model/time_text.h"
#include "tools/trimtab/advised_run.h"
#include "tools/trimtab/command.h"

namespace trimtab::tools {

namespace {

using nlohmann::json;

// Of all launches of a kernel: between what the model and what emulation say, where both answer.
double time_ns(const advice::KernelAdvice& kernel) {
    if (!kernel.emulated_ns || !(kernel.time_ns > 0)) return kernel.total_ns;
    return kernel.total_ns * std::sqrt(*kernel.emulated_ns / kernel.time_ns);
}

double time_ns(const AdvisedRun& run) {
    double total = 0;
    for (const advice::KernelAdvice& kernel : run.advice.kernels) total += time_ns(kernel);
    return total;
}

// That takes longest.
const advice::KernelAdvice* slowest(const AdvisedRun& run) {
    const std::vector<advice::KernelAdvice>& kernels = run.advice.kernels;
    const auto found = std::ranges::max_element(
        kernels, {}, [](const advice::KernelAdvice& kernel) { return time_ns(kernel); });
    return found == kernels.end() ? nullptr : &*found;
}

std::vector<const AdvisedRun*> fastest_first(const std::vector<AdvisedRun>& runs) {
    std::vector<const AdvisedRun*> order;
    for (const AdvisedRun& run : runs) order.push_back(&run);
    std::ranges::sort(order, {}, [](const AdvisedRun* run) { return std::pair(time_ns(*run), run); });
    return order;
}

// Blocks of its launch, over those that the GPU holds at once: below 1, more SMs would stay idle.
double waves(const advice::KernelAdvice& kernel) {
    const auto found = kernel.derived.find("waves");
    return found == kernel.derived.end() ? 0 : found->second;
}

}  // namespace

std::expected<std::vector<std::string>, Error> devices_of(const std::string& text) {
    std::vector<std::string> devices;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t end = std::min(text.find(',', from), text.size());
        const std::string name = text.substr(from, end - from);
        const auto device = model::find_device(name);
        if (!device) return std::unexpected(device.error());
        if (std::ranges::find(devices, name) != devices.end())
            return std::unexpected(Error{.message = fmt::format("--devices names {} twice", name)});
        devices.push_back(name);
        from = end + 1;
    }
    if (devices.size() < 2)
        return std::unexpected(
            Error{.message = "--devices wants two or more, separated by commas; --device takes one"});
    return devices;
}

std::expected<std::vector<AdvisedRun>, Error> advised_on(const std::vector<std::string>& devices,
                                                         const std::vector<std::string>& command,
                                                         const schedule::Settings& settings) {
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return std::unexpected(folder.error());
    std::vector<AdvisedRun> runs;
    for (const std::string& device : devices) {
        setenv("TRIMTAB_DEVICE", device.c_str(), 1);
        const auto recorded = recorded_run(command, true, runs.empty() ? "" : folder->file("output"));
        if (!recorded) return std::unexpected(recorded.error());
        auto run = advice_of(*recorded, settings);
        if (!run) return std::unexpected(run.error());
        if (run->exit_code != 0)
            return std::unexpected(Error{.message = fmt::format("{} on {}", recorded->outcome.text(), device),
                                         .file = command.front()});
        runs.push_back(std::move(*run));
    }
    return runs;
}

std::string devices_text(const std::vector<AdvisedRun>& runs) {
    const std::vector<const AdvisedRun*> order = fastest_first(runs);
    std::string out = fmt::format("{:<24} {:>4}  {:<28} {:>8}  {}\n", "GPU", "SMs", "kernels (95 of 100)",
                                  "slower", "what limits the kernel that takes longest");
    const double least = time_ns(*order.front());
    for (const AdvisedRun* run : order) {
        const advice::KernelAdvice* const kernel = slowest(*run);
        const double ns = time_ns(*run);
        out +=
            fmt::format("{:<24} {:>4}  {:<28} {:>7.2f}x  {}\n", run->device.slug, run->device.values.sm_count,
                        model::time_with_bounds(ns, model::emulation_error), least > 0 ? ns / least : 1,
                        kernel == nullptr ? "no kernel was launched" : kernel->bottleneck);
    }
    if (const advice::KernelAdvice* const kernel = slowest(*order.front()); kernel != nullptr)
        out += fmt::format("{} launches {:.2g} times as many blocks as {} holds at once: {}\n",
                           kernel->facts.demangled, waves(*kernel), order.front()->device.slug,
                           waves(*kernel) < 1 ? "more SMs would stay idle, unless the data grow"
                                              : "more SMs would make it faster");
    return out +
           "Times are modelled, not measured; trimtab advise --device GPU says what to do on one of them.\n";
}

std::string devices_json(const std::vector<AdvisedRun>& runs) {
    json devices = json::array();
    for (const AdvisedRun* run : fastest_first(runs)) {
        json kernels = json::array();
        for (const advice::KernelAdvice& kernel : run->advice.kernels) {
            kernels.push_back({{"kernel", kernel.facts.demangled},
                               {"mangled", kernel.kernel},
                               {"launches", kernel.launches},
                               {"time_ns", time_ns(kernel)},
                               {"model_ns", kernel.total_ns},
                               {"waves", waves(kernel)},
                               {"bottleneck", kernel.bottleneck}});
            kernels.back()["emulated_ns"] = kernel.emulated_ns && kernel.time_ns > 0
                                                ? json(kernel.total_ns / kernel.time_ns * *kernel.emulated_ns)
                                                : json(nullptr);
        }
        devices.push_back({{"device", run->device.slug},
                           {"device_name", run->device.name},
                           {"sm_count", run->device.values.sm_count},
                           {"time_ns", time_ns(*run)},
                           {"kernels", std::move(kernels)}});
    }
    const json document = {{"devices", std::move(devices)}, {"program", runs.front().advice.program}};
    return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace trimtab::tools
