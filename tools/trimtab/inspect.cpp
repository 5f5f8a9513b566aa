// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab inspect: what Trimtab knows about the kernels of a binary, and why it leaves one alone.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/analysis/launches/built_in_blocks.h"
#include "core/base/installation.h"
#include "core/base/process.h"
#include "core/base/read_text.h"
#include "core/base/temporary_folder.h"
#include "core/model/device.h"
#include "core/model/performance_model.h"
#include "core/sass/assemble.h"
#include "tools/trimtab/code_report.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/flowchart.h"
#include "tools/trimtab/flowchart_pages.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/inspect_text.h"
#include "tools/trimtab/kernel_file.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

struct InspectOptions {
    std::string binary, kernel, output, device{model::default_device};
    bool driver = false, flowchart = false, dot = false, profile = false, sass = false, json = false;
};

Json to_json(const FileKernel& kernel) {
    Json json = {{"input", kernel.input}, {"description", analysis::to_json(kernel.record.description)}};
    if (kernel.record.profile) json["profile"] = profiler::to_json(*kernel.record.profile);
    if (kernel.record.fits) {
        json["fits"] = driver_gen::to_json(*kernel.record.fits);
        const model::RationalProgram& program = *kernel.record.model.program;
        json["model"] = program.name;
        json["model_version"] = program.version;
        json["irrational_operations"] = program.irrational_operations();
    }
    if (!kernel.record.driver_source.empty()) json["driver_source"] = kernel.record.driver_source;
    if (!kernel.record.no_driver.empty()) json["no_driver"] = kernel.record.no_driver;
    return json;
}

// To --output, else stdout.
int write_out(const InspectOptions& options, const std::string& text) {
    if (options.output.empty()) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return code(ExitCode::ok);
    }
    std::ofstream file(options.output, std::ios::binary);
    if (!(file << text) || !file.flush())
        return fail(Error{.message = "cannot be written", .file = options.output});
    return code(ExitCode::ok);
}

int draw(const InspectOptions& options, const FileKernel* kernel) {
    const model::ChosenModel model = kernel != nullptr ? kernel->record.model : model::ChosenModel();
    std::string title = fmt::format("{} {}", model.program->name, model.program->version);
    MetricText metric_text;
    if (kernel != nullptr) {
        title = kernel->record.description.demangled + ": " + title;
        if (const auto& fits = kernel->record.fits)
            metric_text = [&fits](model::Metric metric) { return driver_gen::to_text(*fits, metric); };
    }
    const std::string dot = to_dot(*model.program, title, metric_text);
    if (options.dot) return write_out(options, dot);

    const auto graphviz = base::find_program("dot");
    if (!graphviz)
        return fail(ExitCode::bad_input, "Graphviz's dot is not installed; --dot prints its input");
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return fail(folder.error());
    const std::string input = folder->file("flowchart.dot");
    if (options.output.ends_with(".html")) {
        const std::string svg = folder->file("flowchart.svg");
        const auto draw_one = [&](const std::string& one) -> std::expected<std::string, Error> {
            std::ofstream(input) << one;
            if (const auto drawn = base::run_to_success({.words = {*graphviz, "-Tsvg", input, "-o", svg}});
                !drawn)
                return std::unexpected(drawn.error());
            return base::read_text(svg);
        };
        const auto pages = flowchart_pages(*model.program, title, metric_text, draw_one);
        return pages ? write_out(options, *pages) : fail(pages.error());
    }
    std::ofstream(input) << dot;
    std::vector<std::string> command{*graphviz, "-Tsvg", input};
    if (!options.output.empty()) command.insert(command.end(), {"-o", options.output});
    if (const auto drawn = base::run_to_success({.words = command}); !drawn) return fail(drawn.error());
    return code(ExitCode::ok);
}

std::string driver_text(const std::vector<const FileKernel*>& kernels) {
    std::string out;
    for (const FileKernel* kernel : kernels) out += kernel->record.driver_source;
    return out;
}

