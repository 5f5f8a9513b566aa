// bench/tuned_quality: predicted times of compile-time-configured kernels, in the order of the measured ones?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "bench/selection_quality/scores.h"
#include "bench/tuned_quality/emulated_configuration.h"
#include "model/performance_model.h"
#include "tools/trimtab/command.h"

namespace trimtab::bench {

namespace {

using Json = nlohmann::ordered_json;
using tools::ExitCode;

struct Options {
    std::string table, device, kernel = TRIMTAB_BENCH_CONVOLUTION, compiler = TRIMTAB_BENCH_CLANG;
    std::string model{model::default_model}, csv, predictor = "model";
    std::size_t slices = 0, least = 2;
    unsigned threads = 2;
    bool json = false, fresh = false, quiet = false;
};

int fail(const Error& error) {
    fmt::print(stderr, "tuned_quality: {}\n", error.text());
    return tools::code(ExitCode::bad_input);
}

// The slug in "convolution_rtx2080ti.csv".
std::string device_in(const std::string& table) {
    const std::string stem = std::filesystem::path(table).stem().string();
    const std::size_t underscore = stem.rfind('_');
    return underscore == std::string::npos ? stem : stem.substr(underscore + 1);
}

struct SliceScore {
    const Slice* slice = nullptr;
    std::vector<double> predicted_ms;  // alongside the slice's configurations; NaN where there is none
    Configuration best, chosen;
    double efficiency = 0, rank_correlation = 0;
    std::vector<double> errors;  // |predicted / measured - 1|
    std::map<std::string, double> rules;
};

void score(SliceScore& out) {
    const auto& all = out.slice->configurations;
    out.best = std::ranges::min(all, {}, &Configuration::ms);
    std::vector<double> measured, predicted;
    double least = INFINITY;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!std::isfinite(out.predicted_ms[i])) continue;
        measured.push_back(all[i].ms);
        predicted.push_back(out.predicted_ms[i]);
        out.errors.push_back(std::abs(out.predicted_ms[i] / all[i].ms - 1));
        if (out.predicted_ms[i] < least) {
            least = out.predicted_ms[i];
            out.chosen = all[i];
        }
    }
    if (predicted.empty()) return;
    out.efficiency = out.best.ms / out.chosen.ms;
    out.rank_correlation = spearman(measured, predicted);
    // Guesses: the mean over the blocks that have so many threads.
    const auto guess = [&](const std::string& name, auto&& takes) {
        double logs = 0;
        int count = 0;
        for (const Configuration& c : all)
            if (takes(c)) {
                logs += std::log(out.best.ms / c.ms);
                ++count;
            }
        if (count > 0) out.rules[name] = std::exp(logs / count);
    };
    std::uint32_t most = 0;
    for (const Configuration& c : all) most = std::max(most, c.block_x * c.block_y);
    guess("128_threads", [](const Configuration& c) { return c.block_x * c.block_y == 128; });
    guess("256_threads", [](const Configuration& c) { return c.block_x * c.block_y == 256; });
    guess("16x16", [](const Configuration& c) { return c.block_x == 16 && c.block_y == 16; });
    guess("32x8", [](const Configuration& c) { return c.block_x == 32 && c.block_y == 8; });
    guess("largest", [&](const Configuration& c) { return c.block_x * c.block_y == most; });
}

// Spread evenly over the table.
std::vector<const Slice*> sampled(const std::vector<Slice>& all, std::size_t count, std::size_t least) {
    std::vector<const Slice*> large, out;
    for (const Slice& slice : all)
        if (slice.configurations.size() >= least) large.push_back(&slice);
    if (count == 0 || count >= large.size()) return large;
    for (std::size_t i = 0; i < count; ++i) out.push_back(large[i * large.size() / count]);
    return out;
}

Json to_json(const Summary& s) {
    return {{"n", s.n},     {"geomean", s.geomean}, {"median", s.median},
            {"p10", s.p10}, {"min", s.min},         {"share95", s.share95}};
}

