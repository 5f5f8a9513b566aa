// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Argument buffers for launches that nobody wrote: data parameters as planned, pointers to regions of their
// own.
#pragma once

#include <span>

#include "core/analysis/launches/description.h"
#include "profiler/backend.h"

namespace trimtab::profiler {

// `data` is D in the description's order. Whatever is neither a pointer nor in D is 1 where it is a number of
// known type, else 0; an aligned word of an aggregate that no data parameter lies in may be an address, and
// gets a region.
[[nodiscard]] Arguments make_arguments(const analysis::KernelDescription& description,
                                       std::span<const double> data);

// What a region of make_arguments() is an array of.
struct Pointee {
    Fill fill = Fill::f32;
    std::uint32_t bytes = 4;  // of an element, 1, 2, 4 or 8
    bool is_truth = false;    // 0 or 1
    bool is_address = false;  // an array of addresses of such arrays
    bool is_guess = false;    // nothing tells its type
};
// "float", "int", "const unsigned char"; empty where it is not known.
[[nodiscard]] Pointee pointee_of(std::string_view text);

// Sizes of what the pointers point to, ascending: 4 where nothing is known.
[[nodiscard]] std::vector<std::uint32_t> element_bytes(const analysis::KernelDescription& description);

[[nodiscard]] bool is_integer_type(std::string_view type);  // "s32", "u64", "b32"; not "u8": those are flags
[[nodiscard]] bool is_float_type(std::string_view type);

}  // namespace trimtab::profiler
