// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab search: the best of a kernel's launches by abstract emulation, over blocks and compile-time values.
#include "emulation/schedule/search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "core/model/time_text.h"
#include "tools/trimtab/asked_extent.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/machine_options.h"
#include "tools/trimtab/search_candidates.h"
#include "tools/trimtab/search_emulation.h"
#include "tools/trimtab/tuner_files.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

struct SearchOptions {
    LaunchOptions launch;
    std::string extent, candidates, method{"directed"};
    LaunchTexts texts;
    std::vector<std::string> variants;
    std::string coarsen{"1"};
    std::string space_file, output, format{"t4"}, against;
    std::size_t keep = 10;
    std::uint64_t seed = 1;
    std::size_t most = 0;
    bool loads_bypass_l1 = false;
    schedule::Settings settings;
};

struct Asked {
    CandidateSpace space;
    std::vector<LaunchQuestion> questions;  // of the kernel and its bodies, where there are no variants
    std::string refusal;                    // not empty: the launch must stay as it is
};

std::expected<Asked, Error> asked_variants(const SearchOptions& options) {
    const auto fault = [](std::string message) {
        return std::unexpected(Error{.message = std::move(message)});
    };
    const std::string_view given = options.variants.empty() ? "--space" : "--variants";
    if (options.coarsen != "1")
        return fault(fmt::format("--coarsen is for kernels as they are written: leave out {}", given));
    if (options.texts.grid.empty() || options.texts.block.empty())
        return fault(fmt::format(
            "{} needs --grid and --block: the launch that goes with the values, in which their names "
            "may stand",
            given));
    if (!options.extent.empty() || !options.candidates.empty())
        return fault(fmt::format(
            "--extent and --candidates are for blocks that the source does not fix: leave out {}", given));
    if (!options.launch.file.ends_with(".cu"))
        return std::unexpected(Error{.message = fmt::format("{} compiles a CUDA source (.cu)", given),
                                     .file = options.launch.file});
    auto parameters = parse_variants(options.variants);
    if (!parameters) return std::unexpected(parameters.error());
    LaunchTexts texts = options.texts;
    if (options.launch.dynamic_shared_bytes != 0)
        texts.dynamic_shared = fmt::format("{:.0f}", options.launch.dynamic_shared_bytes);
    if (!options.space_file.empty()) {
        auto read = read_t1(options.space_file);
        if (!read) return std::unexpected(read.error());
        // What is named on the command line too has its values there.
        for (VariantParameter& one : read->parameters)
            if (std::ranges::find(*parameters, one.name, &VariantParameter::name) == parameters->end())
                parameters->push_back(std::move(one));
        std::ranges::move(read->conditions, std::back_inserter(texts.conditions));
    }
    auto space = variant_launches(*parameters, texts);
    if (!space) return std::unexpected(space.error());
    return Asked{.space = std::move(*space), .questions = {}, .refusal = {}};
}

std::expected<Asked, Error> asked_blocks(const SearchOptions& options) {
    const auto candidates = parse_candidates(options.candidates);
    if (!candidates) return std::unexpected(candidates.error());
    LaunchOptions launch = options.launch;
    // Its own profile is not asked for: emulation answers.
    const auto elements = parse_elements(options.coarsen);
    if (!elements) return std::unexpected(elements.error());
    if (launch.file.ends_with(".cu")) {
        launch.compiler_flags.emplace_back("--trimtab-profile=off");
        if (std::string flag = coarsening_flag(*elements); !flag.empty())
            launch.compiler_flags.push_back(std::move(flag));
    }
    auto question = look_up(launch);
    if (!question) return std::unexpected(question.error());
    const analysis::KernelDescription& kernel = question->description();
    if (const auto complete = require_scalars(kernel, question->arguments); !complete)
        return std::unexpected(complete.error());
    WrittenBlocks written{.grid = {1, 1, 1},
                          .block = {1, 1, 1},
                          .dynamic_shared_bytes = options.launch.dynamic_shared_bytes,
                          .blocks = *candidates};
    if (options.texts.grid.empty() != options.texts.block.empty())
        return std::unexpected(
            Error{.message = "--grid and --block together describe the launch as written: give both"});
    if (options.texts.grid.empty()) {
        const auto given = analysis::data_values(kernel, question->arguments.bytes, {1, 1, 1});
        const auto extent = asked_extent(options.extent, *question, given);
        if (!extent) return std::unexpected(extent.error());
        const WrittenLaunch plain = written_launch(kernel, *extent, question->device.values);
        written.grid = plain.grid;
        written.block = plain.block;
    } else {
        const auto plain = plain_launch(options.texts);
        if (!plain) return std::unexpected(plain.error());
        written.grid = plain->grid;
        written.block = plain->block;
    }
    const std::vector<SearchedBody> bodies = searched_bodies(*question, *elements);
    const auto refused = [&](std::string_view why) {
        return Asked{.space = {}, .questions = {}, .refusal = fmt::format("{}: {}", kernel.demangled, why)};
    };
    if (bodies.size() < elements->size())
        return refused(
            fmt::format("it has bodies for {} of the {} numbers of --coarsen {}: docs/variants.md says of "
                        "which kernels they are made",
                        bodies.size(), elements->size(), options.coarsen));
    auto space = legal_launches(*question, written, bodies);
    if (!space) return refused(space.error());
    Asked asked{.space = std::move(*space), .questions = {}, .refusal = {}};
    for (const SearchedBody& body : bodies) asked.questions.push_back(body.question);
    return asked;
}

