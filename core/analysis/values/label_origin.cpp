// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/label_origin.h"

#include <vector>

namespace trimtab::analysis {
namespace {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::ValueIndex;

class Origin {
  public:
    Origin(const FunctionValues& kernel, const Labels& labels, Dimension dimension, bool only_shape)
        : kernel_(kernel),
          labels_(labels, dimension),
          only_shape_(only_shape),
          visited_(kernel.ssa().values.size()) {}

    std::optional<LabelOrigin> of_instruction(std::uint32_t instruction) {
        const BlockIndex block = kernel_.flow().block_of[instruction];
        for (const ptx::Ssa::Use& use : kernel_.ssa().uses[instruction])
            if (auto found = of_value(use.value, block)) return found;
        return std::nullopt;
    }

  private:
    bool matters(ValueIndex index, BlockIndex to) const {
        const Label label = labels_.at(index, to);
        return only_shape_ ? label.has_any(Label::shape) : label.is_of_thread();
    }
    // The value as the basic block reads it.
    std::optional<LabelOrigin> of_value(ValueIndex index, BlockIndex to) {
        if (index == no_index || visited_[index] || !matters(index, to)) return std::nullopt;
        visited_[index] = true;
        const ptx::Value& value = kernel_.ssa().values[index];
        if (value.kind == ptx::Value::Kind::undefined) return std::nullopt;
        const bool is_phi = value.kind == ptx::Value::Kind::phi;
        const BlockIndex block = is_phi ? value.block : kernel_.flow().block_of[value.instruction];
        const std::uint32_t made = is_phi ? kernel_.flow().blocks[block].first : value.instruction;
        // Its own iteration knows it: it is which iteration was the last that nobody knows.
        if (!matters(index, block)) return LabelOrigin{made, "where a thread's loop ended"};
        if (is_phi) return of_phi(value, made);
        if (auto found = of_instruction(made)) return found;
        if (value.previous != no_index)
            if (auto found = of_value(value.previous, block)) return found;
        const bool is_shape = labels_.at(index, block).has_any(Label::shape);
        return LabelOrigin{made, is_shape ? "the number of threads" : "the thread's own index"};
    }
    std::optional<LabelOrigin> of_phi(const ptx::Value& phi, std::uint32_t made) {
        const std::uint32_t home = labels_.home(phi.block);
        if (home != Labels::outside && kernel_.flow().loops[home].header == phi.block)
            return LabelOrigin{made, "the iterations before"};
        for (const ValueIndex incoming : phi.incoming)
            if (auto found = of_value(incoming, phi.block)) return found;
        for (const BlockIndex from : kernel_.flow().blocks[phi.block].predecessors) {
            const ptx::BasicBlock& body = kernel_.flow().blocks[from];
            if (body.first != body.last)
                if (auto found = of_instruction(body.last - 1)) return found;
        }
        return LabelOrigin{made, "which way a thread goes"};
    }

    const FunctionValues& kernel_;
    LabelsInDimension labels_;
    bool only_shape_;
    std::vector<bool> visited_;
};

}  // namespace

std::optional<LabelOrigin> label_origin(const FunctionValues& kernel, const Labels& labels,
                                        std::uint32_t instruction, Dimension dimension, bool only_shape) {
    return Origin(kernel, labels, dimension, only_shape).of_instruction(instruction);
}

}  // namespace trimtab::analysis
