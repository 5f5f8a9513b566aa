// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What nvcc takes in a source and clang refuses: told by clang's own errors, and changed at the places that they name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/trimtab++/clang_messages.h"

namespace trimtab::wrapper {

enum class RefusedForm : std::uint8_t {
    constructed_shared_variable,  // shared_variables.h
    own_template_arguments,  // template <class T> void f<T>(T) {}: the template's own parameters behind its name
    ambiguous_empty_braces,  // x = {}; where x can be assigned from more than one class
    no_device_word,          // a member's definition without the __device__ of its declaration
    no_host_word,            // a definition without the __host__ of its declaration
    no_word,                 // a definition without __host__ __device__
    no_word_before,          // a declaration without the __host__ __device__ of a later one
    no_host_word_before,     // a declaration with __device__ only before one with both
    host_word_too_many,      // __host__ on what clang\'s own headers have for the device
    copied_built_in          // auto i = threadIdx;
};

struct Refusal {
    RefusedForm form = RefusedForm::constructed_shared_variable;
    PlacesByFile places;  // in the text that was compiled
};

// The first form that `messages` tell of.
[[nodiscard]] std::optional<Refusal> refusal_in(const std::string& messages);

// The text as clang takes it; lines stay where they are. None where what stands at one of the places is not known.
[[nodiscard]] std::optional<std::string> with_accepted_form(const std::string& text, RefusedForm form,
                                                            const std::vector<SourcePlace>& places);

}  // namespace trimtab::wrapper
