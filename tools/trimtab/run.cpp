// trimtab run: a program with its launches chosen for a device, and a report of them.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "model/device.h"
#include "ptx/binary.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/process.h"
#include "tools/trimtab/report_html.h"

namespace trimtab::tools {

namespace {

namespace fs = std::filesystem;

constexpr const char* runtime_library = "libtrimtab.so";

struct Options {
    std::string device, report;
    std::vector<std::string> program;
};

bool section_contains(const std::string& path, const char* section, std::string_view needle) {
    const auto bytes = ptx::read_elf_section(path, section);
    if (!bytes || !*bytes) return false;
    const std::string_view text(reinterpret_cast<const char*>((*bytes)->data()), (*bytes)->size());
    return text.contains(needle);
}

// A CUDA program that was not linked by trimtab++.
bool needs_preload(const std::string& program) {
    if (!ptx::is_elf(program) || section_contains(program, ".dynstr", runtime_library)) return false;
    if (section_contains(program, ".dynstr", "libcuda")) return true;
    const auto fat_binaries = ptx::read_elf_section(program, ".nv_fatbin");
    return fat_binaries && fat_binaries->has_value();
}

// One device or several, "gpu" or a description: a misspelt one would only be warned of by the program.
std::expected<std::string, Error> checked_device(const std::string& text) {
    std::string list;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find(',', start), text.size());
        const std::string name = text.substr(start, end - start);
        start = end + 1;
        std::string use = name;
        if (name != "gpu") {
            const auto device = model::find_device(name);
            if (!device) return std::unexpected(device.error());
            use = name.ends_with(".json") ? fs::absolute(name).string() : device->slug;
        }
        list += (list.empty() ? "" : ",") + use;
    }
    return list;
}

int write_page(const std::string& page_path, const std::string& lines_path,
               const std::vector<std::string>& command) {
    std::ifstream lines(lines_path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(lines), std::istreambuf_iterator<char>()};
    std::ofstream page(page_path, std::ios::binary);
    if (!(page << report_page(text, command)) || !page.flush())
        return fail(Error{.message = "the report cannot be written", .file = page_path});
    return code(ExitCode::ok);
}

int run(const Options& options) {
    const auto program = find_program(options.program.front());
    if (!program) return fail(Error{.message = "no such program", .file = options.program.front()});
    if (!options.device.empty()) {
        const auto device = checked_device(options.device);
        if (!device) return fail(device.error());
        setenv("TRIMTAB_DEVICE", device->c_str(), 1);
    }
    if (needs_preload(*program)) {
        const auto library = find_own_library(runtime_library);
        if (!library)
            return fail(
                ExitCode::bad_input,
                fmt::format("{} is not installed with trimtab, and the program needs it", runtime_library));
        const char* others = std::getenv("LD_PRELOAD");
        const std::string list = others != nullptr && *others != '\0' ? *library + ":" + others : *library;
        setenv("LD_PRELOAD", list.c_str(), 1);
    }
    std::vector<std::string> command = options.program;
    command.front() = *program;
    if (options.report.ends_with(".html")) {
        const TemporaryFolder folder;
        const std::string lines = folder.file("report.jsonl");
        setenv("TRIMTAB_REPORT", lines.c_str(), 1);
        const Outcome outcome = run_program(command, false);
        if (!outcome.started) return fail(Error{.message = "cannot be run", .file = *program});
        const int written = write_page(options.report, lines, options.program);
        return outcome.exit_code != 0 ? outcome.exit_code : written;
    }
    if (!options.report.empty()) setenv("TRIMTAB_REPORT", fs::absolute(options.report).c_str(), 1);
    std::vector<char*> arguments;
    for (std::string& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    execv(program->c_str(), arguments.data());
    return fail(Error{.message = std::strerror(errno), .file = *program});
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "run",
        "Run a CUDA program with its launches chosen: trimtab run --device h100 -- ./program arguments");
    command->add_option(
        "--device", options->device,
        "gpu, or the GPU to emulate: slug, name, or a description in JSON; several with commas");
    command->add_option(
        "--report", options->report,
        "Write what was chosen for every launch: a page (.html), else one JSON object a line");
    command->add_option("PROGRAM", options->program, "After --: the program and its arguments")
        ->required()
        ->expected(-1);
    command->positionals_at_end();
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trimtab::tools
