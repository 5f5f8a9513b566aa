// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench/selection_quality: how near the blocks that Trimtab chooses are to the best of a measured table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>

#include "bench/selection_quality/constants.h"
#include "bench/selection_quality/driver_search.h"
#include "bench/selection_quality/exact_metrics.h"
#include "bench/selection_quality/fitted_programs.h"
#include "bench/selection_quality/reports.h"
#include "core/model/performance_model.h"
#include "core/model/trimtab_model.h"
#include "profiler/store.h"
#include "tools/trimtab/command.h"

namespace trimtab::bench {

namespace {

using tools::ExitCode;
using Clock = std::chrono::steady_clock;

struct Options {
    std::string table, kernels = TRIMTAB_BENCH_KERNELS, other_day, l1 = "off";
    std::vector<std::string> gpus, apps, names, choices;
    std::uint64_t min_n = 1, max_n = 0xffffffff;
    std::size_t launches = 9;
    std::string model{model::default_model}, leave_one_out;
    std::size_t perturbed = 0;
    ExactOptions exact_options;
    bool json = false, variants = false, ablation = false, exact = false, search = false;
    std::string csv, html;
    ProgramOptions programs{
        .compiler = TRIMTAB_BENCH_COMPILER, .cache_folder = {}, .built_folder = {}, .threads = 2};
};

bool wanted(const std::vector<std::string>& list, const std::string& name) {
    return list.empty() || std::ranges::find(list, name) != list.end();
}

int fail(const Error& error) {
    fmt::print(stderr, "selection_quality: {}\n", error.text());
    return tools::code(ExitCode::bad_input);
}

bool write_file(const std::string& path, const std::string& text) {
    std::ofstream stream(path, std::ios::binary);
    stream << text;
    return static_cast<bool>(stream.flush());
}

// Cases of the table with kernel, device and launches; what cannot be studied is said in a line.
void add_case(Study& study, const MeasuredCase& measured, const Options& options,
              const std::vector<ListedKernel>& kernels, FittedPrograms& programs) {
    const auto skip = [&](const std::string& why) {
        study.skipped.push_back(
            fmt::format("{} {} {} {}: {}", measured.gpu, measured.app, measured.kernel, measured.n, why));
    };
    const ListedKernel* listed = find_kernel(kernels, measured.app, measured.kernel);
    if (listed == nullptr) return skip("not in the list of kernels");
    auto device = model::find_device(measured.gpu);
    if (!device) return skip(device.error().text());
    if (options.l1 != "auto") device->values.l1_caches_global_loads = options.l1 == "on" ? 1 : 0;
    const auto kernel = programs.kernel(listed->source, listed->symbol);
    if (!kernel) return skip(kernel.error().text());
    auto launches = launches_of(*listed, **kernel, *device, measured.n, options.launches);
    if (!launches) return skip(launches.error().text());
    StudiedCase one{.measured = measured,
                    .device = std::move(*device),
                    .launches = std::move(*launches),
                    .legal = {},
                    .best = {},
                    .predicted = {},
                    .choices = {}};
    for (const MeasuredBlock& block : measured.blocks)
        if (block.block.y == 1 || one.launches.two_dimensional) one.legal.push_back(block);
    if (one.legal.size() < 2) return skip("fewer than two legal blocks");
    one.best = std::ranges::min(one.legal, {}, &MeasuredBlock::ms);
    study.cases.push_back(std::move(one));
}

// The first of the predictions; the block as written where they cannot be relied on, as the runtime does.
void choose(Study& study, StudiedCase& one, const std::string& rule,
            const std::vector<PredictedBlock>& predicted) {
    if (predicted.empty() || one.launches.uncertain)
        study.choose(one, rule, one.launches.written);
    else
        study.choose(one, rule, predicted.front().block);
}

int run(const Options& options) {
    const auto table = read_measured_table(options.table);
    if (!table) return fail(table.error());
    const auto kernels = read_kernel_list(options.kernels);
    if (!kernels) return fail(kernels.error());
    const auto program = model::performance_model(options.model);
    if (!program) return fail(program.error());

    std::vector<const MeasuredCase*> cases;
    std::set<std::string> sources;
    for (const MeasuredCase& one : *table) {
        if (!wanted(options.gpus, one.gpu) || !wanted(options.apps, one.app) ||
            !wanted(options.names, one.kernel) || one.n < options.min_n || one.n > options.max_n)
            continue;
        cases.push_back(&one);
        if (const ListedKernel* listed = find_kernel(*kernels, one.app, one.kernel))
            sources.insert(listed->source);
    }
    FittedPrograms programs({sources.begin(), sources.end()}, options.programs);
    Study study;
    study.profile_seconds = programs.profile_seconds();
    for (const MeasuredCase* one : cases) add_case(study, *one, options, *kernels, programs);

    const auto start = Clock::now();
    for (StudiedCase& one : study.cases) {
        one.predicted = predict(one.launches, one.device, **program, one.legal);
        choose(study, one, "trimtab", one.predicted);
    }
    study.decide_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (!options.other_day.empty()) {
        const auto other = read_measured_table(options.other_day);
        if (!other) return fail(other.error());
        add_other_day(study, *other);
    }
    add_plain_rules(study);
    for (const std::string& choice : options.choices) {
        const std::size_t equals = choice.find('=');
        if (equals == std::string::npos)
            return fail({.message = fmt::format("--choices {}: write NAME=FILE", choice)});
        if (const auto added = add_choices(study, choice.substr(0, equals), choice.substr(equals + 1));
            !added)
            return fail(added.error());
    }
    std::vector<std::string> variants;
    if (options.variants)
        for (const std::string_view name : model::performance_model_names()) variants.emplace_back(name);
    if (options.ablation)
        for (const model::NamedTerm& term : model::trimtab_terms())
            variants.push_back(fmt::format("trimtab-without-{}", term.name));
    for (const std::string& name : variants) {
        const auto variant = model::performance_model(name);
        if (!variant) return fail(variant.error());
        for (StudiedCase& one : study.cases)
            choose(study, one, "model:" + name, predict(one.launches, one.device, **variant, one.legal));
    }
    if (options.exact) add_exact_rule(study, **program, options.exact_options);
    if (options.search) {
        const auto searches = measure_searches(study, **program, TRIMTAB_BENCH_CLANG, TRIMTAB_BENCH_INCLUDE);
        if (!searches) return fail(searches.error());
        study.searches = *searches;
    }
    if (options.perturbed > 0) {
        const auto means = perturbed_geomeans(study, **program, 0.3, options.perturbed);
        study.notes.push_back(
            fmt::format("{} constants perturbed (sigma 0.3) {} times: geometric mean {:.4f} to "
                        "{:.4f}, median {:.4f}",
                        model_constants(**program).size(), means.size(), means.front(), means.back(),
                        means[means.size() / 2]));
    }
    if (!options.leave_one_out.empty())
        study.left_out = leave_one_app_out(study, **program, options.leave_one_out);

    if (!options.csv.empty() && !write_file(options.csv, csv_report(study)))
        return fail({.message = "cannot be written", .file = options.csv});
    if (!options.html.empty() && !write_file(options.html, html_report(study)))
        return fail({.message = "cannot be written", .file = options.html});
    fmt::print("{}", options.json ? json_report(study) + "\n" : text_report(study));
    if (!study.cases.empty()) return tools::code(ExitCode::ok);
    fmt::print(stderr, "selection_quality: {}: no case of it can be studied\n", options.table);
    return tools::code(ExitCode::no);
}

std::string default_cache() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != 0)
        return std::string(cache) + "/trimtab/bench";
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != 0)
        return std::string(home) + "/.cache/trimtab/bench";
    return "/tmp/trimtab-bench";
}

}  // namespace

}  // namespace trimtab::bench

