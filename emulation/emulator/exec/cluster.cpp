// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/cluster.h"

#include <algorithm>
#include <bit>

#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator {

Cluster::Cluster(Worker& worker) : worker_(worker) {
    const trimtab_dim3& size = worker.launch().request.cluster;
    for (std::uint32_t rank = 0; rank < size.x * size.y * size.z; rank++) {
        members_.push_back(std::make_unique<Block>(worker));
        members_.back()->join(*this, rank);
    }
}

void Cluster::start(std::uint64_t linear_index) {
    const trimtab_dim3& size = worker_.launch().request.cluster;
    const trimtab_dim3& grid = worker_.launch().request.grid;
    const std::uint64_t columns = grid.x / size.x, rows = grid.y / size.y;
    const std::uint64_t first_x = linear_index % columns * size.x;
    const std::uint64_t first_y = linear_index / columns % rows * size.y;
    const std::uint64_t first_z = linear_index / columns / rows * size.z;
    for (std::uint32_t rank = 0; rank < members_.size(); rank++) {
        const std::uint64_t x = first_x + rank % size.x;
        const std::uint64_t y = first_y + rank / size.x % size.y;
        const std::uint64_t z = first_z + rank / size.x / size.y;
        members_[rank]->start(x + grid.x * (y + grid.y * z));
    }
}

bool Cluster::meet() {
    if (!std::ranges::all_of(members_, [](const auto& block) { return block->is_at_cluster_barrier(); }))
        return false;
    for (const auto& block : members_) block->pass_cluster_barrier();
    return true;
}

Block::State Cluster::run() {
    for (;;) {
        bool is_done = true, is_spinning = false;
        for (const auto& block : members_) {
            const Block::State state = block->is_done() ? Block::State::done : block->run();
            if (state == Block::State::fault) return state;
            is_done = is_done && state == Block::State::done;
            is_spinning = is_spinning || state == Block::State::running;
        }
        if (is_done) return Block::State::done;
        if (is_spinning) return Block::State::running;
        const auto is_ready = [](const auto& block) { return block->can_go_on(); };
        const auto unblocks = [](const auto& block) { return !block->is_done() && block->unblock(); };
        if (std::ranges::any_of(members_, is_ready) || std::ranges::any_of(members_, unblocks)) continue;
        for (const auto& block : members_) {
            if (block->is_at_cluster_barrier()) continue;
            block->deadlock();
            return Block::State::fault;
        }
        return Block::State::fault;
    }
}

namespace run {

const Op* map_shared_rank(Warp& w, const Op* op) {
    const std::uint32_t* ranks = w.lanes<std::uint32_t>(op->b);
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const bool is_wide = op->d_bytes == 8;
        const std::uint64_t address =
            is_wide ? w.lanes<std::uint64_t>(op->a)[lane] : w.lanes<std::uint32_t>(op->a)[lane];
        std::uint64_t offset = (address - op->imm) % cluster_stride;
        if (ranks[lane] != w.block->cluster_rank())
            offset += (std::uint64_t{ranks[lane] % (2 * max_cluster_blocks)} + 1) * cluster_stride;
        if (is_wide)
            w.lanes<std::uint64_t>(op->d)[lane] = op->imm + offset;
        else
            w.lanes<std::uint32_t>(op->d)[lane] = static_cast<std::uint32_t>(offset);
    }
    return op + 1;
}

const Op* shared_rank(Warp& w, const Op* op) {
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const std::uint64_t address =
            op->d_bytes == 8 ? w.lanes<std::uint64_t>(op->a)[lane] : w.lanes<std::uint32_t>(op->a)[lane];
        const std::uint64_t stride = (address - op->imm) / cluster_stride;
        w.lanes<std::uint32_t>(op->d)[lane] =
            stride == 0 ? w.block->cluster_rank() : static_cast<std::uint32_t>(stride - 1);
    }
    return op + 1;
}

}  // namespace run
}  // namespace trimtab::emulator
