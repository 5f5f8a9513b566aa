// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/abstract_emulation/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "bench/selection_quality/kernel_list.h"
#include "bench/selection_quality/sample_objects.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/model/occupancy.h"
#include "tools/trimtab/captured_launch.h"

namespace trimtab::bench {

namespace {

std::expected<std::vector<Case>, Error> samples(const CaseOptions& options,
                                                const base::TemporaryFolder& folder) {
    const auto kernels = read_kernel_list(options.kernels);
    if (!kernels) return std::unexpected(kernels.error());
    SampleObjects objects(folder);
    std::set<std::pair<std::string, std::string>> seen;
    std::vector<Case> out;
    for (const ListedKernel& kernel : *kernels) {
        if (!options.apps.empty() && std::ranges::find(options.apps, kernel.app) == options.apps.end())
            continue;
        if (!seen.emplace(kernel.source, kernel.symbol).second) continue;
        const auto object = objects.of(kernel.source);
        if (!object) return std::unexpected(object.error());
        for (const std::uint64_t n : options.sizes) {
            Case one{.what = fmt::format("{} N = {}", kernel.symbol, n), .asked = {}};
            one.asked.file = *object;
            one.asked.kernel = kernel.symbol;
            one.asked.arguments = launches_at(kernel, n, 1).front().texts;
            const auto blocks = [&](std::size_t d) {
                const auto extent = static_cast<std::uint64_t>(
                    evaluate_size(kernel.extent[d], static_cast<std::int64_t>(n)).value_or(1));
                return static_cast<std::uint32_t>((extent + kernel.block[d] - 1) / kernel.block[d]);
            };
            one.block.x = kernel.block[0];
            one.grid.x = blocks(0);
            if (kernel.extent.size() > 1) {
                one.block.y = kernel.block[1];
                one.grid.y = blocks(1);
            }
            out.push_back(std::move(one));
        }
    }
    return out;
}

std::expected<std::vector<Case>, Error> captures(const CaseOptions& options) {
    std::vector<Case> out;
    for (const std::string& file : options.captures) {
        Case one{.what = file, .asked = {}};
        one.asked.capture = file;
        const auto question = tools::look_up(one.asked);
        if (!question) return std::unexpected(question.error());
        const auto grid = tools::grid_of(*question, ""), block = tools::block_of(*question, "");
        if (!grid || !block) return std::unexpected(grid ? block.error() : grid.error());
        one.grid = *grid;
        one.block = *block;
        one.dynamic_shared_bytes = question->captured->capture.dynamic_shared_bytes;
        one.what = fmt::format("{} {}", question->description().demangled, file.substr(file.rfind('/') + 1));
        out.push_back(std::move(one));
    }
    return out;
}

}  // namespace

void add_options(CLI::App& app, CaseOptions& options) {
    app.add_option("--n", options.sizes, "Sizes of the PolyBench samples");
    app.add_option("--app", options.apps, "Only these of them");
    app.add_option("--capture", options.captures, "Launches that were captured");
    app.add_option("--device", options.devices, "GPUs; all that are described where none is named");
    app.add_option("--threads", options.threads, "Host threads")->capture_default_str();
}

std::expected<std::vector<Case>, Error> cases_of(const CaseOptions& options,
                                                 const base::TemporaryFolder& folder) {
    auto cases = options.sizes.empty() ? std::vector<Case>{} : samples(options, folder);
    if (!cases) return cases;
    const auto captured = captures(options);
    if (!captured) return captured;
    cases->insert(cases->end(), captured->begin(), captured->end());
    // Nothing asked is nothing checked.
    if (cases->empty())
        return std::unexpected(Error{.message = "no launch to ask about; see --n with --app, and --capture"});
    return cases;
}

std::expected<std::vector<model::Device>, Error> devices_of(const CaseOptions& options) {
    if (options.devices.empty()) return model::devices();
    std::vector<model::Device> devices;
    for (const std::string& name : options.devices) {
        auto device = model::find_device(name);
        if (!device) return std::unexpected(device.error());
        devices.push_back(std::move(*device));
    }
    return devices;
}

std::expected<tools::LaunchQuestion, Error> question_on(const Case& one, const model::Device& device) {
    auto question = tools::look_up(one.asked);
    if (!question) return std::unexpected(question.error());
    question->device = device;
    question->image = model::with_addressable_registers(
        analysis::to_driver_image(tools::image_that_runs(question->of(), device)), device.values);
    return question;
}

}  // namespace trimtab::bench
