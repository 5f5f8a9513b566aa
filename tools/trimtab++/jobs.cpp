// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/jobs.h"

#include <algorithm>
#include <filesystem>

#include "core/base/compilers.h"
#include "core/base/installation.h"
#include "llvm/ADT/StringExtras.h"
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

// -lcudart, -lcudart_static, -l:libcudart.so..., /path/libcudart_static.a, and the driver's -lcuda: what
// Trimtab's runtime stands in for.
bool is_cuda_runtime(const Argument& argument) {
    if (argument.kind == Argument::Kind::library) {
        const llvm::StringRef name(argument.library);
        return name == "cuda" || name == "cudart" || name == "cudadevrt" || name == "cudart_static" ||
               name.starts_with(":libcudart");
    }
    return argument.kind == Argument::Kind::input &&
           (fs::path(argument.tokens.front()).filename().string().starts_with("libcudart") ||
            fs::path(argument.tokens.front()).filename().string().starts_with("libcuda.so"));
}

// NVTX was a library once; toolkits that have it as headers alone leave nothing to link.
bool is_header_only_library(const Argument& argument, const Toolchain& tools) {
    return argument.kind == Argument::Kind::library && argument.library == "nvToolsExt" &&
           fs::exists(tools.cuda + "/include/nvtx3") && !fs::exists(tools.cuda + "/lib64/libnvToolsExt.so");
}

bool names_architecture(const std::string& token) {
    return token.starts_with("--cuda-gpu-arch=") || token.starts_with("--offload-arch=");
}

// clang writes no newer PTX than the toolkits it knows take, and these GPUs came with CUDA 13's.
bool wants_newest_ptx(const std::string& architecture) {
    return architecture.starts_with("sm_88") || architecture.starts_with("sm_110");
}
constexpr const char* newest_ptx = "+ptx90";

// OpenMP where clang has no library for it: the pragmas are left alone, so that the program runs serially,
// with the same results. What it calls (omp_get_num_threads) is GCC's, and _OPENMP says, as GCC does, that
// there is OpenMP.
void append_serial_openmp(Command& command, const std::string& openmp_include) {
    command.insert(command.end(), {"-fopenmp=libgomp", "-D_OPENMP=201511"});
    if (!openmp_include.empty()) command.insert(command.end(), {"-idirafter", openmp_include});
}

// The user's words, with what this machine lacks replaced.
void append_adapted(Command& command, const Argument& argument, const CommandLine& line,
                    const Toolchain& tools, bool compiles_cuda = false) {
    for (const std::string& token : argument.tokens) {
        // Beside -fopenmp, clang would take nvcc's -arch for a device of OpenMP's.
        if (names_architecture(token) && !compiles_cuda && line.nvcc.is_nvcc_style) continue;
        if (names_architecture(token) && line.mode != Mode::other && !line.device_only) {
            const std::size_t value = token.find('=') + 1;
            command.push_back(token.substr(0, value) +
                              supported_architecture(token.substr(value), tools.lowest_architecture));
        } else if (token == "-fopenmp" && !tools.openmp.has_library) {
            append_serial_openmp(command, tools.openmp.gcc_include);
        } else {
            command.push_back(token);
        }
    }
}

// What is an error to clang, and to nvcc and the host compiler under it none. Before the user's options,
// which may turn each on again.
void append_tolerance(Command& command) {
    command.insert(command.end(), {"-Wno-unknown-cuda-version", "-Wno-c++11-narrowing", "-Wno-register",
                                   "-Wno-dynamic-exception-spec", "-Wno-reserved-user-defined-literal",
                                   // X::template f(x), where f's arguments are deduced.
                                   "-Wno-missing-template-arg-list-after-template-kw",
                                   // Loops that are not unrolled as asked, in the toolkit's headers too.
                                   "-Wno-pass-failed"});
}

// Programs for nvcc were tried with g++ under it, which seldom makes use of signed overflow being undefined.
// Before the user's options, as above.
void append_host_tolerance(Command& command, const CommandLine& line, bool compiles_cuda) {
    if (!line.nvcc.is_nvcc_style) return;
    if (compiles_cuda) command.emplace_back("-Xarch_host");
    command.emplace_back("-fwrapv");
}

