// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/closed_libraries.h"

#include <link.h>

#include <algorithm>

namespace trimtab::cuda {
namespace {

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

int add_if_closed(dl_phdr_info* info, std::size_t, void* found) {
    if (info->dlpi_name != nullptr && is_closed_library(info->dlpi_name))
        static_cast<std::vector<std::string>*>(found)->emplace_back(file_name(info->dlpi_name));
    return 0;
}

}  // namespace

bool is_closed_library(std::string_view path) {
    static constexpr std::string_view stems[] = {"libcublas", "libcublasLt", "libcudnn",      "libcufft",
                                                 "libcurand", "libcusolver", "libcusolverMg", "libcusparse",
                                                 "libnccl",   "libcutensor"};
    const std::string_view name = file_name(path);
    return std::ranges::any_of(stems, [name](std::string_view stem) {
        return name.starts_with(stem) && name.substr(stem.size()).starts_with(".so");
    });
}

std::vector<std::string> loaded_closed_libraries() {
    std::vector<std::string> found;
    dl_iterate_phdr(add_if_closed, &found);
    return found;
}

}  // namespace trimtab::cuda
