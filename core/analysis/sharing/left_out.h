// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is left of a function where some of its branches always go the other way.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/analysis/sharing/phases.h"
#include "core/analysis/values/function_values.h"
#include "core/ptx/control_dependence.h"

namespace trimtab::analysis {

class LeftOut {
  public:
    explicit LeftOut(const FunctionValues& values) : values_(values) {}

    // The branch at the end of the block no longer goes by these ways.
    void leave_out(ptx::BlockIndex branch, std::uint8_t ways) {
        both_ways_ |= ways_.emplace(branch, ways).first->second != ways;
    }

    // False: besides the instructions in `gone`, those that `may_go` with them, and what computes, something else is
    // left out, or what was computed there is used in what is left, or is there one of several values that a
    // register may have.
    // `used`: values that are used in any case.
    [[nodiscard]] bool is_clean(const std::set<std::uint32_t>& gone, const std::set<std::uint32_t>& may_go,
                                const std::vector<ptx::ValueIndex>& used = {});
    // From then on: is the block still come to?
    [[nodiscard]] bool has(ptx::BlockIndex block) const { return is_left_[block]; }
    // And does what is left need the instruction?
    [[nodiscard]] bool needs(std::uint32_t instruction) const { return needed_[instruction]; }
    // Do effects that are left, but for those in `but`, stand on two sides of a barrier, and does one of them write
    // what others may see?
    [[nodiscard]] bool has_order(const Phases& phases, const std::set<std::uint32_t>& but) const;
    // Takes out what is left out, what is in `gone`, and what computes for nothing.
    void take_out(ptx::Function& function, std::set<std::uint32_t> gone) const;

  private:
    bool find_left();
    bool find_needed(const std::set<std::uint32_t>& gone, const std::set<std::uint32_t>& may_go,
                     const std::vector<ptx::ValueIndex>& used_anyway);
    [[nodiscard]] bool is_left_out(ptx::BlockIndex from, ptx::BlockIndex to) const;
    [[nodiscard]] bool has_instruction(std::uint32_t instruction) const {
        return is_left_[values_.flow().block_of[instruction]];
    }

    const FunctionValues& values_;
    std::map<ptx::BlockIndex, std::uint8_t> ways_;
    bool both_ways_ = false;
    std::vector<bool> is_left_;  // by block
    std::vector<bool> needed_;   // by instruction
};

}  // namespace trimtab::analysis
