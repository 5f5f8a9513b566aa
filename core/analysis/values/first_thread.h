// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// if (g == 0): code that the thread of index 0 alone comes by.
#pragma once

#include <vector>

#include "core/analysis/values/function_values.h"
#include "core/ptx/control_dependence.h"

namespace trimtab::analysis {

// Of one dimension. There is one such thread whatever their number is, and all that it does there comes in
// the order of the program. Nobody else comes by: whether index 0 does is for the label of each deciding branch to
// say, with 0 in the place of the index. A branch of `g == 0 && more` sends all others away, and `more` may depend
// on anything.
class FirstThread {
  public:
    FirstThread(SymbolTable& table, const FunctionValues& kernel, const ptx::ControlDependence& control,
                Dimension dimension)
        : table_(table), kernel_(kernel), control_(control), dimension_(dimension) {}

    [[nodiscard]] bool has_alone(ptx::BlockIndex block) const;

  private:
    // Is the block reached by a way out of the branch that only index 0 takes, and by no other way?
    [[nodiscard]] bool goes_to(ptx::BlockIndex branch, ptx::BlockIndex block) const;
    [[nodiscard]] bool is_first_index(const Symbolic& predicate) const;
    [[nodiscard]] bool is_zero_where_first(const Symbolic& value) const;

    SymbolTable& table_;
    const FunctionValues& kernel_;
    const ptx::ControlDependence& control_;
    Dimension dimension_;
};

}  // namespace trimtab::analysis
