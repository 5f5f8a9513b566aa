// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench/device_matrix: are the two predictors of a launch's time, the closed form and abstract emulation, within a factor
// of two of each other? For kernels of the PolyBench samples and for captured launches, as they are written, on devices.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "bench/abstract_emulation/ask_all.h"
#include "bench/abstract_emulation/cases.h"
#include "core/model/occupancy.h"
#include "core/model/performance_model.h"
#include "emulation/schedule/estimate.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/emulated_schedule.h"
#include "tools/trimtab/measured_launch.h"

namespace trimtab::bench {

namespace {

using Json = nlohmann::ordered_json;
using tools::ExitCode;

// The two predictors' stated errors (core/model/prediction_error.h) are larger; the question is where they part.
constexpr double most_apart = 2;

struct Options {
    CaseOptions cases;
    std::string known;
    bool json = false;
};

struct Answer {
    std::string kernel, device;
    double closed_ns = 0, emulated_ns = 0;
    [[nodiscard]] double ratio() const { return closed_ns / emulated_ns; }
    [[nodiscard]] bool is_apart() const { return ratio() > most_apart || ratio() < 1 / most_apart; }
};

// "KERNEL DEVICE reason ...", DEVICE may be *; what is left of # counts.
struct Known {
    std::string kernel, device;
    std::size_t line = 0;
    bool is_met = false;
    [[nodiscard]] bool holds(const Answer& answer) const {
        return answer.kernel.starts_with(kernel) && (device == "*" || device == answer.device);
    }
};

std::expected<std::vector<Known>, Error> read_known(const std::string& path) {
    std::vector<Known> known;
    if (path.empty()) return known;
    std::ifstream file(path);
    if (!file) return std::unexpected(Error{.message = "cannot be read", .file = path});
    std::size_t number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        line.resize(std::min(line.find('#'), line.size()));
        std::istringstream words(line);
        Known one{.kernel = {}, .device = {}, .line = number};
        if (!(words >> one.kernel)) continue;
        std::string reason;
        if (!(words >> one.device >> reason))
            return std::unexpected(Error{.message = "wants KERNEL DEVICE and a reason",
                                         .file = path,
                                         .line = static_cast<std::uint32_t>(number)});
        known.push_back(std::move(one));
    }
    return known;
}

// None where the device cannot launch it.
std::expected<std::optional<Answer>, Error> answer(const Case& one, const model::Device& device) {
    const auto question = question_on(one, device);
    if (!question) return std::unexpected(question.error());
    const model::Occupancy occupancy = model::occupancy(
        device.values, question->image, one.block.x * one.block.y * one.block.z, one.dynamic_shared_bytes);
    if (occupancy.blocks_per_sm == 0) return std::nullopt;
    const auto program = tools::load_program_of(*question);
    if (!program) return std::unexpected(program.error());
    const auto traced = tools::trace_launch(
        *question, **program, {one.grid, one.block, one.dynamic_shared_bytes}, occupancy.blocks_per_sm, {});
    if (!traced) return std::unexpected(traced.error());
    const auto measured = tools::measure_launch(*question, one.grid, one.block, one.dynamic_shared_bytes);
    if (!measured) return std::unexpected(measured.error());
    const model::RationalProgram& closed = **model::performance_model(model::default_model);
    const auto inputs = model::input_values(
        closed, device.values, question->image,
        {.extent = {one.grid.x * one.block.x, one.grid.y * one.block.y, one.grid.z * one.block.z},
         .block = one.block,
         .dynamic_shared_bytes = static_cast<double>(one.dynamic_shared_bytes)});
    return Answer{.kernel = one.what,
                  .device = device.slug,
                  .closed_ns = closed.evaluate(inputs, measured->metric).time_ns,
                  .emulated_ns = schedule::estimate(*traced).time_ns};
}

std::expected<std::vector<Answer>, Error> answers(const std::vector<Case>& cases,
                                                  const std::vector<model::Device>& devices,
                                                  unsigned threads) {
    std::vector<Answer> all;
    const auto done = ask_all<std::optional<Answer>>("device_matrix", cases, devices, threads, answer,
                                                     [&](std::optional<Answer> made) {
                                                         if (made) all.push_back(std::move(*made));
                                                     });
    if (!done) return std::unexpected(done.error());
    std::ranges::sort(all, {}, [](const Answer& a) { return std::pair(a.kernel, a.device); });
    return all;
}

int report(const Options& options, const std::vector<Answer>& all, std::vector<Known>& known) {
    std::size_t apart = 0, unknown = 0;
    double sum = 0;
    Json list = Json::array();
    for (const Answer& one : all) {
        sum += std::abs(std::log(one.ratio()));
        bool is_known = false;
        for (Known& entry : known)
            if (one.is_apart() && entry.holds(one)) is_known = entry.is_met = true;
        apart += one.is_apart() ? 1 : 0;
        if (one.is_apart() && !is_known) {
            ++unknown;
            fmt::print(stderr, "{} on {}: {:.4g} us by the closed form, {:.4g} us by emulation ({:.2f})\n",
                       one.kernel, one.device, one.closed_ns / 1e3, one.emulated_ns / 1e3, one.ratio());
        }
        list.push_back({{"kernel", one.kernel},
                        {"device", one.device},
                        {"closed_ns", one.closed_ns},
                        {"emulated_ns", one.emulated_ns}});
    }
    std::size_t idle = 0;
    for (const Known& entry : known) {
        if (entry.is_met) continue;
        ++idle;
        fmt::print(stderr, "{}:{}: {} on {} is not apart any more\n", options.known, entry.line, entry.kernel,
                   entry.device);
    }
    const double mean = all.empty() ? 1 : std::exp(sum / static_cast<double>(all.size()));
    if (options.json)
        fmt::print("{}\n",
                   Json{{"answers", std::move(list)}, {"apart", apart}, {"mean_factor", mean}}.dump(1));
    else
        fmt::print(
            "{} launches: the predictors are a factor of {:.2f} apart on the mean, more than {} in {}; {} of "
            "these in no list\n",
            all.size(), mean, most_apart, apart, unknown);
    return tools::code(unknown + idle == 0 ? ExitCode::ok : ExitCode::no);
}

int run(const Options& options) {
    const auto fault = [](const Error& error) {
        fmt::print(stderr, "device_matrix: {}\n", error.text());
        return tools::code(ExitCode::bad_input);
    };
    auto known = read_known(options.known);
    if (!known) return fault(known.error());
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return fault(folder.error());
    const auto cases = cases_of(options.cases, *folder);
    if (!cases) return fault(cases.error());
    const auto devices = devices_of(options.cases);
    if (!devices) return fault(devices.error());
    const auto all = answers(*cases, *devices, options.cases.threads);
    if (!all) return tools::code(ExitCode::bad_input);
    return report(options, *all, *known);
}

}  // namespace

}  // namespace trimtab::bench

int main(int argc, char** argv) {
    using namespace trimtab;
    bench::Options options;
    CLI::App app("Whether the closed form and abstract emulation agree", "device_matrix");
    bench::add_options(app, options.cases);
    app.add_option("--known", options.known, "A list of launches that are apart, with reasons");
    app.add_flag("--json", options.json, "Print JSON");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : tools::code(tools::ExitCode::usage);
    }
    return bench::run(options);
}
