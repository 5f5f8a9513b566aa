// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cache by reuse distance: an access hits where fewer lines than the cache holds were touched since the last one to its line
// (section 4.2.3). Keeping lines in the order of their last access gives just that answer.
#pragma once

#include <cstdint>
#include <vector>

namespace trimtab::pruning {

class ReuseCache {
  public:
    explicit ReuseCache(std::uint64_t lines) : capacity_(lines) { slots_.resize(1024); }

    void clear();
    void clear(std::uint64_t lines) {
        capacity_ = lines;
        clear();
    }
    // That it has met since.
    [[nodiscard]] std::size_t lines() const { return nodes_.size(); }
    // Touches sectors of a line, and says which of them are not there.
    [[nodiscard]] std::uint32_t missing(std::uint64_t line, std::uint32_t sectors);

  private:
    static constexpr std::uint32_t none = 0xffffffffu;
    struct Node {
        std::uint64_t line = 0;
        std::uint32_t sectors = 0;  // 0: it was put out
        std::uint32_t before = none, after = none;
    };
    struct Slot {
        std::uint32_t epoch = 0, node = none;
    };
    std::uint32_t find_or_add(std::uint64_t line);
    void unlink(std::uint32_t node);
    void put_first(std::uint32_t node);
    void grow();

    std::uint64_t capacity_, held_ = 0;
    std::uint32_t epoch_ = 1, first_ = none, last_ = none;
    std::vector<Node> nodes_;
    std::vector<Slot> slots_;  // a power of two
};

}  // namespace trimtab::pruning
