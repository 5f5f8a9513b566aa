// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench/tuned_quality: predicted times of compile-time-configured kernels, in the order of the measured ones?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/tuned_quality/predicted_configuration.h"
#include "bench/tuned_quality/slice_scores.h"
#include "core/model/performance_model.h"
#include "tools/trimtab/command.h"

namespace trimtab::bench {

namespace {

using Json = nlohmann::ordered_json;
using tools::ExitCode;

// What the programs of published tables were made with, where it is there.
std::string default_compiler() {
    std::error_code ignored;
    std::string nvcc = TRIMTAB_CUDA_PATH "/bin/nvcc";
    return std::filesystem::exists(nvcc, ignored) ? nvcc : TRIMTAB_BENCH_CLANG;
}

struct Options {
    std::string table, device, kernel, compiler = default_compiler(), results;
    std::string model{model::default_model};
    std::size_t slices = 0, first = 0, least = 2, blocks = 0;
    double seconds = 0;
    unsigned threads = 2;
    bool json = false, fresh = false, quiet = false, from_ptx = false;
};

int fail(const Error& error) {
    fmt::print(stderr, "tuned_quality: {}\n", error.text());
    return tools::code(ExitCode::bad_input);
}

// "convolution" and "rtx2080ti" of "convolution_rtx2080ti.csv".
std::pair<std::string, std::string> family_and_device(const std::string& table) {
    const std::string stem = std::filesystem::path(table).stem().string();
    const std::size_t underscore = stem.rfind('_');
    if (underscore == std::string::npos) return {stem, stem};
    return {stem.substr(0, underscore), stem.substr(underscore + 1)};
}

// Beside the table, else beside this program's source.
std::string description_of(const std::string& table) {
    const std::string name = family_and_device(table).first + ".json";
    const std::string beside = (std::filesystem::path(table).parent_path() / name).string();
    std::error_code ignored;
    return std::filesystem::exists(beside, ignored) ? beside : TRIMTAB_BENCH_TUNED "/" + name;
}

// Spread evenly over the table.
std::vector<Slice> sampled(std::vector<Slice> all, const Options& options) {
    std::erase_if(all, [&](const Slice& slice) { return slice.configurations.size() < options.least; });
    if (options.slices == 0 || options.slices >= all.size()) return all;
    std::vector<Slice> out;
    for (std::size_t i = 0; i < options.slices; ++i)
        out.push_back(all[(options.first + i * all.size() / options.slices) % all.size()]);
    return out;
}

Json to_json(const TableScore& s) {
    const Summary& e = s.efficiency;
    return {{"slices", e.n},
            {"geomean", e.geomean},
            {"median", e.median},
            {"p10", e.p10},
            {"min", e.min},
            {"share95", e.share95},
            {"spearman", {{"mean", s.rank_mean}, {"min", s.rank_least}}},
            {"timed", s.timed},
            {"mape", s.mean_error},
            {"median_error", s.median_error},
            {"bias", s.bias}};
}

int report(const Options& options, const TunedKernel& kernel, const std::vector<Slice>& slices,
           const std::vector<SliceScore>& scores, std::size_t left) {
    Json list = Json::array(), summary = Json::object();
    std::string text = fmt::format("{:<30} {:>4}", fmt::join(kernel.slice, ","), "n");
    for (std::size_t p = 0; p < predictor_count; ++p)
        text += fmt::format("  {:>24}", name(static_cast<Predictor>(p)));
    text += "\n";
    std::size_t scored = 0;
    for (std::size_t s = 0; s < slices.size(); ++s) {
        if (scores[s].configurations < 2) continue;
        ++scored;
        text += fmt::format("{:<30} {:>4}", fmt::join(slices[s].values, ","), scores[s].configurations);
        Json one{
            {"slice", slices[s].values}, {"n", scores[s].configurations}, {"best", scores[s].best->values}};
        for (std::size_t p = 0; p < predictor_count; ++p) {
            const SliceScore::Of& of = scores[s].of[p];
            double error = 0;
            for (const double e : of.errors) error += std::abs(e) / static_cast<double>(of.errors.size());
            text += fmt::format("  {:>9.3f} {:>6.3f} {:>6.3f} ", of.efficiency, of.rank_correlation, error);
            one[std::string(name(static_cast<Predictor>(p)))] = {{"efficiency", of.efficiency},
                                                                 {"spearman", of.rank_correlation},
                                                                 {"mape", error},
                                                                 {"chosen", of.chosen->values}};
        }
        text += "\n";
        list.push_back(std::move(one));
    }
    if (scored == 0) {
        fmt::print(stderr, "tuned_quality: {}: no slice of it was predicted\n", options.table);
        return tools::code(ExitCode::no);
    }
    text += fmt::format("\n{:<12} {:>6} {:>8} {:>6} {:>6} {:>6} {:>9} {:>6} {:>7} {:>6} {:>6}\n", "predictor",
                        "slices", "geomean", "p10", "min", ">=.95", "Spearman", "least", "MAPE", "median",
                        "bias");
    for (std::size_t p = 0; p < predictor_count; ++p) {
        const auto predictor = static_cast<Predictor>(p);
        const TableScore score = score_table(scores, predictor);
        const Summary& e = score.efficiency;
        summary[std::string(name(predictor))] = to_json(score);
        text += fmt::format(
            "{:<12} {:>6} {:>8.4f} {:>6.3f} {:>6.3f} {:>6.2f} {:>9.3f} {:>6.2f} {:>7.3f} {:>6.3f} "
            "{:>+6.2f}\n",
            name(predictor), e.n, e.geomean, e.p10, e.min, e.share95, score.rank_mean, score.rank_least,
            score.mean_error, score.median_error, score.bias);
    }
    if (left > 0) text += fmt::format("\n{} configurations were left for another run\n", left);
    if (options.json)
        fmt::print("{}\n", Json{{"table", options.table},
                                {"device", options.device},
                                {"model", options.model},
                                {"summary", std::move(summary)},
                                {"left", left},
                                {"slices", std::move(list)}}
                               .dump(1));
    else
        fmt::print("{}", text);
    return tools::code(ExitCode::ok);
}

struct Job {
    std::size_t slice = 0, configuration = 0;
};

// Slices in steps of the golden ratio: where time runs out, those that were asked lie all over the table.
std::vector<Job> jobs_of(const std::vector<Slice>& slices) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t s = 0; s < slices.size(); ++s) {
        const double place = static_cast<double>(s) * 0.6180339887498949;
        order.emplace_back(place - std::floor(place), s);
    }
    std::ranges::sort(order);
    std::vector<Job> jobs;
    for (const auto& [place, s] : order)
        for (std::size_t c = 0; c < slices[s].configurations.size(); ++c) jobs.push_back({s, c});
    return jobs;
}

