// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/front_end/front_end.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "core/base/compilers.h"
#include "core/base/installation.h"
#include "core/base/process.h"
#include "core/base/read_text.h"
#include "core/base/temporary_folder.h"
#include "emulation/opencl/front_end/build_options.h"
#include "emulation/opencl/front_end/ir_text.h"
#include "emulation/opencl/front_end/kept_programs.h"
#include "opencl_hash.h"

namespace trimtab::opencl {
namespace {

namespace fs = std::filesystem;
using Kind = CompileFailure::Kind;

std::unexpected<CompileFailure> failure(Kind kind, std::string log) {
    return std::unexpected(CompileFailure{.kind = kind, .log = std::move(log)});
}

// In the order in which they are linked: what an earlier one defines is not taken from a later one.
std::expected<std::vector<std::string>, CompileFailure> libraries(const Compilers& compilers,
                                                                  const CompileRequest& request) {
    std::vector<std::string> out;
    const std::string builtins =
        fmt::format("builtins-{}{}.bc", request.work_dimensions, request.has_offset ? "-offset" : "");
    for (const char* name : {builtins.c_str(), "images.bc", "device.bc", "libclc.bc"}) {
        const auto found = base::find_own_library(fmt::format("trimtab-opencl/{}", name));
        if (!found)
            return failure(Kind::installation,
                           fmt::format("{} is not installed: Trimtab was built without libclc "
                                       "(scripts/setup.sh fetches it)",
                                       name));
        out.push_back(*found);
    }
    std::error_code ignored;
    if (!fs::exists(compilers.libdevice, ignored))
        return failure(Kind::installation, fmt::format("no libdevice at '{}'", compilers.libdevice));
    out.push_back(compilers.libdevice);
    return out;
}

// Which file it is, and as of when.
std::string identity(const std::string& path) {
    std::error_code ignored;
    const fs::path real = fs::canonical(path, ignored);
    return fmt::format("{} {} {}", real.string(), fs::file_size(real, ignored),
                       fs::last_write_time(real, ignored).time_since_epoch().count());
}

std::string key_of(const Compilers& compilers, const CompileRequest& request,
                   const std::vector<std::string>& options, const std::vector<std::string>& linked) {
    std::string key = fmt::format("{}\n{}\n{}\n{}\n{}\n", TRIMTAB_OPENCL_HASH, identity(compilers.clang),
                                  request.architecture, request.file, request.is_part ? "part" : "whole") +
                      (request.keeps_accesses ? "accesses\n" : "");
    for (const std::string& library : linked) key.append(identity(library)).append("\n");
    for (const std::string& option : options)
        fmt::format_to(std::back_inserter(key), "{}:{}\n", option.size(), option);
    return key.append("\n").append(request.source);
}

std::string read_whole(const std::string& path) {
    return base::read_text(path).value_or("");
}

bool write_file(const std::string& path, std::string_view text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    return file.flush().good();
}

// The source under its own name, wherever it lies meanwhile.
std::string named_source(const CompileRequest& request) {
    std::string name;
    for (const char c : request.file) {
        if (c == '"' || c == '\\') name += '\\';
        name += c == '\n' ? ' ' : c;
    }
    return fmt::format("#line 1 \"{}\"\n{}\n", name, request.source);
}

// One program on its way, in a folder of its own.
class Compilation {
  public:
    Compilation(const Compilers& compilers, const CompileRequest& request, base::TemporaryFolder folder)
        : compilers_(&compilers), request_(&request), folder_(std::move(folder)) {}

    std::expected<CompiledProgram, CompileFailure> run(const std::vector<std::string>& options,
                                                       const std::vector<std::string>& linked) {
        if (!write_file(source_, named_source(*request_)))
            return failure(Kind::installation, fmt::format("{}: cannot be written", source_));
        CompiledProgram program;
        if (auto written = write_headers(); !written) return std::unexpected(written.error());
        if (auto made = make_ir(options, linked, program.log); !made) return std::unexpected(made.error());
        if (request_->keeps_accesses)
            if (auto kept = optimise_with_accesses(program.log); !kept) return std::unexpected(kept.error());
        program.ir = read_whole(ir_);
        remove_uncalled_twins(program.ir);
        auto kernels = read_kernels(program.ir);
        if (!kernels) return failure(Kind::program, kernels.error());
        program.kernels = std::move(*kernels);
        if (!write_file(ir_, program.ir))
            return failure(Kind::installation, fmt::format("{}: cannot be written", ir_));
        if (auto made = make_ptx(program.log); !made) return std::unexpected(made.error());
        program.ptx = read_whole(ptx_);
        if (request_->keeps_accesses) make_accesses_plain(program.ptx);
        name_parameters(program.ptx, program.kernels);
        program.asks_dimensions = asks_dimensions();
        if (const auto undefined = undefined_functions(program.ptx); !request_->is_part && !undefined.empty())
            return failure(Kind::program,
                           fmt::format("{}{}: error: undefined function{}: {}\n", program.log, request_->file,
                                       undefined.size() > 1 ? "s" : "", fmt::join(undefined, ", ")));
        return program;
    }

