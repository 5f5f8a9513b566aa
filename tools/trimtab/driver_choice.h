// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel's driver program would choose, asked of the interpreted model.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "tools/trimtab/ranking.h"

namespace trimtab::tools {

// The block that its search finds; nothing: no block is legal.
[[nodiscard]] std::optional<RankedBlock> driver_choice(const RankedLaunch& launch);

// What the prediction of a block is worth, as driver_gen/driver_judge.inc's trimtab_judge says it.
struct Judgement {
    double relative_error = std::numeric_limits<double>::infinity();
    std::uint32_t uncertain = TRIMTAB_DOUBT_UNTOLD;  // 0, or why
};
[[nodiscard]] Judgement judge(const RankedLaunch& launch, trimtab_dim3 block, double ns);
// Whether the first, which is predicted faster, stays so to a tenth whatever arrays and numbers hold, as trimtab_order.
[[nodiscard]] bool keeps_order(const RankedLaunch& first, trimtab_dim3 first_block,
                               const RankedLaunch& second, trimtab_dim3 second_block);

// A driver program for as long as it lives, for the runtime's own code to ask: its functions answer on the thread that
// made it, of the kernel that `launch` is one of. Its limits and D are those that each call names.
class InterpretedDriver {
  public:
    explicit InterpretedDriver(const RankedLaunch& launch);
    ~InterpretedDriver();
    InterpretedDriver(const InterpretedDriver&) = delete;
    InterpretedDriver& operator=(const InterpretedDriver&) = delete;

    [[nodiscard]] const trimtab_driver& driver() const { return driver_; }

  private:
    trimtab_driver driver_{};
    std::vector<const char*> data_names_, metric_names_;
    std::vector<double> least_, most_;
};

}  // namespace trimtab::tools