// What nvcc has and clang has not, read before what the user includes by option.
void append_compatibility(Command& command, const Toolchain& tools) {
    command.insert(command.end(),
                   {"-iquote", tools.compatibility + "/quoted", "-include", tools.compatibility + "/nvcc.h"});
}

// nvcc's host compiles find the toolkit's headers.
void append_toolkit_headers(Command& command, const Toolchain& tools) {
    if (!tools.cuda.empty())
        command.insert(command.end(),
                       {"-idirafter", tools.cuda + "/include", "-idirafter", tools.cuda + "/include/cccl"});
}

bool rounds_square_roots(const CommandLine& line) {
    return !line.fast_math && !line.nvcc.fast_math && !line.names_sqrt_precision;
}

// What every CUDA compile gets. CUDA 13 keeps CCCL's headers in a folder of their own that clang does not
// know; clang's default architecture (sm_52) is refused by CUDA 13's ptxas; the PTX is what Trimtab describes
// and the emulator runs.
void append_cuda_options(Command& command, const CommandLine& line, const Toolchain& tools) {
    if (!line.cuda_path) command.push_back("--cuda-path=" + tools.cuda);
    command.insert(command.end(), {"-isystem", tools.compatibility + "/first"});
    command.insert(command.end(), {"-isystem", tools.cuda + "/include/cccl"});
    // nvcc's host compiler has its headers beside it, asked for OpenMP or not.
    if (!tools.openmp.gcc_include.empty())
        command.insert(command.end(), {"-idirafter", tools.openmp.gcc_include});
    command.insert(command.end(), {"-idirafter", tools.compatibility + "/headers"});
    // The functions that kernels call themselves, and not the toolkit's stand-ins for them.
    if (line.relocatable_device_code) command.emplace_back("-D__CUDACC_INTERNAL_NO_STUBS__");
    // <trimtab/annotate.h>
    command.insert(command.end(), {"-idirafter", tools.own_headers});
    // nvcc optimises device code whatever -O says. Without any, code that is debugged stays as clang makes
    // it.
    const bool optimises = line.nvcc.is_nvcc_style || (!line.names_optimization && !line.debug);
    if (optimises && !line.nvcc.device_debug) command.insert(command.end(), {"-Xarch_device", "-O3"});
    // The device's operator new throws nothing: without memory it gives a null pointer, and programs look.
    command.insert(command.end(), {"-Xarch_device", "-fcheck-new"});
    // A warp's other lanes hand on what only its leader has set, as aggregated atomics do. C++ leaves that undefined, and
    // clang would take every lane for the leader; nvcc does not.
    command.insert(command.end(), {"-Xclang", "-no-enable-noundef-analysis"});
    // Kernels move floats as uint4 and the like; nvcc's device compiler takes accesses of two types for accesses that may
    // meet.
    command.insert(command.end(), {"-Xarch_device", "-fno-strict-aliasing"});
    if (!line.names_architecture) command.emplace_back("--cuda-gpu-arch=sm_75");
    if (!line.names_include_ptx) command.emplace_back("--cuda-include-ptx=all");
    if (std::ranges::any_of(architectures(line, tools), wants_newest_ptx))
        command.push_back(std::string("--cuda-feature=") + newest_ptx);
    // nvcc rounds sqrtf correctly by default and clang does not; results should be nvcc's.
    if (rounds_square_roots(line))
        command.insert(command.end(), {"-Xarch_device", "-mllvm=--nvvm-reflect-add=__CUDA_PREC_SQRT=1"});
    // The device link reads bitcode.
    if (line.relocatable_device_code && (line.mode == Mode::object || line.mode == Mode::link) &&
        line.nvcc.output != NvccOutput::cubin && line.nvcc.output != NvccOutput::ptx &&
        line.nvcc.output != NvccOutput::fat_binary)
        command.emplace_back("-foffload-lto");
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

bool calls_cuda(const std::string& path) {
    const std::string extension = fs::path(path).extension().string();
    if (extension != ".o" && extension != ".a" && extension != ".lo" && extension != ".so") return false;
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!buffer) return false;
    const llvm::StringRef content = (*buffer)->getBuffer();
    if (content.contains("__cudaRegisterFatBinary") || content.contains("llvm_offload_entries")) return true;
    // A host source that calls the runtime alone: nvcc links the runtime to whatever it links.
    constexpr auto prefix = llvm::StringLiteral::withInnerNUL("\0cuda");
    for (std::size_t at = content.find(prefix); at != llvm::StringRef::npos;
         at = content.find(prefix, at + 1))
        if (at + prefix.size() < content.size() && llvm::isUpper(content[at + prefix.size()])) return true;
    return false;
}

}  // namespace

