// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose threads work each for itself get further bodies, in which one thread does the work of several
// neighbours (docs/variants.md, "More work a thread"). Along y these are neighbours in y. Along x they are 32 threads
// apart, so that a warp goes over as many rows of 32, and touches memory as the kernel's own warps do.
//
// A body reads no index but its own global index: it is proved like any kernel, and core/analysis/launches/coarsened.h
// says which of its launches does what a launch of the kernel does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace trimtab::pass {

// "2,4": what TRIMTAB_COARSEN asks for; numbers that are none are left out.
[[nodiscard]] std::vector<std::uint32_t> asked_elements(const std::string& text);

// Of a device module whose calls are inlined. The bodies are named as trimtab/body_name.h says and put into the file of
// kernel sources beside their kernels. False: there is none.
bool add_coarsened_bodies(llvm::Module& module, llvm::FunctionAnalysisManager& analyses,
                          const std::vector<std::uint32_t>& elements, const std::string& kernel_sources);

}  // namespace trimtab::pass