int run(Options options) {
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
    if (options.device.empty()) options.device = family_and_device(options.table).second;
    if (options.kernel.empty()) options.kernel = description_of(options.table);
    const auto device = model::find_device(options.device);
    if (!device) return fail(device.error());
    const auto program = model::performance_model(options.model);
    if (!program) return fail(program.error());
    const auto kernel = read_tuned_kernel(options.kernel);
    if (!kernel) return fail(kernel.error());
    auto table = read_tuned_table(options.table, *kernel);
    if (!table) return fail(table.error());
    std::vector<Slice> slices = sampled(std::move(*table), options);
    thin_out(slices, options.blocks);
    auto results = ResultsFile::open(options.results, *kernel);
    if (!results) return fail(results.error());

    std::vector<std::vector<Prediction>> predictions;
    for (const Slice& slice : slices)
        predictions.emplace_back(slice.configurations.size(), Prediction{nothing, nothing});
    const std::vector<Job> jobs = jobs_of(slices);
    const auto start = std::chrono::steady_clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    std::atomic<std::size_t> next = 0, left = 0, made = 0;
    std::mutex mutex;
    std::map<std::string, std::size_t> failures;
    const auto worker = [&] {
        PredictedConfigurations configurations({.kernel = *kernel,
                                                .compiler = options.compiler,
                                                .device = *device,
                                                .fresh = options.fresh,
                                                .from_ptx = options.from_ptx},
                                               profiler::default_store_path());
        for (std::size_t w = next++; w < jobs.size(); w = next++) {
            const Values& values = slices[jobs[w].slice].configurations[jobs[w].configuration].values;
            Prediction& out = predictions[jobs[w].slice][jobs[w].configuration];
            {
                const std::lock_guard lock(mutex);
                if (const Prediction* known = results->find(values)) {
                    out = *known;
                    continue;
                }
            }
            if (options.seconds > 0 && seconds() > options.seconds) {
                ++left;
                continue;
            }
            const auto closed = configurations.closed_form_ns(values, **program);
            const auto emulated = configurations.emulated_ns(values);
            const std::lock_guard lock(mutex);
            for (const auto* one : {&closed, &emulated})
                if (!*one) ++failures[one->error().text()];
            out = {.closed_form_ms = closed.value_or(nothing) / 1e6,
                   .emulation_ms = emulated.value_or(nothing) / 1e6};
            results->add(values, out);
            if (!options.quiet && ++made % 50 == 0)
                fmt::print(stderr, "tuned_quality: {} of {} configurations, {:.0f} ms each\n", made.load(),
                           jobs.size(), seconds() * 1e3 * options.threads / static_cast<double>(made));
        }
    };
    {
        std::vector<std::jthread> threads;
        for (unsigned t = 1; t < options.threads; ++t) threads.emplace_back(worker);
        worker();
    }
    for (const auto& [line, count] : failures)
        fmt::print(stderr, "tuned_quality: {} configurations left out: {}\n", count, line);
    std::vector<SliceScore> scores;
    for (std::size_t s = 0; s < slices.size(); ++s) scores.push_back(score_slice(slices[s], predictions[s]));
    return report(options, *kernel, slices, scores, left);
}

}  // namespace

}  // namespace trimtab::bench

