// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lattice of the proof: what a value of a kernel is a function of.
//
// A label is a set of sources. The empty set is the bottom: launch constants, that is arguments, constants and
// memory at addresses of those. Labels join by union. A value is labelled where it is made; read in another
// iteration or behind its loop, the index of that loop becomes `shape` (Labels::at), for how far a thread's loop
// went depends on how many threads there are.
#pragma once

#include <cstdint>

#include "core/analysis/launches/description.h"

namespace trimtab::analysis {

class Label {
  public:
    // Of one dimension.
    enum Source : std::uint32_t {
        // The launch's shape: the block's size, the number of threads, a thread's own share of iterations and
        // where its loop ended. No effect may depend on it.
        shape = 1,
        // The thread's own index: the global index, its warp, its lane.
        index = 1 << 3,
        // The index of the strided loop of the dimension that the value's basic block is in: each is worked on
        // once, whatever the block is.
        iteration = 1 << 6,
        // The thread block's own index, in a dimension whose grid stays as written.
        thread_block = 1 << 9
    };

    constexpr Label() = default;
    [[nodiscard]] static constexpr Label of(Source source, Dimension dimension) {
        return Label(std::uint32_t{source} << static_cast<unsigned>(dimension));
    }
    [[nodiscard]] static constexpr Label any_shape() { return Label(7 * std::uint32_t{shape}); }
    // How a sum of floating-point numbers is grouped.
    [[nodiscard]] static constexpr Label rounding() { return Label(1 << 12); }

    constexpr Label& operator|=(Label other) {
        bits_ |= other.bits_;
        return *this;
    }
    [[nodiscard]] friend constexpr Label operator|(Label a, Label b) { return a |= b; }
    friend constexpr bool operator==(Label, Label) = default;

    [[nodiscard]] constexpr bool has(Source source, Dimension dimension) const {
        return (bits_ & of(source, dimension).bits_) != 0;
    }
    [[nodiscard]] constexpr bool has_any(Source source) const {
        return (bits_ & 7 * std::uint32_t{source}) != 0;
    }
    [[nodiscard]] constexpr bool is_rounded() const { return (bits_ & rounding().bits_) != 0; }
    // What the label says of one dimension, and of rounding.
    [[nodiscard]] constexpr Label in(Dimension dimension) const {
        constexpr std::uint32_t all = shape | index | iteration | thread_block;
        return Label(bits_ & (all << static_cast<unsigned>(dimension) | rounding().bits_));
    }
    [[nodiscard]] constexpr Label without(Source source, Dimension dimension) const {
        return Label(bits_ & ~of(source, dimension).bits_);
    }

    // Of any dimension; ask `in(d)` for one. Is it of the thread, of its number or of how many threads there are?
    // Where loops stride over a dimension, which thread makes which iteration depends on that.
    [[nodiscard]] constexpr bool is_of_thread() const { return has_any(shape) || has_any(index); }
    // The same in all threads and iterations, but for how it is rounded.
    [[nodiscard]] constexpr bool is_same() const { return !is_of_thread() && !has_any(iteration); }
    [[nodiscard]] constexpr bool is_exactly_same() const { return is_same() && !is_rounded(); }

  private:
    explicit constexpr Label(std::uint32_t bits) : bits_(bits) {}
    std::uint32_t bits_ = 0;
};

}  // namespace trimtab::analysis
