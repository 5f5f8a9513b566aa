// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code on vectors of all 32 lanes, made loops over parts of a warp that fit the processor's registers.
//
// Large functions are compiled so: an instruction of 64-bit lanes is one of the processor's instead of four
// (eight), and a part's values need few registers, where a warp's would all be spilled. What passes from one
// loop to another does so through memory.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace trimtab::emulator::jit {

// `slots`: places of the function's own, loaded and stored as a whole. There are no phis yet.
void make_lane_loops(llvm::Function& function, const llvm::DenseSet<const llvm::AllocaInst*>& slots);

}  // namespace trimtab::emulator::jit
