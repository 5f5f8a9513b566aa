// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory of trial launches: whatever a kernel can reach, the same before each of them, and compared byte for byte
// after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulation/emulator/exec/memory.h"
#include "emulation/emulator/exec/program.h"
#include "profiler/arguments.h"
#include "profiler/made_up_texture.h"

namespace trimtab::profiler {

// What arrays hold before a launch.
enum class Contents : std::uint8_t {
    counting,    // whole numbers from 0 to 12
    units,       // floating-point numbers in [0.5, 1.5), whole numbers from 1 to 16
    magnitudes,  // of either sign, as many small ones as large ones
    extremes     // zeros, ones, the largest and the smallest numbers of the type
};
[[nodiscard]] std::string_view name(Contents contents);

// Memory after a launch, where it is not what it was before: by address of a stretch.
using MemoryImage = std::map<std::uint64_t, std::vector<std::byte>>;

// Any address is valid, as in emulator::SparseMemory, whose regions these are; the program's variables belong to it.
// Launches on it have one host thread.
class TrialMemory : public emulator::GlobalMemory {
  public:
    // More than `most_bytes` are never held: further addresses are invalid.
    TrialMemory(emulator::Program& program, std::uint64_t most_bytes);
    // Variables are what they were when it was made.
    ~TrialMemory() override;
    TrialMemory(const TrialMemory&) = delete;
    TrialMemory& operator=(const TrialMemory&) = delete;

    void set_region(std::uint32_t region, const Pointee& pointee);
    // Null: none of the regions that were set.
    [[nodiscard]] const Pointee* pointee_at(std::uint64_t address) const;
    // All arrays hold other values from now on.
    void fill(Contents contents, std::uint32_t seed);
    // To what it was before the last launch.
    void restore();
    [[nodiscard]] MemoryImage changed() const;
    // An address was refused since fill(), because of `most_bytes`.
    [[nodiscard]] bool is_exhausted() const { return is_exhausted_; }
    // That restore() and compare() look through; and those that were made and filled, ever.
    [[nodiscard]] std::uint64_t held_bytes() const { return variables_.size() + pages_.size() * page_bytes; }
    [[nodiscard]] std::uint64_t filled_bytes() const { return filled_bytes_; }

    // Stretches whose bytes are not those of `expected`, in no order. Both have `bytes`.
    using Visit = std::function<void(std::uint64_t address, const std::byte* expected, const std::byte* found,
                                     std::size_t bytes)>;
    void compare(const MemoryImage& expected, const Visit& visit) const;
    // What is there before a launch; null: nothing has touched it.
    [[nodiscard]] const std::byte* before(std::uint64_t stretch) const;
    // And where it is now; null likewise.
    [[nodiscard]] const std::byte* now(std::uint64_t stretch) const;

    [[nodiscard]] Range range_of(std::uint64_t address, emulator::Access access) override;
    [[nodiscard]] std::string explain(std::uint64_t address) const override;
    [[nodiscard]] const emulator::Texture* texture(std::uint64_t) const override { return texture_.get(); }

  private:
    // Small: a scattered access makes and fills one.
    static constexpr std::uint64_t page_bytes = 4096;

    struct Page {
        std::unique_ptr<std::byte[]> bytes;  // now, and behind it before the launch
    };
    void make(std::uint64_t address, std::span<std::byte> bytes) const;
    [[nodiscard]] std::byte* variables_now() const {
        return reinterpret_cast<std::byte*>(program_.variables_first());
    }

    emulator::Program& program_;
    std::vector<std::byte> variables_;
    const std::uint64_t most_bytes_;
    std::map<std::uint32_t, Pointee> regions_;
    Pointee pointed_;                                // what arrays of addresses lead to
    std::unordered_map<std::uint64_t, Page> pages_;  // by address / page_bytes
    Contents contents_ = Contents::counting;
    std::uint32_t seed_ = 0;
    std::uint64_t filled_bytes_ = 0;
    bool is_exhausted_ = false;
    MadeUpTexture texture_;
};

}  // namespace trimtab::profiler
