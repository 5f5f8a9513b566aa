// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores whose lanes lie in runs, as their shape or, where it is so, a hint says; or in any way.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <numeric>

#include "emulation/emulator/jit/translator.h"

namespace trimtab::emulator::jit {

void Translator::check_each(Access& access) {
    expect(all_in_range(access.addresses, access.first, access.end, access.total_bytes, access.alignment,
                        access.lanes),
           access.slow);
    llvm::Value* hosts = b_.CreateAdd(access.addresses, splat(access.delta));
    access.host = b_.CreateIntToPtr(hosts, llvm::FixedVectorType::get(b_.getPtrTy(), warp_lanes));
}

llvm::BasicBlock* Translator::check_runs(Access& access) {
    if (!access.hint || access.count != 1) return nullptr;
    const Offsets& offsets = *access.hint;
    const unsigned run = hints_->run_lanes();
    bool same = true, consecutive = true;
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        const std::int64_t behind = std::int64_t{lane % run} * access.element_bytes;
        same = same && offsets[lane] == 0;
        consecutive = consecutive && offsets[lane] == behind;
    }
    if (!same && !consecutive) return nullptr;
    // Every lane is where its run's first one says it is.
    std::vector<llvm::Constant*> behind;
    std::vector<int> first_of_run;
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        behind.push_back(b_.getInt64(static_cast<std::uint64_t>(offsets[lane])));
        first_of_run.push_back(static_cast<int>(lane / run * run));
    }
    llvm::Value* starts = b_.CreateSub(access.addresses, llvm::ConstantVector::get(behind));
    llvm::Value* equal = b_.CreateICmpEQ(starts, b_.CreateShuffleVector(starts, first_of_run));
    llvm::Value* good = b_.CreateICmpEQ(bits_of(equal), b_.getInt32(all_lanes));
    access.is_same_in_runs = same;
    const std::uint64_t span = same ? access.element_bytes : std::uint64_t{run} * access.element_bytes;
    for (unsigned lane = 0; lane < warp_lanes; lane += run) {
        llvm::Value* start = b_.CreateExtractElement(access.addresses, std::uint64_t{lane});
        good = b_.CreateAnd(good, in_range(start, access.first, access.end, 0, span));
        if (access.alignment != 0) {
            llvm::Value* rest = b_.CreateAnd(start, b_.getInt64(access.alignment));
            good = b_.CreateAnd(good, b_.CreateICmpEQ(rest, b_.getInt64(0)));
        }
        access.run_hosts.push_back(b_.CreateIntToPtr(b_.CreateAdd(start, access.delta), b_.getPtrTy()));
    }
    auto* otherwise = llvm::BasicBlock::Create(context_, "each", made_);
    expect(good, otherwise);
    return otherwise;
}

llvm::Value* Translator::load_runs(const Access& access, unsigned) {
    const unsigned run = shapes_->run_lanes();
    llvm::Type* type = scalar_type(access.element_bytes);
    const llvm::Align alignment(access.element_bytes);
    std::vector<llvm::Value*> parts;
    for (llvm::Value* host : access.run_hosts) {
        if (access.is_same_in_runs) {
            parts.push_back(b_.CreateVectorSplat(run, b_.CreateAlignedLoad(type, host, alignment)));
        } else {
            auto* part = llvm::FixedVectorType::get(type, run);
            parts.push_back(b_.CreateAlignedLoad(part, host, alignment));
        }
    }
    return joined(std::move(parts));
}

void Translator::store_runs(const Access& access, const Value& value) {
    const unsigned run = shapes_->run_lanes();
    llvm::Value* all = resize(vector(value), access.element_bytes, false);
    std::vector<llvm::Value*> parts;
    for (unsigned first = 0; first < warp_lanes; first += run) {
        std::vector<int> own(run);
        std::iota(own.begin(), own.end(), static_cast<int>(first));
        parts.push_back(b_.CreateShuffleVector(all, own));
    }
    if (!access.is_same_in_runs) {
        store_lanes(access, parts, access.run_hosts);
        return;
    }
    // The last lane wins: as a scatter has it.
    llvm::Value* lanes = lanes_of(access.lanes);
    for (unsigned i = 0; i < parts.size(); i++) {
        std::vector<int> own(run);
        std::iota(own.begin(), own.end(), static_cast<int>(i * run));
        b_.CreateMaskedScatter(parts[i], b_.CreateVectorSplat(run, access.run_hosts[i]),
                               llvm::Align(access.element_bytes), b_.CreateShuffleVector(lanes, own));
    }
}

// Blocks a few lanes wide go through memory in short pieces of many rows, which the processor does not foresee:
// it takes nothing for granted beyond a page. The block that is next goes on where the rows of this one end.
void Translator::prefetch_for_neighbour(const Access& access, std::uint32_t index) {
    if (access.run_hosts.empty() || access.is_same_in_runs ||
        flow_.innermost_loop[flow_.block_of[index]] != ptx::no_index)
        return;
    std::int64_t end = access.total_bytes;
    if (const auto row = row_of_.find(index); row != row_of_.end()) {
        if (rows_[row->second].first != index) return;
        end = rows_[row->second].high;
    }
    const std::int64_t last_byte =
        2 * std::int64_t{shapes_->run_lanes()} * access.element_bytes - access.element_bytes + end - 1;
    for (llvm::Value* host : access.run_hosts) {
        llvm::Value* place =
            b_.CreateConstGEP1_64(b_.getInt8Ty(), host, static_cast<std::uint64_t>(last_byte));
        b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                           {place, b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
    }
}

// Vectors of a power of two in number, one behind the other.
llvm::Value* Translator::joined(std::vector<llvm::Value*> parts) {
    while (parts.size() > 1) {
        std::vector<llvm::Value*> pairs;
        const unsigned count = llvm::cast<llvm::FixedVectorType>(parts[0]->getType())->getNumElements();
        std::vector<int> mask(std::size_t{count} * 2);
        for (std::size_t i = 0; i < mask.size(); i++) mask[i] = static_cast<int>(i);
        for (std::size_t i = 0; i < parts.size(); i += 2)
            pairs.push_back(b_.CreateShuffleVector(parts[i], parts[i + 1], mask));
        parts = std::move(pairs);
    }
    return parts.front();
}

}  // namespace trimtab::emulator::jit
