// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's options by name, and what becomes of each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trimtab::wrapper {

enum class Action : std::uint8_t {
    drop,             // it changes nothing that a program shows
    drop_said,        // left out, with a word why
    rename,           // clang's name of the same
    rename_joined,    // ... and the value joined to it
    rename_separate,  // ... and the value after it
    architecture,
    code,
    generate_code,
    relocatable,
    device_compile,
    device_link,
    library,
    ptx,
    cubin,
    fat_binary,
    device_debug,
    host,       // for the host compiler
    linker,     // for the host linker
    assembler,  // for ptxas
    registers,
    fast_math,
    flush_denormals,
    division,
    square_root,
    contraction,
    default_stream,
    error_kind,
    output_folder,
    options_file
};

struct NvccOption {
    enum class Values : std::uint8_t { none, one };
    std::string_view long_name, short_name;
    Values values = Values::none;
    Action action = Action::drop;
    std::string text;            // clang's name, or why it is left out
    bool is_clangs_too = false;  // says nothing about which compiler the command line was written for
};

// nullptr: not nvcc's. nvcc takes its long names after one dash as well; a short name goes with one.
[[nodiscard]] const NvccOption* find_nvcc_option(std::string_view name, bool after_two_dashes);

}  // namespace trimtab::wrapper
