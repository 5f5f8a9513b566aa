#include "tools/trimtab++/jobs.h"

#include <algorithm>
#include <filesystem>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

namespace trimtab::wrapper {
namespace {

namespace fs = std::filesystem;

bool is_output_option(const Argument& argument) {
    return argument.kind == Argument::Kind::option &&
           llvm::StringRef(argument.tokens.front()).starts_with("-o") &&
           (argument.tokens.front() == "-o" || argument.tokens.size() == 1) &&
           argument.tokens.front() != "-object";
}

bool is_linker_option(const Argument& argument) {
    const llvm::StringRef token(argument.tokens.front());
    return argument.kind == Argument::Kind::library || token.starts_with("-Wl,") || token == "-Xlinker";
}

void append(Command& command, const std::vector<std::string>& tokens) {
    command.insert(command.end(), tokens.begin(), tokens.end());
}

// -lcudart, -lcudart_static, -l:libcudart.so..., /path/libcudart_static.a: the runtime that Trimtab's stands
// in for.
bool is_cuda_runtime(const Argument& argument) {
    if (argument.kind == Argument::Kind::library) {
        const llvm::StringRef name(argument.library);
        return name == "cudart" || name == "cudart_static" || name.starts_with(":libcudart");
    }
    return argument.kind == Argument::Kind::input &&
           fs::path(argument.tokens.front()).filename().string().starts_with("libcudart");
}

// What every CUDA compile gets. CUDA 13 keeps CCCL's headers in a folder of their own that clang does not
// know; clang's default architecture (sm_52) is refused by CUDA 13's ptxas; the PTX is what Trimtab describes
// and the emulator runs.
void append_cuda_options(Command& command, const CommandLine& line, const Toolchain& tools) {
    if (!line.names_cuda_path) command.push_back("--cuda-path=" + tools.cuda);
    command.emplace_back("-Wno-unknown-cuda-version");
    command.insert(command.end(), {"-isystem", tools.cuda + "/include/cccl"});
    if (!line.names_architecture) command.emplace_back("--cuda-gpu-arch=sm_75");
    if (!line.names_include_ptx) command.emplace_back("--cuda-include-ptx=all");
    // nvcc rounds sqrtf correctly by default and clang does not; results should be nvcc's.
    if (!line.fast_math && !line.names_sqrt_precision)
        command.insert(command.end(), {"-Xarch_device", "-mllvm=--nvvm-reflect-add=__CUDA_PREC_SQRT=1"});
}

// Lines and parameter names for the descriptions; the plugin reads them off the device module.
void append_instrumentation(Command& command, const CommandLine& line, const Toolchain& tools) {
    command.push_back("-fpass-plugin=" + tools.plugin);
    command.emplace_back("-fno-discard-value-names");
    // Relative to the folder of the build: the same sources give the same fat binary wherever they lie.
    if (!line.debug) {
        command.insert(command.end(),
                       {"-Xarch_device", "-gline-tables-only", "-Xarch_device", "-fdebug-compilation-dir=."});
    }
}

// One step with -MD writes the rules that clang would: named after -o or the input, for the input's object.
void append_dependency_options(Command& command, const CommandLine& line, const std::string& input) {
    if (!line.writes_dependencies || line.mode != Mode::link) return;
    const std::string stem = fs::path(line.output.empty() ? fs::path(input).filename().string() : line.output)
                                 .replace_extension()
                                 .string();
    if (!line.names_dependency_file) command.insert(command.end(), {"-MF", stem + ".d"});
    if (!line.names_dependency_target) command.insert(command.end(), {"-MT", default_object(input)});
}

bool holds_fat_binary(const std::string& path) {
    const std::string extension = fs::path(path).extension().string();
    if (extension != ".o" && extension != ".a" && extension != ".lo" && extension != ".so") return false;
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    return buffer && (*buffer)->getBuffer().contains("__cudaRegisterFatBinary");
}

}  // namespace

Command without_cuda_inputs(const CommandLine& line, const Toolchain& tools) {
    Command command{tools.clangxx};
    for (const Argument& argument : line.arguments)
        if (!argument.is_cuda) append(command, argument.tokens);
    command.emplace_back("-Qunused-arguments");
    return command;
}

std::string default_object(const std::string& input) {
    return fs::path(input).filename().replace_extension(".o").string();
}

Command compile_command(const CommandLine& line, const Toolchain& tools, std::size_t input,
                        const std::string& object) {
    Command command{tools.clangxx};
    for (std::size_t i = 0; i < line.arguments.size(); ++i) {
        const Argument& argument = line.arguments[i];
        if (argument.kind == Argument::Kind::input && i != input) continue;
        if (is_output_option(argument)) continue;
        if (line.mode == Mode::link && is_linker_option(argument)) continue;
        append(command, argument.tokens);
    }
    // Options of the link, such as -L, are unused here and would be warned of.
    if (line.mode == Mode::link) command.insert(command.end(), {"-c", "-Qunused-arguments"});
    append_cuda_options(command, line, tools);
    append_instrumentation(command, line, tools);
    append_dependency_options(command, line, line.arguments[input].tokens.front());
    command.insert(command.end(), {"-o", object});
    return command;
}

Command passthrough_command(const CommandLine& line, const Toolchain& tools) {
    Command command{tools.clangxx};
    for (const Argument& argument : line.arguments) append(command, argument.tokens);
    append_cuda_options(command, line, tools);
    // The plugin reaches host assembly too; code for one device alone has no launches to route.
    if (!line.device_only) command.push_back("-fpass-plugin=" + tools.plugin);
    command.emplace_back("-Qunused-arguments");
    return command;
}

Command link_command(const CommandLine& line, const Toolchain& tools,
                     const std::map<std::size_t, std::string>& objects) {
    Command command{tools.clangxx};
    const Command runtime = {"-L" + tools.runtime_dir, "-ltrimtab", "-Wl,-rpath," + tools.runtime_dir};
    bool runtime_placed = false;
    std::string language;  // what -x has said so far
    for (std::size_t i = 0; i < line.arguments.size(); ++i) {
        const Argument& argument = line.arguments[i];
        if (is_cuda_runtime(argument) && !line.static_link) {
            if (!runtime_placed) append(command, runtime);
            runtime_placed = true;
            continue;
        }
        if (argument.kind == Argument::Kind::language) continue;
        const auto object = objects.find(i);
        if (argument.kind == Argument::Kind::input) {
            // An object that stands for a CUDA source is not to be read as one.
            const std::string wanted = object == objects.end() ? argument.language : std::string{};
            if (wanted != language) command.insert(command.end(), {"-x", wanted.empty() ? "none" : wanted});
            language = wanted;
        }
        if (object == objects.end())
            append(command, argument.tokens);
        else
            command.push_back(object->second);
    }
    // After every object, so that --as-needed keeps it; once more where a runtime was named before an object
    // that needs it.
    if (!line.relocatable && !line.static_link) append(command, runtime);
    command.emplace_back("-Qunused-arguments");
    return command;
}

bool links_cuda(const CommandLine& line) {
    return std::ranges::any_of(line.arguments, [](const Argument& argument) {
        return argument.is_cuda || is_cuda_runtime(argument) ||
               (argument.kind == Argument::Kind::input && holds_fat_binary(argument.tokens.front()));
    });
}

}  // namespace trimtab::wrapper
