// Pointer to pointer, read without a lock on every launch, written seldom.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace trimtab::runtime {

// Open addressing with linear probing. A key that was erased keeps its place with a null value; tables that
// were outgrown stay until the end, for a reader may be in one: together they are smaller than the last.
template <typename Value>
class PointerMap {
  public:
    PointerMap() { add_table(64); }
    PointerMap(const PointerMap&) = delete;
    PointerMap& operator=(const PointerMap&) = delete;

    [[nodiscard]] Value* find(const void* key) const {
        const Table& table = *current_.load(std::memory_order_acquire);
        for (std::size_t i = hash(key) & table.mask;; i = (i + 1) & table.mask) {
            const void* found = table.slots[i].key.load(std::memory_order_acquire);
            if (found == key) return table.slots[i].value.load(std::memory_order_acquire);
            if (found == nullptr) return nullptr;
        }
    }

    // A null value erases.
    void set(const void* key, Value* value) {
        const std::lock_guard lock(mutex_);
        if ((used_ + 1) * 2 > tables_.back()->mask + 1) grow();
        if (put(*tables_.back(), key, value)) ++used_;
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

    // Was the key new?
    static bool put(Table& table, const void* key, Value* value) {
        for (std::size_t i = hash(key) & table.mask;; i = (i + 1) & table.mask) {
            const void* found = table.slots[i].key.load(std::memory_order_relaxed);
            if (found != nullptr && found != key) continue;
            table.slots[i].value.store(value, std::memory_order_release);
            table.slots[i].key.store(key, std::memory_order_release);
            return found == nullptr;
        }
    }

    void add_table(std::size_t size) {
        tables_.push_back(std::make_unique<Table>(size));
        current_.store(tables_.back().get(), std::memory_order_release);
    }

    void grow() {
        const Table& old = *tables_.back();
        auto larger = std::make_unique<Table>(2 * (old.mask + 1));
        used_ = 0;
        for (std::size_t i = 0; i <= old.mask; ++i) {
            Value* value = old.slots[i].value.load(std::memory_order_relaxed);
            if (value == nullptr) continue;
            put(*larger, old.slots[i].key.load(std::memory_order_relaxed), value);
            ++used_;
        }
        tables_.push_back(std::move(larger));
        current_.store(tables_.back().get(), std::memory_order_release);
    }

    std::mutex mutex_;
    std::vector<std::unique_ptr<Table>> tables_;
    std::atomic<const Table*> current_ = nullptr;
    std::size_t used_ = 0;
};

}  // namespace trimtab::runtime