int report(const Options& options, const std::vector<SliceScore>& scores) {
    std::map<std::string, std::vector<Scored>> rules;
    std::vector<double> ranks, errors;
    Json slices = Json::array();
    std::string text =
        fmt::format("{:>6} {:>6} {:>4} {:>4} {:>4} {:>10} {:>6} {:>6}  {:<10} {:<10}\n", "tile_x", "tile_y",
                    "ro", "pad", "n", "efficiency", "rank", "MAPE", "chosen", "best");
    for (const SliceScore& one : scores) {
        if (one.errors.empty()) continue;
        rules["trimtab"].push_back({.efficiency = one.efficiency, .best_ms = one.best.ms});
        for (const auto& [rule, efficiency] : one.rules)
            rules[rule].push_back({.efficiency = efficiency, .best_ms = one.best.ms});
        ranks.push_back(one.rank_correlation);
        errors.insert(errors.end(), one.errors.begin(), one.errors.end());
        const double mape =
            std::accumulate(one.errors.begin(), one.errors.end(), 0.0) / double(one.errors.size());
        const auto block = [](const Configuration& c) {
            return fmt::format("({}, {})", c.block_x, c.block_y);
        };
        text += fmt::format("{:>6} {:>6} {:>4} {:>4} {:>4} {:>10.3f} {:>6.3f} {:>6.2f}  {:<10} {:<10}\n",
                            one.slice->tile_x, one.slice->tile_y, one.slice->read_only,
                            one.slice->use_padding, one.errors.size(), one.efficiency, one.rank_correlation,
                            mape, block(one.chosen), block(one.best));
        slices.push_back({{"tile", {one.slice->tile_x, one.slice->tile_y}},
                          {"read_only", one.slice->read_only},
                          {"use_padding", one.slice->use_padding},
                          {"n", one.errors.size()},
                          {"efficiency", one.efficiency},
                          {"spearman", one.rank_correlation},
                          {"mape", mape},
                          {"chosen", {one.chosen.block_x, one.chosen.block_y}},
                          {"best", {one.best.block_x, one.best.block_y}}});
    }
    if (ranks.empty()) {
        fmt::print(stderr, "tuned_quality: {}: no slice of it was predicted\n", options.table);
        return tools::code(ExitCode::no);
    }
    std::ranges::sort(errors);
    const double spearman_mean = std::accumulate(ranks.begin(), ranks.end(), 0.0) / double(ranks.size());
    const double mape = std::accumulate(errors.begin(), errors.end(), 0.0) / double(errors.size());
    const double median_error = errors[errors.size() / 2];
    Json summary = Json::object();
    text += fmt::format("\n{:<14} {:>4} {:>8} {:>7} {:>6} {:>6} {:>6}\n", "rule", "n", "geomean", "median",
                        "p10", "min", ">=.95");
    for (const auto& [rule, list] : rules) {
        const Summary s = summarise(list);
        summary[rule] = to_json(s);
        text += fmt::format("{:<14} {:>4} {:>8.4f} {:>7.3f} {:>6.3f} {:>6.3f} {:>6.2f}\n", rule, s.n,
                            s.geomean, s.median, s.p10, s.min, s.share95);
    }
    text +=
        fmt::format("\nSpearman, mean over slices: {:.4f}; least {:.3f}\nMAPE {:.3f}, median error {:.3f}\n",
                    spearman_mean, std::ranges::min(ranks), mape, median_error);
    if (options.json)
        fmt::print("{}\n", Json{{"device", options.device},
                                {"model", options.model},
                                {"predictor", options.predictor},
                                {"summary", std::move(summary)},
                                {"spearman", {{"mean", spearman_mean}, {"min", std::ranges::min(ranks)}}},
                                {"mape", mape},
                                {"median_error", median_error},
                                {"slices", std::move(slices)}}
                               .dump(1));
    else
        fmt::print("{}", text);
    return tools::code(ExitCode::ok);
}

bool write_csv(const std::string& path, const std::vector<SliceScore>& scores) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return false;
    fmt::print(
        file,
        "block_size_x,block_size_y,tile_size_x,tile_size_y,read_only,use_padding,time_ms,predicted_ms\n");
    for (const SliceScore& one : scores)
        for (std::size_t i = 0; i < one.predicted_ms.size(); ++i) {
            const Configuration& c = one.slice->configurations[i];
            fmt::print(file, "{},{},{},{},{},{},{:.6g},{:.6g}\n", c.block_x, c.block_y, c.tile_x, c.tile_y,
                       c.read_only, c.use_padding, c.ms, one.predicted_ms[i]);
        }
    return std::fclose(file) == 0;
}