Command without_compiled_inputs(const CommandLine& line, const Toolchain& tools) {
    Command command{tools.clangxx};
    append_host_tolerance(command, line, /*compiles_cuda=*/false);
    for (const Argument& argument : line.arguments)
        if (!argument.is_cuda && !argument.is_c) append_adapted(command, argument, line, tools);
    append_toolkit_headers(command, tools);
    command.emplace_back("-Qunused-arguments");
    return command;
}

Command host_compile_command(const CommandLine& line, const Toolchain& tools, std::size_t input,
                             const std::string& object) {
    Command command{tools.clangxx};
    append_host_tolerance(command, line, /*compiles_cuda=*/false);
    const bool is_c = line.arguments[input].is_c;
    for (std::size_t i = 0; i < line.arguments.size(); ++i) {
        const Argument& argument = line.arguments[i];
        if (argument.kind == Argument::Kind::input && i != input) continue;
        if (is_output_option(argument)) continue;
        if (line.mode == Mode::link && is_linker_option(argument)) continue;
        const llvm::StringRef token(argument.tokens.front());
        if (is_c && (token.starts_with("-std=c++") || token.starts_with("-std=gnu++"))) continue;
        if (is_c && i == input) command.insert(command.end(), {"-x", "c"});
        append_adapted(command, argument, line, tools);
    }
    if (line.mode == Mode::link) command.emplace_back("-c");
    append_toolkit_headers(command, tools);
    command.insert(command.end(), {"-Qunused-arguments", "-o", object});
    return command;
}

std::string default_object(const std::string& input, const std::string& extension) {
    return fs::path(input).filename().replace_extension(extension).string();
}

std::vector<std::string> architectures(const CommandLine& line, const Toolchain& tools) {
    std::vector<std::string> names;
    for (const Argument& argument : line.arguments) {
        for (const std::string& token : argument.tokens) {
            if (!names_architecture(token)) continue;
            std::string name =
                supported_architecture(token.substr(token.find('=') + 1), tools.lowest_architecture);
            if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
        }
    }
    if (names.empty()) names.emplace_back("sm_75");
    return names;
}

Command device_command(const CommandLine& line, const Toolchain& tools, std::size_t input,
                       const std::string& architecture, bool assembly, const std::string& output) {
    Command command{tools.clangxx};
    append_tolerance(command);
    append_compatibility(command, tools);
    for (std::size_t i = 0; i < line.arguments.size(); ++i) {
        const Argument& argument = line.arguments[i];
        if (argument.kind == Argument::Kind::input && i != input) continue;
        if (is_output_option(argument) || names_architecture(argument.tokens.front()) ||
            argument.tokens.front() == "-c")
            continue;
        append_adapted(command, argument, line, tools, /*compiles_cuda=*/true);
    }
    append_cuda_options(command, line, tools);
    command.push_back("-fpass-plugin=" + tools.plugin);
    command.insert(command.end(),
                   {"--no-cuda-gpu-arch=all", "--cuda-gpu-arch=" + architecture, "--cuda-device-only",
                    assembly ? "-S" : "-c", "-Qunused-arguments", "-o", output});
    return command;
}