int main(int argc, char** argv) {
    using namespace trimtab;
    bench::Options options;
    CLI::App app(
        "Predicts every configuration of a table of timed, compile-time-configured kernels by the "
        "closed-form "
        "model and by abstract emulation, and scores the order within slices that differ in the block alone",
        "tuned_quality");
    app.add_option("--table", options.table, "CSV, named KERNEL_DEVICE.csv")->required();
    app.add_option("--device", options.device, "GPU; left out: what follows the last _ of the table's name");
    app.add_option(
        "--kernel", options.kernel,
        "What stands behind the table, in JSON; left out: KERNEL.json beside the table, or of those "
        "that this program knows");
    app.add_option("--slices", options.slices, "So many slices, spread over the table; 0: all");
    app.add_option("--first", options.first, "Of those, the first is the table's FIRSTth");
    app.add_option("--min-slice", options.least, "Only slices of at least so many configurations");
    app.add_option("--blocks", options.blocks,
                   "At most so many configurations of a slice, spread over its times; 0: all");
    app.add_option("--results", options.results,
                   "CSV: predictions are added to it, and those that it has are not made again");
    app.add_option(
        "--seconds", options.seconds,
        "Start no configuration after so long; the rest is for another run with the same --results");
    app.add_option("--model", options.model, "Performance model")->capture_default_str();
    app.add_option(
           "--compiler", options.compiler,
           "nvcc, which the tables' programs were made with and which is the default where it is there, or "
           "clang++ 22")
        ->capture_default_str();
    app.add_flag("--from-ptx", options.from_ptx, "Emulate the PTX, though ptxas's machine code could be had");
    app.add_flag("--fresh", options.fresh, "Measure again what is remembered");
    app.add_flag("--json", options.json, "Print JSON");
    app.add_flag("--quiet", options.quiet, "No progress on stderr");
    app.add_option("--threads", options.threads, "Configurations at a time")->check(CLI::Range(1, 64));
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : tools::code(tools::ExitCode::usage);
    }
    return bench::run(options);
}
