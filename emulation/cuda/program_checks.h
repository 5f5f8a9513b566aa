// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks of the program's kernels that TRIMTAB_CHECK asks for, and where their reports go.
#pragma once

#include <memory>

#include "emulation/cuda/machine.h"

namespace trimtab::cuda {

class State;

// Null without TRIMTAB_CHECK (memory,race,init,sync). Reports go to the file that TRIMTAB_CHECK_REPORT names,
// after each launch that has found something, else to stderr when the program ends.
[[nodiscard]] std::unique_ptr<check::Checker> checker_of_environment(State& state);

// Null checkers are allowed: nothing is noted then.
void note_allocation(check::Checker* checker, const void* first, std::uint64_t size_bytes, MemoryKind kind);
void note_release(check::Checker* checker, const void* first);

// Around all runs of one launch.
class CheckedLaunch {
  public:
    explicit CheckedLaunch(check::Checker* checker);
    ~CheckedLaunch();
    CheckedLaunch(const CheckedLaunch&) = delete;
    CheckedLaunch& operator=(const CheckedLaunch&) = delete;

  private:
    check::Checker* checker_;
};

}  // namespace trimtab::cuda