Command compile_command(const CommandLine& line, const Toolchain& tools, std::size_t input,
                        const std::string& object) {
    Command command{tools.clangxx};
    append_tolerance(command);
    append_host_tolerance(command, line, /*compiles_cuda=*/true);
    append_compatibility(command, tools);
    for (std::size_t i = 0; i < line.arguments.size(); ++i) {
        const Argument& argument = line.arguments[i];
        if (argument.kind == Argument::Kind::input && i != input) continue;
        if (is_output_option(argument)) continue;
        if (line.mode == Mode::link && is_linker_option(argument)) continue;
        append_adapted(command, argument, line, tools, /*compiles_cuda=*/true);
    }
    // Options of the link, such as -L, are unused here and would be warned of.
    if (line.mode == Mode::link) command.emplace_back("-c");
    if (line.mode == Mode::link || line.nvcc.is_nvcc_style) command.emplace_back("-Qunused-arguments");
    append_cuda_options(command, line, tools);
    append_instrumentation(command, line, tools);
    append_dependency_options(command, line, line.arguments[input].tokens.front());
    command.insert(command.end(), {"-o", object});
    return command;
}

Command passthrough_command(const CommandLine& line, const Toolchain& tools) {
    Command command{tools.clangxx};
    append_host_tolerance(command, line, line.compiles_cuda());
    if (line.compiles_cuda()) {
        append_tolerance(command);
        append_compatibility(command, tools);
    }
    for (const Argument& argument : line.arguments)
        append_adapted(command, argument, line, tools, line.compiles_cuda());
    if (!line.compiles_cuda()) {
        append_toolkit_headers(command, tools);
        command.emplace_back("-Qunused-arguments");
        return command;
    }
    append_cuda_options(command, line, tools);
    command.push_back("-fpass-plugin=" + tools.plugin);
    command.emplace_back("-Qunused-arguments");
    return command;
}

Command link_command(const CommandLine& line, const Toolchain& tools,
                     const std::map<std::size_t, std::string>& objects, const std::string& device_object) {
    Command command{tools.clangxx};
    append_host_tolerance(command, line, /*compiles_cuda=*/false);
    // By its file's name: CMake reads -l of verbose links, and would have other compilers link it, without the run path.
    const Command runtime = {"-L" + tools.runtime_dir, "-l:libtrimtab.so", "-Wl,-rpath," + tools.runtime_dir};
    bool runtime_placed = false;
    std::string language;  // what -x has said so far
    for (std::size_t i = 0; i < line.arguments.size(); ++i) {
        const Argument& argument = line.arguments[i];
        if (is_cuda_runtime(argument) && !line.static_link) {
            if (!runtime_placed) append(command, runtime);
            runtime_placed = true;
            continue;
        }
        if (argument.kind == Argument::Kind::language || is_header_only_library(argument, tools)) continue;
        // Trimtab's device link stands in for clang's.
        if (!device_object.empty() && argument.tokens.front() == "-fgpu-rdc") continue;
        const auto object = objects.find(i);
        if (argument.kind == Argument::Kind::input) {
            // An object that stands for a CUDA source is not to be read as one.
            const std::string wanted = object == objects.end() ? argument.language : std::string{};
            if (wanted != language) command.insert(command.end(), {"-x", wanted.empty() ? "none" : wanted});
            language = wanted;
        }
        if (object == objects.end())
            append_adapted(command, argument, line, tools);
        else
            command.push_back(object->second);
    }
    if (device_object == clangs_device_link)
        command.insert(command.end(), {"--offload-link", "--cuda-path=" + tools.cuda});
    else if (!device_object.empty())
        command.insert(command.end(), {"-x", "none", device_object});
    // Where nvcc finds the toolkit's libraries; its device runtime is part of Trimtab's.
    if (!tools.cuda.empty())
        command.insert(command.end(), {"-L" + tools.cuda + "/lib64", "-L" + tools.cuda + "/lib64/stubs"});
    // After every object, so that --as-needed keeps it; once more where a runtime was named before an object
    // that needs it.
    const bool wants_runtime = links_cuda(line) || line.nvcc.is_nvcc_style;
    if (wants_runtime && !line.relocatable && !line.static_link) append(command, runtime);
    command.emplace_back("-Qunused-arguments");
    return command;
}

