// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/program_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "core/base/installation.h"
#include "core/model/device.h"
#include "core/ptx/binary.h"
#include "runtime/stand_in/libraries.h"

namespace trimtab::tools {

namespace {

namespace fs = std::filesystem;

constexpr const char* runtime_library = "libtrimtab.so";

bool section_contains(const std::string& path, const char* section, std::string_view needle) {
    const auto bytes = ptx::read_elf_section(path, section);
    if (!bytes || !*bytes) return false;
    const std::string_view text(reinterpret_cast<const char*>((*bytes)->data()), (*bytes)->size());
    return text.contains(needle);
}

// A program that was not linked by trimtab++. Whether it has to do with CUDA does not show: its libraries
// may, those too that it opens while it runs.
bool needs_preload(const std::string& program) {
    return !section_contains(program, ".dynstr", runtime_library);
}

void put_first(const char* variable, const std::string& entry) {
    const char* others = std::getenv(variable);
    const std::string list = others != nullptr && *others != '\0' ? entry + ":" + others : entry;
    setenv(variable, list.c_str(), 1);
}

// What the user preloads stays before ours: its functions are called by the program and call ours in turn, and a
// sanitizer's library must be the first of all.
void put_last(const char* variable, const std::string& entry) {
    const char* others = std::getenv(variable);
    if (others != nullptr && std::string_view(others).contains(entry)) return;
    const std::string list = others != nullptr && *others != '\0' ? std::string(others) + ":" + entry : entry;
    setenv(variable, list.c_str(), 1);
}

// Programs ask for CUDA's driver by its library's name, and libraries may hold a runtime of their own: where
// there is no GPU, ours answers to them. Where a GPU is asked for by name nothing may answer in its place: CUDA's own
// runtime would be sent back to libtrimtab.so.
void stand_in_for_driver() {
    const char* device = std::getenv("TRIMTAB_DEVICE");
    if (device != nullptr && std::string_view(device) == "gpu") return;
    const bool wants_gpu = device == nullptr || *device == '\0';
    // As the runtime decides it in the program.
    if (wants_gpu && (runtime::kernel_driver_is_there() || runtime::ask_driver().finds_gpu)) return;
    if (const auto driver = base::find_own_library("trimtab-driver/libcuda.so.1"))
        put_first("LD_LIBRARY_PATH", fs::path(*driver).parent_path().string());
    if (const auto audit = base::find_own_library("libtrimtab_audit.so")) put_last("LD_AUDIT", *audit);
}

// What OpenCL's loaders read: where a GPU is named, the platform that plays it and no other; else the layer, before the
// program's own platforms.
void set_up_opencl() {
    const char* device = std::getenv("TRIMTAB_DEVICE");
    const bool is_named = device != nullptr && *device != '\0' && std::string_view(device) != "gpu";
    if (!is_named) {
        if (const auto layer = base::find_own_library("libtrimtab_opencl_layer.so"))
            put_first("OPENCL_LAYERS", *layer);
    } else if (const auto platform = base::find_own_library("libtrimtab_opencl.so")) {
        setenv("OCL_ICD_VENDORS", platform->c_str(), 1);    // ocl-icd's: a folder or a library
        setenv("OCL_ICD_FILENAMES", platform->c_str(), 1);  // Khronos's
    }
}

}  // namespace

std::expected<std::string, Error> checked_device(const std::string& text) {
    std::string list;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find(',', start), text.size());
        const std::string name = text.substr(start, end - start);
        start = end + 1;
        std::string use = name;
        if (name != "gpu") {
            const auto device = model::find_device(name);
            if (!device) return std::unexpected(device.error());
            use = name.ends_with(".json") ? fs::absolute(name).string() : device->slug;
        }
        list += (list.empty() ? "" : ",") + use;
    }
    return list;
}

std::optional<Error> preload_runtime(const std::string& program) {
    stand_in_for_driver();
    set_up_opencl();
    if (!needs_preload(program)) return std::nullopt;
    const auto library = base::find_own_library(runtime_library);
    if (!library)
        return Error{.message = fmt::format("{} is not installed with trimtab, and the program needs it",
                                            runtime_library),
                     .file = program};
    put_last("LD_PRELOAD", *library);
    return std::nullopt;
}

}  // namespace trimtab::tools
