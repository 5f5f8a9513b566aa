// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab prune: the work-group size of the least predicted time, found by traces that nothing is run for.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/model/time_text.h"
#include "pipeline/progress.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/pruned_launch.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

struct PruneQuestion {
    LaunchOptions launch;
    std::string global, sizes{"legal"}, metrics{"static"}, method{"screened"};
    double local_bytes_per_item = 0, least_gain = 0.01;
    std::uint32_t unknown_trips = 1;
    bool loads_bypass_l1 = false, from_ptx = false, lists_all = false, quiet = false;
};

bool divides(trimtab_dim3 global, trimtab_dim3 size) {
    return global.x % size.x == 0 && global.y % size.y == 0 && global.z % size.z == 0;
}

// The sizes to choose among: of those that fit the device all where the kernel may have any, else those that divide the launch.
std::expected<std::vector<trimtab_dim3>, Error> sizes_of(const PruneQuestion& options,
                                                         const LaunchQuestion& question, trimtab_dim3 global,
                                                         unsigned dimensions) {
    if (options.sizes != "legal" && options.sizes != "all" && options.sizes != "dividing")
        return parse_candidates(options.sizes);
    const double most = std::min(1024.0, question.device.values.max_threads_per_block);
    auto sizes = pruning::design_space(dimensions, static_cast<std::uint32_t>(most));
    const bool only_dividing =
        options.sizes == "dividing" ||
        (options.sizes == "legal" && question.description().verdict != analysis::Verdict::covering);
    if (only_dividing) std::erase_if(sizes, [&](trimtab_dim3 size) { return !divides(global, size); });
    const FileKernel& kernel = question.file.kernels[question.kernel];
    const ptx::Function* const function =
        kernel.module == nullptr ? nullptr : kernel.module->function(kernel.record.description.name);
    if (function != nullptr && function->required_block && options.sizes == "legal")
        sizes = {{function->required_block->x, function->required_block->y, function->required_block->z}};
    return sizes;
}

Json to_json(const pruning::SizeResult& one) {
    Json out{{"x", one.size.x}, {"y", one.size.y}, {"z", one.size.z}, {"fate", pruning::name(one.fate)}};
    if (one.fate == pruning::Fate::refused) return out;
    out.update(
        {{"groups_per_sm", one.groups_at_once}, {"warps_per_sm", one.warps_at_once}, {"rounds", one.rounds}});
    if (one.fate != pruning::Fate::duplicate || one.best_ns > 0)
        out.update({{"best_ns", one.best_ns}, {"worst_ns", one.worst_ns}});
    if (one.estimate_ns > 0) out["estimate_ns"] = one.estimate_ns;
    if (one.ns > 0) out["ns"] = one.ns;
    return out;
}

struct PruneReport {
    const PruneQuestion& options;
    const LaunchQuestion& question;
    trimtab_dim3 global;
    const PrunedLaunch& pruned;
    std::vector<std::size_t> ranking;  // of the sizes that were simulated, the least time first
};

void print_pruned_json(const PruneReport& report) {
    const pruning::PruneResult& result = report.pruned.result;
    Json ranking = Json::array(), sizes = Json::array();
    for (const std::size_t i : report.ranking) ranking.push_back(to_json(result.sizes[i]));
    Json out{{"kernel", report.question.description().demangled},
             {"device", report.question.device.slug},
             {"global", {report.global.x, report.global.y, report.global.z}},
             {"verdict", analysis::name(report.question.description().verdict)},
             {"metrics", report.options.metrics},
             {"method", report.options.method},
             {"registers", report.question.image.registers_per_thread},
             {"registers_from", report.question.registers_from},
             {"sizes_asked", result.sizes.size()},
             {"launchable", result.launchable},
             {"traced", result.traced},
             {"batches", result.batches},
             {"simulated", result.simulated},
             {"pruned", result.pruned_share()},
             {"seconds", {{"traces", result.trace_seconds}, {"search", result.search_seconds}}},
             {"assumed",
              {{"branches", report.pruned.assumed.branches},
               {"loops", report.pruned.assumed.loops},
               {"addresses", report.pruned.assumed.addresses},
               {"cut", report.pruned.assumed.is_cut}}},
             {"chosen", to_json(result.sizes[result.best])},
             {"ranking", std::move(ranking)}};
    if (report.options.lists_all) {
        for (const pruning::SizeResult& one : result.sizes) sizes.push_back(to_json(one));
        out["sizes"] = std::move(sizes);
    }
    fmt::print("{}\n", out.dump(2));
}

