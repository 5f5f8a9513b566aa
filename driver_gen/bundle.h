// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one fat binary's kernels become: a C source per driver program, and one that holds the JSON record and
// hands the drivers to the runtime when the program or library is loaded.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/launches/description.h"
#include "core/model/rational_program.h"
#include "driver_gen/fits.h"
#include "profiler/profile.h"
#include "trimtab/error.h"

namespace trimtab::driver_gen {

struct BundleKernel {
    const analysis::KernelDescription* description = nullptr;
    std::optional<profiler::Profile> profile;  // none: left alone, or its profile failed
    std::optional<KernelFits> fits;            // with a profile: it gets a driver
    std::string no_driver = {};                // why its profile or its fits failed
};

// How the drivers reach the runtime.
enum class Delivery : std::uint8_t {
    registers_itself,  // a constructor hands them over when the program or library that holds them is loaded
    is_asked_for       // the library exports trimtab_module_bundle, and whoever loads it looks that up
};

struct Bundle {
    std::string fat_binary_hash;  // 16 hex digits
    std::string compiler;         // "trimtab++ 0.1.0"
    std::string input;            // "gemm.cu"
    std::string model_text = {};  // of a model that is not built in
    std::vector<BundleKernel> kernels;
    Delivery delivery = Delivery::registers_itself;
};

struct SourceFile {
    std::string name;  // "gemm_kernel.driver.c": distinct within a bundle
    std::string content;
};

struct GeneratedSources {
    std::vector<SourceFile> drivers;  // one per kernel with fits
    SourceFile bundle;                // "trimtab_bundle.c"
    std::string json;                 // the record with its details, which the bundle holds apart
};

// `program` is the performance model. An error names the kernel whose fits do not match its description.
[[nodiscard]] std::expected<GeneratedSources, Error> generate(const Bundle& bundle,
                                                              const model::RationalProgram& program);

// How to compile them.
struct CCompiler {
    std::string command = "clang-22";  // found in PATH, or a path
    std::vector<std::string> flags;    // of the target, say
    std::string include_folder;        // holds trimtab/driver.h
};

// Compiles each source to an object file of the same name in `folder` (which exists), two at a time; the
// objects' paths in order. Sources are written there too. The error holds the compiler's first line.
[[nodiscard]] std::expected<std::vector<std::string>, Error> compile(std::span<const SourceFile> sources,
                                                                     const std::string& folder,
                                                                     const CCompiler& compiler);

}  // namespace trimtab::driver_gen
