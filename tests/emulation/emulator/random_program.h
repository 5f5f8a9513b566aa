// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels, each as CUDA and as C++ loops over the same threads.
//
// A kernel is a list of phases. Within one a thread computes by itself: arithmetic in every type, nested
// control flow, calls, local arrays, its own words of shared and global memory. Between two, all threads
// meet: a barrier, then words of others are read, or lanes exchange values. So the C++ runs a phase for all
// threads before the next one begins, and nothing depends on the order of threads.
#pragma once

#include <cstdint>
#include <string>

namespace trimtab::emulator::test {

struct RandomProgram {
    std::string common;        // phases and functions: for either compiler, after random_prelude
    std::string device, host;  // the kernel `name`, and the function `host_name`
    std::uint32_t blocks = 1, threads = 32;
};

// Words of a kernel's input; each thread has eight of the output, and each block's shared memory eight.
inline constexpr std::uint32_t random_input_words = 256, random_words_a_thread = 8, random_shared_sums = 32;

// Types and functions of defined behaviour that the programs use. DEVICE tells the compilers apart.
extern const char* const random_prelude;

[[nodiscard]] RandomProgram random_program(std::uint64_t seed, const std::string& name);

}  // namespace trimtab::emulator::test
