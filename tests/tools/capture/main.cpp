// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// main() of captured.cu, apart from it: clang compiles that one as CUDA.
int run_captured(int argc, char** argv);

int main(int argc, char** argv) {
    return run_captured(argc, argv);
}
