// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much of a block's work is left when only the first iterations of its loops are scheduled.
#pragma once

#include <vector>

#include "emulation/schedule/scheduler.h"

namespace trimtab::schedule {

class KeptWork {
  public:
    // `few`: iterations of each loop that are always scheduled; what an iteration more is worth is read from those
    // between them and the ones that the trace keeps.
    KeptWork(const KernelTrace& trace, const Caps& few);

    // Of the instructions that the first traced block issues, the share that it issues under the caps.
    [[nodiscard]] double share(const Caps& caps) const;

  private:
    struct Count {
        double instructions = 0;
        std::vector<double> iterations;  // by loop
    };
    [[nodiscard]] Count count(const Caps& caps) const;

    const KernelTrace& trace_;
    double all_ = 0;
};

}  // namespace trimtab::schedule