void print_size(const pruning::SizeResult& one) {
    fmt::print("  {:>4} x {:>4} x {:>2}  {:>10}  {:>3} groups, {:>2} warps an SM, {:>9.1f} rounds",
               one.size.x, one.size.y, one.size.z, pruning::name(one.fate), one.groups_at_once,
               one.warps_at_once, one.rounds);
    if (one.ns > 0)
        fmt::print("  {:>12}", model::time_text(one.ns, model::emulation_error));
    else if (one.best_ns > 0)
        fmt::print("  at least {}", model::time_text(one.best_ns, model::emulation_error));
    fmt::print("\n");
}

void print_pruned(const PruneReport& report) {
    const pruning::PruneResult& result = report.pruned.result;
    const pruning::SizeResult& best = result.sizes[result.best];
    fmt::print("{} on {}, {} x {} x {} items: work-groups of {} x {} x {}, {}\n",
               report.question.description().demangled, report.question.device.slug, report.global.x,
               report.global.y, report.global.z, best.size.x, best.size.y, best.size.z,
               model::time_text(best.ns, model::emulation_error));
    fmt::print(
        "  {} sizes can be launched: {} traced, {} simulated, {:.1f} % pruned; {:.0f} ms for "
        "traces, {:.0f} ms "
        "for the search\n",
        result.launchable, result.traced, result.simulated, result.pruned_share() * 100,
        result.trace_seconds * 1e3, result.search_seconds * 1e3);
    fmt::print("  {} registers ({})\n", report.question.image.registers_per_thread,
               report.question.registers_from);
    const Assumptions& assumed = report.pruned.assumed;
    const auto list = [](std::string_view what, const std::vector<std::string>& places) {
        if (!places.empty()) fmt::print("  {}: {}\n", what, fmt::join(places, ", "));
    };
    list("decided by memory, both ways are taken", assumed.branches);
    list(fmt::format("ended by memory, {} iteration{}", report.options.unknown_trips,
                     report.options.unknown_trips == 1 ? "" : "s"),
         assumed.loops);
    list("where memory says, taken to miss", assumed.addresses);
    if (assumed.is_cut) fmt::print("  a loop was cut short: times are too low\n");
    if (report.question.description().verdict == analysis::Verdict::fixed)
        fmt::print(
            "  Trimtab launches this kernel as written (trimtab inspect says why): the program must allow "
            "the size\n");
    fmt::print("\n");
    constexpr std::size_t shown = 10;
    if (report.options.lists_all)
        for (const pruning::SizeResult& one : result.sizes) print_size(one);
    else
        for (std::size_t i = 0; i < report.ranking.size() && i < shown; ++i)
            print_size(result.sizes[report.ranking[i]]);
}

