// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/command_line.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "clang/Options/Options.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/StringSaver.h"
#include "tools/trimtab++/own_options.h"

namespace trimtab::wrapper {
namespace {

namespace options = clang::options;

Mode mode_of(const llvm::opt::InputArgList& arguments) {
    for (unsigned id :
         {options::OPT_help, options::OPT__HASH_HASH_HASH, options::OPT__version, options::OPT_v}) {
        if (!arguments.hasArg(id)) continue;
        // -v alone asks for the version; with inputs it only makes the compile talk.
        if (id != options::OPT_v || !arguments.hasArg(options::OPT_INPUT)) return Mode::information;
    }
    for (const llvm::opt::Arg* argument : arguments) {
        if (llvm::StringRef(argument->getSpelling()).starts_with("-print-") ||
            llvm::StringRef(argument->getSpelling()).starts_with("--print-") ||
            argument->getSpelling() == "-dumpversion" || argument->getSpelling() == "-dumpmachine")
            return Mode::information;
    }
    if (arguments.hasArg(options::OPT_E, options::OPT_M, options::OPT_MM, options::OPT_S,
                         options::OPT_fsyntax_only) ||
        arguments.hasArg(options::OPT_emit_llvm, options::OPT_emit_ast, options::OPT__precompile,
                         options::OPT__analyze))
        return Mode::other;
    return arguments.hasArg(options::OPT_c) ? Mode::object : Mode::link;
}

bool is_cuda_file(const std::string& name) {
    const std::filesystem::path extension = std::filesystem::path(name).extension();
    return extension == ".cu";
}

void read_flags(CommandLine& line, const llvm::opt::InputArgList& arguments) {
    line.mode = mode_of(arguments);
    line.asks_version = arguments.hasArg(options::OPT__version);
    line.asks_help = arguments.hasArg(options::OPT_help);
    line.output = arguments.getLastArgValue(options::OPT_o).str();
    line.device_only = arguments.hasArg(options::OPT_offload_device_only);
    line.host_only = arguments.hasArg(options::OPT_offload_host_only);
    line.relocatable_device_code = arguments.hasFlag(options::OPT_fgpu_rdc, options::OPT_fno_gpu_rdc, false);
    line.link_time_optimization =
        arguments.hasFlag(options::OPT_flto, options::OPT_flto_EQ, options::OPT_fno_lto, false);
    if (const llvm::opt::Arg* last = arguments.getLastArg(options::OPT_g_Group))
        line.debug = !last->getOption().matches(options::OPT_g0);
    line.names_architecture = arguments.hasArg(options::OPT_offload_arch_EQ, options::OPT_no_offload_arch_EQ);
    if (arguments.hasArg(options::OPT_cuda_path_EQ))
        line.cuda_path = arguments.getLastArgValue(options::OPT_cuda_path_EQ).str();
    line.names_include_ptx =
        arguments.hasArg(options::OPT_cuda_include_ptx_EQ, options::OPT_no_cuda_include_ptx_EQ);
    line.fast_math = arguments.hasFlag(options::OPT_ffast_math, options::OPT_fno_fast_math, false) ||
                     arguments.hasArg(options::OPT_Ofast);
    line.writes_dependencies = arguments.hasArg(options::OPT_MD, options::OPT_MMD);
    line.names_dependency_file = arguments.hasArg(options::OPT_MF);
    line.names_dependency_target = arguments.hasArg(options::OPT_MT, options::OPT_MQ);
    line.relocatable = arguments.hasArg(options::OPT_r);
    line.static_link = arguments.hasArg(options::OPT_static, options::OPT_static_pie);
    line.names_optimization = arguments.hasArg(options::OPT_O_Group);
    for (const std::string& value : arguments.getAllArgValues(options::OPT_mllvm))
        line.names_sqrt_precision |= value.contains("__CUDA_PREC_SQRT");
}

}  // namespace

bool CommandLine::compiles_cuda() const {
    return std::ranges::any_of(arguments, [](const Argument& argument) { return argument.is_cuda; });
}

std::expected<CommandLine, Error> read_command_line(int argc, char** argv) {
    llvm::BumpPtrAllocator allocator;
    llvm::SmallVector<const char*, 128> tokens(argv + 1, argv + argc);
    llvm::cl::ExpansionContext expansion(allocator, llvm::cl::TokenizeGNUCommandLine);
    if (llvm::Error error = expansion.expandResponseFiles(tokens))
        return std::unexpected(Error{llvm::toString(std::move(error))});

    CommandLine line;
    std::vector<std::string> words;
    const auto own_on_the_line = std::count_if(argv + 1, argv + argc, is_own_option);
    line.is_rewritten = std::ranges::count_if(tokens, is_own_option) != own_on_the_line;
    for (const char* token : tokens) {
        if (!is_own_option(token)) {
            words.emplace_back(token);
        } else if (auto read = read_own_option(line, token); !read) {
            return std::unexpected(read.error());
        }
    }

    auto translated = translate_nvcc_options(words);
    if (!translated) return std::unexpected(translated.error());
    line.is_rewritten |= translated->tokens != words;
    words = std::exchange(translated->tokens, {});
    line.nvcc = std::move(*translated);
    llvm::SmallVector<const char*, 128> for_clang;
    for (const std::string& word : words) for_clang.push_back(word.c_str());

    unsigned missing_index = 0;
    unsigned missing_count = 0;
    const llvm::opt::InputArgList parsed = clang::getDriverOptTable().ParseArgs(
        for_clang, missing_index, missing_count, llvm::opt::Visibility(options::ClangOption));
    if (missing_count != 0) {
        return std::unexpected(Error{"argument to '" + std::string(parsed.getArgString(missing_index)) +
                                     "' is missing (expected " + std::to_string(missing_count) + " more)"});
    }
    read_flags(line, parsed);

    // Under nvcc, a C++ standard is not meant for the C sources beside the others.
    const bool names_cplusplus =
        !line.nvcc.is_nvcc_style && parsed.getLastArgValue(options::OPT_std_EQ).contains("++");
    std::string language;
    for (auto it = parsed.begin(); it != parsed.end(); ++it) {
        const llvm::opt::Arg& option = **it;
        const unsigned first = option.getIndex();
        const unsigned end = std::next(it) == parsed.end() ? static_cast<unsigned>(for_clang.size())
                                                           : (*std::next(it))->getIndex();
        Argument argument;
        argument.tokens.assign(for_clang.begin() + first, for_clang.begin() + std::max(end, first));
        if (option.getOption().matches(options::OPT_x)) {
            argument.kind = Argument::Kind::language;
            language = option.getValue();
            if (language == "none") language.clear();
        } else if (option.getOption().getKind() == llvm::opt::Option::InputClass) {
            argument.kind = Argument::Kind::input;
            argument.language = language;
            argument.is_c = language.empty() && argument.tokens.front().ends_with(".c") && !names_cplusplus;
            argument.is_cuda = language.empty() ? is_cuda_file(argument.tokens.front()) : language == "cuda";
        } else if (option.getOption().matches(options::OPT_l)) {
            argument.kind = Argument::Kind::library;
            argument.library = option.getValue();
        }
        // A token that belongs to the option before (two options may share one token): nothing of its own.
        if (!argument.tokens.empty()) line.arguments.push_back(std::move(argument));
    }
    return line;
}

std::vector<std::string> without_own_options(const CommandLine& line, int argc, char** argv) {
    std::vector<std::string> kept{argv[0]};
    if (line.is_rewritten) {
        for (const Argument& argument : line.arguments)
            kept.insert(kept.end(), argument.tokens.begin(), argument.tokens.end());
        return kept;
    }
    for (const char* token : std::span(argv, static_cast<std::size_t>(argc)).subspan(1))
        if (!is_own_option(token)) kept.emplace_back(token);
    return kept;
}

}  // namespace trimtab::wrapper