int run(Options& options) {
    const auto table = read_tuned_table(options.table);
    if (!table) return fail(table.error());
    if (options.device.empty()) options.device = device_in(options.table);
    const auto device = model::find_device(options.device);
    if (!device) return fail(device.error());
    const auto program = model::performance_model(options.model);
    if (!program) return fail(program.error());

    std::vector<SliceScore> scores;
    std::vector<std::pair<std::size_t, std::size_t>> work;  // slice, configuration
    for (const Slice* slice : sampled(*table, options.slices, options.least)) {
        for (std::size_t i = 0; i < slice->configurations.size(); ++i) work.emplace_back(scores.size(), i);
        scores.push_back({.slice = slice,
                          .predicted_ms = std::vector<double>(slice->configurations.size(), std::nan("")),
                          .best = {},
                          .chosen = {},
                          .errors = {},
                          .rules = {}});
    }
    std::atomic<std::size_t> next = 0, done = 0;
    std::mutex mutex;
    std::map<std::string, int> failures;
    const auto worker = [&] {
        EmulatedConfigurations configurations({.source = options.kernel,
                                               .compiler = options.compiler,
                                               .device = *device,
                                               .fresh = options.fresh},
                                              profiler::default_store_path());
        for (std::size_t w = next++; w < work.size(); w = next++) {
            SliceScore& one = scores[work[w].first];
            const Configuration& configuration = one.slice->configurations[work[w].second];
            std::expected<double, Error> ns = options.predictor == "emulation"
                                                  ? configurations.emulate_ns(configuration)
                                                  : configurations.predict_ns(configuration, **program);
            if (ns && options.predictor == "both") {
                const auto emulated = configurations.emulate_ns(configuration);
                ns = emulated ? std::expected<double, Error>(std::sqrt(*ns * *emulated)) : emulated;
            }
            if (ns) one.predicted_ms[work[w].second] = *ns / 1e6;
            const std::size_t finished = ++done;
            const std::lock_guard lock(mutex);
            if (!ns) ++failures[ns.error().text()];
            if (!options.quiet && (configurations.measured() > 0 || options.predictor != "model") &&
                finished % 50 == 0)
                fmt::print(stderr, "tuned_quality: {} of {} configurations\n", finished, work.size());
        }
    };
    {
        std::vector<std::jthread> threads;
        for (unsigned t = 1; t < options.threads; ++t) threads.emplace_back(worker);
        worker();
    }
    for (const auto& [line, count] : failures)
        fmt::print(stderr, "tuned_quality: {} configurations left out: {}\n", count, line);
    for (SliceScore& one : scores) score(one);
    if (!options.csv.empty() && !write_csv(options.csv, scores))
        return fail({.message = "cannot be written", .file = options.csv});
    return report(options, scores);
}

}  // namespace

}  // namespace trimtab::bench

int main(int argc, char** argv) {
    using namespace trimtab;
    bench::Options options;
    CLI::App app(
        "Predicts every configuration of a table of timed, compile-time-configured kernels by emulating "
        "sampled blocks, and scores the order within slices that differ in the block alone",
        "tuned_quality");
    app.add_option("--table", options.table, "CSV: block_size_x,block_size_y,tile_size_x,...,time_ms")
        ->required();
    app.add_option("--device", options.device, "GPU; left out: what follows the last _ of the table's name");
    app.add_option("--slices", options.slices, "So many slices, spread over the table; 0: all");
    app.add_option("--min-slice", options.least, "Only slices of at least so many configurations");
    app.add_option("--model", options.model, "Performance model")->capture_default_str();
    app.add_option("--predictor", options.predictor,
                   "The closed-form model, abstract emulation, or the geometric mean of both")
        ->check(CLI::IsMember({"model", "emulation", "both"}))
        ->capture_default_str();
    app.add_option("--kernel", options.kernel, "The kernel's source")->capture_default_str();
    app.add_option("--compiler", options.compiler, "clang++ 22")->capture_default_str();
    app.add_flag("--fresh", options.fresh, "Measure again what is remembered");
    app.add_flag("--json", options.json, "Print JSON");
    app.add_flag("--quiet", options.quiet, "No progress on stderr");
    app.add_option("--csv", options.csv, "Write measured and predicted times");
    app.add_option("--threads", options.threads, "Configurations at a time")->check(CLI::Range(1, 64));
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : tools::code(tools::ExitCode::usage);
    }
    return bench::run(options);
}
