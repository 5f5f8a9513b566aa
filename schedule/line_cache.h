// L1 as the scheduler keeps it: lines of 128 bytes with their sectors of 32, the least recently used goes
// first. Sets of eight lines, chosen by a hash, stand for the real caches' placement, which is not published.
#pragma once

#include <cstdint>
#include <vector>

namespace trimtab::schedule {

class LineCache {
  public:
    explicit LineCache(std::uint64_t bytes) : sets_(bytes / line_bytes / ways), lines_(sets_ * ways) {}

    [[nodiscard]] bool is_there() const { return sets_ != 0; }

    struct Found {
        std::uint8_t missing = 0;        // those of the wanted sectors that are not there
        double* there_cycles = nullptr;  // when what is under way arrives; to be set for what is missing
    };
    // The wanted sectors are there, or under way, from now on.
    [[nodiscard]] Found find(std::uint64_t line, std::uint8_t wanted) {
        Line* const set = &lines_[((line * 0x9e3779b97f4a7c15u) >> 20) % sets_ * ways];
        ++clock_;
        Line* oldest = set;
        for (Line* one = set; one != set + ways; ++one) {
            if (one->number == line) {
                const auto missing = static_cast<std::uint8_t>(wanted & ~one->sectors);
                one->sectors |= wanted;
                one->used = clock_;
                return {missing, &one->there_cycles};
            }
            if (one->used < oldest->used) oldest = one;
        }
        *oldest = {.number = line, .used = clock_, .there_cycles = 0, .sectors = wanted};
        return {wanted, &oldest->there_cycles};
    }

  private:
    static constexpr std::uint64_t line_bytes = 128, ways = 8;
    struct Line {
        std::uint64_t number = ~std::uint64_t{0};
        std::uint64_t used = 0;
        double there_cycles = 0;
        std::uint8_t sectors = 0;
    };
    std::uint64_t sets_, clock_ = 0;
    std::vector<Line> lines_;
};

}  // namespace trimtab::schedule