int main(int argc, char** argv) {
    using namespace trimtab;
    bench::Options options;
    options.programs.cache_folder = bench::default_cache();
    CLI::App app("How near the blocks that Trimtab chooses are to the best of a measured table",
                 "selection_quality");
    app.add_option("--table", options.table, "CSV: gpu,app,kernel,n,bx,by,time_ms,...")->required();
    app.add_option("--gpu", options.gpus, "Only this GPU (slug, as in the table); may be repeated");
    app.add_option("--app", options.apps, "Only this app; may be repeated");
    app.add_option("--kernel", options.names, "Only this kernel; may be repeated");
    app.add_option("--min-n", options.min_n, "Only cases with at least this N")->capture_default_str();
    app.add_option("--max-n", options.max_n, "Only cases with at most this N");
    app.add_option("--l1", options.l1,
                   "Do global loads go through L1? off: as -Xptxas -dlcm=cg; auto: as the device")
        ->check(CLI::IsMember({"off", "on", "auto"}))
        ->capture_default_str();
    app.add_option("--launches", options.launches, "Launches of a case that stand for all of them")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    app.add_option("--kernels", options.kernels, "JSON list: what stands behind (app, kernel) of the table")
        ->capture_default_str();
    app.add_option(
        "--built", options.programs.built_folder,
        "Folder of programs that trimtab++ built, by the name of their source; left out: compiled here");
    app.add_option("--other-day", options.other_day,
                   "A table of another day: its best blocks are rule \"oracle\"");
    app.add_option("--choices", options.choices,
                   "NAME=FILE: choices (gpu,app,kernel,n,bx,by) as a rule; repeatable");
    app.add_flag("--variants", options.variants, "Every performance model as a rule");
    app.add_flag("--ablation", options.ablation, "The model with each of its terms switched off, as rules");
    app.add_flag("--exact", options.exact,
                 "Metrics emulated at the true N, block by block, as a rule (slow once)");
    app.add_option("--exact-budget", options.exact_options.instruction_budget,
                   "Warp instructions a launch may cost then")
        ->capture_default_str();
    app.add_flag("--fresh", options.exact_options.fresh, "Emulate again what is remembered");
    app.add_flag("--search", options.search, "Compile the driver programs; time and loss of their search");
    app.add_option("--perturb", options.perturbed, "Perturb the model's constants so many times");
    app.add_option("--leave-one-out", options.leave_one_out,
                   "GPU: fit the model's constants without one app at a time");
    app.add_option("--model", options.model, "Performance model of rule \"trimtab\"")->capture_default_str();
    app.add_flag("--json", options.json, "Print JSON");
    app.add_option("--csv", options.csv, "Write every block's measured and predicted time");
    app.add_option("--html", options.html, "Write a page with a heat map a case");
    app.add_option("--threads", options.programs.threads, "Programs profiled at a time")
        ->check(CLI::Range(1, 64));
    options.exact_options.store_path = profiler::default_store_path();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : tools::code(tools::ExitCode::usage);
    }
    return bench::run(options);
}