    // Files that are not part of the request.
    [[nodiscard]] bool reads_others() const {
        const auto files = included();
        return !files || !files->empty();
    }

    [[nodiscard]] bool asks_dimensions() const {
        const auto files = included();
        if (asks(request_->source) || !files) return true;
        return std::ranges::any_of(*files, [](const std::string& file) {
            const auto text = base::read_text(file);
            return !text || asks(*text);
        });
    }

    // Where the word does not stand, nothing asks.
    static bool asks(std::string_view text) { return text.contains("get_work_dim"); }

  private:
    // As the compiler lists them for make: blanks between them, "\\" before a blank of a name and before the end of a line.
    [[nodiscard]] std::optional<std::vector<std::string>> included() const {
        const std::string dependencies = read_whole(dependencies_);
        constexpr std::string_view own = "source.cl";
        const std::size_t at = dependencies.find(own);
        if (at == std::string::npos) return std::nullopt;
        std::vector<std::string> files(1);
        for (std::size_t i = at + own.size(); i < dependencies.size(); ++i) {
            const std::string_view rest = std::string_view(dependencies).substr(i);
            if (rest.starts_with("\\ ") || rest.starts_with("$$") || rest.starts_with("\\#"))
                files.back() += dependencies[++i];
            else if (rest.starts_with("\\\n"))
                ++i;
            else if (rest[0] != ' ' && rest[0] != '\n')
                files.back() += rest[0];
            else if (!files.back().empty())
                files.emplace_back();
        }
        if (files.back().empty()) files.pop_back();
        return files;
    }

    [[nodiscard]] std::vector<std::string> command() const {
        return {compilers_->clang, "--target=nvptx64--nvidiacl", "-march=" + request_->architecture, "-O3",
                "-S"};
    }

    std::expected<void, CompileFailure> run_clang(std::vector<std::string> words, std::string& log) {
        const auto outcome = base::run({.words = std::move(words)}, base::Capture::messages);
        if (!outcome) return failure(Kind::installation, outcome.error().text());
        log += outcome->captured;
        if (outcome->is_success()) return {};
        if (log.empty()) log = fmt::format("{} {}", compilers_->clang, outcome->text());
        return failure(Kind::program, log);
    }

    std::expected<void, CompileFailure> write_headers() {
        for (const auto& [name, text] : request_->headers) {
            const fs::path path = fs::path(name).lexically_normal();
            if (path.empty() || path.is_absolute() || *path.begin() == "..")
                return failure(Kind::options, fmt::format("a header named '{}'", name));
            const fs::path file = fs::path(headers_) / path;
            std::error_code ignored;
            fs::create_directories(file.parent_path(), ignored);
            if (!write_file(file, text))
                return failure(Kind::installation, fmt::format("{}: cannot be written", file.string()));
        }
        return {};
    }

