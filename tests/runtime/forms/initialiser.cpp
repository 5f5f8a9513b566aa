// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches before main. In a file of its own, for clang registers a file's kernels after its initialisers.
void launch_in_initialiser();

namespace {
struct Initialiser {
    Initialiser() { launch_in_initialiser(); }
} initialiser;
}  // namespace
