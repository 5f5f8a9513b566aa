// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/advised_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/analysis/launches/legal_blocks.h"
#include "core/base/read_text.h"
#include "profiler/cupti/counters.h"
#include "tools/advice/counters/counted_device.h"
#include "tools/advice/counters/measured_advice.h"
#include "tools/advice/counters/names.h"
#include "tools/advice/counters/ncu_csv.h"
#include "tools/trimtab/kernel_facts.h"
#include "tools/trimtab/kernel_file.h"

namespace trimtab::tools {
namespace {

using advice::CountedLaunch;

struct CountersFile {
    std::vector<CountedLaunch> launches;
    std::vector<std::string> notes;
};

std::expected<CountersFile, Error> read_counters(const std::string& path) {
    const auto text = base::read_text(path);
    if (!text) return std::unexpected(text.error());
    CountersFile out;
    if (!text->starts_with('{')) {
        auto launches = advice::read_ncu_csv(*text, path);
        if (!launches) return std::unexpected(launches.error());
        out.launches = std::move(*launches);
        return out;
    }
    const Bench bench = read_bench(*text);
    out.launches = counted_launches(bench);
    if (out.launches.empty())
        return std::unexpected(Error{
            .message =
                "holds no counters of a launch, as `trimtab profile --device gpu --counters` writes them",
            .file = path});
    if (bench.unreadable_lines > 0)
        out.notes.push_back(
            fmt::format("{} of the lines of {} cannot be read", bench.unreadable_lines, path));
    return out;
}

// Several GPUs: the one of the first launch.
void keep_one_device(CountersFile& counters, const std::string& path) {
    const CountedLaunch first = counters.launches.front();
    const auto others = std::erase_if(counters.launches, [&](const CountedLaunch& launch) {
        return launch.device != first.device || launch.compute_capability != first.compute_capability;
    });
    if (others > 0)
        counters.notes.push_back(fmt::format(
            "{} launches of {} ran on another GPU than its first, and are left out", others, path));
}

std::expected<model::Device, Error> device_of(const CountersQuestion& question, CountersFile& counters) {
    const CountedLaunch& launch = counters.launches.front();
    if (question.device.empty()) return advice::counted_device(launch, question.file);
    auto device = model::find_device(question.device);
    if (!device) return device;
    const unsigned told = launch.compute_capability, is = device->values.compute_capability;
    if (told != 0 && told != is)
        counters.notes.push_back(fmt::format("{} is of a GPU of compute capability {}.{}, and {} has {}.{}",
                                             question.file, told / 10, told % 10, device->slug, is / 10,
                                             is % 10));
    return device;
}

// What the program's code says of the kernels that were counted; of its images, what the counters do not.
std::expected<std::map<std::string, advice::KernelFacts>, Error> facts_in(const CountersQuestion& question,
                                                                          const model::Device& device,
                                                                          CountersFile& counters) {
    std::map<std::string, advice::KernelFacts> facts;
    if (question.program.empty()) return facts;
    const auto file = load_kernels(question.program, question.compiler_flags);
    if (!file) return std::unexpected(file.error());
    for (CountedLaunch& launch : counters.launches) {
        auto index = find_kernel(*file, launch.kernel);
        if (!index) index = find_kernel(*file, base_name(launch.kernel));
        if (!index) {
            if (facts.try_emplace(launch.kernel).second)
                counters.notes.push_back(fmt::format("{}: {}", launch.kernel, index.error().text()));
            continue;
        }
        const analysis::KernelDescription& description = file->kernels[*index].record.description;
        facts[launch.kernel] = facts_of(description);
        const trimtab_image image =
            analysis::to_driver_image(analysis::image_for(description, device.values.compute_capability));
        launch.values.try_emplace("launch__registers_per_thread", image.registers_per_thread);
        launch.values.try_emplace("launch__shared_mem_per_block_static", image.static_shared_bytes);
    }
    return facts;
}

}  // namespace

std::vector<CountedLaunch> counted_launches(const Bench& bench) {
    std::vector<CountedLaunch> out;
    for (const BenchedLaunch& launch : bench.launches) {
        const auto shape = std::ranges::find_if(launch.shapes, [&](const TimedShape& one) {
            return !one.counters.empty() && one.grid == launch.written.grid &&
                   one.block == launch.written.block &&
                   one.dynamic_shared_bytes == launch.written.dynamic_shared_bytes;
        });
        if (shape == launch.shapes.end()) continue;
        const auto size = [](const BlockSize& of) {
            return trimtab_dim3{.x = of[0], .y = of[1], .z = of[2]};
        };
        CountedLaunch made{.kernel = launch.kernel,
                           .device = launch.device,
                           .compute_capability = 0,
                           .grid = size(shape->grid),
                           .block = size(shape->block),
                           .values = {}};
        for (const auto& [name, samples] : shape->counters)
            if (const advice::CounterName* const known = advice::counter_named(name); known != nullptr)
                made.values[known->metric] = profiler::cupti::fenced_mean(samples);
        made.values["launch__shared_mem_per_block_dynamic"] =
            static_cast<double>(shape->dynamic_shared_bytes);
        // What the code cannot do was not counted.
        const auto all = profiler::cupti::counters_for({.atomics = true, .shared = true, .local = true});
        for (const std::string& name : all)
            if (const advice::CounterName* const known = advice::counter_named(name); known != nullptr)
                made.values.try_emplace(known->metric, 0);
        if (made.values["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"] == 0)
            made.values["smsp__sass_inst_executed_op_shared.sum"] = 0;
        out.push_back(std::move(made));
    }
    return out;
}

std::expected<AdvisedRun, Error> advice_of_counters(const CountersQuestion& question) {
    auto counters = read_counters(question.file);
    if (!counters) return std::unexpected(counters.error());
    keep_one_device(*counters, question.file);
    auto device = device_of(question, *counters);
    if (!device) return std::unexpected(device.error());
    const auto facts = facts_in(question, *device, *counters);
    if (!facts) return std::unexpected(facts.error());
    AdvisedRun run;
    run.advice = advice::advise_counted(counters->launches, *device, *facts);
    run.advice.program = {question.file};
    run.advice.notes = std::move(counters->notes);
    run.device = std::move(*device);
    return run;
}

}  // namespace trimtab::tools
