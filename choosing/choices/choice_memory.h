// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Remembered choices of one kernel: exact key words to a block and a grid, found without a lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/model/launch_configuration.h"

namespace trimtab::choosing {

// What is remembered of a decision, beside the words that it was made for.
struct RememberedChoice {
    model::LaunchConfiguration launch;
    std::uint32_t body = 0;     // Decision::body
    bool awaits_check = false;  // its launches are counted: choosing/crosscheck
    std::uint32_t reason = 0;   // index into the plan's reasons
    std::uint32_t by = 0;       // runtime::By
    double written_ns = 0, chosen_ns = 0;
};

// At most `max_entries` choices: beyond them, a new one takes the place of an old one near it. Readers copy
// an entry and check its version, so that they never see a half-written one.
class ChoiceMemory {
  public:
    static constexpr std::size_t max_entries = 2048;

    explicit ChoiceMemory(std::size_t key_words);
    ChoiceMemory(const ChoiceMemory&) = delete;
    ChoiceMemory& operator=(const ChoiceMemory&) = delete;

    [[nodiscard]] std::size_t key_words() const { return key_words_; }
    [[nodiscard]] static std::uint64_t hash(std::span<const std::uint64_t> key) {
        std::uint64_t h = 0x9e3779b97f4a7c15u;
        for (const std::uint64_t word : key) {
            h = (h ^ word) * 0xd6e8feb86659fd93u;
            h ^= h >> 32;
        }
        return h | 1;  // 0 marks an empty entry
    }

    // `full`: everything, else grid, block, shared memory and body alone.
    [[nodiscard]] bool find(std::span<const std::uint64_t> key, std::uint64_t key_hash, RememberedChoice& out,
                            bool full) const;
    void remember(std::span<const std::uint64_t> key, std::uint64_t key_hash, const RememberedChoice& choice);

  private:
    using Word = std::atomic<std::uint64_t>;
    static constexpr std::size_t probes = 8;
    // Words of an entry: version, hash, grid and block (3), shared memory and body (its highest bit: awaits_check),
    // reason and by, two times, the key.
    static constexpr std::uint32_t awaits_check_bit = 0x80000000u;
    static constexpr std::size_t version_word = 0, hash_word = 1, shape_word = 2, shared_word = 5,
                                 about_word = 6, written_word = 7, chosen_word = 8, first_key_word = 9;
    struct Table {
        Table(std::size_t entry_count, std::size_t words_each)
            : mask(entry_count - 1), words(std::make_unique<Word[]>(entry_count * words_each)) {}
        std::size_t mask;
        std::unique_ptr<Word[]> words;
    };

    [[nodiscard]] Word* entry(const Table& table, std::uint64_t key_hash, std::size_t probe) const {
        return &table.words[(((key_hash >> 8) + probe) & table.mask) * entry_words_];
    }
    [[nodiscard]] bool has_key(const Word* entry, std::span<const std::uint64_t> key) const;
    static void write(Word* entry, std::span<const std::uint64_t> key, std::uint64_t key_hash,
                      const RememberedChoice& choice);
    void grow();

    std::size_t key_words_, entry_words_;
    std::mutex mutex_;
    // Outgrown tables stay, for a reader may be in one: together they are smaller than the last.
    std::vector<std::unique_ptr<Table>> tables_;
    std::atomic<const Table*> current_ = nullptr;
    std::size_t used_ = 0;
};

}  // namespace trimtab::choosing