std::string launch_text(const CandidateSpace& space, const LaunchCandidate& one) {
    std::vector<std::string> parts;
    for (std::size_t d = 0; d < space.dimensions.size(); ++d)
        parts.push_back(fmt::format("{}={}", space.dimensions[d], one.values[d]));
    return fmt::format("{}", fmt::join(parts, " "));
}

Json to_json(const CandidateSpace& space, const schedule::SearchStep& step) {
    const LaunchCandidate& one = space.candidates[step.candidate];
    Json values = Json::object();
    for (std::size_t d = 0; d < space.dimensions.size(); ++d) values[space.dimensions[d]] = one.values[d];
    Json out{{"values", std::move(values)},
             {"grid", {one.grid.x, one.grid.y, one.grid.z}},
             {"block", {one.block.x, one.block.y, one.block.z}},
             {"ns", step.emulated.time_ns},
             {"warps_per_sm", step.emulated.warps_per_sm}};
    if (!step.why.empty()) out["why"] = step.why;
    if (!step.emulated.bottleneck.all.empty()) {
        const schedule::Sensitivity& first = step.emulated.bottleneck.all.front();
        out["bottleneck"] = {{"resource", std::string(schedule::name(first.resource))},
                             {"mode", first.is_gap ? "throughput" : "latency"},
                             {"sensitivity", first.value}};
    }
    return out;
}

struct SearchReport {
    const SearchOptions& options;
    const CandidateSpace& space;
    const SearchEmulation& emulation;
    const schedule::SearchResult& result;
    const LaunchQuestion& question;
    std::vector<std::size_t> ranking;  // of steps, the least time first
    std::optional<TunerScore> score;   // against --against
};

TunedResults predicted(const SearchReport& report, std::size_t most) {
    TunedResults out{.kernel = base_name(report.question.description().demangled),
                     .device = report.question.device.slug,
                     .by = "trimtab search: times are predicted, by abstract emulation",
                     .parameters = report.space.dimensions,
                     .configurations = {}};
    for (std::size_t i = 0; i < report.ranking.size() && i < most; ++i) {
        const schedule::SearchStep& step = report.result.steps[report.ranking[i]];
        out.configurations.push_back(
            {.values = report.space.candidates[step.candidate].values, .ns = step.emulated.time_ns});
    }
    return out;
}

bool is_within(const CandidateSpace& space, const MeasuredConfiguration& one) {
    for (std::size_t d = 0; d < space.dimensions.size(); ++d) {
        const std::int64_t value = one.values.at(space.dimensions[d]);
        if (std::ranges::none_of(space.candidates, [&](const LaunchCandidate& candidate) {
                return candidate.values[d] == value;
            }))
            return false;
    }
    return true;
}

int write_output(const SearchReport& report) {
    const SearchOptions& options = report.options;
    const TunedResults results = predicted(report, options.keep);
    const std::string text = options.format == "t4" ? t4_text(results) : kernel_tuner_text(results);
    std::ofstream stream(options.output, std::ios::binary);
    stream << text << std::flush;
    return stream ? code(ExitCode::ok) : fail(Error{.message = "cannot be written", .file = options.output});
}

