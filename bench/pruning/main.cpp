// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench/pruning: the cases of Wang et al. 2020, Table 4: how much of the space is pruned, what the search costs beside one
// that simulates everything, whether the best survives, and what abstract emulation says of the chosen sizes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "bench/pruning/null_size.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/model/performance_model.h"
#include "emulation/opencl/pruning/active_groups.h"
#include "emulation/schedule/estimate.h"
#include "tools/trimtab/asked_extent.h"
#include "tools/trimtab/emulated_schedule.h"
#include "tools/trimtab/fitted_kernel.h"
#include "tools/trimtab/pruned_launch.h"
#include "tools/trimtab/ranking.h"

namespace trimtab::bench {

namespace {

int fail(const Error& error) {
    fmt::print(stderr, "pruning: {}\n", error.text());
    return 3;
}

using Json = nlohmann::ordered_json;
using pruning::Method;

struct Options {
    std::string cases = TRIMTAB_BENCH_PRUNING "/cases.json", output;
    std::vector<std::string> devices{"k600", "gtx645", "k620", "940m"}, only;
    unsigned repeats = 3;
    std::size_t sample = 0;
    bool closed_form = false, emulated = false, scales_latency = false, brief = false;
};

// Of this thread: on a machine that others use, nothing else says anything.
double processor_ms() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

struct Case {
    std::string name, file, kernel;
    trimtab_dim3 global{1, 1, 1};
    unsigned dimensions = 1;
    std::vector<std::string> arguments;
    bool only_dividing = false;
    double local_bytes_per_item = 0;
    std::uint32_t unknown_trips = 1;
};

Case read_case(const Json& json, const std::string& folder) {
    Case out{.name = json.at("case"),
             .file = folder + "/" + json.at("file").get<std::string>(),
             .kernel = json.at("kernel"),
             .global = {1, 1, 1},
             .dimensions = static_cast<unsigned>(json.at("global").size()),
             .arguments = {},
             .only_dividing = json.value("sizes", "all") == "dividing",
             .local_bytes_per_item = json.value("local_bytes_per_item", 0.0),
             .unknown_trips = json.value("unknown_trips", 1u)};
    const auto extent = [&](std::size_t d) {
        return d < out.dimensions ? json.at("global")[d].get<std::uint32_t>() : 1u;
    };
    out.global = {extent(0), extent(1), extent(2)};
    for (const auto& [name, value] : json.at("arguments").items())
        out.arguments.push_back(fmt::format("{}={}", name, value.dump()));
    return out;
}

bool are_equal(trimtab_dim3 a, trimtab_dim3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// A case on a device, and all that was found of it.
class Study {
  public:
    Study(const Options& options, const Case& one, tools::LaunchQuestion question)
        : options_(options), case_(one), question_(std::move(question)) {
        asked_.global = one.global;
        asked_.local_bytes_per_item = one.local_bytes_per_item;
        asked_.walk.unknown_trips = one.unknown_trips;
        asked_.settings.scales_latency = options.scales_latency;
        asked_.sizes = pruning::design_space(one.dimensions, 1024);
        if (one.only_dividing)
            std::erase_if(asked_.sizes, [&](trimtab_dim3 size) {
                return one.global.x % size.x != 0 || one.global.y % size.y != 0 || one.global.z % size.z != 0;
            });
    }

    std::expected<Json, Error> run() {
        const auto screened = timed(Method::screened, pruning::BoundKind::proved, options_.repeats);
        if (!screened) return std::unexpected(screened.error());
        const auto exhaustive = timed(Method::exhaustive, pruning::BoundKind::proved, 1);
        if (!exhaustive) return std::unexpected(exhaustive.error());
        const pruning::PruneResult& all = exhaustive->result;
        if (all.best == all.sizes.size()) return std::unexpected(Error{.message = "no size can be launched"});
        best_ns_ = all.sizes[all.best].ns;
        Json out{{"case", case_.name},
                 {"device", question_.device.slug},
                 {"registers", question_.image.registers_per_thread},
                 {"registers_from", question_.registers_from},
                 {"launchable", all.launchable},
                 {"best", text(all.sizes[all.best].size)},
                 {"best_ns", best_ns_},
                 {"exhaustive_ms", exhaustive->ms}};
        const auto add = [&](const char* method, const Timed& one) {
            out[method] = {{"simulated", one.result.simulated},
                           {"traced", one.result.traced},
                           {"pruned", one.result.pruned_share()},
                           {"ms", one.ms},
                           {"trace_ms", one.result.trace_seconds * 1e3},
                           {"part_of_exhaustive", one.ms / exhaustive->ms},
                           {"chosen", text(one.result.sizes[one.result.best].size)},
                           {"lost", one.result.sizes[one.result.best].ns / best_ns_ - 1}};
        };
        add("screened", *screened);
        rules_["screened"] = screened->result.sizes[screened->result.best].size;
        if (!options_.brief) {
            const auto ordered = timed(Method::ordered, pruning::BoundKind::proved, 1);
            const auto paper = timed(Method::algorithm_4, pruning::BoundKind::paper, 1);
            const auto proved = timed(Method::algorithm_4, pruning::BoundKind::proved, 1);
            if (!ordered || !paper || !proved) return std::unexpected(Error{.message = "cannot be pruned"});
            out["batches"] = ordered->result.batches;
            add("ordered", *ordered);
            add("algorithm-4, paper's bounds", *paper);
            add("algorithm-4, proved bounds", *proved);
            rules_["paper"] = paper->result.sizes[paper->result.best].size;
        }
        if (options_.emulated) {
            asked_.metrics = tools::TraceMetrics::emulated;
            const auto by_runs = timed(Method::ordered, pruning::BoundKind::proved, 1);
            asked_.metrics = tools::TraceMetrics::by_static_analysis;
            if (by_runs && by_runs->result.best != by_runs->result.sizes.size()) {
                rules_["emulated metrics"] = by_runs->result.sizes[by_runs->result.best].size;
                out["emulated metrics"] = {{"pruned", by_runs->result.pruned_share()},
                                           {"ms", by_runs->ms},
                                           {"chosen", text(rules_["emulated metrics"])}};
            }
        }
        add_plain_rules(all);
        if (options_.closed_form) add_closed_form(all);
        judge(all, out);
        return out;
    }

  private:
    struct Timed {
        pruning::PruneResult result;
        double ms = std::numeric_limits<double>::infinity();
    };
    std::expected<Timed, Error> timed(Method method, pruning::BoundKind bounds, unsigned repeats) {
        asked_.settings.method = method;
        asked_.settings.bounds = bounds;
        Timed out;
        for (unsigned i = 0; i < std::max(1u, repeats); ++i) {
            const double start = processor_ms();
            auto pruned = tools::prune_launch(question_, asked_);
            if (!pruned) return std::unexpected(pruned.error());
            const double ms = processor_ms() - start;
            if (ms < out.ms) out = {.result = std::move(pruned->result), .ms = ms};
        }
        return out;
    }

    static std::string text(trimtab_dim3 size) { return fmt::format("{}x{}", size.x, size.y); }

    // Sizes that programs have without a thought, or the launchable ones nearest to them.
    void add_plain_rules(const pruning::PruneResult& all) {
        const auto nearest = [&](trimtab_dim3 wanted) {
            std::size_t best = all.sizes.size();
            double least = std::numeric_limits<double>::infinity();
            for (std::size_t i = 0; i < all.sizes.size(); ++i) {
                if (all.sizes[i].fate == pruning::Fate::refused) continue;
                const trimtab_dim3& size = all.sizes[i].size;
                const double distance = std::abs(std::log(static_cast<double>(size.x) / wanted.x)) +
                                        std::abs(std::log(static_cast<double>(size.y) / wanted.y));
                if (distance < least) least = distance, best = i;
            }
            return all.sizes[best].size;
        };
        const bool is_flat = case_.dimensions == 1;
        rules_["64"] = nearest(is_flat ? trimtab_dim3{64, 1, 1} : trimtab_dim3{8, 8, 1});
        rules_["256"] = nearest(is_flat ? trimtab_dim3{256, 1, 1} : trimtab_dim3{16, 16, 1});
        rules_["largest"] = nearest(is_flat ? trimtab_dim3{1024, 1, 1} : trimtab_dim3{32, 32, 1});
        if (const auto picked = null_size(case_.global, case_.dimensions))
            rules_["PoCL's for NULL"] = nearest(*picked);
    }

    void add_closed_form(const pruning::PruneResult& all) {
        tools::FileKernel& kernel = question_.of();
        const auto fits = tools::fits_of(kernel, case_.file);
        const auto program = model::performance_model(model::default_model);
        if (!fits || !program) return;
        const auto written =
            tools::written_launch(question_.description(), case_.global, question_.device.values);
        const auto limits =
            analysis::legal_blocks(question_.description(), question_.arguments.bytes, written.grid,
                                   written.block, question_.device.values, question_.image);
        if (!limits) return;
        const std::vector<double> data =
            analysis::data_values(question_.description(), question_.arguments.bytes,
                                  {case_.global.x, case_.global.y, case_.global.z});
        std::vector<trimtab_dim3> sizes;
        for (const pruning::SizeResult& one : all.sizes)
            if (one.fate != pruning::Fate::refused) sizes.push_back(one.size);
        const tools::RankedLaunch launch{.program = *program,
                                         .device = &question_.device,
                                         .image = question_.image,
                                         .fits = *fits,
                                         .data = data,
                                         .limits = *limits,
                                         .arguments = question_.arguments.bytes,
                                         .extent = case_.global};
        const auto ranking = tools::rank(launch, sizes);
        if (!ranking.empty()) rules_["closed form"] = ranking.front().block;
    }

    std::optional<double> emulated_ns(trimtab_dim3 size) {
        if (program_ == nullptr) {
            auto program = tools::load_program_of(question_);
            if (!program) return std::nullopt;
            program_ = std::move(*program);
        }
        const auto items = size.x * size.y * size.z;
        const double local = case_.local_bytes_per_item * items;
        const auto active = pruning::active_groups(question_.device.values, question_.image, items, local);
        if (active.groups == 0) return std::nullopt;
        const auto placement = pruning::GroupPlacement::of(case_.global, size, 1, active.groups);
        const auto traced =
            tools::trace_launch(question_, *program_, placement.groups, size,
                                static_cast<std::uint32_t>(local), active.groups, {.from_ptx = true});
        if (!traced) return std::nullopt;
        return schedule::estimate(*traced).time_ns;
    }

    // Each rule's size by the simulation and, where a sample is asked for, by abstract emulation, whose best of the sample and
    // the rules' own is what they are held against.
    void judge(const pruning::PruneResult& all, Json& out) {
        std::vector<trimtab_dim3> sample;
        std::vector<std::size_t> launchable;
        for (std::size_t i = 0; i < all.sizes.size(); ++i)
            if (all.sizes[i].fate != pruning::Fate::refused) launchable.push_back(i);
        // Half by chance, half whole warps, which are where the best is as a rule.
        std::mt19937_64 random(1);
        std::ranges::shuffle(launchable, random);
        for (const bool whole : {true, false}) {
            const std::size_t most = whole ? (options_.sample + 1) / 2 : options_.sample;
            for (const std::size_t i : launchable)
                if (const trimtab_dim3& size = all.sizes[i].size;
                    sample.size() < most && (!whole || size.x * size.y * size.z % 32 == 0))
                    if (std::ranges::none_of(sample,
                                             [&](trimtab_dim3 known) { return are_equal(known, size); }))
                        sample.push_back(size);
        }
        std::map<std::string, double> emulated;
        std::optional<std::pair<double, trimtab_dim3>> best;
        const auto emulate = [&](trimtab_dim3 size) {
            if (options_.sample == 0) return;
            auto& known = emulated[text(size)];
            if (known == 0) known = emulated_ns(size).value_or(std::numeric_limits<double>::infinity());
            if (!best || known < best->first) best = {known, size};
        };
        for (const trimtab_dim3& size : sample) emulate(size);
        for (const auto& [rule, size] : rules_) emulate(size);
        if (best) rules_["abstract emulation"] = best->second;
        Json rules = Json::object();
        for (const auto& [rule, size] : rules_) {
            const auto found = std::ranges::find_if(
                all.sizes, [&](const pruning::SizeResult& one) { return are_equal(one.size, size); });
            Json entry{{"size", text(size)}, {"simulated_over_best", found->ns / best_ns_}};
            if (best) entry["emulated_over_best"] = emulated[text(size)] / best->first;
            rules[rule] = std::move(entry);
        }
        out["rules"] = std::move(rules);
        if (best) {
            // In which order do simulation and emulation put the sample?
            std::vector<std::pair<double, double>> pairs;
            for (const trimtab_dim3& size : sample) {
                const auto found = std::ranges::find_if(
                    all.sizes, [&](const pruning::SizeResult& one) { return are_equal(one.size, size); });
                if (std::isfinite(emulated[text(size)])) pairs.emplace_back(found->ns, emulated[text(size)]);
            }
            double agree = 0, count = 0;
            for (std::size_t i = 0; i < pairs.size(); ++i)
                for (std::size_t j = 0; j < i; ++j) {
                    const double a = pairs[i].first - pairs[j].first, b = pairs[i].second - pairs[j].second;
                    if (a == 0 || b == 0) continue;
                    agree += (a > 0) == (b > 0) ? 1 : -1;
                    ++count;
                }
            out["kendall"] = count == 0 ? 1 : agree / count;
            out["emulated_sizes"] = emulated.size();
        }
    }

    const Options& options_;
    const Case& case_;
    tools::LaunchQuestion question_;
    tools::PruneOptions asked_;
    std::map<std::string, trimtab_dim3> rules_;
    std::shared_ptr<emulator::Program> program_;
    double best_ns_ = 0;
};

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double one : values) sum += one;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

void print_summary(const Json& results) {
    for (const char* const method :
         {"screened", "ordered", "algorithm-4, paper's bounds", "algorithm-4, proved bounds"}) {
        std::vector<double> pruned, part, ms;
        double lost = 0, kept = 0;
        for (const Json& one : results) {
            if (!one.contains(method)) continue;
            pruned.push_back(one[method]["pruned"]);
            part.push_back(one[method]["part_of_exhaustive"]);
            ms.push_back(one[method]["ms"]);
            lost = std::max(lost, one[method]["lost"].get<double>());
            kept += one[method]["lost"].get<double>() <= 1e-9 ? 1 : 0;
        }
        if (pruned.empty()) continue;
        fmt::print(
            "{}: pruned {:.2f} %, time {:.2f} % of exhaustive, {:.1f} ms a case (most {:.1f}), best kept in "
            "{} of {} (most lost {:.2f} %)\n",
            method, mean(pruned) * 100, mean(part) * 100, mean(ms), *std::ranges::max_element(ms), kept,
            results.size(), lost * 100);
    }
    std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> rules;
    for (const Json& one : results)
        for (const auto& [rule, entry] : one["rules"].items()) {
            rules[rule].first.push_back(std::log(entry["simulated_over_best"].get<double>()));
            if (entry.contains("emulated_over_best") && entry["emulated_over_best"].is_number())
                rules[rule].second.push_back(std::log(entry["emulated_over_best"].get<double>()));
        }
    fmt::print("{:<20} {:>6} {:>22} {:>22}\n", "rule", "cases", "over best, simulated",
               "over best, emulated");
    for (const auto& [rule, ratios] : rules)
        fmt::print("{:<20} {:>6} {:>22.3f} {:>22}\n", rule, ratios.first.size(), std::exp(mean(ratios.first)),
                   ratios.second.empty() ? "-" : fmt::format("{:.3f}", std::exp(mean(ratios.second))));
}

int run(const Options& options) {
    std::ifstream file(options.cases);
    const Json list = Json::parse(file, nullptr, false);
    if (list.is_discarded() || !list.contains("cases"))
        return fail(Error{.message = "is no list of cases", .file = options.cases});
    const std::string folder = options.cases.substr(0, options.cases.find_last_of('/'));
    Json results = Json::array();
    for (const std::string& device : options.devices)
        for (const Json& entry : list["cases"]) {
            const Case one = read_case(entry, folder);
            if (!options.only.empty() && std::ranges::find(options.only, one.name) == options.only.end())
                continue;
            tools::LaunchOptions launch;
            launch.file = one.file;
            launch.kernel = one.kernel;
            launch.device = device;
            launch.arguments = one.arguments;
            auto question = tools::look_up(launch);
            if (!question) return fail(question.error());
            auto result = Study(options, one, std::move(*question)).run();
            if (!result) {
                fmt::print(stderr, "skipped: {} on {}: {}\n", one.name, device, result.error().message);
                continue;
            }
            const Json& ordered = (*result)["screened"];
            fmt::print(
                "{:<20} {:<7} {:>4} sizes, {:>4} traced, {:>4} simulated ({:>5.1f} % pruned), {:>6.1f} ms of "
                "{:>8.1f}; {:>9} {:>10.1f} us\n",
                one.name, device, (*result)["launchable"].get<std::size_t>(),
                ordered["traced"].get<std::size_t>(), ordered["simulated"].get<std::size_t>(),
                ordered["pruned"].get<double>() * 100, ordered["ms"].get<double>(),
                (*result)["exhaustive_ms"].get<double>(), ordered["chosen"].get<std::string>(),
                (*result)["best_ns"].get<double>() / 1e3);
            std::fflush(stdout);
            results.push_back(std::move(*result));
            if (!options.output.empty()) std::ofstream(options.output) << results.dump(1) << "\n";
        }
    print_summary(results);
    return 0;
}

}  // namespace

}  // namespace trimtab::bench

int main(int argc, char** argv) {
    trimtab::bench::Options options;
    CLI::App app("The pruning of work-group sizes on the cases of the paper that it is from");
    app.add_option("--cases", options.cases, "Kernels and launches in JSON, beside their sources")
        ->capture_default_str();
    app.add_option("--device", options.devices, "GPUs")->capture_default_str();
    app.add_option("--case", options.only, "Only these cases");
    app.add_option("--repeats", options.repeats, "Of the timed search: the least time counts")
        ->capture_default_str();
    app.add_option("--sample", options.sample, "Sizes of each case that abstract emulation is asked about");
    app.add_flag("--closed-form", options.closed_form, "Ask the closed form, too (profiles each kernel)");
    app.add_flag("--emulated", options.emulated, "Prune by the emulator's counts, too (minutes)");
    app.add_flag("--brief", options.brief, "Only the search as trimtab prune has it, and the exhaustive one");
    app.add_flag("--scale-latency", options.scales_latency, "As the paper scales memory latencies");
    app.add_option("--output", options.output, "Write every result as JSON");
    CLI11_PARSE(app, argc, argv);
    return trimtab::bench::run(options);
}
