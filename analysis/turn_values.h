// What the values of a kernel with grid-stride loops depend on: nothing of the thread, a loop's index, or
// otherwise on the thread or on how many there are.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "analysis/function_values.h"
#include "ptx/control_dependence.h"

namespace trimtab::analysis {

// The registers that a grid-stride loop carries from turn to turn, as functions of its index. Each loop
// strides in one dimension at most.
class LoopIndices {
  public:
    LoopIndices(SymbolTable& table, const FunctionValues& kernel, const std::array<bool, 3>& dimensions);

    struct Strided {
        std::uint32_t loop = 0;  // in the control flow's list
        Dimension dimension = Dimension::x;
    };
    [[nodiscard]] const std::vector<Strided>& loops() const { return loops_; }
    // Loops of a block over rows, of dimensions whose grid stays: for (r = blockIdx; r < n; r += gridDim).
    // The block's index stands for r in them.
    [[nodiscard]] const std::vector<Strided>& rows() const { return rows_; }
    // With loop indices in place of the registers that follow them.
    [[nodiscard]] Symbolic with_indices(const Symbolic& value) const;
    // Of the loops that the block is in. Behind a loop its register holds where a thread's turns ended, which
    // no index of another loop stands for.
    [[nodiscard]] Symbolic with_indices(const Symbolic& value, ptx::BlockIndex at) const;
    [[nodiscard]] const Symbolic* as_function(AtomIndex phi) const;
    // What must be true of every index of the loop, and of the first one past its bound of each thread, for
    // these functions to hold: sums with the index that do not wrap. The global index stands for the loop's.
    [[nodiscard]] std::vector<Symbolic> taken_for_granted(std::uint32_t loop) const;

  private:
    enum class Over : std::uint8_t { threads, rows };
    bool stride(std::uint32_t loop, Dimension dimension, Over over);
    [[nodiscard]] std::optional<AtomIndex> own_atom(ptx::ValueIndex phi) const;
    [[nodiscard]] Symbolic own_part(ptx::ValueIndex phi, ptx::ValueIndex incoming) const;
    [[nodiscard]] std::optional<Symbolic> first_value(const ptx::Loop& loop, ptx::ValueIndex phi) const;
    [[nodiscard]] std::map<AtomIndex, Symbolic> functions_at(ptx::BlockIndex block) const;
    // Registers with functions of a loop's index.
    struct Candidate {
        ptx::ValueIndex phi = 0;
        Symbolic function;
        std::vector<Symbolic> granted;
    };
    using Candidates = std::map<AtomIndex, Candidate>;
    void keep_followers(const ptx::Loop& loop, const std::map<AtomIndex, Symbolic>& to_next,
                        Candidates& candidates, Dimension dimension, Over over) const;
    [[nodiscard]] Symbolic with_next_index(const Symbolic& value, Dimension dimension, Over over) const;
    [[nodiscard]] Symbolic unwrapped(const Symbolic& value, Dimension dimension,
                                     std::vector<Symbolic>& granted) const;

    SymbolTable* table_;
    const FunctionValues* kernel_;
    std::vector<Strided> loops_, rows_;
    std::map<AtomIndex, Symbolic> functions_;
    // Of rows, in their loops alone: where a thread leaves such a loop may be its own affair.
    std::map<AtomIndex, Symbolic> row_functions_;
    std::map<AtomIndex, std::uint32_t> loop_of_;              // of the functions' registers
    std::map<std::uint32_t, std::vector<Symbolic>> granted_;  // by loop
};

struct Dependence {
    bool on_launch = false;    // on g, the total, or the turns made before
    bool on_index = false;     // on the index of a loop
    bool on_rounding = false;  // on how a sum of floating-point numbers is grouped
    void join(const Dependence& other) {
        on_launch |= other.on_launch;
        on_index |= other.on_index;
        on_rounding |= other.on_rounding;
    }
    // For all threads and turns, but for how it is rounded.
    [[nodiscard]] bool is_same() const { return !on_launch && !on_index; }
    friend bool operator==(const Dependence&, const Dependence&) = default;
};

// Values that come from what the threads of a block tell each other, and are the same whatever the block is.
struct AgreedValues {
    std::vector<bool> told;      // by value: it comes from there, and is agreed on where the rest says so
    std::vector<bool> by_all;    // by value: to every thread that makes it
    std::vector<bool> by_first;  // by value: to the thread of index 0
    std::vector<bool> rounded;   // by value: but for the rounding of floating-point sums
    std::vector<bool> of_first_only;  // by block: that thread alone comes by
    // By value: the loop in which it is not yet what it is behind it; no_index: none.
    std::vector<std::uint32_t> within;
};

// With respect to one dimension and its loops, none of which is in another.
class TurnValues {
  public:
    TurnValues(SymbolTable& table, const FunctionValues& kernel, const LoopIndices& indices,
               const ptx::ControlDependence& control, Dimension dimension, const AgreedValues& agreed = {});

    static constexpr std::uint32_t outside = UINT32_MAX;
    // The loop of the dimension that the block is in.
    [[nodiscard]] std::uint32_t home(ptx::BlockIndex block) const { return homes_[block]; }
    // Everything that the instruction reads, its guard and its address too.
    [[nodiscard]] Dependence uses(std::uint32_t instruction) const;
    [[nodiscard]] Dependence of(const Symbolic& value) const;
    // Of the value, where the block reads it.
    [[nodiscard]] Dependence read(ptx::ValueIndex value, ptx::BlockIndex to) const;

  private:
    [[nodiscard]] Dependence made(ptx::ValueIndex value) const;
    [[nodiscard]] Dependence loaded_from_stack(ptx::BlockIndex block) const;
    [[nodiscard]] Dependence made_phi(const ptx::Value& phi) const;
    [[nodiscard]] std::vector<ptx::BlockIndex> merging_branches(ptx::BlockIndex block) const;
    [[nodiscard]] bool is_agreed(ptx::ValueIndex value, ptx::BlockIndex to) const;
    [[nodiscard]] bool crosses(ptx::ValueIndex value, ptx::BlockIndex to) const;
    [[nodiscard]] ptx::BlockIndex block_of(const ptx::Value& value) const;

    SymbolTable& table_;
    const FunctionValues& kernel_;
    const LoopIndices& indices_;
    const ptx::ControlDependence& control_;
    Dimension dimension_;
    AgreedValues agreed_;
    std::vector<std::uint32_t> homes_;                            // by block
    std::vector<std::vector<ptx::BlockIndex>> merging_branches_;  // by block
    std::vector<Dependence> dependences_;                         // by value
    std::vector<bool> of_stack_;                                  // by instruction: it loads from there
    std::vector<std::uint32_t> stack_stores_;
};

}  // namespace trimtab::analysis
