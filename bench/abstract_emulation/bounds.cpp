// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench/emulation_bounds: every answer of abstract emulation between its bounds? For kernels of the PolyBench samples and
// for captured launches, on devices, in every legal block whose sizes are powers of two.
#include "emulation/schedule/bounds.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/abstract_emulation/ask_all.h"
#include "bench/abstract_emulation/cases.h"
#include "bench/abstract_emulation/counted_bounds.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/model/occupancy.h"
#include "emulation/schedule/estimate.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/emulated_schedule.h"
#include "tools/trimtab/search_candidates.h"

namespace trimtab::bench {

namespace {

using Json = nlohmann::ordered_json;
using tools::ExitCode;

struct Options {
    CaseOptions cases;
    bool from_ptx = false, json = false;
};

struct Tally {
    std::size_t answers = 0, of_machine_code = 0, not_launched = 0, crossed = 0, crossed_counts = 0;
    // Least over its bound, and of the answer to the most: how near the nearest came.
    double nearest_least = 1e300, nearest_counted = 1e300, nearest_most = 0, nearest_counted_most = 0;
    std::vector<std::string> lines;

    void add(const Tally& more) {
        answers += more.answers;
        of_machine_code += more.of_machine_code;
        not_launched += more.not_launched;
        crossed += more.crossed;
        crossed_counts += more.crossed_counts;
        nearest_least = std::min(nearest_least, more.nearest_least);
        nearest_counted = std::min(nearest_counted, more.nearest_counted);
        nearest_most = std::max(nearest_most, more.nearest_most);
        nearest_counted_most = std::max(nearest_counted_most, more.nearest_counted_most);
        lines.insert(lines.end(), more.lines.begin(), more.lines.end());
    }
};

std::vector<trimtab_dim3> powers_of_two(const trimtab_dim3& written) {
    std::vector<trimtab_dim3> out;
    for (std::uint32_t x = 1; x <= 1024; x *= 2)
        for (std::uint32_t y = 1; x * y <= 1024; y *= 2)
            for (std::uint32_t z = 1; x * y * z <= 1024; z *= 2)
                if (x * y * z >= 32 && (y == 1 || written.y > 1) && (z == 1 || written.z > 1))
                    out.push_back({x, y, z});
    return out;
}

// The legal launches: the one that is written alone where its block must stay.
std::vector<tools::LaunchCandidate> launches_of(const tools::LaunchQuestion& question, const Case& one) {
    auto space = tools::legal_launches(question,
                                       {.grid = one.grid,
                                        .block = one.block,
                                        .dynamic_shared_bytes = double(one.dynamic_shared_bytes),
                                        .blocks = powers_of_two(one.block)},
                                       tools::searched_bodies(question, {1}));
    if (space && !space->candidates.empty()) return std::move(space->candidates);
    return {{.values = {},
             .grid = one.grid,
             .block = one.block,
             .dynamic_shared_bytes = one.dynamic_shared_bytes}};
}

std::expected<void, Error> check(const tools::LaunchQuestion& question, emulator::Program& program,
                                 const Case& one, const tools::LaunchCandidate& launch, bool from_ptx,
                                 Tally& tally) {
    const model::Occupancy occupancy =
        model::occupancy(question.device.values, question.image,
                         launch.block.x * launch.block.y * launch.block.z, launch.dynamic_shared_bytes);
    if (occupancy.blocks_per_sm == 0) {
        ++tally.not_launched;
        return {};
    }
    const auto traced =
        tools::trace_launch(question, program, {launch.grid, launch.block, launch.dynamic_shared_bytes},
                            occupancy.blocks_per_sm, {.from_ptx = from_ptx});
    if (!traced) return std::unexpected(traced.error());
    const schedule::Estimate answer = schedule::estimate(*traced);
    const double cycles = answer.crossed ? answer.crossed->emulated_cycles : answer.cycles;
    const auto at = [&](std::string_view which, double bound, std::string_view by) {
        tally.lines.push_back(
            fmt::format("{} on {}, {} x {} x {} of {} x {} x {}{}: {:.6g} cycles, {} {:.6g} ({})", one.what,
                        question.device.slug, launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x,
                        launch.block.y, launch.block.z,
                        traced->machine_code.empty() ? ", PTX" : ", machine code", cycles, which, bound, by));
    };
    ++tally.answers;
    if (!traced->machine_code.empty()) ++tally.of_machine_code;
    const auto hold = [&](double least, std::string_view by, double most, std::string_view whose,
                          std::size_t& crossed, double& nearest_least, double& nearest_most) {
        if (least > 0) nearest_least = std::min(nearest_least, cycles / least);
        if (most > 0) nearest_most = std::max(nearest_most, cycles / most);
        const bool is_below = cycles<(1 - schedule::bound_tolerance) * least, is_beyond = cycles> most;
        if (!is_below && !is_beyond) return;
        ++crossed;
        at(fmt::format("{} {}", whose, is_below ? "least" : "most"), is_below ? least : most, by);
    };
    const schedule::Bounds own = schedule::bounds(*traced);
    hold(own.least_cycles, own.least_by, own.most_cycles, "its own", tally.crossed, tally.nearest_least,
         tally.nearest_most);
    if (!traced->machine_code.empty()) return {};
    const auto counted =
        counted_bounds(question, program, launch.grid, launch.block, launch.dynamic_shared_bytes, *traced);
    if (!counted) return std::unexpected(counted.error());
    hold(counted->least_cycles, counted->least_by, counted->most_cycles, "the counted", tally.crossed_counts,
         tally.nearest_counted, tally.nearest_counted_most);
    return {};
}

// Of one kernel on one device.
std::expected<Tally, Error> check(const Case& one, const model::Device& device, bool from_ptx) {
    const auto question = question_on(one, device);
    if (!question) return std::unexpected(question.error());
    const auto program = tools::load_program_of(*question);
    if (!program) return std::unexpected(program.error());
    Tally tally;
    for (const tools::LaunchCandidate& launch : launches_of(*question, one))
        if (const auto done = check(*question, **program, one, launch, from_ptx, tally); !done)
            return std::unexpected(
                Error{.message = fmt::format("{} x {} x {}: {}", launch.block.x, launch.block.y,
                                             launch.block.z, done.error().text())});
    return tally;
}

int report(const Options& options, const Tally& tally, double seconds) {
    if (options.json) {
        fmt::print("{}\n", Json{{"answers", tally.answers},
                                {"of_machine_code", tally.of_machine_code},
                                {"not_launched", tally.not_launched},
                                {"crossed", tally.crossed},
                                {"crossed_counts", tally.crossed_counts},
                                {"nearest_least", tally.nearest_least},
                                {"nearest_most", tally.nearest_most},
                                {"nearest_counted_least", tally.nearest_counted},
                                {"nearest_counted_most", tally.nearest_counted_most},
                                {"seconds", seconds}}
                               .dump(1));
    } else {
        fmt::print("{} answers, {} of machine code; {} launches cannot be made\n", tally.answers,
                   tally.of_machine_code, tally.not_launched);
        fmt::print("  own bounds: {} crossed; answers from {:.3f} of the least to {:.3f} of the most\n",
                   tally.crossed, tally.nearest_least, tally.nearest_most);
        if (tally.nearest_counted_most > 0)
            fmt::print("  counted ones, of PTX: {} crossed; from {:.3f} of the least to {:.3f} of the most\n",
                       tally.crossed_counts, tally.nearest_counted, tally.nearest_counted_most);
    }
    return tools::code(tally.crossed + tally.crossed_counts == 0 ? ExitCode::ok : ExitCode::no);
}

std::expected<Tally, Error> check_all(const std::vector<Case>& cases,
                                      const std::vector<model::Device>& devices, const Options& options) {
    Tally all;
    const auto done = ask_all<Tally>(
        "emulation_bounds", cases, devices, options.cases.threads,
        [&](const Case& one, const model::Device& device) { return check(one, device, options.from_ptx); },
        [&](const Tally& tally) {
            for (const std::string& line : tally.lines) fmt::print(stderr, "{}\n", line);
            all.add(tally);
        });
    if (!done) return std::unexpected(done.error());
    return all;
}

int run(const Options& options) {
    const auto fault = [](const Error& error) {
        fmt::print(stderr, "emulation_bounds: {}\n", error.text());
        return tools::code(ExitCode::bad_input);
    };
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return fault(folder.error());
    const auto cases = cases_of(options.cases, *folder);
    if (!cases) return fault(cases.error());
    const auto devices = devices_of(options.cases);
    if (!devices) return fault(devices.error());
    const auto start = std::chrono::steady_clock::now();
    const auto all = check_all(*cases, *devices, options);
    if (!all) return tools::code(ExitCode::bad_input);
    return report(options, *all,
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

}  // namespace trimtab::bench

int main(int argc, char** argv) {
    using namespace trimtab;
    bench::Options options;
    CLI::App app("Whether answers of abstract emulation keep within their bounds", "emulation_bounds");
    bench::add_options(app, options.cases);
    app.add_flag("--from-ptx", options.from_ptx, "Of the PTX, even where ptxas could make machine code");
    app.add_flag("--json", options.json, "Print JSON");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : tools::code(tools::ExitCode::usage);
    }
    return bench::run(options);
}
