// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one data flow of the proof: the label (label.h) of every value, in every basic block that reads it.
//
// Runs behind function_values (values as polynomials) and loop_indices (which loops stride); what the threads of a
// block tell each other (block_exchange.h) is put in as agreed values. The rules ask it and nothing else what a
// value depends on.
#pragma once

#include <array>
#include <set>
#include <vector>

#include "core/analysis/values/function_values.h"
#include "core/analysis/values/label.h"
#include "core/analysis/values/loop_indices.h"
#include "core/ptx/control_dependence.h"

namespace trimtab::analysis {

// Values that come from what the threads of a block tell each other, and are the same whatever the block is.
struct AgreedValues {
    std::vector<bool> told;      // by value: it comes from there, and is agreed on where the rest says so
    std::vector<bool> by_all;    // by value: to every thread that makes it
    std::vector<bool> by_first;  // by value: to the thread of index 0
    std::vector<bool> rounded;   // by value: but for the rounding of floating-point sums
    std::vector<bool> of_first_only;  // by basic block: that thread alone comes by
    // By value: the loop in which it is not yet what it is behind it; no_index: none.
    std::vector<std::uint32_t> within;
};

class Labels {
  public:
    Labels(const SymbolTable& table, const FunctionValues& kernel, const LoopIndices& indices,
           const ptx::ControlDependence& control, const AgreedValues& agreed = {});

    static constexpr std::uint32_t outside = UINT32_MAX;
    // The strided loop of the dimension that the basic block is in.
    [[nodiscard]] std::uint32_t home(ptx::BlockIndex block, Dimension dimension) const {
        return homes_[static_cast<std::size_t>(dimension)][block];
    }
    // Of the value, where the basic block reads it.
    [[nodiscard]] Label at(ptx::ValueIndex value, ptx::BlockIndex to) const;
    // Of everything that the instruction reads, its guard and its address too.
    [[nodiscard]] Label uses(std::uint32_t instruction) const;
    // Of a polynomial over the kernel's values, where the basic block computes it.
    [[nodiscard]] Label of(const Symbolic& value, ptx::BlockIndex at) const;

  private:
    [[nodiscard]] Label moved(Label label, ptx::BlockIndex from, ptx::BlockIndex to) const;
    [[nodiscard]] Label of_atoms(const Symbolic& value, ptx::BlockIndex at) const;
    [[nodiscard]] Label of_atom(AtomIndex index, ptx::BlockIndex at) const;
    [[nodiscard]] Label made(ptx::ValueIndex value) const;
    [[nodiscard]] Label made_by_phi(const ptx::Value& phi) const;
    [[nodiscard]] Label loaded_from_stack(ptx::BlockIndex block) const;
    [[nodiscard]] bool may_touch_stack(std::uint32_t instruction) const;
    [[nodiscard]] bool stands_for_itself(ptx::ValueIndex value) const;
    [[nodiscard]] bool is_agreed(ptx::ValueIndex value, ptx::BlockIndex to) const;
    [[nodiscard]] std::vector<ptx::BlockIndex> merging_branches(ptx::BlockIndex block) const;
    [[nodiscard]] ptx::BlockIndex block_of(const ptx::Value& value) const;
    [[nodiscard]] std::uint32_t last_of(ptx::BlockIndex block) const {
        return kernel_.flow().blocks[block].last - 1;
    }

    const SymbolTable& table_;
    const FunctionValues& kernel_;
    const LoopIndices& indices_;
    const ptx::ControlDependence& control_;
    AgreedValues agreed_;
    std::array<std::vector<std::uint32_t>, 3> homes_;             // by dimension, then by basic block
    std::vector<std::vector<ptx::BlockIndex>> merging_branches_;  // by basic block
    std::vector<Label> labels_;                                   // by value, where it is made
    bool has_stack_ = false;
    std::vector<bool> of_stack_;  // by instruction: it loads from there
    std::vector<std::uint32_t> stack_stores_;
    std::set<ptx::BlockIndex> stack_deciding_;  // branches that decide whether any of them is reached
};

// What labels say of one dimension.
class LabelsInDimension {
  public:
    LabelsInDimension(const Labels& labels, Dimension dimension) : labels_(&labels), dimension_(dimension) {}

    static constexpr std::uint32_t outside = Labels::outside;
    [[nodiscard]] std::uint32_t home(ptx::BlockIndex block) const { return labels_->home(block, dimension_); }
    [[nodiscard]] Label at(ptx::ValueIndex value, ptx::BlockIndex to) const {
        return labels_->at(value, to).in(dimension_);
    }
    [[nodiscard]] Label uses(std::uint32_t instruction) const {
        return labels_->uses(instruction).in(dimension_);
    }
    [[nodiscard]] Label of(const Symbolic& value, ptx::BlockIndex at) const {
        return labels_->of(value, at).in(dimension_);
    }

  private:
    const Labels* labels_;
    Dimension dimension_;
};

}  // namespace trimtab::analysis