void print_json(const SearchReport& report) {
    Json dimensions = Json::object();
    for (std::size_t d = 0; d < report.space.dimensions.size(); ++d) {
        std::vector<std::int64_t> values;
        for (const LaunchCandidate& one : report.space.candidates) values.push_back(one.values[d]);
        std::ranges::sort(values);
        values.erase(std::unique(values.begin(), values.end()), values.end());
        dimensions[report.space.dimensions[d]] = values;
    }
    Json steps = Json::array(), ranking = Json::array();
    for (const schedule::SearchStep& step : report.result.steps) steps.push_back(to_json(report.space, step));
    for (const std::size_t step : report.ranking) ranking.push_back(step);
    Json out{{"kernel", report.question.description().demangled},
             {"device", report.question.device.slug},
             {"by", "abstract emulation"},
             {"method", report.options.method}};
    if (report.options.method == "random") out["seed"] = report.options.seed;
    if (!report.options.settings.is_empty()) out["set"] = tools::to_json(report.options.settings);
    out.update({{"candidates", report.space.candidates.size()},
                {"dimensions", std::move(dimensions)},
                {"emulated", report.result.steps.size()},
                {"traces", report.emulation.traces()},
                {"warp_instructions_run", report.emulation.warp_instructions()},
                {"cannot_be_launched", report.result.refused.size()},
                {"best", to_json(report.space, report.result.steps[*report.result.best])},
                {"steps", std::move(steps)},
                {"ranking", std::move(ranking)}});
    if (const auto& score = report.score) {
        out["against"] = {{"compared", score->compared},
                          {"measured", score->measured},
                          {"regret", score->regret},
                          {"place", score->place}};
        out["against"]["rank_correlation"] =
            std::isnan(score->rank_correlation) ? Json(nullptr) : Json(score->rank_correlation);
    }
    fmt::print("{}\n", out.dump(2));
}

void print_text(const SearchReport& report) {
    const schedule::SearchStep& best = report.result.steps[*report.result.best];
    fmt::print("{} on {}: {}, {}, by abstract emulation\n", report.question.description().demangled,
               report.question.device.slug,
               launch_text(report.space, report.space.candidates[best.candidate]),
               model::time_with_bounds(best.emulated.time_ns, model::emulation_error));
    fmt::print("  {} search: {} of {} launches emulated", report.options.method, report.result.steps.size(),
               report.space.candidates.size());
    if (!report.result.refused.empty())
        fmt::print("; {} more cannot be launched", report.result.refused.size());
    fmt::print("\n");
    if (!report.options.settings.is_empty()) fmt::print("  what if: {}\n", to_text(report.options.settings));
    if (const auto& score = report.score)
        fmt::print(
            "  measured: place {} of {}, {:.1f} % from the best; rank correlation {:.2f} over {} launches\n",
            score->place, score->measured, score->regret * 100, score->rank_correlation, score->compared);
    fmt::print("\n");
    constexpr std::size_t shown = 10;
    if (report.options.method == "directed") {
        for (std::size_t i = 0; i < report.result.steps.size(); ++i) {
            const schedule::SearchStep& step = report.result.steps[i];
            fmt::print("  {:>2}. {:<32} {:>12}{}  {}\n", i + 1,
                       launch_text(report.space, report.space.candidates[step.candidate]),
                       model::time_text(step.emulated.time_ns, model::emulation_error),
                       i == *report.result.best ? "*" : " ", step.why);
        }
        return;
    }
    for (std::size_t i = 0; i < report.ranking.size() && i < shown; ++i) {
        const schedule::SearchStep& step = report.result.steps[report.ranking[i]];
        fmt::print("  {:>2}. {:<32} {:>12}\n", i + 1,
                   launch_text(report.space, report.space.candidates[step.candidate]),
                   model::time_text(step.emulated.time_ns, model::emulation_error));
    }
}

