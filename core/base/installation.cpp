// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/base/installation.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace trimtab::base {

namespace fs = std::filesystem;

namespace {

bool is_program(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

// Of the library that holds this code, else of the program.
fs::path own_folder() {
    std::error_code ignored;
    Dl_info place{};
    if (dladdr(reinterpret_cast<const void*>(&is_program), &place) != 0 && place.dli_fname != nullptr) {
        const fs::path file = place.dli_fname;
        if (file.is_absolute() && file.filename().string().contains(".so"))
            return fs::canonical(file, ignored).parent_path();
    }
    return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
    if (name.contains('/')) return is_program(name) ? std::optional(name) : std::nullopt;
    const char* path = secure_getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
    while (!name.empty()) {
        const std::size_t end = rest.find(':');
        const fs::path candidate = fs::path(rest.substr(0, end)) / name;
        if (is_program(candidate)) return candidate.string();
        if (end == std::string_view::npos) break;
        rest.remove_prefix(end + 1);
    }
    return std::nullopt;
}

std::string own_prefix() {
    return own_folder().parent_path().string();
}

std::optional<std::string> find_own_program(const std::string& name) {
    for (const char* folder : {".", "../bin"}) {
        const fs::path path = (own_folder() / folder / name).lexically_normal();
        if (is_program(path)) return path.string();
    }
    return std::nullopt;
}

std::optional<std::string> find_own_library(const std::string& name) {
    for (const char* folder : {"../" TRIMTAB_LIBDIR, "../lib", "../lib64", "."}) {
        std::error_code ignored;
        const fs::path path = (own_folder() / folder / name).lexically_normal();
        if (fs::is_regular_file(path, ignored)) return path.string();
    }
    return std::nullopt;
}

}  // namespace trimtab::base
