// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses of shared memory, and what becomes of them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/analysis/values/function_values.h"
#include "core/ptx/module.h"

namespace trimtab::analysis {

class SharedAddresses {
  public:
    SharedAddresses(const FunctionValues& values, const ptx::Module& module);

    // Does the instruction name a variable in shared memory, or read what was computed from its address?
    [[nodiscard]] bool mentions(std::uint32_t instruction) const;
    // Does an address get anywhere but into the accesses that `is_looked_at` says of? These have it as their
    // address alone: what they store is no address.
    [[nodiscard]] bool escape(const std::function<bool(std::uint32_t)>& is_looked_at) const;

  private:
    [[nodiscard]] bool names_shared(const ptx::Operand& operand) const;
    [[nodiscard]] bool is_address(ptx::ValueIndex value) const {
        return value != ptx::no_index && is_address_[value];
    }

    const FunctionValues& values_;
    const ptx::Module& module_;
    std::vector<bool> is_address_;  // by value
};

// It makes a value and does nothing else.
[[nodiscard]] bool only_computes(const ptx::Instruction& instruction);

}  // namespace trimtab::analysis
