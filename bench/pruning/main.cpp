// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench/pruning: the cases of Wang et al. 2020, Table 4: how much of the space is pruned, what the search costs beside one
// that simulates everything, and how far the chosen sizes are from the best of a sample.
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
#include "tools/trimtab/asked_extent.h"
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
    std::size_t sample = 48;
    bool closed_form = false, static_pruning = false;
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
        asked_.sizes = pruning::design_space(one.dimensions, 1024);
        if (one.only_dividing)
            std::erase_if(asked_.sizes, [&](trimtab_dim3 size) {
                return one.global.x % size.x != 0 || one.global.y % size.y != 0 || one.global.z % size.z != 0;
            });
    }

    std::expected<Json, Error> run() {
        const auto screened = timed(Method::screened, options_.repeats);
        if (!screened) return std::unexpected(screened.error());
        const pruning::PruneResult& found = screened->result;
        if (found.best == found.sizes.size())
            return std::unexpected(Error{.message = "no size can be launched"});
        Json out{{"case", case_.name},
                 {"device", question_.device.slug},
                 {"registers", question_.image.registers_per_thread},
                 {"registers_from", question_.registers_from},
                 {"launchable", found.launchable}};
        std::vector<std::pair<const char*, Timed>> methods{{"screened", *screened}};
        if (options_.static_pruning) {
            auto paper = timed(Method::algorithm_4, 1);
            if (!paper) return std::unexpected(paper.error());
            methods.emplace_back("algorithm-4", std::move(*paper));
        }
        for (const auto& [method, one] : methods) rules_[method] = one.result.sizes[one.result.best].size;
        add_plain_rules(found);
        if (options_.closed_form) add_closed_form(found);
        return judge(methods, out);
    }

  private:
    struct Timed {
        pruning::PruneResult result;
        double ms = std::numeric_limits<double>::infinity();
    };
    std::expected<Timed, Error> timed(Method method, unsigned repeats) {
        asked_.settings.method = method;
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

    // Some of the launchable sizes: half of them whole warps, which are where the best is as a rule; and those that the rules
    // choose.
    [[nodiscard]] std::vector<trimtab_dim3> sample_of(const pruning::PruneResult& found) const {
        std::vector<trimtab_dim3> out;
        const auto add = [&](trimtab_dim3 size) {
            if (std::ranges::none_of(out, [&](trimtab_dim3 known) { return are_equal(known, size); }))
                out.push_back(size);
        };
        for (const auto& [rule, size] : rules_) add(size);
        std::vector<trimtab_dim3> launchable;
        for (const pruning::SizeResult& one : found.sizes)
            if (one.fate != pruning::Fate::refused) launchable.push_back(one.size);
        std::mt19937_64 random(1);
        std::ranges::shuffle(launchable, random);
        const std::size_t rules = out.size();
        for (const bool whole : {true, false})
            for (const trimtab_dim3& size : launchable)
                if (out.size() < rules + (whole ? (options_.sample + 1) / 2 : options_.sample) &&
                    (!whole || size.x * size.y * size.z % 32 == 0))
                    add(size);
        return out;
    }

    // Each rule's size beside the best of the sample, all simulated.
    std::expected<Json, Error> judge(const std::vector<std::pair<const char*, Timed>>& methods, Json& out) {
        asked_.sizes = sample_of(methods.front().second.result);
        const auto all = timed(Method::exhaustive, 1);
        if (!all) return std::unexpected(all.error());
        const auto ns_of = [&](trimtab_dim3 size) {
            return std::ranges::find_if(
                       all->result.sizes,
                       [&](const pruning::SizeResult& one) { return are_equal(one.size, size); })
                ->ns;
        };
        const pruning::SizeResult& best = all->result.sizes[all->result.best];
        const double each_ms = all->ms / static_cast<double>(std::max<std::size_t>(1, all->result.simulated));
        out.update({{"sampled", all->result.simulated},
                    {"best", text(best.size)},
                    {"best_ns", best.ns},
                    {"ms_per_estimate", each_ms},
                    {"exhaustive_ms", each_ms * out["launchable"].get<double>()}});
        for (const auto& [method, one] : methods)
            out[method] = {{"simulated", one.result.simulated},
                           {"traced", one.result.traced},
                           {"batches", one.result.batches},
                           {"pruned", one.result.pruned_share()},
                           {"ms", one.ms},
                           {"part_of_exhaustive", one.ms / out["exhaustive_ms"].get<double>()},
                           {"chosen", text(rules_.at(method))},
                           {"lost", ns_of(rules_.at(method)) / best.ns - 1}};
        Json rules = Json::object();
        for (const auto& [rule, size] : rules_)
            rules[rule] = {{"size", text(size)}, {"over_best", ns_of(size) / best.ns}};
        out["rules"] = std::move(rules);
        return out;
    }

    const Options& options_;
    const Case& case_;
    tools::LaunchQuestion question_;
    tools::PruneOptions asked_;
    std::map<std::string, trimtab_dim3> rules_;
};

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double one : values) sum += one;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

void print_summary(const Json& results) {
    for (const char* const method : {"screened", "algorithm-4"}) {
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
            "{}: pruned {:.2f} %, time {:.2f} % of exhaustive, {:.1f} ms a case (most {:.1f}), best found in "
            "{} of {} (most lost {:.2f} %)\n",
            method, mean(pruned) * 100, mean(part) * 100, mean(ms), *std::ranges::max_element(ms), kept,
            results.size(), lost * 100);
    }
    std::map<std::string, std::vector<double>> rules;
    for (const Json& one : results)
        for (const auto& [rule, entry] : one["rules"].items())
            rules[rule].push_back(std::log(entry["over_best"].get<double>()));
    fmt::print("{:<20} {:>6} {:>10}\n", "rule", "cases", "over best");
    for (const auto& [rule, ratios] : rules)
        fmt::print("{:<20} {:>6} {:>10.3f}\n", rule, ratios.size(), std::exp(mean(ratios)));
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
    app.add_option("--sample", options.sample, "Sizes of each case that the chosen ones are held against")
        ->capture_default_str();
    app.add_flag("--closed-form", options.closed_form, "Ask the closed form, too (profiles each kernel)");
    app.add_flag("--static-pruning", options.static_pruning,
                 "Prune by algorithm 4, too: traces of all sizes (minutes)");
    app.add_option("--output", options.output, "Write every result as JSON");
    CLI11_PARSE(app, argc, argv);
    return trimtab::bench::run(options);
}
