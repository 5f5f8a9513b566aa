// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The latest accesses to every word of memory of a launch, and the races among them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "emulation/emulator/check/ordering.h"

namespace trimtab::emulator::check {

inline constexpr std::uint64_t word_bytes = 4;

struct Race {
    Stamp before;
    bool before_writes = false;
};

// Words that keep their last writer and two readers of different threads. Of accesses of one word's bytes
// only those are compared that overlap.
class RaceShadow {
  public:
    // An access of one thread to bytes of one word at `address` (a multiple of 4). `keeps_value`: a write of
    // what is there already, which no other thread can tell from none; it only counts where nothing was
    // written before. `writer` (may be nullptr): receives the last writer before this access.
    [[nodiscard]] std::optional<Race> access(const Ordering& ordering, std::uint64_t address,
                                             const Stamp& stamp, bool reads, bool writes, bool keeps_value);
    [[nodiscard]] const Stamp& last_writer(std::uint64_t address);
    void clear();

  private:
    struct Word {
        Stamp writer;
        std::array<Stamp, 2> readers;  // the latest, and the latest of another thread
    };
    static constexpr std::uint64_t page_words = 1024;
    using Page = std::array<Word, page_words>;

    [[nodiscard]] Word& word_at(std::uint64_t address);

    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
    Page* last_page_ = nullptr;
    std::uint64_t last_number_ = 0;
};

}  // namespace trimtab::emulator::check
