// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab++: a clang++ (or nvcc) whose CUDA programs choose their own thread blocks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/analysis/annotations/annotation_file.h"
#include "core/analysis/annotations/annotations.h"
#include "core/base/compilers.h"
#include "tools/trimtab++/command_line.h"
#include "tools/trimtab++/device_code.h"
#include "tools/trimtab++/device_link.h"
#include "tools/trimtab++/instrument.h"
#include "tools/trimtab++/jobs.h"
#include "tools/trimtab++/macro_variants.h"
#include "tools/trimtab++/nvcc_verbose.h"
#include "tools/trimtab++/own_options.h"
#include "tools/trimtab++/process.h"
#include "tools/trimtab++/toolchain.h"

namespace {

using namespace trimtab::wrapper;

constexpr int exit_usage = 2;
constexpr int exit_bad_input = 3;

int fail(const std::string& message) {
    std::fprintf(stderr, "trimtab++: error: %s\n", message.c_str());
    return 1;
}

// Something that a build needs is not there.
int lacks(const std::string& message) {
    fail(message);
    return exit_bad_input;
}

// One CUDA source: the one device and host compile (and the device code again for its variants), then its kernels' driver programs joined to the object.
int compile(const CommandLine& line, const Toolchain& tools, std::size_t input, const std::string& object,
            const TemporaryFolder& folder) {
    const std::string kernel_sources = folder.file("kernels" + std::to_string(input) + ".json");
    Environment environment{{"TRIMTAB_KERNEL_SOURCES", kernel_sources}};
    // Without profiles no launch gets another body.
    if (line.profile != "off" && no_other_bodies(line).empty())
        environment.emplace_back("TRIMTAB_BUILT_IN_BLOCKS", "1");
    // Tools look at these, too.
    if (!line.elements.empty() && no_other_bodies(line).empty())
        environment.emplace_back("TRIMTAB_COARSEN", fmt::format("{}", fmt::join(line.elements, ",")));
    if (const int code = compile_with_variants({line, tools, input, folder}, object, environment); code != 0)
        return code;
    // From here on nothing but a wrong annotation breaks the build: an object without drivers is still the
    // user's program.
    if (instrument({.input = line.arguments[input].tokens.front(),
                    .object = object,
                    .kernel_sources = kernel_sources},
                   line, tools, folder))
        return 0;
    std::remove(object.c_str());
    return 1;
}

// The objects of the sources that clang does not compile while it links: CUDA's and C's, by argument.
using Objects = std::map<std::size_t, std::string>;

int compile_objects(const CommandLine& line, const Toolchain& tools, const std::vector<std::string>& plain) {
    std::size_t inputs = 0;
    for (const Argument& argument : line.arguments) inputs += argument.kind == Argument::Kind::input ? 1 : 0;
    // clang's own message for `-c a.cu b.cu -o x.o`.
    if (inputs > 1 && !line.output.empty()) return become(tools.clangxx, plain);

    const auto folder = TemporaryFolder::make();
    if (!folder) return lacks(folder.error().text());
    bool others = false;
    for (std::size_t i = 0; i < line.arguments.size(); ++i) {
        const Argument& argument = line.arguments[i];
        if (argument.kind != Argument::Kind::input) continue;
        // nvcc's -odir has no word in clang.
        const bool is_ours = argument.is_cuda || argument.is_c || !line.nvcc.output_folder.empty();
        others |= !is_ours;
        if (!is_ours) continue;
        const std::string object = output_of(line, argument.tokens.front(), ".o");
        const int code = argument.is_cuda ? compile(line, tools, i, object, *folder)
                                          : run(host_compile_command(line, tools, i, object));
        if (code != 0) return code;
    }
    return others ? run(without_compiled_inputs(line, tools)) : 0;
}

std::expected<Objects, int> compile_for_link(const CommandLine& line, const Toolchain& tools,
                                             const TemporaryFolder& folder, bool all_sources) {
    Objects objects;
    for (std::size_t i = 0; i < line.arguments.size(); ++i) {
        const Argument& argument = line.arguments[i];
        const bool is_source = argument.is_cuda || argument.is_c || (all_sources && is_host_source(argument));
        if (!is_source) continue;
        const std::string object =
            folder.file(std::to_string(i) + "-" + default_object(argument.tokens.front()));
        const int code = argument.is_cuda ? compile(line, tools, i, object, folder)
                                          : run(host_compile_command(line, tools, i, object));
        if (code != 0) return std::unexpected(code);
        objects[i] = object;
    }
    return objects;
}

int compile_and_link(const CommandLine& line, const Toolchain& tools) {
    const auto folder = TemporaryFolder::make();
    if (!folder) return lacks(folder.error().text());
    const auto objects = compile_for_link(line, tools, *folder, /*all_sources=*/false);
    if (!objects) return objects.error();
    std::string device_object;
    if (wants_device_link(line, *objects)) {
        device_object = folder->file("device_link.o");
        if (const auto linked = device_link(line, tools, *objects, *folder, device_object); !linked) {
            if (trimtab::analysis::is_source_error(linked.error())) return 1;  // said already
            // clang's own device link then: it knows nothing of Trimtab, and may know the code.
            std::fprintf(stderr, "trimtab++: warning: %s: the device link is left to clang\n",
                         linked.error().text().c_str());
            device_object = clangs_device_link;
        }
    }
    return run(link_command(line, tools, *objects, device_object));
}

// nvcc -dlink: an object with the linked device code of the others.
int link_device_code(const CommandLine& line, const Toolchain& tools) {
    const auto folder = TemporaryFolder::make();
    if (!folder) return lacks(folder.error().text());
    const auto objects = compile_for_link(line, tools, *folder, /*all_sources=*/false);
    if (!objects) return objects.error();
    const std::string output = output_of(line, "a_dlink.o", ".o");
    if (const auto linked = device_link(line, tools, *objects, *folder, output); !linked)
        return trimtab::analysis::is_source_error(linked.error()) ? 1 : fail(linked.error().text());
    return 0;
}

// nvcc -lib: a static library of the objects.
int make_library(const CommandLine& line, const Toolchain& tools) {
    const auto folder = TemporaryFolder::make();
    if (!folder) return lacks(folder.error().text());
    const auto objects = compile_for_link(line, tools, *folder, /*all_sources=*/true);
    return objects ? run(library_command(line, tools, *objects)) : objects.error();
}

// nvcc's -V; clang has another.
void spell_out_version(std::span<char*> words) {
    static char version[] = "--version";
    for (char*& word : words)
        if (std::string_view(word) == "-V") word = version;
}

int say_nvcc_version(const CommandLine& line) {
    const auto tools = find_toolchain(line.cuda_path);
    if (!tools) return lacks(tools.error().text());
    std::fputs(nvcc_version_text(toolkit_version(tools->cuda), tools->clangxx).c_str(), stdout);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    // As a build system's launcher of compilers: trimtab++ --trimtab-instead-of COMPILER ITS-ARGUMENTS...
    constexpr int launcher_words = 2;
    const bool is_launcher = argc > launcher_words && std::string_view(argv[1]) == "--trimtab-instead-of";
    // Or under nvcc's name: a link to trimtab++ that is called nvcc.
    const bool as_nvcc = std::filesystem::path(argv[is_launcher ? launcher_words : 0]).filename() == "nvcc";
    if (is_launcher) {
        argv[launcher_words] = argv[0];
        argc -= launcher_words;
        argv += launcher_words;
    }
    if (as_nvcc) spell_out_version({argv + 1, argv + argc});
    auto line = read_command_line(argc, argv);
    if (!line) {
        std::fprintf(stderr, "trimtab++: error: %s\n", line.error().text().c_str());
        return exit_usage;
    }
    line->nvcc.is_nvcc_style |= as_nvcc;
    if (!line->documentation.empty()) {
        const auto written = write_documentation(line->documentation);
        return written ? 0 : lacks(written.error().text());
    }
    if (!line->annotations.empty())
        if (const auto read = trimtab::analysis::read_annotation_file(line->annotations); !read)
            return lacks(read.error().text());
    if (as_nvcc && line->asks_version) return say_nvcc_version(*line);
    if (line->asks_version || line->asks_help) {
        std::fputs((line->asks_version ? version_text() : help_text()).c_str(), stdout);
        std::fflush(stdout);
    }

    if (!line->quiet)
        for (const std::string& note : line->nvcc.notes)
            std::fprintf(stderr, "trimtab++: note: %s\n", note.c_str());

    if (is_verbose(*line)) {
        std::error_code error;
        const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
        if (const auto found = find_toolchain(line->cuda_path); found && !error)
            std::fputs(nvcc_verbose_text(*line, found->cuda, self).c_str(), stderr);
    }

    const std::vector<std::string> plain = without_own_options(*line, argc, argv);
    const bool cuda = line->compiles_cuda() || (line->mode == Mode::link && links_cuda(*line));
    if (line->mode == Mode::information || (!cuda && is_for_clang_alone(*line))) {
        const auto clangxx = trimtab::base::find_clangxx();
        return clangxx ? become(*clangxx, completed_for_host(*line, plain)) : lacks(clangxx.error().text());
    }

    const auto tools = find_toolchain(line->cuda_path);
    if (!tools) return lacks(tools.error().text());
    if (tools->cuda.empty() && line->compiles_cuda())
        return lacks("no CUDA toolkit found: give --cuda-path=, or let scripts/setup.sh install one");
    if (const std::string why =
            line->elements.empty() || !line->compiles_cuda() ? std::string() : no_other_bodies(*line);
        !why.empty())
        std::fprintf(stderr, "trimtab++: warning: --trimtab-coarsen is left out: %s\n", why.c_str());
    if (const std::string why = no_macro_variants(*line); !why.empty())
        std::fprintf(stderr, "trimtab++: warning: --trimtab-variants is left out: %s\n", why.c_str());
    switch (line->nvcc.output) {
        case NvccOutput::as_clang:
            break;
        case NvccOutput::library:
            return make_library(*line, *tools);
        case NvccOutput::device_link:
            return link_device_code(*line, *tools);
        default:
            return make_device_code(*line, *tools);
    }
    if (line->mode == Mode::other || line->device_only || line->host_only)
        return run(passthrough_command(*line, *tools));
    if (line->mode == Mode::object) return compile_objects(*line, *tools, plain);
    return compile_and_link(*line, *tools);
}