int run(const SearchOptions& options) {
    auto asked = options.variants.empty() && options.space_file.empty() ? asked_blocks(options)
                                                                        : asked_variants(options);
    if (!asked) return fail(asked.error());
    if (!asked->refusal.empty()) return fail(ExitCode::no, asked->refusal);
    const CandidateSpace& space = asked->space;
    const auto device = model::find_device(options.launch.device);
    if (!device) return fail(device.error());
    const schedule::SearchSpace to_search =
        space.to_search(*device, asked->questions.size() == 1 ? &asked->questions[0].image : nullptr);
    SearchEmulation emulation(options.launch, space, std::move(asked->questions),
                              {.loads_bypass_l1 = options.loads_bypass_l1, .settings = options.settings},
                              std::max(1u, std::thread::hardware_concurrency()));
    const schedule::SearchResult result = schedule::search(
        to_search, [&](std::size_t candidate, bool with) { return emulation(candidate, with); },
        {.method = *schedule::search_method_named(options.method),
         .seed = options.seed,
         .most = options.most});
    if (!result.best) {
        const Error& error = *emulation.first_error();
        return error.message.contains("cannot be launched") ? fail(ExitCode::no, error.text()) : fail(error);
    }
    SearchReport report{
        .options = options,
        .space = space,
        .emulation = emulation,
        .result = result,
        .question = **emulation.question(space.candidates[result.steps[*result.best].candidate].variant),
        .ranking = std::vector<std::size_t>(result.steps.size()),
        .score = {}};
    std::iota(report.ranking.begin(), report.ranking.end(), std::size_t{0});
    std::ranges::sort(report.ranking, {},
                      [&](std::size_t step) { return std::pair(result.steps[step].emulated.time_ns, step); });
    if (!options.against.empty()) {
        const auto measured = read_t4(options.against, space.dimensions);
        if (!measured) return fail(measured.error());
        // Of other values than were searched there is nothing to say.
        std::vector<MeasuredConfiguration> within;
        for (const MeasuredConfiguration& one : *measured)
            if (is_within(space, one)) within.push_back(one);
        report.score = score(predicted(report, report.ranking.size()), within);
        if (!report.score)
            return fail(
                Error{.message = "holds none of the launches that were emulated", .file = options.against});
    }
    if (options.launch.json)
        print_json(report);
    else
        print_text(report);
    return options.output.empty() ? code(ExitCode::ok) : write_output(report);
}

}  // namespace

void add_search(CLI::App& app, Action& action) {
    auto options = std::make_shared<SearchOptions>();
    CLI::App* command = app.add_subcommand("search", "Search for the best launch of a kernel by emulation")
                            ->group(groups::choose);
    command->footer(
        "Searches the blocks that may replace the one written, or compile-time values.\n"
        "Example: trimtab search app.cu --kernel K --device h100 --arg n=262144");
    add_launch_options(*command, options->launch);
    command->add_option("--extent", options->extent,
                        "Launch so many threads: X[,Y[,Z]] (default: the guards' bounds)");
    command->add_option("--grid", options->texts.grid,
                        "Launch as written: X[,Y[,Z]] blocks, or expressions of --variants");
    command->add_option("--block", options->texts.block,
                        "Its threads per block: X[,Y[,Z]], or expressions of --variants");
    command->add_option("--candidates", options->candidates, "Search only these blocks: \"bx,by;...\"");
    command
        ->add_option("--coarsen", options->coarsen,
                     "Also try threads that do the work of so many: 1,2,4, where 1 is the kernel itself")
        ->capture_default_str();
    command
        ->add_option("--variants", options->variants,
                     "Try a macro's values: NAME=VALUE,VALUE...; may be repeated")
        ->allow_extra_args(false)
        ->take_all();
    command
        ->add_option("--where", options->texts.conditions,
                     "Keep variants that satisfy this: \"BX * BY <= 1024\"; may be repeated")
        ->allow_extra_args(false)
        ->take_all();
    command
        ->add_option("--method", options->method,
                     "Follow what limits the launches so far, try all, or go at random")
        ->check(CLI::IsMember({"directed", "exhaustive", "random"}))
        ->capture_default_str();
    command->add_option("--space", options->space_file,
                        "Read more variants and conditions from a T1 file (JSON)");
    command->add_option("--output,-o", options->output, "Write the best launches for an auto-tuner");
    command->add_option("--format", options->format, "Write it as T4 results, or as a cache of Kernel Tuner")
        ->check(CLI::IsMember({"t4", "kernel-tuner"}))
        ->capture_default_str();
    command->add_option("--keep", options->keep, "Write at most so many launches")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    command->add_option("--against", options->against, "Compare with measured times in a T4 file");
    command->add_option("--seed", options->seed, "Random seed for the order")->capture_default_str();
    command->add_option("--most", options->most, "Emulate at most so many launches")
        ->check(CLI::Range(1, 1'000'000));
    command->add_flag("--bypass-l1", options->loads_bypass_l1,
                      "Cache global loads only in L2, as -Xptxas -dlcm=cg does");
    add_machine_options(*command, options->settings);
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trimtab::tools
