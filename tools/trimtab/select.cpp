// trimtab select: the best block for one launch, every legal block ranked.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "analysis/annotated_launch.h"
#include "analysis/legal_blocks.h"
#include "model/performance_model.h"
#include "profiler/active_indices.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/driver_choice.h"
#include "tools/trimtab/fitted_kernel.h"
#include "tools/trimtab/launch_options.h"
#include "tools/trimtab/ranking.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
    LaunchOptions launch;
    std::string extent, candidates;
};

// A block as a programmer could have written it that makes just this extent: the legality rule is about
// changing a launch, and a search starts without one.
struct Written {
    trimtab_dim3 grid, block;
};
Written written_launch(const analysis::KernelDescription& kernel, trimtab_dim3 extent,
                       const trimtab_device& device) {
    const std::uint32_t extents[3] = {extent.x, extent.y, extent.z};
    const double max_grid[3] = {device.max_grid_x, device.max_grid_y, device.max_grid_z};
    std::uint32_t grid[3], block[3];
    for (int d = 0; d < 3; ++d) {
        block[d] = 1;
        while (!kernel.grid_stays(static_cast<std::size_t>(d)) &&
               double(extents[d]) / block[d] > max_grid[d] && extents[d] % (block[d] * 2) == 0)
            block[d] *= 2;
        grid[d] = extents[d] / block[d];
    }
    return {{grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}};
}

bool reads_extents(const analysis::Expression& expression) {
    return expression.kind == analysis::Expression::Kind::extent ||
           std::ranges::any_of(expression.arguments, reads_extents);
}

// The threads of a launch whose grid is stated, as some block would have been written. None: the annotation
// needs to know them.
std::optional<trimtab_dim3> stated_extent(const analysis::KernelDescription& kernel,
                                          analysis::ArgumentBytes arguments) {
    if (!kernel.annotated_grid[0]) return std::nullopt;
    for (const auto* stated : {&kernel.annotated_block, &kernel.annotated_shared, &kernel.annotated_grid[0],
                               &kernel.annotated_grid[1], &kernel.annotated_grid[2]})
        if (*stated && reads_extents(**stated)) return std::nullopt;
    constexpr std::uint32_t most = 1024, ordinary = 128;
    const auto size = [&](std::size_t d, std::uint32_t limit) { return kernel.varies(d) ? limit : 1; };
    std::optional<trimtab_dim3> found;
    for (std::uint32_t z = 1; z <= size(2, 64); ++z)
        for (std::uint32_t y = 1; y <= size(1, most) && y * z <= most; ++y)
            for (std::uint32_t x = 1; x <= size(0, most) && x * y * z <= most; ++x) {
                if (found && x * y * z < ordinary) continue;
                const auto launch = analysis::stated_launch(kernel, arguments, {}, {x, y, z});
                if (!launch) continue;
                found = {launch->grid.x * x, launch->grid.y * y, launch->grid.z * z};
                if (x * y * z >= ordinary) return found;
            }
    return found;
}

// --extent, or else the values that the guards compare the global indices with.
std::expected<trimtab_dim3, Error> extent_of(const Options& options, const LaunchQuestion& question,
                                             std::span<const double> data) {
    if (!options.extent.empty()) return parse_dim3(options.extent, "--extent");
    const analysis::KernelDescription& kernel = question.description();
    if (const auto stated = stated_extent(kernel, question.arguments.bytes)) return *stated;
    std::array<std::uint32_t, 3> extent{1, 1, 1};
    std::array<bool, 3> known{};
    for (std::size_t i = 0; i < kernel.data.size(); ++i) {
        if (kernel.data[i].is_extent || !kernel.data[i].bounds || !(data[i] >= 1) || data[i] > 0x7fffffff)
            continue;
        const auto d = static_cast<std::size_t>(*kernel.data[i].bounds);
        extent[d] = std::max(extent[d], static_cast<std::uint32_t>(data[i]));
        known[d] = true;
    }
    // One value may bound several indices: i < n && j < n.
    const auto indices =
        profiler::active_indices(kernel, {.bytes = question.arguments.bytes, .pointers = {}});
    for (std::size_t d = 0; d < 3; ++d) {
        if (!kernel.reads(d) || known[d]) continue;
        if (!indices[d].end || kernel.reads_total(d))
            return std::unexpected(
                Error{.message = fmt::format("how many {} the launch has in {} is not known: give --extent",
                                             kernel.grid_stays(d) ? "blocks" : "threads", "xyz"[d])});
        extent[d] = static_cast<std::uint32_t>(*indices[d].end);
    }
    return trimtab_dim3{extent[0], extent[1], extent[2]};
}

Json to_json(trimtab_dim3 block) {
    return {{"bx", block.x}, {"by", block.y}, {"bz", block.z}};
}

Json data_json(const analysis::KernelDescription& kernel, std::span<const double> data) {
    Json json = Json::object();
    for (std::size_t i = 0; i < kernel.data.size(); ++i) json[kernel.data[i].name] = data[i];
    return json;
}

int refuse(const Options& options, const LaunchQuestion& question, std::span<const double> data,
           const std::string& reason) {
    if (options.launch.json)
        fmt::print("{}\n", Json{{"kernel", question.description().demangled},
                                {"device", question.device.slug},
                                {"data", data_json(question.description(), data)},
                                {"chosen", nullptr},
                                {"reason", reason},
                                {"ranking", Json::array()}}
                               .dump(2));
    return fail(ExitCode::no, fmt::format("{}: {}", question.description().demangled, reason));
}

