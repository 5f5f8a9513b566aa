// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From `nvcc --help` (CUDA 13.0), and the options of older releases that Makefiles still carry.
#include "tools/trimtab++/nvcc_option_table.h"

#include <algorithm>
#include <vector>

namespace trimtab::wrapper {
namespace {

constexpr auto none = NvccOption::Values::none;
constexpr auto one = NvccOption::Values::one;

const std::vector<NvccOption>& nvcc_options() {
    static const std::vector<NvccOption> table = {
        // Phases.
        {"ptx", "ptx", none, Action::ptx, {}},
        {"cubin", "cubin", none, Action::cubin, {}},
        {"fatbin", "fatbin", none, Action::fat_binary, {}},
        {"device-c", "dc", none, Action::device_compile, {}},
        {"device-w", "dw", none, Action::rename, "-c"},
        {"device-link", "dlink", none, Action::device_link, {}},
        {"lib", "lib", none, Action::library, {}},
        {"link", "link", none, Action::drop, {}},
        {"compile", "", none, Action::rename, "-c", true},
        {"preprocess", "", none, Action::rename, "-E", true},
        {"generate-dependencies", "", none, Action::rename, "-M"},
        {"generate-nonsystem-dependencies", "", none, Action::rename, "-MM"},
        {"generate-dependencies-with-compile", "", none, Action::rename, "-MD"},
        {"generate-nonsystem-dependencies-with-compile", "", none, Action::rename, "-MMD"},
        {"dependency-output", "", one, Action::rename_separate, "-MF"},
        {"dependency-target-name", "", one, Action::rename_separate, "-MT"},
        {"generate-dependency-targets", "", none, Action::rename, "-MP"},
        {"dryrun", "dryrun", none, Action::rename, "-###"},
        {"verbose", "", none, Action::rename, "-v", true},
        // Files and folders.
        {"output-file", "", one, Action::rename_separate, "-o"},
        {"output-directory", "odir", one, Action::output_folder, {}},
        {"pre-include", "", one, Action::rename_separate, "-include"},
        {"library", "", one, Action::rename_joined, "-l"},
        {"define-macro", "", one, Action::rename_joined, "-D", true},
        {"undefine-macro", "", one, Action::rename_joined, "-U", true},
        {"include-path", "", one, Action::rename_joined, "-I"},
        {"system-include", "", one, Action::rename_separate, "-isystem"},
        {"library-path", "", one, Action::rename_joined, "-L"},
        {"options-file", "optf", one, Action::options_file, {}},
        {"compiler-bindir", "ccbin", one, Action::drop, {}},
        {"archiver-binary", "arbin", one, Action::drop, {}},
        {"cudart", "cudart", one, Action::drop, {}},
        {"cudadevrt", "cudadevrt", one, Action::drop, {}},
        {"libdevice-directory", "ldir", one, Action::drop, {}},
        {"target-directory", "target-dir", one, Action::drop, {}},
        {"use-local-env", "use-local-env", none, Action::drop, {}},
        {"allow-unsupported-compiler", "allow-unsupported-compiler", none, Action::drop, {}},
        // The language.
        {"std", "std", one, Action::rename_joined, "-std=", true},
        {"x", "", one, Action::rename_separate, "-x", true},
        {"expt-relaxed-constexpr", "expt-relaxed-constexpr", none, Action::rename,
         "-D__CUDACC_RELAXED_CONSTEXPR__"},
        {"extended-lambda", "extended-lambda", none, Action::rename, "-D__CUDACC_EXTENDED_LAMBDA__"},
        {"expt-extended-lambda", "expt-extended-lambda", none, Action::rename,
         "-D__CUDACC_EXTENDED_LAMBDA__"},
        {"no-exceptions", "noeh", none, Action::rename, "-fno-exceptions"},
        {"no-host-device-initializer-list", "nohdinitlist", none, Action::drop, {}},
        {"no-host-device-move-forward", "nohdmoveforward", none, Action::drop, {}},
        {"static-global-template-stub", "static-global-template-stub", one, Action::drop, {}},
        {"default-stream", "default-stream", one, Action::default_stream, {}},
        {"ftemplate-depth", "", one, Action::rename_joined, "-ftemplate-depth=", true},
        {"ftemplate-backtrace-limit", "", one, Action::rename_joined, "-ftemplate-backtrace-limit=", true},
        {"restrict", "restrict", none, Action::drop, {}},
        // Architectures.
        {"gpu-architecture", "arch", one, Action::architecture, {}},
        {"gpu-code", "code", one, Action::code, {}},
        {"generate-code", "gencode", one, Action::generate_code, {}},
        {"relocatable-device-code", "rdc", one, Action::relocatable, {}},
        {"extensible-whole-program", "ewp", none, Action::rename, "-fgpu-rdc"},
        {"entries", "", one, Action::drop, {}},
        {"machine", "m", one, Action::rename_joined, "-m"},
        // How code is made.
        {"debug", "", none, Action::rename, "-g", true},
        {"device-debug", "G", none, Action::device_debug, {}},
        {"generate-line-info", "lineinfo", none, Action::drop, {}},
        {"source-in-ptx", "src-in-ptx", none, Action::drop, {}},
        {"optimize", "", one, Action::rename_joined, "-O", true},
        {"dopt", "dopt", one, Action::drop, {}},
        {"Ofast-compile", "Ofc", one, Action::drop, {}},
        {"optimization-info", "opt-info", one, Action::drop, {}},
        {"extra-device-vectorization", "extra-device-vectorization", none, Action::drop, {}},
        {"maxrregcount", "maxrregcount", one, Action::registers, {}},
        {"use_fast_math", "use_fast_math", none, Action::fast_math, {}},
        {"ftz", "ftz", one, Action::flush_denormals, {}},
        {"prec-div", "prec-div", one, Action::division, {}},
        {"prec-sqrt", "prec-sqrt", one, Action::square_root, {}},
        {"fmad", "fmad", one, Action::contraction, {}},
        {"keep-device-functions", "keep-device-functions", none, Action::drop, {}},
        {"device-stack-protector", "device-stack-protector", one, Action::drop, {}},
        {"jump-table-density", "jtd", one, Action::drop, {}},
        {"split-compile", "split-compile", one, Action::drop, {}},
        {"split-compile-extended", "split-compile-extended", one, Action::drop, {}},
        {"dlink-time-opt", "dlto", none, Action::drop, {}},
        {"gen-opt-lto", "gen-opt-lto", none, Action::drop, {}},
        {"lto", "lto", none, Action::drop, {}},
        {"relocatable-ptx", "reloc-ptx", none, Action::drop, {}},
        {"no-compress", "no-compress", none, Action::drop, {}},
        {"compress-mode", "compress-mode", one, Action::drop, {}},
        {"frandom-seed", "", one, Action::rename_joined, "-frandom-seed=", true},
        // Options of other tools.
        {"compiler-options", "Xcompiler", one, Action::host, {}},
        {"linker-options", "Xlinker", one, Action::linker, {}, true},
        {"archive-options", "Xarchive", one, Action::drop, {}},
        {"ptxas-options", "Xptxas", one, Action::assembler, {}},
        {"nvlink-options", "Xnvlink", one, Action::drop, {}},
        {"cudafe-options", "Xcudafe", one, Action::drop, {}},
        {"fatbin-options", "Xfatbin", one, Action::drop, {}},
        {"cicc-options", "Xcicc", one, Action::drop, {}},
        {"nvvm-options", "Xnvvm", one, Action::drop, {}},
        {"opencc-options", "Xopencc", one, Action::drop, {}},
        {"forward-unknown-to-host-compiler", "forward-unknown-to-host-compiler", none, Action::drop, {}},
        {"forward-unknown-to-host-linker", "forward-unknown-to-host-linker", none, Action::drop, {}},
        {"forward-unknown-opts", "forward-unknown-opts", none, Action::drop, {}},
        {"forward-slash-prefix-opts", "forward-slash-prefix-opts", none, Action::drop, {}},
        {"resource-usage", "res-usage", none, Action::drop, {}},
        // What is said and kept.
        {"disable-warnings", "", none, Action::rename, "-w"},
        {"Werror", "Werror", one, Action::error_kind, {}},
        {"Wreorder", "", none, Action::rename, "-Wreorder", true},
        {"Wdefault-stream-launch", "Wdefault-stream-launch", none, Action::drop, {}},
        {"Wmissing-launch-bounds", "Wmissing-launch-bounds", none, Action::drop, {}},
        {"Wext-lambda-captures-this", "Wext-lambda-captures-this", none, Action::drop, {}},
        {"Wno-deprecated-gpu-targets", "Wno-deprecated-gpu-targets", none, Action::drop, {}},
        {"diag-error", "diag-error", one, Action::drop, {}},
        {"diag-suppress", "diag-suppress", one, Action::drop, {}},
        {"diag-warn", "diag-warn", one, Action::drop, {}},
        {"display-error-number", "err-no", none, Action::drop, {}},
        {"no-display-error-number", "no-err-no", none, Action::drop, {}},
        {"brief-diagnostics", "brief-diag", one, Action::drop, {}},
        {"keep", "keep", none, Action::drop_said, "--trimtab-keep=DIR keeps what is made on the way"},
        {"keep-dir", "keep-dir", one, Action::drop, {}},
        {"objdir-as-tempdir", "objtemp", none, Action::drop, {}},
        {"clean-targets", "clean", none, Action::drop, {}},
        {"time", "", one, Action::drop, {}, true},
        {"threads", "t", one, Action::drop, {}},
        {"jobserver", "jobserver", none, Action::drop, {}},
        {"qpp-config", "qpp-config", one, Action::drop, {}},
        {"dont-use-profile", "noprof", none, Action::drop, {}},
        {"fdevice-time-trace", "fdevice-time-trace", one, Action::drop, {}},
        {"fdevice-syntax-only", "fdevice-syntax-only", none, Action::rename, "-fsyntax-only"},
    };
    return table;
}

}  // namespace

const NvccOption* find_nvcc_option(std::string_view name, bool after_two_dashes) {
    if (name.empty()) return nullptr;
    const auto& table = nvcc_options();
    const auto found = std::ranges::find_if(table, [&](const NvccOption& option) {
        if (name == option.short_name) return !after_two_dashes || name == option.long_name;
        // One letter, or a word that starts like another option of clang's (-x, -std), is its own affair.
        return name == option.long_name && (after_two_dashes || name.size() > 2) &&
               (after_two_dashes || !option.is_clangs_too);
    });
    return found == table.end() ? nullptr : &*found;
}

}  // namespace trimtab::wrapper
