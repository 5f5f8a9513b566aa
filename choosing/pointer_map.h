// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointer to pointer, read without a lock on every launch, written seldom.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace trimtab::choosing {

// Open addressing with linear probing. Writers hold a mutex and bump the version around what they do; a
// reader that finds another version than it began with reads again. So places of erased keys are used again,
// and memory stays in proportion to the most keys there ever were at once; tables that were outgrown stay
// until the end, for a reader may be in one: together they are smaller than the last.
template <typename Value>
class PointerMap {
  public:
    PointerMap() { add_table(64); }
    PointerMap(const PointerMap&) = delete;
    PointerMap& operator=(const PointerMap&) = delete;

    [[nodiscard]] Value* find(const void* key) const {
        constexpr int most_tries = 64;
        for (int i = 0; i < most_tries; ++i) {
            const std::uint64_t version = version_.load(std::memory_order_acquire);
            if (version % 2 != 0) continue;
            Value* value = look_up(key);
            // The loads before are acquires: this one comes after them.
            if (version_.load(std::memory_order_relaxed) == version) return value;
        }
        const std::lock_guard lock(mutex_);
        return look_up(key);
    }

    // A null value erases.
    void set(const void* key, Value* value) {
        const std::lock_guard lock(mutex_);
        Slot* slot = place(*tables_.back(), key);
        const bool is_known = slot->key.load(std::memory_order_relaxed) == key;
        if (!is_known && value == nullptr) return;
        version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        if (!is_known && (used_ + 1) * 2 > tables_.back()->mask + 1) {
            make_room();
            slot = place(*tables_.back(), key);
        }
        if (!is_known) ++used_;
        slot->value.store(value, std::memory_order_release);
        slot->key.store(key, std::memory_order_release);
        version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

    // Of all tables that were ever made, for tests.
    [[nodiscard]] std::size_t slots() const {
        const std::lock_guard lock(mutex_);
        std::size_t sum = 0;
        for (const auto& table : tables_) sum += table->mask + 1;
        return sum;
    }

  private:
    struct Slot {
        std::atomic<const void*> key = nullptr;
        std::atomic<Value*> value = nullptr;
    };
    struct Table {
        explicit Table(std::size_t size) : mask(size - 1), slots(std::make_unique<Slot[]>(size)) {}
        std::size_t mask;
        std::unique_ptr<Slot[]> slots;
    };

    static std::size_t hash(const void* key) {
        const auto bits = reinterpret_cast<std::uintptr_t>(key) * std::uint64_t{0x9e3779b97f4a7c15};
        return static_cast<std::size_t>(bits >> 32);
    }

    [[nodiscard]] Value* look_up(const void* key) const {
        const Table& table = *current_.load(std::memory_order_acquire);
        // A reader of a table that is being rewritten may meet no end.
        std::size_t at = hash(key) & table.mask;
        for (std::size_t i = 0; i <= table.mask; ++i, at = (at + 1) & table.mask) {
            const void* found = table.slots[at].key.load(std::memory_order_acquire);
            if (found == key) return table.slots[at].value.load(std::memory_order_acquire);
            if (found == nullptr) return nullptr;
        }
        return nullptr;
    }

    // The key's slot, or the empty one where it belongs.
    static Slot* place(Table& table, const void* key) {
        for (std::size_t i = hash(key) & table.mask;; i = (i + 1) & table.mask) {
            const void* found = table.slots[i].key.load(std::memory_order_relaxed);
            if (found == nullptr || found == key) return &table.slots[i];
        }
    }

    void add_table(std::size_t size) {
        tables_.push_back(std::make_unique<Table>(size));
        current_.store(tables_.back().get(), std::memory_order_release);
    }

    // Without the erased keys: in this table, or, where the others fill a quarter of it, in one twice as
    // large.
    void make_room() {
        Table& table = *tables_.back();
        std::vector<std::pair<const void*, Value*>> entries;
        for (std::size_t i = 0; i <= table.mask; ++i) {
            if (Value* value = table.slots[i].value.load(std::memory_order_relaxed))
                entries.emplace_back(table.slots[i].key.load(std::memory_order_relaxed), value);
        }
        used_ = entries.size();
        const bool grows = entries.size() * 4 > table.mask;
        auto larger = grows ? std::make_unique<Table>(2 * (table.mask + 1)) : nullptr;
        Table& target = grows ? *larger : table;
        for (std::size_t i = 0; !grows && i <= table.mask; ++i) {
            table.slots[i].key.store(nullptr, std::memory_order_release);
            table.slots[i].value.store(nullptr, std::memory_order_release);
        }
        for (const auto& [key, value] : entries) {
            Slot* slot = place(target, key);
            slot->value.store(value, std::memory_order_release);
            slot->key.store(key, std::memory_order_release);
        }
        if (!grows) return;
        tables_.push_back(std::move(larger));
        current_.store(tables_.back().get(), std::memory_order_release);
    }

    mutable std::mutex mutex_;
    std::atomic<std::uint64_t> version_ = 0;  // odd while a writer is at work
    std::vector<std::unique_ptr<Table>> tables_;
    std::atomic<const Table*> current_ = nullptr;
    std::size_t used_ = 0;
};

}  // namespace trimtab::choosing
