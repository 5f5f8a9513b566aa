// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/kept_files.h"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

namespace trimtab::pipeline {
namespace {

void keep(const std::string& folder, const std::string& name, std::string_view content) {
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    std::ofstream file(path, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!file.flush())
        fmt::print(stderr, "trimtab++: warning: {}: cannot be written (--trimtab-keep)\n", path.string());
}

}  // namespace

void keep_description(const std::string& folder, const analysis::KernelDescription& kernel) {
    keep(folder, kernel.name + ".description.json", analysis::to_json(kernel).dump(2) + "\n");
}

void keep_descriptions(const std::string& folder, const analysis::DescribedFatBinary& described) {
    for (const analysis::KernelDescription& kernel : described.kernels) keep_description(folder, kernel);
    for (const ptx::Module& module : described.modules) {
        std::string text = ".version " + module.version + "\n.target " + module.target + "\n\n";
        for (const ptx::Function& function : module.functions) text += function.text + "\n";
        keep(folder, module.target + ".functions.ptx", text);
    }
}

void keep_sources(const std::string& folder, const driver_gen::GeneratedSources& sources) {
    for (const driver_gen::SourceFile& driver : sources.drivers) keep(folder, driver.name, driver.content);
    keep(folder, sources.bundle.name, sources.bundle.content);
    keep(folder, "trimtab_data.json", sources.json);
}

}  // namespace trimtab::pipeline
