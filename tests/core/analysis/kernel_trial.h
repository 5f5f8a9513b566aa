// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel run on the emulator under blocks that legal_blocks() allows: memory must end up as under the block
// written, byte for byte.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "core/analysis/annotations/annotated_launch.h"
#include "core/analysis/describe.h"
#include "core/analysis/launches/free_totals.h"
#include "core/analysis/launches/legal_blocks.h"
#include "emulation/emulator/exec/launch.h"

namespace trimtab::analysis::test {

class Allocations : public emulator::GlobalMemory {
  public:
    static constexpr std::uint64_t bytes_each = std::uint64_t{1} << 20;

    explicit Allocations(std::size_t count) : data_(bytes_each * count), count_(count) {}

    [[nodiscard]] static std::uint64_t pointer(std::uint32_t index) { return first(index) + bytes_each / 4; }
    [[nodiscard]] std::span<std::byte> bytes(std::uint32_t index) {
        return std::span(data_).subspan(index * bytes_each, bytes_each);
    }
    [[nodiscard]] const std::vector<std::byte>& all() const { return data_; }
    void restore(const std::vector<std::byte>& data) { data_ = data; }
    // Megabytes, hundreds of times: by memcmp(), which vector's own comparison of bytes is not.
    [[nodiscard]] bool equals(const std::vector<std::byte>& data) const {
        return data_.size() == data.size() && std::memcmp(data_.data(), data.data(), data.size()) == 0;
    }
    // What lies outside of them is the same in both.
    struct Places {
        std::size_t first = 0, end = 0;
    };
    [[nodiscard]] static Places different(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
        constexpr std::size_t step = 4096;
        Places places{a.size(), 0};
        for (std::size_t i = 0; i < a.size(); i += step) {
            if (std::memcmp(a.data() + i, b.data() + i, std::min(step, a.size() - i)) == 0) continue;
            places = {std::min(places.first, i), std::min(i + step, a.size())};
        }
        return places;
    }
    void restore(const std::vector<std::byte>& data, const Places& places) {
        if (places.first < places.end)
            std::memcpy(data_.data() + places.first, data.data() + places.first, places.end - places.first);
    }

    Range range_of(std::uint64_t address, emulator::Access) override {
        const std::uint64_t index = address / stride - 1;
        if (index >= count_ || address - first(index) >= bytes_each) return {};
        return {first(index), first(index) + bytes_each, data_.data() + index * bytes_each};
    }
    [[nodiscard]] std::string explain(std::uint64_t address) const override {
        return std::to_string(address) + " is in no allocation";
    }

  private:
    static constexpr std::uint64_t stride = std::uint64_t{1} << 32;
    static std::uint64_t first(std::uint64_t index) { return (index + 1) * stride; }

