// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/own_files.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <vector>

namespace trimtab::choosing {

std::string own_folder() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
    // The path with links followed: a link may have been put where the linker looks.
    char* resolved = realpath(info.dli_fname, nullptr);
    if (resolved == nullptr) return {};
    std::string path = resolved;
    std::free(resolved);
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string{} : path.substr(0, slash);
}

void* open_own_library(const std::string& name, std::string& error) {
    const std::string folder = own_folder();
    std::string path = name;
    // Beside this code's library; or of a program that has taken it in, in the folder of libraries.
    for (const std::string& place : {folder + "/" + name, folder + "/../lib/" + name}) {
        if (folder.empty() || access(place.c_str(), R_OK) != 0) continue;
        path = place;
        break;
    }
    void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
        const char* message = dlerror();
        error = message == nullptr ? "unknown error" : message;
    }
    return library;
}

std::string find_own_program(const std::string& name) {
    std::vector<std::string> folders;
    if (const std::string folder = own_folder(); !folder.empty()) {
        folders.push_back(folder + "/../bin");
        folders.push_back(folder);
    }
    const char* path = secure_getenv("PATH");
    std::string_view rest = path == nullptr ? "" : path;
    while (!rest.empty()) {
        const std::size_t colon = rest.find(':');
        folders.emplace_back(rest.substr(0, colon));
        rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
    }
    for (const std::string& folder : folders) {
        const std::string program = folder + "/" + name;
        if (program.starts_with('/') && access(program.c_str(), X_OK) == 0) return program;
    }
    return {};
}

}  // namespace trimtab::choosing
