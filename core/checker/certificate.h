// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a proof claims of one function of a kernel, in a form that can be checked instruction by instruction.
// Values, basic blocks and loops are numbered as ptx's SSA and control flow number them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/ptx/control_flow.h"
#include "core/ptx/module.h"
#include "core/ptx/ssa.h"

namespace trimtab::checker {

// What a value is a function of, beside arguments and memory: a bit each; none: the same in every thread.
using Labels = std::uint16_t;
inline constexpr Labels index_x =
    1;  // the thread's index, << d: in the grid or, where the grid stays, in its block
inline constexpr Labels iteration_x =
    8;  // << d: the index of a strided loop of that dimension, in its iteration
inline constexpr Labels thread_block = 64;  // blockIdx and gridDim where the grid stays
inline constexpr Labels lane = 128;         // the thread's number in its warp
inline constexpr Labels rounding = 256;     // how a sum of floating-point numbers is grouped
inline constexpr Labels shape_x =
    512;  // << d: blockDim, gridDim, the total, a thread's share of iterations, where its loop ended
inline constexpr Labels others = 4096;  // the machine, and the order of threads: what an atomic finds
inline constexpr Labels all_indices = 7, all_iterations = 56, all_shapes = 7 * 512;

// What launches may do to one dimension.
enum class Scheme : std::uint8_t {
    single,       // one thread, as written and after
    index,        // any block; the number of threads may grow by a tail
    fixed_total,  // any block that leaves the number of threads
    free_total,   // any number of threads: loops go from the global index by the total
    in_block      // the grid stays: loops go from threadIdx by blockDim
};
struct DimensionRule {
    Scheme scheme = Scheme::single;
    bool has_blocks_of_one = false;  // as written and after
    bool has_whole_warps = false;    // as written and after

    [[nodiscard]] bool is_strided() const {
        return scheme == Scheme::free_total || scheme == Scheme::in_block;
    }
};

// What the launch evaluates.
struct Expression {
    enum class Kind : std::uint8_t { operation, constant, parameter, index };
    Kind kind = Kind::constant;
    ptx::Instruction operation;  // its opcode, types and modifiers
    ptx::Type type = ptx::Type::none;
    std::uint64_t bits = 0;
    std::uint32_t offset = 0;  // in the parameter buffer
    std::uint8_t dimension = 0;
    std::vector<Expression> arguments;
};

// for (i = index; ...; i += total) in one dimension.
struct StridedLoop {
    ptx::BlockIndex header = 0;
    std::uint8_t dimension = 0;
    std::vector<ptx::ValueIndex> phis;  // of its header: functions of i
    // Conversions to 64 bits that the launch shows to lose nothing for any i.
    std::vector<ptx::ValueIndex> widened;
    std::vector<Expression> exits;  // of i, in `index`: the tests that the launch looks at
};

// A branch one way of which the thread of index 0 alone goes.
struct FirstThread {
    ptx::BlockIndex branch = 0;
    bool if_taken = false;
    std::uint8_t dimension = 0;
};

// An atomic that adds what a thread's iterations came to: all of the values that are such sums.
struct IterationSum {
    std::uint32_t atomic = 0;
    std::vector<ptx::ValueIndex> values;
};

// A piece of code by which a block's threads tell each other values.
struct Exchange {
    ptx::BlockIndex from = 0, to = 0;
    struct Agreed {
        ptx::ValueIndex value = 0;
        bool by_first = false;  // in the thread of index 0 alone
        bool is_rounded = false;
        std::uint32_t within = ptx::no_index;  // the loop in which it is not yet what it is behind it
    };
    std::vector<Agreed> agreed;  // of the piece, and loads behind it of what it left
};

// Where true, a thread ends without an effect.
struct Guard {
    std::uint8_t dimension = 0;
    Expression exits;
};

struct Certificate {
    const ptx::Function* function = nullptr;
    std::array<DimensionRule, 3> dimensions;
    std::vector<Labels> labels;  // by value
    std::vector<StridedLoop> loops;
    // for (r = blockIdx; r < n; r += gridDim), where the grid stays: blockIdx stands for r.
    std::vector<StridedLoop> rows;
    std::vector<FirstThread> first_threads;
    std::vector<IterationSum> sums;
    // The instructions of exchanges: shuffles, and accesses to the shared memory that they go through.
    std::vector<std::uint32_t> exchanging;
    std::vector<Exchange> exchanges;
    std::vector<Guard> guards;
    // Stores that fill a table as every block does. Where there are some, they are all that is asked about.
    std::vector<std::uint32_t> fills;
    bool blocks_are_units = false;
    bool may_reassociate = false;  // floating-point sums may be grouped otherwise
};

}  // namespace trimtab::checker
