// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles a printed driver program and loads it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "driver_gen/bundle.h"
#include "driver_gen/c_driver.h"

namespace trimtab::driver_gen::testing {

class CompiledDriver {
  public:
    CompiledDriver(const std::string& text, const std::string& id, const std::string& compiler) {
        std::string folder = ::testing::TempDir() + "driver_XXXXXX";
        if (mkdtemp(folder.data()) == nullptr) return;
        folder_ = folder;
        const CCompiler c{.command = compiler,
                          .flags = {"-Wall", "-Wextra", "-Wno-overlength-strings",
                                    "-DTRIMTAB_DRIVER_VISIBILITY=\"default\""},
                          .include_folder = std::string(TRIMTAB_SOURCE_DIR) + "/include"};
        const SourceFile source{.name = "kernel.driver.c", .content = text};
        const auto objects = compile({&source, 1}, folder_, c);
        if (!objects) {
            ADD_FAILURE() << objects.error().text();
            return;
        }
        const std::string library = folder_ + "/driver.so";
        if (std::system((compiler + " -shared -o " + library + " " + (*objects)[0] + " -lm").c_str()) != 0)
            return;
        handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_ != nullptr)
            driver_ = static_cast<const trimtab_driver*>(dlsym(handle_, ("trimtab_driver_" + id).c_str()));
    }
    CompiledDriver(const CompiledDriver&) = delete;
    CompiledDriver& operator=(const CompiledDriver&) = delete;
    ~CompiledDriver() {
        if (handle_ != nullptr) dlclose(handle_);
        if (!folder_.empty()) std::filesystem::remove_all(folder_);
    }
    [[nodiscard]] const trimtab_driver* driver() const { return driver_; }

  private:
    std::string folder_;
    void* handle_ = nullptr;
    const trimtab_driver* driver_ = nullptr;
};

}  // namespace trimtab::driver_gen::testing
