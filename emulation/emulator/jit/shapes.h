// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known, before anything runs, of how a register's value differs between the lanes of a warp: not at
// all (uniform), by offsets that are known (a pattern: consecutive array elements, the rows of a 16 by 16
// block), by offsets that are known within runs of neighbouring lanes (in a block 16 threads wide,
// y * width + x is two such runs), or in any way.
//
// Only the lanes of the path that executes count. A value that is uniform on every path may still differ once
// paths have come together again: what is written between a divergent branch and its join, and needed behind
// it, is in that sense general.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/ptx/liveness.h"
#include "emulation/emulator/exec/op.h"
#include "emulation/emulator/jit/lane_pattern.h"

namespace trimtab::emulator::jit {

using Offsets = std::array<std::int64_t, warp_lanes>;

struct Shape {
    enum class Kind : std::uint8_t { unknown, uniform, pattern, runs, general };
    Kind kind = Kind::unknown;
    Offsets offsets{};  // pattern: of each lane from lane 0; runs: from the first lane of its run

    [[nodiscard]] bool is_uniform() const { return kind == Kind::uniform; }
    [[nodiscard]] bool is_pattern() const { return kind == Kind::pattern; }
    [[nodiscard]] bool is_runs() const { return kind == Kind::runs; }
    [[nodiscard]] bool is_general() const { return kind == Kind::general; }
    friend bool operator==(const Shape&, const Shape&) = default;

    static Shape uniform() { return {Kind::uniform, {}}; }
    static Shape general() { return {Kind::general, {}}; }
    // Uniform where all are 0; general where they are too far apart to be an array's.
    static Shape pattern(Offsets offsets, unsigned bytes);
    // General where the lanes of a run are too far apart.
    static Shape runs(Offsets offsets, unsigned bytes);
    // As runs of so many lanes: not of a general shape.
    [[nodiscard]] Shape in_runs(unsigned run_lanes) const;
    [[nodiscard]] bool is_same_in_runs() const { return is_uniform() || (is_runs() && offsets == Offsets{}); }
};

// The longest runs of lanes in which %tid.x counts up by one: a power of two, at least 8.
[[nodiscard]] unsigned run_lanes_of(const LanePatterns& lanes);

class Shapes {
  public:
    Shapes(const ptx::Function& function, const ptx::ControlFlow& flow, const ptx::Liveness& liveness,
           const LanePatterns& lanes, bool is_kernel, bool may_have_runs);

    [[nodiscard]] const Shape& of(ptx::RegisterIndex reg) const { return shapes_[reg]; }
    // Is it a sum, a product or a copy that makes patterns of patterns and runs of runs? A register may have
    // the shape of another instruction that writes it.
    [[nodiscard]] bool keeps_shape(const ptx::Instruction& instruction) const {
        return !arithmetic(instruction).is_general();
    }
    // Of an operand as the instruction reads it: where `bytes` is another width than the register's, with
    // `type`'s extension.
    [[nodiscard]] Shape of(const ptx::Operand& operand, unsigned bytes, ptx::Type type) const;
    // A value made of a pattern by widening: only if no lane wraps around, which compiled code checks.
    [[nodiscard]] bool is_divergent(std::uint32_t branch) const { return divergent_[branch]; }
    // Lanes in a run: a power of two.
    [[nodiscard]] unsigned run_lanes() const { return run_lanes_; }

  private:
    template <class F>
    [[nodiscard]] Shape combine(const Shape& a, const Shape& b, unsigned bytes, const F& f) const;
    [[nodiscard]] Shape merged(const Shape& a, const Shape& b) const;
    [[nodiscard]] Shape result(const ptx::Instruction& instruction) const;
    [[nodiscard]] Shape arithmetic(const ptx::Instruction& instruction) const;
    [[nodiscard]] Shape product(const ptx::Instruction& instruction, unsigned bytes) const;
    [[nodiscard]] Shape special(const ptx::Operand& operand) const;
    [[nodiscard]] bool propagate();
    [[nodiscard]] bool spread_divergence();
    void diverge(ptx::BlockIndex block);
    [[nodiscard]] unsigned width_of(ptx::RegisterIndex reg) const;
    [[nodiscard]] bool are_uniform(const ptx::Instruction& instruction) const;

    const ptx::Function& function_;
    const ptx::ControlFlow& flow_;
    const ptx::Liveness& liveness_;
    const LanePatterns& lanes_;
    const bool is_kernel_;
    const unsigned run_lanes_;
    const bool has_runs_;
    std::vector<Shape> shapes_;
    std::vector<bool> divergent_;  // by instruction
};

// Register widths as the interpreter lays them out; 0: a predicate.
[[nodiscard]] unsigned register_bytes(const ptx::Function& function, ptx::RegisterIndex reg);

}  // namespace trimtab::emulator::jit
