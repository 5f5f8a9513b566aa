// trimtab++: a clang++ whose CUDA programs choose their own thread blocks.
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tools/trimtab++/command_line.h"
#include "tools/trimtab++/instrument.h"
#include "tools/trimtab++/jobs.h"
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

// One CUDA source: the one device and host compile, then its kernels' driver programs joined to the object.
int compile(const CommandLine& line, const Toolchain& tools, std::size_t input, const std::string& object,
            const TemporaryFolder& folder) {
    const std::string kernel_sources = folder.file("kernels" + std::to_string(input) + ".json");
    if (const int code =
            run(compile_command(line, tools, input, object), {{"TRIMTAB_KERNEL_SOURCES", kernel_sources}});
        code != 0)
        return code;
    // From here on nothing can break the build: an object without drivers is still the user's program.
    instrument(
        {.input = line.arguments[input].tokens.front(), .object = object, .kernel_sources = kernel_sources},
        line, tools, folder);
    return 0;
}

int compile_objects(const CommandLine& line, const Toolchain& tools, const std::vector<std::string>& plain) {
    const TemporaryFolder folder;
    if (!folder.valid()) return fail("no temporary folder can be made");
    std::size_t inputs = 0;
    for (const Argument& argument : line.arguments) inputs += argument.kind == Argument::Kind::input ? 1 : 0;
    // clang's own message for `-c a.cu b.cu -o x.o`.
    if (inputs > 1 && !line.output.empty()) return become(tools.clangxx, plain);

    bool others = false;
    for (std::size_t i = 0; i < line.arguments.size(); ++i) {
        const Argument& argument = line.arguments[i];
        if (argument.kind != Argument::Kind::input) continue;
        others |= !argument.is_cuda;
        if (!argument.is_cuda) continue;
        const std::string object =
            line.output.empty() ? default_object(argument.tokens.front()) : line.output;
        if (const int code = compile(line, tools, i, object, folder); code != 0) return code;
    }
    return others ? run(without_cuda_inputs(line, tools)) : 0;
}

int compile_and_link(const CommandLine& line, const Toolchain& tools) {
    const TemporaryFolder folder;
    if (!folder.valid()) return fail("no temporary folder can be made");
    std::map<std::size_t, std::string> objects;
    for (std::size_t i = 0; i < line.arguments.size(); ++i) {
        if (!line.arguments[i].is_cuda) continue;
        const std::string object =
            folder.file(std::to_string(i) + "-" + default_object(line.arguments[i].tokens.front()));
        if (const int code = compile(line, tools, i, object, folder); code != 0) return code;
        objects[i] = object;
    }
    return run(link_command(line, tools, objects));
}

}  // namespace

int main(int argc, char** argv) {
    const auto line = read_command_line(argc, argv);
    if (!line) {
        std::fprintf(stderr, "trimtab++: error: %s\n", line.error().text().c_str());
        return exit_usage;
    }

    const std::vector<std::string> plain = without_own_options(*line, argc, argv);
    // Without CUDA, this is clang++ to the letter.
    const bool builds = line->mode != Mode::information;
    const bool cuda = line->compiles_cuda() || (line->mode == Mode::link && links_cuda(*line));
    if (!builds || !cuda) {
        const auto clangxx = find_clangxx();
        return clangxx ? become(*clangxx, plain) : lacks(clangxx.error().text());
    }

    const auto tools = find_toolchain(*line);
    if (!tools) return lacks(tools.error().text());
    if (line->mode == Mode::other || line->device_only || line->host_only)
        return run(passthrough_command(*line, *tools));
    if (line->mode == Mode::object) return compile_objects(*line, *tools, plain);
    return compile_and_link(*line, *tools);
}
