// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/selection_quality/exact_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

#include "bench/selection_quality/emulated_metrics.h"

namespace trimtab::bench {

namespace {

// Few launches of those that the case was studied with, spread over them, with their weights' sum.
std::vector<const CaseLaunches::Launch*> few_of(const CaseLaunches& all, std::size_t most) {
    std::vector<const CaseLaunches::Launch*> out;
    const std::size_t count = std::min(most, all.launches.size());
    for (std::size_t i = 0; i < count; ++i)
        out.push_back(&all.launches[(2 * i + 1) * all.launches.size() / (2 * count)]);
    return out;
}

// Times of the case's legal blocks, best first; the first error otherwise.
std::expected<std::vector<PredictedBlock>, Error> predict_exactly(const StudiedCase& one,
                                                                  const model::RationalProgram& program,
                                                                  const ExactOptions& options,
                                                                  MetricsMemory& memory) {
    tools::KernelFile file;
    file.kernels.push_back(*one.launches.kernel);
    tools::LaunchQuestion question{.file = std::move(file),
                                   .kernel = 0,
                                   .device = one.device,
                                   .arguments = {},
                                   .image = one.launches.image,
                                   .registers_from = {}};
    std::vector<PredictedBlock> out;
    for (const PredictedBlock& fitted : one.predicted) {
        PredictedBlock exact{.block = fitted.block, .ns = 0};
        for (const CaseLaunches::Launch* launch : few_of(one.launches, options.launches)) {
            question.arguments = launch->arguments;
            const model::Launch shape{.extent = launch->limits.extent,
                                      .block = {fitted.block.x, fitted.block.y, 1},
                                      .dynamic_shared_bytes = 0};
            std::string data;
            for (const double value : launch->data) data += fmt::format(" {}", value);
            const auto ns = memory.predict_ns(
                fmt::format("{} {} {} {},{}{}", question.description().id, one.device.slug,
                            options.instruction_budget, fitted.block.x, fitted.block.y, data),
                program, one.device.values, shape,
                [&] { return emulate(question, shape, options.instruction_budget); });
            if (!ns) return std::unexpected(ns.error());
            exact.ns += *ns;
        }
        out.push_back(exact);
    }
    std::ranges::sort(out, {}, [](const PredictedBlock& b) {
        return std::tuple(b.ns, b.block.x * b.block.y, -std::int64_t{b.block.x});
    });
    decide_ties(out);
    return out;
}

}  // namespace

void add_exact_rule(Study& study, const model::RationalProgram& program, const ExactOptions& options) {
    std::vector<std::optional<Block>> choices(study.cases.size());
    std::vector<std::string> left_out;
    std::atomic<std::size_t> next = 0, done = 0;
    std::mutex mutex;
    const auto work = [&] {
        MetricsMemory memory("exact_metrics", options.store_path);
        memory.forget(options.fresh);
        for (std::size_t i = next++; i < study.cases.size(); i = next++) {
            const StudiedCase& one = study.cases[i];
            const auto exact = predict_exactly(one, program, options, memory);
            const std::lock_guard lock(mutex);
            if (exact && !exact->empty())
                choices[i] = exact->front().block;
            else
                left_out.push_back(fmt::format("{} {} {} {}", one.measured.gpu, one.measured.app,
                                               one.measured.kernel, one.measured.n));
            if (const std::size_t finished = ++done; memory.measured() > 0 && finished % 10 == 0)
                fmt::print(stderr, "selection_quality: exact metrics of {} of {} cases\n", finished,
                           study.cases.size());
        }
    };
    {
        std::vector<std::jthread> threads;
        for (unsigned t = 1; t < options.threads; ++t) threads.emplace_back(work);
        work();
    }
    for (std::size_t i = 0; i < study.cases.size(); ++i) {
        StudiedCase& one = study.cases[i];
        if (!choices[i] || !one.choices.contains("trimtab")) continue;
        study.choose(one, "exact_metrics", *choices[i]);
        study.choose(one, "fitted_metrics", one.choices.at("trimtab"));
    }
    if (!left_out.empty()) {
        std::ranges::sort(left_out);
        std::string line = fmt::format(
            "exact metrics: {} cases are left out, one block of which runs more than {} "
            "million warp instructions:",
            left_out.size(), options.instruction_budget / 1'000'000);
        for (const std::string& name : left_out) line += "\n    " + name;
        study.notes.push_back(line);
    }
}

}  // namespace trimtab::bench
