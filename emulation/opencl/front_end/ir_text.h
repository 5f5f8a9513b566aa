// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is read off, and changed in, LLVM IR and PTX as clang prints them.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "emulation/opencl/front_end/front_end.h"

namespace trimtab::opencl {

// Of the functions that are kernels, by their metadata. The error says what could not be read.
[[nodiscard]] std::expected<std::vector<KernelInfo>, std::string> read_kernels(std::string_view ir);
// clang gives each kernel a twin that other kernels call: those that none calls.
void remove_uncalled_twins(std::string& ir);
// Makes accesses to a kernel's arguments volatile, in IR that nobody has optimised yet; false: where a pointer leads cannot
// be told from its type, some are volatile already, or there is assembly that may be dropped.
[[nodiscard]] bool keep_accesses(std::string& ir);
// Once that is PTX: makes them plain again.
void make_accesses_plain(std::string& ptx);
// Gives parameters, which the PTX calls "kernel_param_2", the source's names as well: "kernel_param_2_n".
void name_parameters(std::string& ptx, const std::vector<KernelInfo>& kernels);
// Functions that the PTX calls and that are nowhere; demangled.
[[nodiscard]] std::vector<std::string> undefined_functions(const std::string& ptx);

}  // namespace trimtab::opencl
