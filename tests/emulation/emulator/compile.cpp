// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/emulation/emulator/compile.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace trimtab::emulator::test {
namespace {

std::string contents(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

std::string compile_cuda(std::string_view source, std::string_view flags) {
    std::string pattern = (std::filesystem::temp_directory_path() / "trimtab-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
        ADD_FAILURE() << "no temporary folder";
        return "";
    }
    const std::filesystem::path folder = pattern;
    std::ofstream(folder / "kernels.cu") << source;
    const std::string command = "cd '" + folder.string() +
                                "' && " TRIMTAB_CLANG
                                " -x cuda --cuda-device-only --cuda-gpu-arch=sm_75 -Wno-unknown-cuda-version"
                                " --cuda-path=" TRIMTAB_CUDA_PATH " -std=c++17 " +
                                std::string(flags) + " -S kernels.cu -o kernels.ptx 2> log";
    std::string ptx;
    if (std::system(command.c_str()) == 0)
        ptx = contents(folder / "kernels.ptx");
    else
        ADD_FAILURE() << contents(folder / "log");
    std::filesystem::remove_all(folder);
    return ptx;
}

}  // namespace trimtab::emulator::test
