// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What trimtab++ drives: clang, the CUDA toolkit, and Trimtab's own plugin and runtime beside it.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "trimtab/error.h"

namespace trimtab::wrapper {

struct OpenMp {
    bool has_library = false;  // clang's own is installed
    std::string gcc_include;   // holds omp.h where clang has none
};

struct Toolchain {
    std::string clangxx;                // clang++ 22
    std::string clang;                  // clang 22, for the driver programs
    std::string linker;                 // ld or ld.lld, for `-r`
    std::string plugin;                 // libtrimtab_pass.so
    std::string macro_plugin;           // libtrimtab_macro.so
    std::string runtime_dir;            // holds libtrimtab.so
    std::string cuda;                   // the toolkit's root; empty when not found
    std::string own_headers;            // holds trimtab/annotate.h, trimtab/driver.h
    std::string compatibility;          // holds nvcc.h, which every CUDA source includes first
    unsigned lowest_architecture = 75;  // that the toolkit compiles for
    OpenMp openmp;
};

// All of it. `cuda_path` is the toolkit that --cuda-path names; where it names none, base::find_cuda() says which.
// Without a toolkit `cuda` is empty.
[[nodiscard]] std::expected<Toolchain, Error> find_toolchain(const std::optional<std::string>& cuda_path);
[[nodiscard]] OpenMp find_openmp();
// CUDA_VERSION of the toolkit's cuda.h: 13000 for CUDA 13.0; 0 where it cannot be told.
[[nodiscard]] unsigned toolkit_version(const std::string& cuda);

}  // namespace trimtab::wrapper