void print_text(const RankedLaunch& launch, const std::vector<RankedBlock>& ranking,
                const analysis::KernelDescription& kernel, bool uncertain) {
    const trimtab_dim3 best = ranking.front().block;
    fmt::print("{} on {}: block ({}, {}, {}), {:.4g} us{}\n", kernel.demangled, launch.device->slug, best.x,
               best.y, best.z, ranking.front().ns / 1e3,
               uncertain ? "; uncertain: outside what was profiled" : "");
    constexpr std::size_t shown = 10;
    for (std::size_t i = 0; i < ranking.size() && i < shown; ++i)
        fmt::print("  {:>2}. {:>4} x {:>4} x {:>2}  {:>12.4g} us\n", i + 1, ranking[i].block.x,
                   ranking[i].block.y, ranking[i].block.z, ranking[i].ns / 1e3);
    if (ranking.size() > shown)
        fmt::print("  of {} legal blocks; the last, ({}, {}, {}), takes {:.4g} us\n", ranking.size(),
                   ranking.back().block.x, ranking.back().block.y, ranking.back().block.z,
                   ranking.back().ns / 1e3);
}

void print_json(const RankedLaunch& launch, const std::vector<RankedBlock>& ranking,
                const analysis::KernelDescription& kernel, bool uncertain) {
    Json list = Json::array();
    for (const RankedBlock& ranked : ranking) {
        Json entry = to_json(ranked.block);
        entry["ns"] = ranked.ns;
        Json metrics = Json::object();
        for (const auto& [metric, value] : metrics_of(launch, ranked.block))
            metrics[std::string(model::name(metric))] = value;
        entry["metrics"] = std::move(metrics);
        list.push_back(std::move(entry));
    }
    fmt::print("{}\n", Json{{"kernel", kernel.demangled},
                            {"device", launch.device->slug},
                            {"data", data_json(kernel, launch.data)},
                            {"model", launch.program->name},
                            {"uncertain", uncertain},
                            {"chosen", to_json(ranking.front().block)},
                            {"ranking", std::move(list)}}
                           .dump(2));
}

// The block that a program's launch gets is what its driver program's search finds, which tries some 60 of up
// to thousands.
void put_first(std::vector<RankedBlock>& ranking, const std::optional<RankedBlock>& choice) {
    if (!choice) return;
    const auto chosen = std::ranges::find_if(ranking, [&](const RankedBlock& one) {
        return one.block.x == choice->block.x && one.block.y == choice->block.y &&
               one.block.z == choice->block.z;
    });
    if (chosen != ranking.end()) std::rotate(ranking.begin(), chosen, chosen + 1);
}

int run(const Options& options) {
    const auto candidates = parse_candidates(options.candidates);
    if (!candidates) return fail(candidates.error());
    auto question = look_up(options.launch);
    if (!question) return fail(question.error());
    const analysis::KernelDescription& kernel = question->description();
    if (const auto complete = require_data(kernel, question->arguments); !complete)
        return fail(complete.error());
    const auto given = analysis::data_values(kernel, question->arguments.bytes, {1, 1, 1});
    const auto extent = extent_of(options, *question, given);
    if (!extent) return fail(extent.error());
    const std::vector<double> data =
        analysis::data_values(kernel, question->arguments.bytes, {extent->x, extent->y, extent->z});

    const Written written = written_launch(kernel, *extent, question->device.values);
    auto limits = analysis::legal_blocks(kernel, question->arguments.bytes, written.grid, written.block,
                                         question->device.values, question->image);
    if (!limits) return refuse(options, *question, data, limits.error());
    limits->max_dynamic_shared_bytes = std::max(
        limits->max_dynamic_shared_bytes, static_cast<std::uint32_t>(options.launch.dynamic_shared_bytes));
    const auto fits = fits_of(question->of(), options.launch.file);
    if (!fits) return fail(fits.error());
    const auto program = model::performance_model(model::default_model);
    if (!program) return fail(program.error());

    const RankedLaunch launch{.program = *program,
                              .device = &question->device,
                              .image = question->image,
                              .fits = *fits,
                              .data = data,
                              .limits = *limits,
                              .dynamic_shared_bytes = options.launch.dynamic_shared_bytes,
                              .annotated = analysis::has_shape_annotations(kernel) ? &kernel : nullptr,
                              .arguments = question->arguments.bytes,
                              .extent = *extent};
    auto ranking = rank(launch, legal_candidates(*limits, *candidates));
    if (ranking.empty())
        return refuse(options, *question, data,
                      launch.annotated == nullptr ? "no block is legal on this device"
                                                  : "its annotation allows no block on this device");
    if (candidates->empty())
        put_first(ranking, driver_choice(launch));
    else
        decide_ties(ranking);
    const bool uncertain = (*fits)->uncertain(data);
    if (options.launch.json)
        print_json(launch, ranking, kernel, uncertain);
    else
        print_text(launch, ranking, kernel, uncertain);
    return code(ExitCode::ok);
}

}  // namespace

void add_select(CLI::App& app, Action& action) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "select", "Choose the block for one launch of a kernel on a GPU, ranking every legal block");
    add_launch_options(*command, options->launch);
    command->add_option(
        "--extent", options->extent,
        "X[,Y[,Z]]: threads of the launch by dimension, grid times block (blocks, where the kernel "
        "loops over the threads of a block); left out, what the kernel's guards compare its "
        "indices with");
    command->add_option("--candidates", options->candidates, "\"bx,by;...\": rank only these blocks");
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trimtab::tools
