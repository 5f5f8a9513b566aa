// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A second opinion on a proof: what it claims of a kernel is checked instruction by instruction, by code that
// shares nothing with the proof but core/ptx/: the reader, control flow, SSA, and what instructions compute of integers
// (core/ptx/semantics/, which tests hold to compiled code and to results written from the ISA's text). It searches for
// nothing: what the certificate does not say is not found here.
//
// Not checked here, and taken from the certificate as it is:
// - what is the same in exchanges of a block's threads (that all of them come together in it: the proof has run it);
// - that two iterations touch memory apart, and that a thread's slots of shared memory are its own: the launch, and the proof;
// - how calls were written out and stack slots became registers; loops that wait for other threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/checker/certificate.h"

namespace trimtab::checker {

struct Objection {
    std::uint32_t line = 0;  // of the PTX text; 0: none
    std::string text;
};

// Nothing: the certificate holds.
[[nodiscard]] std::optional<Objection> check(const Certificate& certificate);

}  // namespace trimtab::checker
