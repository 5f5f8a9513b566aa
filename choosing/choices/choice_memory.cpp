// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/choices/choice_memory.h"

#include <algorithm>
#include <bit>

namespace trimtab::choosing {
namespace {

constexpr std::size_t first_size = 32;

std::uint64_t join(std::uint32_t low, std::uint32_t high) {
    return low | static_cast<std::uint64_t>(high) << 32;
}
std::uint32_t low_half(std::uint64_t word) {
    return static_cast<std::uint32_t>(word);
}
std::uint32_t high_half(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 32);
}

}  // namespace

ChoiceMemory::ChoiceMemory(std::size_t key_words)
    : key_words_(key_words), entry_words_(first_key_word + key_words) {
    tables_.push_back(std::make_unique<Table>(first_size, entry_words_));
    current_.store(tables_.back().get(), std::memory_order_release);
}

bool ChoiceMemory::has_key(const Word* entry, std::span<const std::uint64_t> key) const {
    for (std::size_t i = 0; i < key.size(); ++i) {
        if (entry[first_key_word + i].load(std::memory_order_relaxed) != key[i]) return false;
    }
    return true;
}

bool ChoiceMemory::find(std::span<const std::uint64_t> key, std::uint64_t key_hash, RememberedChoice& out,
                        bool full) const {
    const Table& table = *current_.load(std::memory_order_acquire);
    for (std::size_t probe = 0; probe < probes; ++probe) {
        const Word* at = entry(table, key_hash, probe);
        const std::uint64_t version = at[version_word].load(std::memory_order_acquire);
        const std::uint64_t found = at[hash_word].load(std::memory_order_relaxed);
        if (found == 0) return false;
        if (found != key_hash || (version & 1) != 0 || !has_key(at, key)) continue;
        std::uint64_t shape[3];
        for (std::size_t i = 0; i < 3; ++i) shape[i] = at[shape_word + i].load(std::memory_order_relaxed);
        out.launch.grid = {.x = low_half(shape[0]), .y = high_half(shape[0]), .z = low_half(shape[1])};
        out.launch.block = {.x = high_half(shape[1]), .y = low_half(shape[2]), .z = high_half(shape[2])};
        const std::uint64_t shared = at[shared_word].load(std::memory_order_relaxed);
        out.launch.dynamic_shared_bytes = low_half(shared);
        out.body = high_half(shared) & ~awaits_check_bit;
        out.awaits_check = (high_half(shared) & awaits_check_bit) != 0;
        if (full) {
            const std::uint64_t about = at[about_word].load(std::memory_order_relaxed);
            out.reason = low_half(about);
            out.by = high_half(about);
            out.written_ns = std::bit_cast<double>(at[written_word].load(std::memory_order_relaxed));
            out.chosen_ns = std::bit_cast<double>(at[chosen_word].load(std::memory_order_relaxed));
        }
        std::atomic_thread_fence(std::memory_order_acquire);
        // Replaced while it was read: as good as not remembered.
        return at[version_word].load(std::memory_order_relaxed) == version;
    }
    return false;
}

// The version is odd while the words change. The fence keeps their stores after the first store of the
// version; the reader's acquire fence keeps its loads before its second load of it.
void ChoiceMemory::write(Word* entry, std::span<const std::uint64_t> key, std::uint64_t key_hash,
                         const RememberedChoice& choice) {
    const std::uint64_t version = entry[version_word].load(std::memory_order_relaxed);
    entry[version_word].store(version + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    const auto set = [entry](std::size_t word, std::uint64_t value) {
        entry[word].store(value, std::memory_order_relaxed);
    };
    set(shape_word, join(choice.launch.grid.x, choice.launch.grid.y));
    set(shape_word + 1, join(choice.launch.grid.z, choice.launch.block.x));
    set(shape_word + 2, join(choice.launch.block.y, choice.launch.block.z));
    // No block has 4 GiB: `choice` is of a launch that is legal, or of one as written, which fails then.
    set(shared_word, join(static_cast<std::uint32_t>(
                              std::min<std::uint64_t>(choice.launch.dynamic_shared_bytes, UINT32_MAX)),
                          choice.body | (choice.awaits_check ? awaits_check_bit : 0)));
    set(about_word, join(choice.reason, choice.by));
    set(written_word, std::bit_cast<std::uint64_t>(choice.written_ns));
    set(chosen_word, std::bit_cast<std::uint64_t>(choice.chosen_ns));
    for (std::size_t i = 0; i < key.size(); ++i) set(first_key_word + i, key[i]);
    set(hash_word, key_hash);
    entry[version_word].store(version + 2, std::memory_order_release);
}

void ChoiceMemory::remember(std::span<const std::uint64_t> key, std::uint64_t key_hash,
                            const RememberedChoice& choice) {
    const std::lock_guard lock(mutex_);
    if (2 * used_ > tables_.back()->mask && tables_.back()->mask + 1 < max_entries) grow();
    const Table& table = *tables_.back();
    Word* place = nullptr;
    for (std::size_t probe = 0; probe < probes; ++probe) {
        Word* at = entry(table, key_hash, probe);
        const std::uint64_t found = at[hash_word].load(std::memory_order_relaxed);
        if (found == 0) {
            place = at;
            ++used_;
            break;
        }
        if (found == key_hash && has_key(at, key)) {
            place = at;
            break;
        }
    }
    // All taken: the replaced neighbour is picked by bits of the hash that did not pick the place.
    if (place == nullptr) place = entry(table, key_hash, (key_hash >> 1) % probes);
    write(place, key, key_hash, choice);
}

void ChoiceMemory::grow() {
    const Table& old = *tables_.back();
    auto larger = std::make_unique<Table>(4 * (old.mask + 1), entry_words_);
    used_ = 0;
    for (std::size_t i = 0; i <= old.mask; ++i) {
        const Word* from = &old.words[i * entry_words_];
        const std::uint64_t key_hash = from[hash_word].load(std::memory_order_relaxed);
        if (key_hash == 0) continue;
        for (std::size_t probe = 0; probe < probes; ++probe) {
            Word* to = entry(*larger, key_hash, probe);
            if (to[hash_word].load(std::memory_order_relaxed) != 0) continue;
            for (std::size_t word = 0; word < entry_words_; ++word)
                to[word].store(from[word].load(std::memory_order_relaxed), std::memory_order_relaxed);
            ++used_;
            break;
        }
    }
    tables_.push_back(std::move(larger));
    current_.store(tables_.back().get(), std::memory_order_release);
}

}  // namespace trimtab::choosing
