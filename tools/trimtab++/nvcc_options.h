// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's command line in clang's words, so that CC=trimtab++ in a Makefile written for nvcc is enough.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::wrapper {

// What nvcc makes in the place of an object or a program.
enum class NvccOutput : std::uint8_t {
    as_clang,     // -c, -E, a link ...: clang's options say it
    ptx,          // -ptx
    cubin,        // -cubin
    fat_binary,   // -fatbin
    device_link,  // -dlink
    library       // -lib
};

struct NvccOptions {
    std::vector<std::string> tokens;  // the command line without the program's name, in clang's words
    std::vector<std::string> notes;   // what was left out or replaced, one line each
    bool is_nvcc_style = false;       // an option was there that nvcc has and clang does not
    bool device_debug = false;        // -G
    bool fast_math = false;           // --use_fast_math
    NvccOutput output = NvccOutput::as_clang;
    std::string output_folder;  // -odir
};

// `tokens`: response files expanded, Trimtab's own options taken out. Options that nvcc does not have stay as
// they are. An error is a value that is missing or an options file that cannot be read.
[[nodiscard]] std::expected<NvccOptions, Error> translate_nvcc_options(
    const std::vector<std::string>& tokens);

// The architecture to compile for where `wanted` ("sm_60", "sm_90a") was asked for and the toolkit takes
// nothing below `lowest` (75 for CUDA 13).
[[nodiscard]] std::string supported_architecture(const std::string& wanted, unsigned lowest);

}  // namespace trimtab::wrapper
