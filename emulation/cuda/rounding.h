// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words that two runs of one launch left otherwise: can the order in which floating-point numbers were added have made
// it so? docs/legality.md, "What rounding explains".
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "emulation/cuda/memory_snapshot.h"
#include "emulation/emulator/check/written_numbers.h"

namespace trimtab::cuda {

class Rounding {
  public:
    // `regroups_sums`: blocks of other sizes add numbers in other groups than the launch as written does.
    explicit Rounding(bool regroups_sums) : regroups_sums_(regroups_sums) {}

    // Watches one run of the launch as written, before anything is asked.
    [[nodiscard]] emulator::LaunchObserver& watch() { return numbers_; }
    // After that run: how large the numbers are that it wrote.
    void note_scales(const MemorySnapshot& before);
    // What another order of the launch as written left otherwise.
    void note_spread(const MemorySnapshot::ChangedWord& word);

    // `is_as_written`: in another order only, in which nothing but atomics adds otherwise.
    [[nodiscard]] bool explains(const MemorySnapshot::ChangedWord& word, bool is_as_written) const;

  private:
    // One number of a word.
    struct Number {
        ptx::NumberKind kind = ptx::NumberKind::other;
        std::uint64_t region = 0, address = 0;
        double then = 0, now = 0;
    };
    // Calls visit(number) for each that differs, until it returns false; of kind `other`: bytes that hold none. True: it
    // never did.
    template <class Visit>
    bool each_number(const MemorySnapshot::ChangedWord& word, const Visit& visit) const;
    [[nodiscard]] bool is_explained(const Number& number, bool is_as_written) const;
    [[nodiscard]] double scale_of(const Number& number) const;

    const bool regroups_sums_;
    emulator::check::WrittenNumbers numbers_;
    std::map<std::pair<std::uint64_t, ptx::NumberKind>, double> scales_;  // by where an allocation begins
    std::unordered_map<std::uint64_t, double> spread_;                    // by address
};

}  // namespace trimtab::cuda