    std::expected<void, CompileFailure> make_ir(const std::vector<std::string>& options,
                                                const std::vector<std::string>& linked, std::string& log) {
        std::vector<std::string> words = command();
        // The order of the last two: in the other one clang asks ptxas for code to be debugged. core/ptx/ reads DWARF 2's
        // line tables. What is inlined is proved about: libclc's functions and clang's twins ask not to be. What clang takes
        // for undefined, as numbers moved as others are, GPUs' compilers let be.
        for (const char* word :
             {"-emit-llvm", "-cl-std=CL1.2", "-cl-kernel-arg-info", "-Xclang", "-finclude-default-header",
              "-Xclang", TRIMTAB_OPENCL_FEATURES, "-fno-strict-aliasing", "-Xclang",
              "-no-enable-noundef-analysis", "-fgnu-keywords", "-mllvm", "-force-remove-attribute=noinline",
              "-fno-color-diagnostics", "-MMD", "-gdwarf-2", "-gline-directives-only"})
            words.emplace_back(word);
        words.insert(words.end(), {"-MF", dependencies_});
        // What GPUs' compilers warn of, this one's newer clang takes for errors.
        if (std::ranges::find(options, "-Werror") == options.end())
            words.insert(words.end(), {"-Wno-error=incompatible-pointer-types", "-Wno-error=int-conversion"});
        for (const std::string& library : linked)
            words.insert(words.end(), {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", library});
        if (request_->keeps_accesses) words.insert(words.end(), {"-Xclang", "-disable-llvm-passes"});
        if (!request_->headers.empty()) words.push_back("-I" + headers_);
        // Macros that the compiler is told of: those of the device.
        for (const std::string_view macro : {"-D__OPENCL_VERSION__=300", "-D__IMAGE_SUPPORT__=1"}) {
            const std::string_view name = macro.substr(0, macro.find('='));
            if (std::ranges::none_of(options, [&](std::string_view option) {
                    return option.starts_with(name) &&
                           (option.size() == name.size() || option[name.size()] == '=');
                }))
                words.emplace_back(macro);
        }
        words.insert(words.end(), options.begin(), options.end());
        words.insert(words.end(), {"-x", "cl", source_, "-o", ir_});
        return run_clang(std::move(words), log);
    }

    // What make_ir() has left as clang writes it at first.
    std::expected<void, CompileFailure> optimise_with_accesses(std::string& log) {
        std::string ir = read_whole(ir_);
        if (!keep_accesses(ir))
            return failure(Kind::program,
                           "it uses generic pointers, volatile memory, or assembly that may be dropped\n");
        if (!write_file(raw_, ir))
            return failure(Kind::installation, fmt::format("{}: cannot be written", raw_));
        std::vector<std::string> words = command();
        words.insert(words.end(), {"-emit-llvm", "-mllvm", "-force-remove-attribute=noinline", "-w", "-x",
                                   "ir", raw_, "-o", ir_});
        return run_clang(std::move(words), log);
    }

    std::expected<void, CompileFailure> make_ptx(std::string& log) {
        std::vector<std::string> words = command();
        words.insert(words.end(), {"-Xclang", "-disable-llvm-passes", "-mllvm", "-nvptx-approx-log2f32", "-x",
                                   "ir", ir_, "-o", ptx_});
        return run_clang(std::move(words), log);
    }

    const Compilers* compilers_;
    const CompileRequest* request_;
    base::TemporaryFolder folder_;
    std::string source_ = folder_.file("source.cl"), raw_ = folder_.file("raw.ll"),
                ir_ = folder_.file("program.ll"), ptx_ = folder_.file("program.ptx"),
                dependencies_ = folder_.file("dependencies"), headers_ = folder_.file("headers");
};

}  // namespace

std::expected<Compilers, Error> find_compilers() {
    auto clang = base::find_clangxx();
    if (!clang) return std::unexpected(clang.error());
    return Compilers{.clang = std::move(*clang), .libdevice = base::libdevice_of(base::find_cuda())};
}

std::expected<CompiledProgram, CompileFailure> compile_program(const Compilers& compilers,
                                                               const CompileRequest& request) {
    if (request.work_dimensions < 1 || request.work_dimensions > 3)
        return failure(Kind::options, fmt::format("{} work dimensions: 1 to 3", request.work_dimensions));
    const auto options = clang_options(request.options);
    if (!options) return failure(Kind::options, options.error());
    const auto linked = libraries(compilers, request);
    if (!linked) return std::unexpected(linked.error());
    const std::string key = key_of(compilers, request, *options, *linked);
    if (auto kept = kept_program(key)) {
        kept->asks_dimensions = Compilation::asks(request.source);
        return std::move(*kept);
    }
    auto folder = base::TemporaryFolder::make();
    if (!folder) return failure(Kind::installation, folder.error().text());
    Compilation compilation(compilers, request, std::move(*folder));
    auto program = compilation.run(*options, *linked);
    if (program && !compilation.reads_others()) keep_program(key, *program);
    return program;
}

}  // namespace trimtab::opencl