// What ptxas makes of each kernel for the device.
int show_code(const InspectOptions& options, const std::vector<const FileKernel*>& kernels) {
    const auto device = model::find_device(options.device);
    if (!device) return fail(device.error());
    const auto capability = static_cast<unsigned>(device->values.compute_capability);
    std::string text;
    Json list = Json::array();
    for (const FileKernel* kernel : kernels) {
        const analysis::KernelDescription& description = kernel->record.description;
        if (kernel->ptx == nullptr || kernel->module == nullptr)
            return fail(ExitCode::no,
                        fmt::format("{}: holds no PTX of {}", options.binary, description.demangled));
        const auto assembly =
            sass::assemble(*kernel->ptx, description.name, capability, sass::default_cache_folder());
        if (!assembly) return fail(ExitCode::no, assembly.error().text());
        text += fmt::format("{}{}\n{}", text.empty() ? "" : "\n", description.demangled,
                            code_text(*assembly, *kernel->module));
        Json json = {{"kernel", description.demangled}};
        json["sass"] = code_json(*assembly, *kernel->module);
        list.push_back(std::move(json));
    }
    if (!options.json) return write_out(options, text);
    const Json json = {{"file", options.binary}, {"device", options.device}, {"kernels", std::move(list)}};
    return write_out(options, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

int run(const InspectOptions& options) {
    auto file = load_kernels(options.binary);
    if (!file) return fail(file.error());
    std::vector<const FileKernel*> kernels;
    if (options.kernel.empty()) {
        for (const FileKernel& kernel : file->kernels) kernels.push_back(&kernel);
    } else {
        const auto found = find_kernel(*file, options.kernel);
        if (!found) return fail(found.error());
        kernels.push_back(&file->kernels[*found]);
    }
    if (kernels.empty()) {
        if (options.json) fmt::print("{}\n", Json{{"file", file->path}, {"kernels", Json::array()}}.dump(2));
        return fail(ExitCode::no, file->path + ": holds no CUDA kernels");
    }
    if (options.flowchart || options.dot) {
        if (kernels.size() > 1)
            return fail(ExitCode::usage, "--flowchart draws one kernel: name it with --kernel");
        return draw(options, kernels.front());
    }
    if (options.sass) return show_code(options, kernels);
    if (options.json) {
        Json list = Json::array();
        for (const FileKernel* kernel : kernels) list.push_back(to_json(*kernel));
        const Json json = {{"file", file->path}, {"instrumented", file->instrumented}, {"kernels", list}};
        return write_out(options, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    }
    if (options.driver) {
        const std::string text = driver_text(kernels);
        if (text.empty())
            return fail(ExitCode::no, file->path + ": no driver program for " +
                                          (options.kernel.empty() ? "any of its kernels" : options.kernel));
        return write_out(options, text);
    }
    std::string out;
    for (const FileKernel* kernel : kernels) {
        if (!options.profile) {
            const auto stands_in = [&](const FileKernel& other) {
                return analysis::has_built_in_block_of(other.record.description, kernel->record.description);
            };
            out += (out.empty() ? "" : "\n") +
                   to_text(*kernel, analysis::keeps_its_block(kernel->record.description) &&
                                        std::ranges::any_of(file->kernels, stands_in));
            continue;
        }
        out += kernel->record.description.demangled + ": ";
        out += kernel->record.profile ? profile_text(*kernel->record.profile) : "no profile\n";
    }
    return write_out(options, out);
}

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
    auto options = std::make_shared<InspectOptions>();
    CLI::App* command = app.add_subcommand("inspect", "Show a file's kernels, and which keep their blocks")
                            ->group(groups::understand);
    command->footer(
        "Shows verdicts and their reasons, data parameters, guards and fitted metrics.\n"
        "Example: trimtab inspect ./program");
    command->add_option("BINARY", options->binary, "Program, library, object, or .ptx")->required();
    command->add_option("--kernel", options->kernel, "Show only this kernel, by demangled or mangled name");
    auto* driver = command->add_flag("--driver", options->driver, "Print the generated driver program in C");
    auto* chart = command->add_flag("--flowchart", options->flowchart,
                                    "Draw the program that predicts the time: SVG, or with -o FILE.html");
    auto* dot = command->add_flag("--dot", options->dot, "Draw it in Graphviz's language");
    auto* profile = command->add_flag("--profile", options->profile, "Print the measured points");
    auto* json = command->add_flag("--json", options->json, "Print everything as JSON");
    for (auto* one : {chart, dot, profile, json}) driver->excludes(one);
    for (auto* one : {profile, json}) {
        chart->excludes(one);
        dot->excludes(one);
    }
    profile->excludes(json);
    auto* sass = command->add_flag("--sass", options->sass,
                                   "Print what ptxas makes of each kernel: size, mix, spills, loops");
    for (auto* one : {driver, chart, dot, profile}) sass->excludes(one);
    command->add_option("--device", options->device, "Show --sass for this GPU")->capture_default_str();
    command->add_option("-o,--output", options->output, "Write to this file instead of stdout");
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trimtab::tools
