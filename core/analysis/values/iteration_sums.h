// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums over the iterations of a grid-stride loop that end in an atomic: s += a[i] in the loop, atomicAdd(sum, s)
// behind it. Integers add up to the same in any order and in any grouping, and so do the smallest, the
// largest and bits: however many threads the iterations are dealt to, memory gets the sum of all.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/analysis/launches/operation.h"
#include "core/analysis/values/labels.h"

namespace trimtab::analysis {

// What is known of the loops of a dimension, by block.
struct IterationParts {
    // What stands there is done once for an iteration, of which the iteration alone decides whether.
    std::function<bool(ptx::BlockIndex)> counts;
    // Of a block that leaves its loop: is the iteration done there (true), or not begun (false)?
    std::function<std::optional<bool>(ptx::BlockIndex)> iteration_is_done;
    // Floating-point numbers are taken to add up to the same in any order and grouping.
    bool may_reassociate = false;
};

// Is the instruction, outside the loops of the dimension that `labels` is about, an atomic without a result
// that adds what its thread's iterations came to, each by values of that iteration alone, beginning with what adds
// nothing? That its address is the same for all threads is part of it; who comes by is not: a thread that
// makes no iteration adds nothing.
[[nodiscard]] bool is_sum_of_iterations(const FunctionValues& kernel, LabelsInDimension labels,
                                        const IterationParts& parts, std::uint32_t instruction);

// What a thread's iterations came to, as a value: each iteration's own by an operation of which order and grouping are no
// matter, beginning with what changes nothing or, where it is no matter how often it is taken (the smallest,
// the largest, bits), with what is the same for all threads.
struct IterationSum {
    Operator op = Operator::add;
    bool is_signed = false;
    unsigned width = 0;
    std::uint64_t identity = 0;
    // Of floating-point numbers: min and max, and add where that may be reassociated. What they do to NaNs and
    // the like is as they say.
    ptx::Type float_type = ptx::Type::none;
    bool ftz = false, nan = false;
    std::optional<std::uint64_t> start;  // where it is a constant

    [[nodiscard]] bool is_idempotent() const { return op != Operator::add && op != Operator::xor_; }
    // Equal in other orders but for how it is rounded.
    [[nodiscard]] bool is_rounded() const { return float_type != ptx::Type::none && op == Operator::add; }
    // Zero, of either sign: which of them is one with the rounding.
    [[nodiscard]] bool is_rounded_zero(std::uint64_t bits) const {
        return is_rounded() && (bits == 0 || bits == std::uint64_t{1} << (width - 1));
    }
};
[[nodiscard]] std::optional<IterationSum> sum_of_iterations(const FunctionValues& kernel,
                                                            LabelsInDimension labels,
                                                            const IterationParts& parts,
                                                            ptx::ValueIndex value);
// What the atomic does to memory, as such a sum; nothing where order or grouping of its like matters.
[[nodiscard]] std::optional<IterationSum> sum_of_atomic(const ptx::Instruction& atomic, bool may_reassociate);
// Does the instruction do that operation to its two sources, and nothing else?
[[nodiscard]] bool does(const ptx::Instruction& instruction, const IterationSum& sum);

}  // namespace trimtab::analysis
