// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel under every block that its description admits, from the same memory.
#pragma once

#include <cstdint>
#include <string>

#include "core/analysis/launches/description.h"

namespace trimtab::analysis::test {

enum class Outcome : std::uint8_t {
    unreadable,  // no PTX, or an instruction that the emulator lacks
    fixed,
    not_run,    // as written it faults with every argument tried, or no other block is admitted
    same,       // compared, and equal
    undefined,  // different, but the launch as written races or reads what nobody wrote
    different
};

struct TrialResult {
    Outcome outcome = Outcome::unreadable;
    Verdict verdict = Verdict::fixed;
    unsigned compared = 0;  // launches with another block or another number of threads
    std::string text;       // of a difference: the launch, and what is different; else why it is undefined
};

// `seed` draws arguments, shapes and the blocks that are compared: at most `most` of each launch.
[[nodiscard]] TrialResult try_blocks(const std::string& ptx, std::uint64_t seed, unsigned launches = 3,
                                     unsigned most = 40);

// The same where the launches as written, all with so many threads in x, run another kernel of the same name.
struct BuiltInKernel {
    std::string ptx;
    unsigned block_x = 32;
};
[[nodiscard]] TrialResult try_blocks(const std::string& ptx, const BuiltInKernel& as_written,
                                     std::uint64_t seed, unsigned launches = 3, unsigned most = 40);

// The same where the launches that are compared are of a body in which a thread does the work of several, as its name says.
[[nodiscard]] TrialResult try_coarsened(const std::string& ptx, const std::string& body_ptx,
                                        std::uint64_t seed, unsigned launches = 3, unsigned most = 40);

// What the proof says of the kernel, but for its reasons; empty: it is fixed, or unreadable. Where it says the same as
// before, try_blocks() does the same as before.
[[nodiscard]] std::string verdict_on(const std::string& ptx);
// Why the proof says no more than it does, a line each.
[[nodiscard]] std::string reasons_of(const std::string& ptx);

}  // namespace trimtab::analysis::test
