// What is read off, and taken out of, LLVM IR as clang prints it.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "opencl/front_end/front_end.h"

namespace trimtab::opencl {

// Of the functions that are kernels, by their metadata. The error says what could not be read.
[[nodiscard]] std::expected<std::vector<KernelInfo>, std::string> read_kernels(std::string_view ir);
// clang gives each kernel a twin that other kernels call: those that none calls.
void remove_uncalled_twins(std::string& ir);
// Makes loads from a kernel's arguments volatile, in IR that nobody has optimised yet; false: where a pointer leads cannot
// be told from its type, or some are volatile already.
[[nodiscard]] bool keep_loads(std::string& ir);
// Once it is optimised: makes those whose result is used plain loads again.
void make_loads_plain(std::string& ir);
// Functions that the PTX calls and that are nowhere; demangled.
[[nodiscard]] std::vector<std::string> undefined_functions(const std::string& ptx);

}  // namespace trimtab::opencl
