// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/base/compilers.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/base/installation.h"

namespace trimtab::base {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

}  // namespace

std::optional<std::string> find_llvm_program(const std::string& name) {
    // What an install brings along comes first: the plugin is linked to the very LLVM of that clang.
    if (fs::path brought = fs::path(own_prefix()) / "llvm" / "bin" / name; is_there(brought)) return brought;
    if (fs::path built_with = fs::path(TRIMTAB_LLVM_PREFIX) / "bin" / name; is_there(built_with))
        return built_with;
    for (const std::string& candidate : {name + "-22", name})
        if (auto found = find_program(candidate)) return found;
    return std::nullopt;
}

std::expected<std::string, Error> find_clangxx() {
    if (auto clangxx = find_llvm_program("clang++")) return *clangxx;
    return std::unexpected(Error{"clang++ 22 is not installed (scripts/setup.sh installs it)"});
}

bool is_cuda_toolkit(const std::string& root) {
    return is_there(fs::path(root) / "include" / "cuda_runtime_api.h");
}

std::string find_cuda() {
    for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
        if (const char* root = secure_getenv(variable); root != nullptr && is_cuda_toolkit(root)) return root;
    for (const char* root : {TRIMTAB_CUDA_PATH, "/usr/local/cuda"})
        if (is_cuda_toolkit(root)) return root;
    if (auto nvcc = find_program("nvcc")) {
        std::error_code ignored;
        const fs::path root = fs::canonical(*nvcc, ignored).parent_path().parent_path();
        if (is_cuda_toolkit(root)) return root;
    }
    return {};
}

std::string libdevice_of(const std::string& cuda) {
    return cuda + "/nvvm/libdevice/libdevice.10.bc";
}

}  // namespace trimtab::base
