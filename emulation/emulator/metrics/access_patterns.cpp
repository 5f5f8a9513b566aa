// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/metrics/access_patterns.h"

#include <algorithm>
#include <map>
#include <utility>

#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/counting.h"
#include "emulation/emulator/exec/observer.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/exec/warp.h"

namespace trimtab::emulator {
namespace {

// Of a thread's executions of one load; what follows in its loops is more of the same.
constexpr std::size_t most_addresses = 256;

using Index = std::array<std::uint32_t, 3>;

Index sizes_of(const trimtab_dim3& size) {
    return {size.x, size.y, size.z};
}

std::uint64_t linear(const Index& at, const Index& size) {
    return at[0] + std::uint64_t{size[0]} * (at[1] + std::uint64_t{size[1]} * at[2]);
}

// A thread of the launch, and what it loaded, by instruction.
struct Watched {
    std::uint64_t block = 0, thread = 0;
    std::map<std::uint32_t, std::vector<std::uint64_t>> loaded;
};

class Watch : public LaunchObserver {
  public:
    Watch(std::vector<Watched>& threads, std::map<std::uint32_t, std::uint32_t>& bytes)
        : threads_(threads), bytes_(bytes) {}

    void grid_started() override { is_over_ = true; }

    LaneAddresses::Shape accesses(Warp& w, const Op* op, LaneAddresses::Shape shape) override {
        const auto& info = *static_cast<const MemoryInfo*>(op->info);
        if (is_over_ || info.access != Access::read || info.is_atomic) return shape;
        for (Watched& thread : threads_) {
            if (thread.block != w.block->linear_index() || thread.thread / warp_lanes != w.index) continue;
            const auto lane = static_cast<unsigned>(thread.thread % warp_lanes);
            if (!has_lane(w.mask, lane)) continue;
            std::vector<std::uint64_t>& loaded = thread.loaded[op->index];
            if (loaded.size() >= most_addresses) continue;
            bytes_[op->index] = info.total_bytes;
            loaded.push_back(address(w, info, shape, lane));
        }
        return shape;
    }

  private:
    static std::uint64_t address(const Warp& w, const MemoryInfo& info, LaneAddresses::Shape shape,
                                 unsigned lane) {
        if (w.at.is_apart) return w.at.seen[lane];
        if (shape == LaneAddresses::Shape::scattered) return w.at.address[lane];
        return w.at.first +
               (shape == LaneAddresses::Shape::uniform ? 0 : std::uint64_t{lane} * info.total_bytes);
    }

    std::vector<Watched>& threads_;
    std::map<std::uint32_t, std::uint32_t>& bytes_;
    bool is_over_ = false;  // what runs now was launched from the device
};

// The same distance in every execution.
std::optional<std::int64_t> distance(const std::vector<std::uint64_t>& from,
                                     const std::vector<std::uint64_t>& to) {
    if (from.empty() || from.size() != to.size()) return std::nullopt;
    const auto first = static_cast<std::int64_t>(to.front() - from.front());
    for (std::size_t i = 1; i < from.size(); ++i)
        if (static_cast<std::int64_t>(to[i] - from[i]) != first) return std::nullopt;
    return first;
}

}  // namespace

std::expected<AccessPatterns, std::string> access_patterns(Program& program, GlobalMemory& memory,
                                                           LaunchRequest request) {
    const Index grid = sizes_of(request.grid), block = sizes_of(request.block);
    Index at{}, in_block{};
    for (std::size_t d = 0; d < 3; ++d) {
        at[d] = (grid[d] - 1) / 2;
        in_block[d] = (block[d] - 1) / 2;
    }
    // The thread in the middle; the next in each dimension of the block; its like in the next block of each dimension; and
    // one elsewhere in the block, where it has to be as the others say.
    std::vector<Watched> threads{
        {.block = linear(at, grid), .thread = linear(in_block, block), .loaded = {}}};
    constexpr std::size_t none = ~std::size_t{0};
    std::array<std::size_t, 3> next_thread{none, none, none}, next_block{none, none, none};
    Index far{};
    for (std::size_t d = 0; d < 3; ++d) {
        if (block[d] > 1) {
            Index next = in_block;
            ++next[d];
            next_thread[d] = threads.size();
            threads.push_back({.block = linear(at, grid), .thread = linear(next, block), .loaded = {}});
        }
        if (grid[d] > 1) {
            Index next = at;
            ++next[d];
            next_block[d] = threads.size();
            threads.push_back({.block = linear(next, grid), .thread = linear(in_block, block), .loaded = {}});
        }
        far[d] = block[d] - 1 - (block[d] - 1) / 4;
    }
    const std::size_t elsewhere = threads.size();
    threads.push_back({.block = linear(at, grid), .thread = linear(far, block), .loaded = {}});

    std::map<std::uint32_t, std::uint32_t> bytes;
    Watch watch(threads, bytes);
    request.blocks.clear();
    for (const Watched& thread : threads)
        if (std::ranges::find(request.blocks, thread.block) == request.blocks.end())
            request.blocks.push_back(thread.block);
    request.observer = &watch;
    request.threads = 1;
    request.counting = {.count = true, .footprints = false, .groups = {}};
    // It may be stopped: what it has done by then has to do.
    const auto ran = launch(program, memory, request);
    if (!ran && ran.error().kind != Fault::Kind::limit) return std::unexpected(ran.error().message);

    const CompiledKernel* const kernel = program.kernel(request.kernel);
    if (kernel == nullptr) return std::unexpected("there is no such kernel");
    AccessPatterns out;
    for (const auto& [instruction, addresses] : threads.front().loaded) {
        if (class_of(kernel->instruction(instruction)) != InstructionClass::global_load) continue;
        LoadPattern pattern{.instruction = instruction, .bytes = bytes[instruction], .addresses = addresses};
        bool is_linear = true;
        for (std::size_t d = 0; d < 3; ++d) {
            const auto to = [&](std::size_t which) -> std::optional<std::int64_t> {
                const auto found = threads[which].loaded.find(instruction);
                return found == threads[which].loaded.end() ? std::nullopt
                                                            : distance(addresses, found->second);
            };
            if (next_thread[d] != none) {
                const auto stride = to(next_thread[d]);
                is_linear = is_linear && stride;
                pattern.stride[d] = stride.value_or(0);
            }
            if (next_block[d] != none) {
                const auto stride = to(next_block[d]);
                const auto in_all = static_cast<std::int64_t>(block[d]);
                if (next_thread[d] == none && stride) pattern.stride[d] = *stride;
                is_linear = is_linear && stride && *stride == in_all * pattern.stride[d];
            }
        }
        if (!is_linear) continue;
        std::int64_t moved = 0;
        for (std::size_t d = 0; d < 3; ++d)
            moved += pattern.stride[d] *
                     (static_cast<std::int64_t>(far[d]) - static_cast<std::int64_t>(in_block[d]));
        const auto there = threads[elsewhere].loaded.find(instruction);
        if (there == threads[elsewhere].loaded.end() || distance(addresses, there->second) != moved) continue;
        out.loads.push_back(std::move(pattern));
    }
    return out;
}

}  // namespace trimtab::emulator