    std::vector<std::byte> data_;
    std::size_t count_;
};

template <typename Value>
void fill(std::span<std::byte> bytes, Value (*value)(std::size_t)) {
    for (std::size_t i = 0; i < bytes.size() / sizeof(Value); i++) {
        const Value element = value(i);
        std::memcpy(bytes.data() + i * sizeof(Value), &element, sizeof(Value));
    }
}

// Floating-point numbers of few digits, of which sums and sums of products are exact.
inline void fill_for(const std::string& pointee, std::span<std::byte> bytes) {
    if (pointee == "double")
        fill<double>(bytes, [](std::size_t i) { return 0.5 + static_cast<double>(i * 7919 % 64) / 8; });
    else if (pointee.starts_with("float"))
        fill<float>(bytes, [](std::size_t i) { return 0.5f + static_cast<float>(i * 7919 % 64) / 8; });
    else if (pointee.ends_with("char"))
        fill<std::uint8_t>(bytes, [](std::size_t i) { return static_cast<std::uint8_t>(i * 31 % 2); });
    else
        fill<std::int32_t>(bytes, [](std::size_t i) { return static_cast<std::int32_t>(i * 31 % 16); });
}

inline trimtab_device trial_device(double max_threads = 1024) {
    trimtab_device device{};
    device.max_threads_per_block = max_threads;
    device.max_block_x = device.max_block_y = max_threads;
    device.max_block_z = std::min(max_threads, 64.0);
    device.max_grid_x = 2147483647;
    device.max_grid_y = device.max_grid_z = 65535;
    device.warp_size = 32;
    device.shared_bytes_per_block = 48 << 10;
    return device;
}

class Trial {
  public:
    Trial(emulator::Program& program, const KernelDescription& kernel, std::uint32_t parameter_bytes,
          std::mt19937& random, unsigned max_threads = 1024)
        : program_(program),
          kernel_(kernel),
          memory_(kernel.parameters.size()),
          arguments_(parameter_bytes),
          random_(random) {
        const int size = 20 + static_cast<int>(pick(40));
        for (const KernelParameter& parameter : kernel.parameters) {
            if (parameter.is_pointer) {
                fill_for(parameter.pointee, memory_.bytes(parameter.index));
                put(parameter, Allocations::pointer(parameter.index));
            } else if (parameter.type == "float") {
                put(parameter, 1.5f);
            } else if (parameter.type == "double") {
                put(parameter, 1.5);
            } else {
                // Sizes near each other, and now and then one that is nearly nothing.
                put(parameter, pick(5) == 0 ? std::int64_t{pick(7)} : std::int64_t{size - 2 + int(pick(5))});
            }
        }
        const auto reads = [&](std::size_t d) { return kernel.reads(d); };
        const auto may_be_wide = [&](std::size_t d) { return kernel.varies(d); };
        block_ = {may_be_wide(0) ? 1 + pick(16) : 1, may_be_wide(1) ? 1 + pick(4) : 1,
                  may_be_wide(2) ? 1 + pick(3) : 1};
        if (kernel.is_of_warps(0)) block_ = {warp_size * (1 + pick(max_threads / warp_size)), 1, 1};
        if (kernel.dimensions[0].block == BlockWidth::powers) block_.x = std::bit_floor(block_.x);
        if (const unsigned most = kernel.images.front().max_threads; most != 0 && kernel.is_of_warps(0))
            block_.x = std::min(block_.x, most);
        while (block_.x * block_.y * block_.z > max_threads) block_.x--;
        if (kernel.is_of_warps(0) && !kernel.keeps_grid()) {
            grid_ = {1 + static_cast<unsigned>(size) * warp_size / block_.x, reads(1) ? 1 + pick(8) : 1,
                     reads(2) ? 1 + pick(3) : 1};
            return;
        }
        if (kernel.is_of_warps(0)) {
            grid_ = {1 + pick(12), reads(1) ? 1 + pick(3) : 1, reads(2) ? 1 + pick(2) : 1};
            return;
        }
        grid_ = {reads(0) ? 1 + static_cast<unsigned>(size) / block_.x : 1,
                 reads(1) ? 1 + pick(50) / block_.y : 1, reads(2) ? 1 + pick(8) / block_.z : 1};
    }

    // How many blocks were compared: at most `most` of those that `candidates` has.
    unsigned run(std::vector<trimtab_dim3> candidates, unsigned most, double max_threads = 1024) {
        std::ranges::shuffle(candidates, random_);
        trimtab_image image{};
        image.max_threads_per_block = kernel_.images.front().max_threads;
        const auto limits =
            legal_blocks(kernel_, arguments_, grid_, block_, trial_device(max_threads), image);
        // Where the grid stays, arguments may forbid all; and the block as written may be too small.
        EXPECT_TRUE(limits.has_value() || kernel_.keeps_grid() ||
                    block_.x * block_.y * block_.z < kernel_.least_threads)
            << kernel_.demangled << ": " << limits.error();
        if (!limits) return 0;
        const std::vector<std::byte> before = memory_.all();
        EXPECT_EQ(launch(grid_, block_, dynamic_shared_bytes()), "") << kernel_.demangled;
        const std::vector<std::byte> expected = memory_.all();
        const Allocations::Places written = Allocations::different(before, expected);
        bool is_expected = true;
        trimtab_limits any_threads = *limits;
        any_threads.thread_multiple = std::max(1u, kernel_.least_threads);
        unsigned compared = 0;
        for (const trimtab_dim3& candidate : candidates) {
            const auto with = launch_with_block(
                kernel_, arguments_, any_threads,
                {.grid = grid_, .block = block_, .dynamic_shared_bytes = dynamic_shared_bytes()}, candidate);
            if (!with) continue;
            if (compared++ == most) break;
            if (is_expected)
                memory_.restore(before, written);
            else
                memory_.restore(before);
            EXPECT_EQ(launch(with->grid, candidate, with->dynamic_shared_bytes), "") << kernel_.demangled;
            EXPECT_TRUE(is_expected = memory_.equals(expected))
                << kernel_.demangled << " with " << candidate.x << " x " << candidate.y << " x "
                << candidate.z << " threads, written with " << block_.x << " x " << block_.y << " x "
                << block_.z << ", grid " << grid_.x << " x " << grid_.y << " x " << grid_.z;
        }
        return compared;
    }