int run(const PruneQuestion& options) {
    const auto global = parse_dim3(options.global, "--global");
    if (!global) return fail(global.error());
    LaunchOptions launch = options.launch;
    // Its own profile is not asked for.
    if (launch.file.ends_with(".cu")) launch.compiler_flags.emplace_back("--trimtab-profile=off");
    const auto question = look_up(launch);
    if (!question) return fail(question.error());
    if (const auto complete = require_scalars(question->description(), question->arguments); !complete)
        return fail(complete.error());
    const auto given = static_cast<unsigned>(
        std::ranges::count_if(options.global, [](char c) { return c == ',' || c == 'x'; }) + 1);
    const auto sizes = sizes_of(options, *question, *global, given);
    if (!sizes) return fail(sizes.error());
    pipeline::Progress progress("trimtab", options.launch.file, 1,
                                options.quiet || options.metrics != "emulated");
    PruneOptions asked{
        .global = *global,
        .dynamic_local_bytes = options.launch.dynamic_shared_bytes,
        .local_bytes_per_item = options.local_bytes_per_item,
        .sizes = *sizes,
        .metrics = options.metrics == "emulated" ? TraceMetrics::emulated : TraceMetrics::by_static_analysis,
        .settings = {.method = options.method == "screened"     ? pruning::Method::screened
                               : options.method == "ordered"    ? pruning::Method::ordered
                               : options.method == "exhaustive" ? pruning::Method::exhaustive
                                                                : pruning::Method::algorithm_4,
                     .least_gain = options.least_gain},
        .walk = {.unknown_trips = options.unknown_trips},
        .loads_bypass_l1 = options.loads_bypass_l1,
        .from_ptx = options.from_ptx,
        .progress = [&](std::size_t done, std::size_t of) {
            progress.point(question->description().demangled, done, of);
        }};
    const auto pruned = prune_launch(*question, asked);
    if (!pruned) return fail(pruned.error());
    const pruning::PruneResult& result = pruned->result;
    if (result.best == result.sizes.size())
        return fail(ExitCode::no, fmt::format("{} cannot be launched on {} in any of the {} sizes",
                                              question->description().demangled, question->device.slug,
                                              result.sizes.size()));
    PruneReport report{
        .options = options, .question = *question, .global = *global, .pruned = *pruned, .ranking = {}};
    for (std::size_t i = 0; i < result.sizes.size(); ++i)
        if (result.sizes[i].fate == pruning::Fate::simulated) report.ranking.push_back(i);
    std::ranges::sort(report.ranking, {},
                      [&](std::size_t i) { return std::tuple(result.sizes[i].ns, i != result.best, i); });
    if (options.launch.json)
        print_pruned_json(report);
    else
        print_pruned(report);
    return code(ExitCode::ok);
}

}  // namespace

void add_prune(CLI::App& app, Action& action) {
    auto options = std::make_shared<PruneQuestion>();
    CLI::App* command = app.add_subcommand("prune", "Choose an OpenCL work-group size from static traces")
                            ->group(groups::choose);
    command->footer("Example: trimtab prune kernels.cl --kernel K --device k620 --global 1024,1024");
    add_launch_options(*command, options->launch);
    command->add_option("--global", options->global, "Launch so many work items: X[,Y[,Z]]")->required();
    command
        ->add_option("--sizes", options->sizes,
                     "Choose among: legal, all, dividing (the launch), or \"x,y;...\"")
        ->capture_default_str();
    command
        ->add_option("--metrics", options->metrics,
                     "Trace only the code (static), or sampled work-groups (emulated)")
        ->check(CLI::IsMember({"static", "emulated"}))
        ->capture_default_str();
    command
        ->add_option("--method", options->method,
                     "Simulate likely sizes; all by lower bound; algorithm 4's; or all")
        ->check(CLI::IsMember({"screened", "ordered", "algorithm-4", "exhaustive"}))
        ->capture_default_str();
    command
        ->add_option("--least-gain", options->least_gain,
                     "Leave out sizes that cannot save this share of the time")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    command
        ->add_option("--unknown-trips", options->unknown_trips,
                     "Assume so many iterations of a loop that memory ends")
        ->check(CLI::Range(1u, 1'000'000u))
        ->capture_default_str();
    command
        ->add_option("--local-per-item", options->local_bytes_per_item,
                     "Use so many bytes of local memory per work item")
        ->check(CLI::NonNegativeNumber);
    command->add_flag("--bypass-l1", options->loads_bypass_l1,
                      "Cache global loads only in L2, as -Xptxas -dlcm=cg does");
    command->add_flag("--from-ptx", options->from_ptx,
                      "Simulate the PTX, even if ptxas could make machine code");
    command->add_flag("--all", options->lists_all, "List every size, and what became of it");
    command->add_flag("--quiet", options->quiet, "Print no progress");
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trimtab::tools
