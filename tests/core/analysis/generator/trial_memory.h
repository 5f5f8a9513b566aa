// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the kernels of a trial work on, and what they leave.
#pragma once

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/ptx/module.h"
#include "emulation/emulator/exec/launch.h"
#include "generator/kernel_text.h"

namespace trimtab::analysis::test {

// Small allocations, far apart: what strays leaves them. Each is filled with numbers of its own sort, so that what a
// wrong identity, order or sign does shows.
class SmallAllocations : public emulator::GlobalMemory {
  public:
    static constexpr std::uint64_t bytes_each = std::uint64_t{1} << 13, stride = std::uint64_t{1} << 32;

    SmallAllocations(std::size_t count, Draw& draw) : data_(bytes_each * count) {
        for (std::size_t first = 0; first < data_.size(); first += bytes_each) {
            const Contents contents = draw_contents(draw);
            for (std::size_t at = first; at < first + bytes_each; at += 4) {
                const std::uint32_t word = word_of(contents, draw);
                std::memcpy(data_.data() + at, &word, sizeof word);
            }
        }
    }
    [[nodiscard]] static std::uint64_t pointer(std::uint64_t index) {
        return (index + 1) * stride + bytes_each / 4;
    }
    Range range_of(std::uint64_t address, emulator::Access) override {
        const std::uint64_t index = address / stride - 1, offset = address % stride;
        if (index >= data_.size() / bytes_each || offset >= bytes_each) return {};
        const std::uint64_t first = (index + 1) * stride;
        return {first, first + bytes_each, data_.data() + index * bytes_each};
    }
    [[nodiscard]] std::string explain(std::uint64_t address) const override {
        return fmt::format("{:#x} is in no allocation", address);
    }
    std::vector<std::byte>& data() { return data_; }

  private:
    enum class Contents : std::uint8_t { mixed, negative, edges, one, few, large };
    static Contents draw_contents(Draw& draw) {
        using enum Contents;
        constexpr std::array of = {mixed,    mixed, mixed, mixed, mixed, negative,
                                   negative, edges, one,   few,   large};
        return draw.of(of);
    }
    std::uint32_t word_of(Contents contents, Draw& draw) {
        constexpr std::array<std::uint32_t, 12> edges = {0,          1,          0xffffffff, 0x7fffffff,
                                                         0x80000000, 0x80000001, 0x7f800000, 0xff800000,
                                                         0x00800000, 0x3f800000, 255,        0xffffff00};
        switch (contents) {
            case Contents::negative:
                return 0u - 1 - draw.below(64);
            case Contents::edges:
                return draw.of(edges);
            case Contents::one:
                // Long runs of one value.
                if (draw.chance(3)) one_ = draw.of(edges);
                return one_;
            case Contents::few:
                return draw.below(3);
            case Contents::large:
                return static_cast<std::uint32_t>(draw.next());
            case Contents::mixed:
                break;
        }
        // Small numbers, floats about one, and now and then anything.
        const unsigned kind = draw.below(16);
        return kind == 0   ? static_cast<std::uint32_t>(draw.next())
               : kind <= 3 ? std::bit_cast<std::uint32_t>(0.5f + static_cast<float>(draw.below(1000)) / 1000)
                           : draw.below(64);
    }

    std::vector<std::byte> data_;
    std::uint32_t one_ = 0;
};

// What a launch leaves: allocations, and the module's own variables.
class LaunchContents {
  public:
    LaunchContents(emulator::Program& program, SmallAllocations& memory) : memory_(memory) {
        for (const ptx::Variable& variable : emulator::module_of(program).variables) {
            if (variable.space != ptx::Space::global) continue;
            if (const auto storage = emulator::variable_storage(program, variable.name);
                storage && storage->host != nullptr)
                variables_.emplace_back(storage->host, storage->size_bytes);
        }
    }
    [[nodiscard]] std::vector<std::byte> take() const {
        std::vector<std::byte> all = memory_.data();
        for (const auto& variable : variables_) all.insert(all.end(), variable.begin(), variable.end());
        return all;
    }
    void put(const std::vector<std::byte>& all) {
        const auto* at = all.data();
        std::memcpy(memory_.data().data(), at, memory_.data().size());
        at += memory_.data().size();
        for (const auto& variable : variables_) {
            std::memcpy(variable.data(), at, variable.size());
            at += variable.size();
        }
    }

  private:
    SmallAllocations& memory_;
    std::vector<std::span<std::byte>> variables_;
};

}  // namespace trimtab::analysis::test