    // Of kernels that may have any number of threads with these arguments: `most` launches with other grids.
    unsigned run_other_totals(std::vector<trimtab_dim3> candidates, unsigned most) {
        if (kernel_.keeps_grid()) return 0;
        const std::array<std::uint64_t, 3> extent{std::uint64_t{grid_.x} * block_.x,
                                                  std::uint64_t{grid_.y} * block_.y,
                                                  std::uint64_t{grid_.z} * block_.z};
        std::array<std::uint64_t, 3> most_threads{};
        for (std::size_t d = 0; d < 3; d++) most_threads[d] = 3 * (extent[d] + 1024);
        const std::array<bool, 3> free = free_totals(kernel_, arguments_, extent, most_threads, extent);
        if (std::ranges::none_of(free, std::identity())) return 0;
        std::ranges::shuffle(candidates, random_);
        const std::vector<std::byte> before = memory_.all();
        EXPECT_EQ(launch(grid_, block_, dynamic_shared_bytes()), "") << kernel_.demangled;
        const std::vector<std::byte> expected = memory_.all();
        const Allocations::Places written = Allocations::different(before, expected);
        bool is_expected = true;
        unsigned compared = 0;
        const auto other = [&](std::size_t d, unsigned grid, unsigned block, unsigned& to) {
            if (free[d]) return to = 1 + pick(3 * (static_cast<unsigned>(extent[d]) / block + 1)), true;
            to = grid;
            return std::uint64_t{grid} * block == extent[d];
        };
        for (const trimtab_dim3& candidate : candidates) {
            trimtab_dim3 grid{};
            if (!other(0, grid_.x, candidate.x, grid.x) || !other(1, grid_.y, candidate.y, grid.y) ||
                !other(2, grid_.z, candidate.z, grid.z))
                continue;
            const auto with =
                stated_launch(kernel_, arguments_, {grid_, block_, dynamic_shared_bytes()}, candidate);
            if (!with || (kernel_.images.front().max_threads != 0 &&
                          candidate.x * candidate.y * candidate.z > kernel_.images.front().max_threads))
                continue;
            if (compared++ == most) break;
            if (is_expected)
                memory_.restore(before, written);
            else
                memory_.restore(before);
            EXPECT_EQ(launch(grid, candidate, with->dynamic_shared_bytes), "") << kernel_.demangled;
            EXPECT_TRUE(is_expected = memory_.equals(expected))
                << kernel_.demangled << " with " << candidate.x << " x " << candidate.y << " x "
                << candidate.z << " threads, grid " << grid.x << " x " << grid.y << " x " << grid.z;
        }
        return std::min(compared, most);
    }

  private:
    // What the block as written needs.
    [[nodiscard]] std::uint64_t dynamic_shared_bytes() const {
        const auto stated = stated_launch(kernel_, arguments_, {.grid = grid_, .block = block_}, block_);
        return stated ? stated->dynamic_shared_bytes : 0;
    }
    unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }

    template <typename Value>
    void put(const KernelParameter& parameter, Value value) {
        std::memcpy(arguments_.data() + parameter.offset, &value,
                    std::min<std::size_t>(sizeof value, parameter.size));
    }

    std::string launch(trimtab_dim3 grid, trimtab_dim3 block, std::uint64_t dynamic_shared_bytes) {
        emulator::LaunchRequest request;
        request.kernel = kernel_.name;
        request.grid = grid;
        request.block = block;
        request.dynamic_shared_bytes = static_cast<std::uint32_t>(dynamic_shared_bytes);
        request.parameters = arguments_;
        request.threads = 1;
        request.instruction_limit = 50'000'000;
        const auto result = emulator::launch(program_, memory_, request);
        return result ? std::string() : result.error().message;
    }

    emulator::Program& program_;
    const KernelDescription& kernel_;
    Allocations memory_;
    std::vector<std::byte> arguments_;
    std::mt19937& random_;
    trimtab_dim3 grid_{}, block_{};
};

// Some of every kind.
inline std::vector<trimtab_dim3> assorted_blocks() {
    std::vector<trimtab_dim3> blocks;
    for (const unsigned x : {1u, 2u, 3u, 5u, 7u, 8u, 16u, 24u, 32u, 33u, 64u, 100u, 128u, 1024u})
        for (const unsigned y : {1u, 2u, 3u, 4u, 8u, 32u})
            for (const unsigned z : {1u, 2u, 3u, 8u}) blocks.push_back({x, y, z});
    return blocks;
}

// Every block of at most that many threads.
inline std::vector<trimtab_dim3> all_blocks(unsigned max_threads) {
    std::vector<trimtab_dim3> blocks;
    for (unsigned x = 1; x <= max_threads; x++)
        for (unsigned y = 1; x * y <= max_threads; y++)
            for (unsigned z = 1; x * y * z <= max_threads; z++) blocks.push_back({x, y, z});
    return blocks;
}

}  // namespace trimtab::analysis::test