Command device_code_generation_command(const CommandLine& line, const Toolchain& tools,
                                       const std::string& architecture, const std::string& bitcode,
                                       const std::string& ptx) {
    Command command{tools.clang,
                    "--target=nvptx64-nvidia-cuda",
                    "-march=" + architecture,
                    "--cuda-path=" + tools.cuda,
                    "-Wno-unknown-cuda-version",
                    "-x",
                    "ir",
                    "-S",
                    line.nvcc.device_debug ? "-O0" : "-O3",
                    "-fpass-plugin=" + tools.plugin,
                    bitcode,
                    "-o",
                    ptx};
    if (wants_newest_ptx(architecture))
        command.insert(command.end(), {"-Xclang", "-target-feature", "-Xclang", newest_ptx});
    if (rounds_square_roots(line))
        command.insert(command.end(), {"-mllvm", "--nvvm-reflect-add=__CUDA_PREC_SQRT=1"});
    for (std::size_t i = 0; i + 1 < line.arguments.size(); ++i) {
        const Argument& argument = line.arguments[i];
        // -Xarch_device -mllvm=...: what --use_fast_math and the like became.
        if (argument.tokens.size() > 1 && argument.tokens.front() == "-Xarch_device" &&
            argument.tokens[1].starts_with("-mllvm="))
            command.insert(command.end(), {"-mllvm", argument.tokens[1].substr(7)});
    }
    return command;
}

Command assemble_command(const CommandLine& line, const Toolchain& tools, const std::string& architecture,
                         const std::string& ptx, bool is_debugged, const std::string& cubin) {
    Command command{tools.cuda + "/bin/ptxas", "-m64", "-arch=" + architecture, is_debugged ? "-O0" : "-O3"};
    if (is_debugged) command.emplace_back("-g");
    for (const Argument& argument : line.arguments)
        if (argument.tokens.size() > 1 && argument.tokens.front() == "-Xcuda-ptxas")
            command.push_back(argument.tokens[1]);
    command.insert(command.end(), {ptx, "-o", cubin});
    return command;
}

Command library_command(const CommandLine& line, const Toolchain& /*tools*/,
                        const std::map<std::size_t, std::string>& objects) {
    const auto archiver = base::find_program("ar");
    Command command{archiver ? *archiver : "ar", "rcs", line.output.empty() ? "a.a" : line.output};
    for (std::size_t i = 0; i < line.arguments.size(); ++i) {
        const auto object = objects.find(i);
        if (object != objects.end())
            command.push_back(object->second);
        else if (line.arguments[i].kind == Argument::Kind::input)
            append(command, line.arguments[i].tokens);
    }
    return command;
}

bool is_host_source(const Argument& argument) {
    if (argument.kind != Argument::Kind::input || argument.is_cuda) return false;
    const fs::path extension = fs::path(argument.tokens.front()).extension();
    return extension == ".cpp" || extension == ".cc" || extension == ".cxx" || extension == ".c" ||
           extension == ".C" || argument.language == "c++" || argument.language == "c";
}

bool is_for_clang_alone(const CommandLine& line) {
    return !line.nvcc.is_nvcc_style &&
           std::ranges::none_of(line.arguments, [](const Argument& argument) { return argument.is_c; });
}

Command completed_for_host(const CommandLine& line, const Command& plain) {
    if (line.mode == Mode::information) return plain;
    Command command;
    const OpenMp openmp = find_openmp();
    for (const std::string& token : plain) {
        if (token == "-fopenmp" && !openmp.has_library)
            append_serial_openmp(command, openmp.gcc_include);
        else
            command.push_back(token);
    }
    if (std::ranges::none_of(line.arguments, is_host_source)) return command;
    if (const std::string cuda = line.cuda_path ? *line.cuda_path : base::find_cuda(); !cuda.empty())
        command.insert(command.end(), {"-idirafter", cuda + "/include"});
    return command;
}

std::string output_of(const CommandLine& line, const std::string& input, const std::string& extension) {
    if (!line.output.empty()) return line.output;
    return (fs::path(line.nvcc.output_folder) / default_object(input, extension)).string();
}

bool links_cuda(const CommandLine& line) {
    return std::ranges::any_of(line.arguments, [](const Argument& argument) {
        return argument.is_cuda || is_cuda_runtime(argument) ||
               (argument.kind == Argument::Kind::input && calls_cuda(argument.tokens.front()));
    });
}

}  // namespace trimtab::wrapper
