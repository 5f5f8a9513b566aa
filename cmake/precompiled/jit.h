// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Read once for the files of the emulator's compiler (trimtab_precompile_own).
#pragma once

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "cmake/precompiled/library.h"
#include "emulation/emulator/jit/translator.h"
