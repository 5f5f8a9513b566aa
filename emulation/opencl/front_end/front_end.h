// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenCL C to PTX, and what PTX lacks about its kernels.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::opencl {

enum class AddressSpace : std::uint8_t { none, global, constant, local, generic };

// A parameter as the source has it.
struct KernelParameter {
    std::string name;
    std::string type;        // "float*", "uint", "image2d_t"
    std::string qualifiers;  // of what it points to: "const", "restrict const", "volatile"; may be empty
    std::string access;      // of images: "read_only", "write_only", "read_write"; "none" of all else
    AddressSpace space = AddressSpace::none;  // that it points to; none: it is no pointer
};

struct KernelInfo {
    std::string name;
    std::vector<KernelParameter> parameters;
    std::array<std::uint32_t, 3> required_size{};  // reqd_work_group_size; zeros: it has none
    std::array<std::uint32_t, 3> size_hint{};      // work_group_size_hint; zeros: it has none
    std::string vector_hint = {};                  // vec_type_hint: "float4"; empty: it has none
};

// What compiles.
struct Compilers {
    std::string clang;      // clang or clang++ 22
    std::string libdevice;  // CUDA's libdevice.10.bc
};
// Those that are installed.
[[nodiscard]] std::expected<Compilers, Error> find_compilers();

struct CompileRequest {
    std::string source;
    std::string file = "kernel.cl";         // what messages and line tables call it
    std::vector<std::string> options = {};  // as clBuildProgram takes them, in words; others are refused
    std::string architecture = "sm_75";
    std::uint32_t work_dimensions = 1;  // 1 to 3: what get_work_dim() says
    // For launches with a global offset: three words, which the code reads from each variable of this name.
    bool has_offset = false;
    // Functions may be missing, which other sources have: it is part of a program.
    bool is_part = false;
    // Every load and store that the source makes is in the code, however little becomes of it: for a proof that is to hold
    // whatever compiles the source. Sources that use generic pointers or volatile global memory fail.
    bool keeps_accesses = false;
    // Files that it may include, by the names that it includes them by.
    std::vector<std::pair<std::string, std::string>> headers = {};
};
inline constexpr const char* offset_variable = "trimtab_global_offset";

struct CompiledProgram {
    std::string ptx;
    std::string ir;   // LLVM IR as text, optimised, with the functions it calls: what the PTX was made of
    std::string log;  // warnings
    std::vector<KernelInfo> kernels;  // in the order of the source
    // get_work_dim() stands in it, or in a file that it includes: for another number of dimensions it is other code.
    bool asks_dimensions = false;
};

struct CompileFailure {
    enum class Kind : std::uint8_t { options, program, installation };
    Kind kind = Kind::program;
    std::string log;  // program: all that the compiler said; else one line
};

// Results are kept between runs ($XDG_CACHE_HOME/trimtab/opencl) where the
// source includes no other file.
[[nodiscard]] std::expected<CompiledProgram, CompileFailure> compile_program(const Compilers& compilers,
                                                                             const CompileRequest& request);

}  // namespace trimtab::opencl
