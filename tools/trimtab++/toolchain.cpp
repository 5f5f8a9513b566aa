// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/toolchain.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/base/compilers.h"
#include "core/base/installation.h"

namespace trimtab::wrapper {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

// What ptxas of each release takes, by its release notes.
unsigned lowest_architecture(unsigned version) {
    if (version >= 13000 || version == 0) return 75;
    return version >= 12000 ? 50 : 35;
}

// omp.h of the newest GCC: libgomp's functions serve a program whose pragmas clang leaves alone.
std::string gcc_openmp_include() {
    std::error_code ignored;
    std::string best;
    long newest = 0;
    for (const fs::directory_entry& target : fs::directory_iterator("/usr/lib/gcc", ignored)) {
        for (const fs::directory_entry& release : fs::directory_iterator(target, ignored)) {
            const long version = std::strtol(release.path().filename().c_str(), nullptr, 10);
            if (version <= newest || !is_there(release.path() / "include" / "omp.h")) continue;
            newest = version;
            best = release.path() / "include";
        }
    }
    return best;
}

std::expected<std::string, Error> own_library(const std::string& name) {
    if (auto path = base::find_own_library(name)) return *path;
    return std::unexpected(Error{name + " is missing: it belongs in lib/, beside bin/ with trimtab++ in it"});
}

}  // namespace

unsigned toolkit_version(const std::string& cuda) {
    std::ifstream header(fs::path(cuda) / "include" / "cuda.h");
    constexpr std::string_view definition = "#define CUDA_VERSION ";
    for (std::string line; std::getline(header, line);)
        if (line.starts_with(definition))
            return static_cast<unsigned>(std::strtoul(line.c_str() + definition.size(), nullptr, 10));
    return 0;
}

OpenMp find_openmp() {
    OpenMp openmp{.has_library = is_there(TRIMTAB_LLVM_PREFIX "/lib/libomp.so"), .gcc_include = {}};
    if (!openmp.has_library) openmp.gcc_include = gcc_openmp_include();
    return openmp;
}

std::expected<Toolchain, Error> find_toolchain(const std::optional<std::string>& cuda_path) {
    Toolchain tools;
    auto clangxx = base::find_clangxx();
    if (!clangxx) return std::unexpected(clangxx.error());
    tools.clangxx = *clangxx;
    const auto clang = base::find_llvm_program("clang");
    if (!clang) return std::unexpected(Error{"clang 22 is not installed (scripts/setup.sh installs it)"});
    tools.clang = *clang;
    if (auto linker = base::find_program("ld"))
        tools.linker = *linker;
    else if (auto lld = base::find_llvm_program("ld.lld"))
        tools.linker = *lld;
    else
        return std::unexpected(Error{"no linker: neither ld nor ld.lld is installed"});

    auto plugin = own_library("libtrimtab_pass.so");
    if (!plugin) return std::unexpected(plugin.error());
    tools.plugin = *plugin;
    auto macro_plugin = own_library("libtrimtab_macro.so");
    if (!macro_plugin) return std::unexpected(macro_plugin.error());
    tools.macro_plugin = *macro_plugin;
    auto runtime = own_library("libtrimtab.so");
    if (!runtime) return std::unexpected(runtime.error());
    tools.runtime_dir = fs::path(*runtime).parent_path();
    tools.own_headers = base::own_prefix() + "/include";
    tools.compatibility = tools.own_headers + "/trimtab/nvcc";
    tools.openmp = find_openmp();
    tools.cuda = cuda_path ? *cuda_path : base::find_cuda();
    if (!tools.cuda.empty()) tools.lowest_architecture = lowest_architecture(toolkit_version(tools.cuda));
    return tools;
}

}  // namespace trimtab::wrapper
