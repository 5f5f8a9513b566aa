// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host side of the LLVM plugin: every kernel launch of the module, the stubs' included, goes through
// Trimtab's runtime.
#pragma once

namespace llvm {
class Module;
}

namespace trimtab::pass {

// Replaces every use of a launch entry point (cudaLaunchKernel, cudaLaunchKernelExC and their
// per-thread-stream forms) by a shim of the module's own. In C, the shim of cudaLaunchKernel is
//
//     extern __attribute__((weak)) cudaError_t trimtab_launch_kernel(const void *, dim3, dim3, void **,
//     size_t, cudaStream_t); static cudaError_t route(...) { return trimtab_launch_kernel ?
//     trimtab_launch_kernel(...) : cudaLaunchKernel(...); }
//
// so that an object compiled this way still links and runs where there is no Trimtab. Returns whether the
// module changed.
bool route_launches(llvm::Module& module);

}  // namespace trimtab::pass
