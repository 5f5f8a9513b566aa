// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench/schedule_speed: what abstract emulation costs: to trace a launch, and to schedule what was traced, for blocks of
// the PolyBench samples and for configurations of a tuned kernel, in processor time of one core.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/selection_quality/kernel_list.h"
#include "bench/selection_quality/sample_objects.h"
#include "bench/tuned_quality/predicted_configuration.h"
#include "bench/tuned_quality/tuned_table.h"
#include "core/base/temporary_folder.h"
#include "core/model/occupancy.h"
#include "emulation/schedule/estimate.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/emulated_schedule.h"

namespace trimtab::bench {

namespace {

using Json = nlohmann::ordered_json;
using tools::ExitCode;

struct Options {
    std::string kernels = TRIMTAB_BENCH_KERNELS, device = "rtx2070super", tuned, description;
    std::vector<std::string> apps;
    std::uint64_t n = 4096;
    unsigned repeats = 3;
    std::size_t configurations = 24, blocks = 8;
    bool json = false;
};

// Of this thread: on a machine that others use, nothing else says anything.
double processor_ms() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double at_share(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

// The least of some repeats of one launch.
struct Cost {
    std::string what;
    trimtab_dim3 block{1, 1, 1};
    double trace_ms = 0, schedule_ms = 0;
    double run = 0, scheduled = 0;  // warp instructions, by the functional emulator and by the scheduler
};

std::expected<Cost, Error> cost_of(const tools::LaunchQuestion& question, emulator::Program& program,
                                   trimtab_dim3 grid, trimtab_dim3 block, bool bypass_l1, unsigned repeats) {
    const model::Occupancy occupancy =
        model::occupancy(question.device.values, question.image, block.x * block.y * block.z, 0);
    if (occupancy.blocks_per_sm == 0)
        return std::unexpected(Error{.message = "the block does not fit an SM"});
    Cost cost{.what = {}, .block = block};
    std::vector<double> tracing, scheduling;
    for (unsigned i = 0; i < repeats; ++i) {
        const double start = processor_ms();
        const auto traced = tools::trace_launch(question, program, {grid, block}, occupancy.blocks_per_sm,
                                                {.loads_bypass_l1 = bypass_l1});
        if (!traced) return std::unexpected(traced.error());
        const double middle = processor_ms();
        const schedule::Estimate estimate = schedule::estimate(*traced);
        scheduling.push_back(processor_ms() - middle);
        tracing.push_back(middle - start);
        cost.run = static_cast<double>(traced->warp_instructions);
        cost.scheduled = static_cast<double>(estimate.emulated_warp_instructions);
    }
    cost.trace_ms = at_share(tracing, 0.5);
    cost.schedule_ms = at_share(scheduling, 0.5);
    return cost;
}

// Blocks over which a tuner would go, of one dimension or of two; `most` of them, spread.
std::vector<trimtab_dim3> blocks_of(std::size_t dimensions, std::size_t most) {
    std::vector<trimtab_dim3> all, out;
    for (std::uint32_t x = 1; x <= 1024; x *= 2)
        for (std::uint32_t y = 1; x * y <= 1024; y *= 2)
            if (x * y >= 32 && (dimensions > 1 || y == 1)) all.push_back({x, y, 1});
    const std::size_t count = most == 0 ? all.size() : std::min(most, all.size());
    for (std::size_t i = 0; i < count; ++i) out.push_back(all[(2 * i + 1) * all.size() / (2 * count)]);
    return out;
}

struct Spread {
    double median = 0, p90 = 0, most = 0;
};
Spread spread(const std::vector<Cost>& costs, double (*of)(const Cost&)) {
    std::vector<double> values;
    for (const Cost& one : costs) values.push_back(of(one));
    return {at_share(values, 0.5), at_share(values, 0.9), at_share(values, 1)};
}

void print_line(const std::string& name, const std::vector<Cost>& of) {
    const Spread s = spread(of, [](const Cost& c) { return c.schedule_ms; }),
                 t = spread(of, [](const Cost& c) { return c.trace_ms + c.schedule_ms; });
    fmt::print("{:<28} {:>7}  {:>8.2f} {:>8.2f} {:>8.2f}  {:>8.2f} {:>8.2f} {:>8.2f}\n", name, of.size(),
               s.median, s.p90, s.most, t.median, t.p90, t.most);
    std::fflush(stdout);
}

void print_head() {
    fmt::print("{:<28} {:>7}  {:>26}  {:>26}\n{:<28} {:>7}  {:>8} {:>8} {:>8}  {:>8} {:>8} {:>8}\n", "",
               "launches", "schedule, ms", "trace and schedule, ms", "", "", "median", "p90", "most",
               "median", "p90", "most");
}

std::expected<std::vector<Cost>, Error> samples(const Options& options) {
    const auto kernels = read_kernel_list(options.kernels);
    if (!kernels) return std::unexpected(kernels.error());
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return std::unexpected(folder.error());
    SampleObjects objects(*folder);
    std::set<std::pair<std::string, std::string>> seen;
    std::vector<Cost> out;
    for (const ListedKernel& kernel : *kernels) {
        if (!options.apps.empty() && std::ranges::find(options.apps, kernel.app) == options.apps.end())
            continue;
        if (!seen.emplace(kernel.source, kernel.symbol).second) continue;
        const auto object = objects.of(kernel.source);
        if (!object) return std::unexpected(object.error());
        tools::LaunchOptions asked;
        asked.file = *object;
        asked.kernel = kernel.symbol;
        asked.device = options.device;
        asked.arguments = launches_at(kernel, options.n, 1).front().texts;
        const auto question = tools::look_up(asked);
        if (!question) return std::unexpected(question.error());
        const auto program = tools::load_program_of(*question);
        if (!program) return std::unexpected(program.error());
        const std::vector<trimtab_dim3> asked_blocks = blocks_of(kernel.extent.size(), options.blocks);
        for (const trimtab_dim3& block : asked_blocks) {
            trimtab_dim3 grid{1, 1, 1};
            const auto blocks = [&](std::size_t d, std::uint32_t size) {
                const auto extent = static_cast<std::uint64_t>(
                    evaluate_size(kernel.extent[d], static_cast<std::int64_t>(options.n)).value_or(1));
                return static_cast<std::uint32_t>((extent + size - 1) / size);
            };
            grid.x = blocks(0, block.x);
            if (kernel.extent.size() > 1) grid.y = blocks(1, block.y);
            auto cost = cost_of(*question, **program, grid, block, true, options.repeats);
            if (!cost) return std::unexpected(cost.error());
            cost->what = kernel.symbol;
            out.push_back(std::move(*cost));
        }
        if (!options.json)
            print_line(kernel.symbol,
                       {out.end() - static_cast<std::ptrdiff_t>(asked_blocks.size()), out.end()});
    }
    return out;
}

std::expected<std::vector<Cost>, Error> tuned(const Options& options) {
    const auto kernel = read_tuned_kernel(options.description);
    if (!kernel) return std::unexpected(kernel.error());
    const auto device = model::find_device(options.device);
    if (!device) return std::unexpected(device.error());
    const auto table = read_tuned_table(options.tuned, *kernel);
    if (!table) return std::unexpected(table.error());
    std::vector<Values> all;
    for (const Slice& slice : *table)
        for (const auto& one : slice.configurations) all.push_back(one.values);
    PredictedConfigurations configurations(
        {.kernel = *kernel, .compiler = TRIMTAB_BENCH_CLANG, .device = *device},
        profiler::default_store_path());
    std::vector<Cost> out;
    const std::size_t count = std::min(options.configurations, all.size());
    for (std::size_t i = 0; i < count; ++i) {
        const Values& values = all[(2 * i + 1) * all.size() / (2 * count)];
        const auto launch = configured_launch(*kernel, values);
        if (!launch) return std::unexpected(launch.error());
        const auto question = configurations.question(values);
        if (!question) return std::unexpected(question.error());
        const auto program = tools::load_program_of(*question);
        if (!program) return std::unexpected(program.error());
        // The first also assembles, where that is not kept yet.
        (void)cost_of(*question, **program, launch->grid, launch->block, false, 1);
        auto cost = cost_of(*question, **program, launch->grid, launch->block, false, options.repeats);
        if (!cost) {
            fmt::print(stderr, "schedule_speed: left out {}: {}\n", fmt::join(values, ","),
                       cost.error().text());
            continue;
        }
        cost->what = fmt::format("{}", fmt::join(values, ","));
        out.push_back(std::move(*cost));
    }
    return out;
}

int report(const Options& options, const std::vector<Cost>& costs) {
    double run = 0, tracing = 0, scheduled = 0, scheduling = 0;
    Json rows = Json::array();
    for (const Cost& one : costs) {
        run += one.run;
        tracing += one.trace_ms;
        scheduled += one.scheduled;
        scheduling += one.schedule_ms;
        rows.push_back({{"what", one.what},
                        {"block", {one.block.x, one.block.y}},
                        {"trace_ms", one.trace_ms},
                        {"schedule_ms", one.schedule_ms},
                        {"run", one.run},
                        {"scheduled", one.scheduled}});
    }
    if (options.json) {
        fmt::print("{}\n", rows.dump(1));
        return tools::code(ExitCode::ok);
    }
    print_line("all", costs);
    fmt::print("warp instructions a second: scheduled {:.1f} million, run for the traces {:.1f} million\n",
               scheduled / scheduling / 1e3, run / tracing / 1e3);
    return tools::code(ExitCode::ok);
}

}  // namespace

}  // namespace trimtab::bench

int main(int argc, char** argv) {
    using namespace trimtab;
    bench::Options options;
    CLI::App app("Processor time of abstract emulation, by launch", "schedule_speed");
    app.add_option("--device", options.device, "GPU")->capture_default_str();
    app.add_option("--n", options.n, "Size of the PolyBench samples")->capture_default_str();
    app.add_option("--app", options.apps, "Only these of them; may be repeated");
    app.add_option("--blocks", options.blocks, "So many of each sample, spread; 0: all")
        ->capture_default_str();
    app.add_option("--tuned", options.tuned, "Configurations of this table in place of the samples");
    app.add_option("--kernel", options.description,
                   "What stands behind the table, in JSON (as of tuned_quality)");
    app.add_option("--configurations", options.configurations, "So many, spread over the table")
        ->capture_default_str();
    app.add_option("--repeats", options.repeats, "Of each launch; their median counts")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000));
    app.add_flag("--json", options.json, "Print JSON");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : tools::code(tools::ExitCode::usage);
    }
    if (!options.json) bench::print_head();
    const auto costs = options.tuned.empty() ? bench::samples(options) : bench::tuned(options);
    if (!costs) {
        fmt::print(stderr, "schedule_speed: {}\n", costs.error().text());
        return tools::code(tools::ExitCode::bad_input);
    }
    return bench::report(options, *costs);
}
