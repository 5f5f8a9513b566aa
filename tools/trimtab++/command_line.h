// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab++'s command line, read with clang's own option table, so that what clang++ accepts is accepted and
// nothing else is guessed.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "core/model/chosen_model.h"
#include "tools/trimtab++/nvcc_options.h"
#include "trimtab/error.h"

namespace trimtab::wrapper {

// What the last phase is, as clang's driver decides it.
enum class Mode : std::uint8_t {
    information,  // --help, --version, -###, -print-*: nothing is built
    other,        // -E, -M, -fsyntax-only, -S, -emit-llvm, --precompile ...: clang does it alone
    object,       // -c
    link
};

struct Argument {
    enum class Kind : std::uint8_t { option, language, input, library };  // language: -x
    Kind kind = Kind::option;
    std::vector<std::string> tokens;  // as on the command line
    std::string language;             // inputs: what -x said, empty for "by the name"
    bool is_cuda = false;             // inputs: compiled as CUDA
    bool is_c = false;                // inputs: compiled as C, as every compiler driver but clang++ takes *.c
    std::string library;              // libraries: "cudart" of -lcudart
};

// The device code is compiled for these values of a macro too.
struct MacroVariants {
    std::string name;
    std::vector<std::int32_t> values;
};

struct CommandLine {
    std::vector<Argument> arguments;  // in order, response files expanded, Trimtab's own options taken out
    Mode mode = Mode::link;
    std::string output;  // -o; may be empty
    bool device_only = false, host_only = false, relocatable_device_code = false,
         link_time_optimization = false;
    bool debug = false;  // -g of any kind
    bool names_architecture = false, names_include_ptx = false, fast_math = false;
    bool names_sqrt_precision = false, names_optimization = false;
    bool writes_dependencies = false, names_dependency_file = false, names_dependency_target = false;
    bool relocatable = false, static_link = false;  // -r, -static
    std::optional<std::string> cuda_path;           // --cuda-path

    NvccOptions nvcc;           // its tokens are taken out: they are in `arguments`
    bool is_rewritten = false;  // `arguments` are not the words of the command line

    // Trimtab's own.
    std::string profile = "auto";                       // auto, off, or a folder or database
    std::uint32_t smallest_size = 0, largest_size = 0;  // 0: the plan's own
    bool check = true;                                  // verdicts, by launches on the emulator
    bool precompile = true;                             // the headers that every CUDA source includes first
    std::string keep;                                   // folder for the generated files
    std::string annotations;                            // a file of annotations beside the sources
    model::ChosenModel model;                           // what driver programs predict by
    std::vector<MacroVariants> variants;                // of macros, each named once
    std::vector<std::uint32_t> elements;                // that a thread of a further body works on
    std::vector<std::string> workers;                   // commands, one a worker that profiles
    bool quiet = false;
    std::string documentation;  // the folder for the man page, in the place of a build
    bool asks_version = false, asks_help = false;
    [[nodiscard]] bool compiles_cuda() const;
};

[[nodiscard]] std::expected<CommandLine, Error> read_command_line(int argc, char** argv);

// The command line for clang++ itself, its name first: argv without Trimtab's own options. Response files
// stay as they are, unless they hold such options or anything was nvcc's.
[[nodiscard]] std::vector<std::string> without_own_options(const CommandLine& line, int argc, char** argv);

}  // namespace trimtab::wrapper
