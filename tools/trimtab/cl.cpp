// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab cl: OpenCL C to PTX.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/trimtab/command.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/opencl_file.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

struct ClOptions {
    std::string file, output, ir, architecture = "sm_75";
    std::vector<std::string> definitions, folders, build_options;
    std::uint32_t work_dimensions = 1;
    bool json = false;
};

std::string signature(const opencl::KernelInfo& kernel) {
    std::string text = kernel.name + "(";
    for (const opencl::KernelParameter& parameter : kernel.parameters) {
        if (&parameter != kernel.parameters.data()) text += ", ";
        text.append(parameter.type).append(" ").append(parameter.name);
    }
    text += ")";
    const auto& size = kernel.required_size;
    if (size[0] != 0) text += fmt::format(", work-groups of {} x {} x {}", size[0], size[1], size[2]);
    return text;
}

Json to_json(const opencl::KernelInfo& kernel) {
    Json parameters = Json::array();
    for (const opencl::KernelParameter& parameter : kernel.parameters)
        parameters.push_back({{"name", parameter.name},
                              {"type", parameter.type},
                              {"qualifiers", parameter.qualifiers},
                              {"access", parameter.access}});
    return {{"name", kernel.name},
            {"parameters", std::move(parameters)},
            {"required_size", kernel.required_size},
            {"size_hint", kernel.size_hint}};
}

bool write_text(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    return file.good();
}

int run(const ClOptions& options) {
    std::vector<std::string> words;
    for (const std::string& definition : options.definitions) words.push_back("-D" + definition);
    for (const std::string& folder : options.folders) words.push_back("-I" + folder);
    words.insert(words.end(), options.build_options.begin(), options.build_options.end());
    const auto program =
        compile_opencl_file(options.file, std::move(words), options.architecture, options.work_dimensions);
    if (!program) return fail(program.error());
    const std::string output = options.output.empty()
                                   ? std::filesystem::path(options.file).stem().string() + ".ptx"
                                   : options.output;
    if (!write_text(output, program->ptx)) return fail({.message = "cannot be written", .file = output});
    if (!options.ir.empty() && !write_text(options.ir, program->ir))
        return fail({.message = "cannot be written", .file = options.ir});
    if (options.json) {
        Json kernels = Json::array();
        for (const opencl::KernelInfo& kernel : program->kernels) kernels.push_back(to_json(kernel));
        fmt::print("{}\n",
                   Json{{"file", options.file}, {"ptx", output}, {"kernels", std::move(kernels)}}.dump(2));
    } else {
        for (const opencl::KernelInfo& kernel : program->kernels) fmt::print("{}\n", signature(kernel));
    }
    return code(ExitCode::ok);
}

}  // namespace

void add_cl(CLI::App& app, Action& action) {
    auto options = std::make_shared<ClOptions>();
    CLI::App* command =
        app.add_subcommand("cl", "Compile OpenCL C to PTX, and list its kernels")->group(groups::set_up);
    command->footer(
        "Options of clBuildProgram follow --.\n"
        "Example: trimtab cl kernels.cl -o kernels.ptx");
    command->add_option("FILE", options->file, "OpenCL C source")->required();
    command->add_option("OPTIONS", options->build_options, "Options for clBuildProgram, after --");
    command->add_option("-D", options->definitions, "Define NAME[=VALUE] for the preprocessor")
        ->allow_extra_args(false);
    command->add_option("-I", options->folders, "Search this folder for include files")
        ->allow_extra_args(false);
    command->add_option("-o", options->output, "Write the PTX here (default: FILE's name with .ptx)");
    command->add_option("--ir", options->ir, "Write the LLVM IR too");
    command->add_option("--arch", options->architecture, "Compile for this architecture")
        ->capture_default_str();
    command->add_option("--work-dim", options->work_dimensions, "Let get_work_dim() return this")
        ->check(CLI::Range(1, 3))
        ->capture_default_str();
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trimtab::tools
