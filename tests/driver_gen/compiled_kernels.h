// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA source as clang compiles it, for tests that profile kernels.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "core/ptx/module.h"

namespace trimtab::driver_gen::testing {

// Null, and a failure of the test, where it does not compile.
inline std::unique_ptr<ptx::Module> compiled_kernels(const char* source) {
    std::string folder = ::testing::TempDir() + "kernels_XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) {
        ADD_FAILURE() << "no folder " << folder;
        return nullptr;
    }
    std::ofstream(folder + "/k.cu") << source;
    const std::string command = std::string(TRIMTAB_CLANG) +
                                " -x cuda --cuda-device-only -S -O3 --cuda-gpu-arch=sm_75 "
                                "-Wno-unknown-cuda-version --cuda-path=" TRIMTAB_CUDA " -o " +
                                folder + "/k.ptx " + folder + "/k.cu";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::stringstream text;
    text << std::ifstream(folder + "/k.ptx").rdbuf();
    std::filesystem::remove_all(folder);
    auto module = ptx::parse(text.str(), "k.ptx");
    if (!module) {
        ADD_FAILURE() << module.error().text();
        return nullptr;
    }
    return std::make_unique<ptx::Module>(std::move(*module));
}

}  // namespace trimtab::driver_gen::testing
