// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the backends' libraries are.
#pragma once

#include <string>

namespace trimtab::runtime {

// The real libcudart.so.13, opened: by the loader's own rules, then in the usual places of a toolkit; never
// Trimtab's stand-in. Null where there is none.
[[nodiscard]] void* open_real_runtime();

// libtrimtab_cudart.so, which lies beside libtrimtab.so, opened; null with the loader's message in `error`.
[[nodiscard]] void* open_emulated_runtime(std::string& error);

// Another libcudart.so.13 that the program finds before Trimtab's stand-in, and whose functions do not lead there; null: there
// is none.
[[nodiscard]] void* runtime_that_comes_first();

// CUDA's driver: libcuda.so.1, but never this library under that name. Null where it is not installed.
[[nodiscard]] void* open_real_driver();

// Will the emulator stand in for the GPU? Looks at the environment and at device files alone: a driver without device files
// may find a GPU all the same (ask_driver()).
[[nodiscard]] bool expects_emulator();
// Where it will: lets the program find Trimtab's runtime where it opens libcuda.so.1, libcuda.so or libcudart.so.13.
void offer_libraries();

// What CUDA's driver says of GPUs. Asking initialises it.
struct DriverAnswer {
    bool finds_gpu = false;
    int error = 0;  // of cuInit or cuDeviceGetCount, where it is there and there are GPUs that it cannot use
};
[[nodiscard]] DriverAnswer ask_driver();
// The version of CUDA that the driver is of, 1000 * major + 10 * minor; 0: it does not tell.
[[nodiscard]] int driver_version();
// Is NVIDIA's kernel driver there at all? Looks at device files alone.
[[nodiscard]] bool kernel_driver_is_there();

}  // namespace trimtab::runtime
