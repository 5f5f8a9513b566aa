// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab prune: the work-group size of the least predicted time, found by traces that nothing is run for.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/installation.h"
#include "core/base/temporary_folder.h"
#include "pipeline/progress.h"
#include "tools/trimtab/captured_kernels.h"
#include "tools/trimtab/captured_launch.h"
#include "tools/trimtab/captured_program.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/program_setup.h"
#include "tools/trimtab/prune_report.h"

namespace trimtab::tools {

namespace {

struct PruneQuestion {
    LaunchOptions launch;
    std::vector<std::string> arguments;  // of a program, which FILE names
    std::string global, block, sizes{"legal"}, metrics, method{"screened"};
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

// 64 and 256 items, as rules of thumb have them.
std::vector<std::pair<std::string, trimtab_dim3>> sizes_beside(std::optional<trimtab_dim3> written,
                                                               unsigned dimensions) {
    std::vector<std::pair<std::string, trimtab_dim3>> out;
    if (written) out.emplace_back("as written", *written);
    out.emplace_back("64 items", dimensions > 1 ? trimtab_dim3{8, 8, 1} : trimtab_dim3{64, 1, 1});
    out.emplace_back("256 items", dimensions > 1 ? trimtab_dim3{16, 16, 1} : trimtab_dim3{256, 1, 1});
    return out;
}

// A size that is simulated for another reason may be the best one, if it is one of those to choose among.
void take(pruning::PruneResult& result, const pruning::SizeResult& simulated) {
    const auto known = std::ranges::find_if(result.sizes, [&](const pruning::SizeResult& one) {
        return one.size.x == simulated.size.x && one.size.y == simulated.size.y &&
               one.size.z == simulated.size.z;
    });
    if (known == result.sizes.end() || simulated.fate != pruning::Fate::simulated ||
        known->fate == pruning::Fate::simulated)
        return;
    const auto index = static_cast<std::size_t>(known - result.sizes.begin());
    *known = simulated;
    known->representative = index;
    ++result.simulated;
    if (simulated.ns < result.sizes[result.best].ns) result.best = index;
}

struct Shape {
    trimtab_dim3 global{1, 1, 1};
    std::optional<trimtab_dim3> written;
    unsigned dimensions = 1;
};

std::expected<Shape, Error> shape_of(const PruneQuestion& options, const LaunchQuestion& question) {
    Shape out;
    if (!options.block.empty() || question.captured != nullptr) {
        const auto block = block_of(question, options.block);
        if (!block) return std::unexpected(block.error());
        out.written = *block;
    }
    if (!options.global.empty()) {
        const auto global = parse_dim3(options.global, "--global");
        if (!global) return std::unexpected(global.error());
        out.global = *global;
        out.dimensions = static_cast<unsigned>(
            std::ranges::count_if(options.global, [](char c) { return c == ',' || c == 'x'; }) + 1);
        return out;
    }
    const auto grid = grid_of(question, "");
    if (!grid) return std::unexpected(grid.error());
    const trimtab_dim3 block = *out.written;
    out.global = {grid->x * block.x, grid->y * block.y, grid->z * block.z};
    out.dimensions = out.global.z > 1 ? 3 : out.global.y > 1 ? 2 : 1;
    return out;
}

// What to print goes into `out`; returns the exit code, of what has been said.
int answer(const PruneQuestion& options, const LaunchOptions& launch, std::string& out) {
    const auto question = look_up(launch);
    if (!question) return fail(question.error());
    if (const auto complete = require_scalars(question->description(), question->arguments); !complete)
        return fail(complete.error());
    const auto shape = shape_of(options, *question);
    if (!shape) return fail(shape.error());
    const auto sizes = sizes_of(options, *question, shape->global, shape->dimensions);
    if (!sizes) return fail(sizes.error());
    // A captured launch has its arrays' contents, which runs of it read.
    const bool has_contents = question->captured != nullptr;
    const std::string metrics = !options.metrics.empty() ? options.metrics
                                : has_contents           ? "emulated"
                                                         : "static";
    pipeline::Progress progress("trimtab", launch.capture.empty() ? launch.file : launch.capture, 1,
                                options.quiet || metrics != "emulated");
    const double captured_bytes = has_contents ? question->captured->capture.dynamic_shared_bytes : 0;
    PruneOptions asked{
        .global = shape->global,
        .dynamic_local_bytes = std::max(launch.dynamic_shared_bytes, captured_bytes),
        .local_bytes_per_item = options.local_bytes_per_item,
        .sizes = *sizes,
        .metrics = metrics == "emulated" ? TraceMetrics::emulated : TraceMetrics::by_static_analysis,
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
    auto pruned = prune_launch(*question, asked);
    if (!pruned) return fail(pruned.error());
    pruning::PruneResult& result = pruned->result;
    if (result.best == result.sizes.size())
        return fail(ExitCode::no, fmt::format("{} cannot be launched on {} in any of the {} sizes",
                                              question->description().demangled, question->device.slug,
                                              result.sizes.size()));
    PruneReport report{.question = *question,
                       .global = shape->global,
                       .pruned = *pruned,
                       .method = options.method,
                       .metrics = metrics,
                       .unknown_trips = options.unknown_trips,
                       .lists_all = options.lists_all,
                       .has_contents = has_contents,
                       .ranking = {},
                       .others = {}};
    const auto beside = sizes_beside(shape->written, shape->dimensions);
    asked.sizes.clear();
    for (const auto& [what, size] : beside) asked.sizes.push_back(size);
    asked.settings.method = pruning::Method::exhaustive;
    if (const auto others = prune_launch(*question, asked))
        for (std::size_t i = 0; i < beside.size(); ++i) {
            report.others.push_back({.what = beside[i].first, .result = others->result.sizes[i]});
            take(result, others->result.sizes[i]);
        }
    for (std::size_t i = 0; i < result.sizes.size(); ++i)
        if (result.sizes[i].fate == pruning::Fate::simulated) report.ranking.push_back(i);
    std::ranges::sort(report.ranking, {},
                      [&](std::size_t i) { return std::tuple(result.sizes[i].ns, i != result.best, i); });
    out = launch.json ? to_json(report) : to_text(report);
    return code(ExitCode::ok);
}

// Each kernel of a program by its first launch, with the arguments and the arrays that it finds.
int answer_for_program(const PruneQuestion& options) {
    const auto device = checked_device(options.launch.device);
    if (!device) return fail(ExitCode::usage, device.error().text());
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return fail(folder.error());
    std::vector<std::string> program{options.launch.file};
    program.insert(program.end(), options.arguments.begin(), options.arguments.end());
    const auto captures = capture_kernels(program, options.launch.kernel, *device, *folder);
    if (!captures) return fail(captures.error());
    int worst = code(ExitCode::ok);
    std::vector<std::string> answers;
    for (const std::string& capture : *captures) {
        LaunchOptions launch = options.launch;
        launch.capture = capture;
        launch.file.clear();
        launch.kernel.clear();
        std::string out;
        if (const int one = answer(options, launch, out); one != code(ExitCode::ok)) worst = one;
        if (!out.empty()) answers.push_back(std::move(out));
    }
    if (options.launch.json)
        fmt::print("[{}]\n", fmt::join(answers, ",\n"));
    else
        fmt::print("{}", fmt::join(answers, "\n"));
    return worst;
}

int answer_for_launch(const PruneQuestion& options, const LaunchOptions& launch) {
    std::string out;
    const int exit_code = answer(options, launch, out);
    fmt::print("{}{}", out, launch.json && !out.empty() ? "\n" : "");
    return exit_code;
}

int run(const PruneQuestion& options) {
    LaunchOptions launch = options.launch;
    if (!launch.capture.empty()) {
        if (!launch.file.empty())
            return fail(ExitCode::usage, "it takes FILE, --capture FILE or -- PROGRAM, one of them");
        if (!launch.kernel.empty() || !launch.arguments.empty())
            return fail(ExitCode::usage, "--kernel and --arg do not go with --capture, which has them");
        return answer_for_launch(options, launch);
    }
    if (launch.file.empty())
        return fail(ExitCode::usage,
                    "it takes FILE, --capture FILE or -- PROGRAM (see trimtab prune --help)");
    if (options.global.empty()) {
        if (!base::find_program(launch.file)) return fail(ExitCode::usage, "--global is required");
        if (!launch.arguments.empty())
            return fail(ExitCode::usage, "a program has its own launches: --arg does not go with it");
        return answer_for_program(options);
    }
    if (!options.arguments.empty()) return fail(ExitCode::usage, "it takes one FILE");
    // Its own profile is not asked for.
    if (launch.file.ends_with(".cu")) launch.compiler_flags.emplace_back("--trimtab-profile=off");
    return answer_for_launch(options, launch);
}

}  // namespace

void add_prune(CLI::App& app, Action& action) {
    auto options = std::make_shared<PruneQuestion>();
    CLI::App* command = app.add_subcommand("prune", "Choose an OpenCL work-group size from static traces")
                            ->group(groups::choose);
    command->footer(
        "Example: trimtab prune kernels.cl --kernel K --device k620 --global 1024,1024\n"
        "         trimtab prune -- ./program arguments");
    add_launch_options(*command, options->launch);
    command->get_option("FILE")->required(false)->description(
        "OpenCL C (.cl), CUDA source (.cu), PTX, binary; or, after --, a program");
    command->add_option("ARGUMENT", options->arguments, "The program's arguments")->expected(-1);
    command->add_option("--global", options->global, "Launch so many work items: X[,Y[,Z]]");
    command->add_option("--block", options->block, "Show this size, as it is written, beside the chosen one");
    add_capture_option(*command, options->launch.capture)
        ->description("Use this captured launch (TRIMTAB_CAPTURE) instead of FILE and --arg");
    command
        ->add_option("--sizes", options->sizes,
                     "Choose among: legal, all, dividing (the launch), or \"x,y;...\"")
        ->capture_default_str();
    command
        ->add_option("--metrics", options->metrics,
                     "Trace only the code (static, default), or sampled work-groups (emulated; of captures)")
        ->check(CLI::IsMember({"static", "emulated"}));
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
