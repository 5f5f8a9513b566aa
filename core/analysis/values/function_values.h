// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every register value of one function as a polynomial, and where the function uses the launch's registers
// otherwise than through global indices (re-blocking, rule 1).
#pragma once

#include <array>
#include <expected>
#include <set>
#include <string>
#include <vector>

#include "core/analysis/launches/description.h"
#include "core/analysis/values/launch_assumptions.h"
#include "core/analysis/values/symbolic.h"
#include "core/ptx/control_flow.h"
#include "core/ptx/module.h"
#include "core/ptx/ssa.h"
#include "trimtab/error.h"

namespace trimtab::analysis {

// Which of the launch's registers the kernel reads, by dimension, over all functions that it reaches.
struct LaunchReads {
    std::array<bool, 3> thread_index{}, block_index{}, block_size{}, grid_size{};
    LaunchAssumption assumed;  // of what has one thread nothing counts as read

    // No threadIdx: legal where the block is 1 there, and then blockIdx is the global index itself.
    [[nodiscard]] bool block_stays_one(std::size_t dimension) const {
        return reads(dimension) && !thread_index[dimension];
    }
    [[nodiscard]] bool reads(std::size_t dimension) const {
        return thread_index[dimension] || block_index[dimension] || block_size[dimension] ||
               grid_size[dimension];
    }
    [[nodiscard]] bool grid_stays(std::size_t dimension) const {
        return assumed.of[dimension] == Assumed::grid_stays;
    }
    [[nodiscard]] DimensionUse use(std::size_t dimension) const;
};

// What the proof found in the way, at an instruction of a function.
struct Fault {
    unsigned rule = 0;
    std::uint32_t instruction = 0;
    std::string text;
    // Where it comes from, and what that is; empty: that is not known.
    std::uint32_t origin = 0;
    std::string origin_text = {};
};

class FunctionValues {
  public:
    // `index` tells values of different functions apart.
    [[nodiscard]] static std::expected<FunctionValues, Error> make(SymbolTable& table,
                                                                   const ptx::Function& function,
                                                                   std::uint32_t index,
                                                                   const LaunchReads& reads);

    [[nodiscard]] const ptx::Function& function() const { return *function_; }
    [[nodiscard]] const ptx::ControlFlow& flow() const { return flow_; }
    [[nodiscard]] const ptx::Ssa& ssa() const { return ssa_; }
    [[nodiscard]] std::uint32_t index() const { return index_; }
    [[nodiscard]] const std::vector<Fault>& faults() const { return faults_; }
    // Is what the threads of one warp do together the same in every block?
    [[nodiscard]] bool warps_are_units() const { return reads_.assumed.any(Assumed::whole_warps); }
    // And what those of one block do?
    [[nodiscard]] bool blocks_are_units() const { return reads_.assumed.blocks_are_units; }
    [[nodiscard]] bool is_reachable(std::uint32_t instruction) const;

    [[nodiscard]] const Symbolic& value(ptx::ValueIndex index) const { return values_[index]; }
    // What source operand `operand` is worth; empty (width 0) for what is no value: labels, sinks.
    [[nodiscard]] Symbolic operand(std::uint32_t instruction, std::size_t operand,
                                   std::size_t element = 0) const;
    // The guard predicate, its negation applied; constant true where there is none.
    [[nodiscard]] Symbolic guard(std::uint32_t instruction) const;
    // The address that a load, store or atomic uses: base + offset. Width 0: it has none.
    [[nodiscard]] Symbolic address(std::uint32_t instruction) const;
    // The kernel parameter and offset that a load reads, or nothing.
    struct ParameterBytes {
        std::uint32_t parameter = 0, offset = 0;
    };
    [[nodiscard]] std::optional<ParameterBytes> parameter_load(std::uint32_t instruction) const;
    [[nodiscard]] std::optional<ParameterBytes> parameter_at(const ptx::Instruction& load,
                                                             const Symbolic& address) const;
    // A load or store of the thread's own stack frame at a place known to lie inside it.
    [[nodiscard]] bool is_frame_access(std::uint32_t instruction) const;
    [[nodiscard]] const std::vector<ptx::ValueIndex>& phis(ptx::BlockIndex block) const {
        return phis_[block];
    }
    // The phi that an opaque atom stands for, or nothing.
    [[nodiscard]] std::optional<ptx::ValueIndex> phi_of(const Atom& atom) const;

  private:
    FunctionValues(SymbolTable& table, const ptx::Function& function, std::uint32_t index,
                   const LaunchReads& reads)
        : table_(&table), function_(&function), index_(index), reads_(reads) {}

    struct SymbolOffset {
        AtomIndex symbol = 0;
        std::uint64_t offset = 0;
    };
    // An address that is a symbol and a constant.
    [[nodiscard]] std::optional<SymbolOffset> symbol_offset(const Symbolic& address) const;

    bool evaluate();  // false: a phi was taken for more than it is; again
    void evaluate_phi(ptx::ValueIndex index);
    bool check_phis();
    void evaluate_instruction(std::uint32_t instruction);
    void define(std::uint32_t instruction, ptx::ValueIndex index);
    std::optional<Symbolic> loaded_parameter(std::uint32_t instruction, const ptx::Value& value);
    std::optional<Symbolic> exact(std::uint32_t instruction, const ptx::Value& value);
    std::optional<Symbolic> moved(std::uint32_t instruction, const ptx::Value& value);
    std::optional<Symbolic> compared(std::uint32_t instruction, const ptx::Value& value);
    std::optional<Symbolic> extracted(std::uint32_t instruction);
    std::optional<Symbolic> operated(const Operation& operation, std::vector<Symbolic> operands);
    Symbolic merge(const Symbolic& predicate, const Symbolic& a, const Symbolic& b, ptx::ValueIndex index);
    bool operands_are_clean(std::uint32_t instruction);
    void fault(std::uint32_t instruction, const Symbolic& value);
    Symbolic unknown(ptx::ValueIndex index, Atom::Kind kind) const;
    Symbolic special(ptx::SpecialRegister special, unsigned width) const;
    Symbolic lane_register(ptx::SpecialRegister special, unsigned width) const;
    Symbolic operand_value(const ptx::Operand& operand, ptx::ValueIndex value, unsigned width) const;
    Symbolic fit(const Symbolic& value, unsigned width, bool is_signed) const;
    [[nodiscard]] unsigned register_width(ptx::RegisterIndex reg) const;

    SymbolTable* table_;
    const ptx::Function* function_;
    std::uint32_t index_;
    LaunchReads reads_;
    ptx::ControlFlow flow_;
    ptx::Ssa ssa_;
    std::vector<Symbolic> values_;
    std::vector<std::vector<ptx::ValueIndex>> phis_;         // by block
    std::vector<std::vector<ptx::ValueIndex>> definitions_;  // by instruction
    std::vector<bool> evaluated_;
    std::set<ptx::ValueIndex> tainted_phis_;
    std::vector<Fault> faults_;
};

// %laneid and the masks of lanes.
[[nodiscard]] bool is_lane_register(ptx::SpecialRegister special);

[[nodiscard]] LaunchReads launch_reads(const std::vector<const ptx::Function*>& functions,
                                       const LaunchAssumption& assumed);

}  // namespace trimtab::analysis
