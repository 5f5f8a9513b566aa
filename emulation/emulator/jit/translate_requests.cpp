// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What counted code makes of memory requests: the counts of exec/count_requests.cpp. Requests of all lanes
// that lie in one or two pieces are counted in place, those of lanes far apart if they are like the last one
// there; the rest by calls.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <array>

#include "emulation/emulator/jit/abi.h"
#include "emulation/emulator/jit/translator.h"

namespace trimtab::emulator::jit {
namespace {

// count_shared(), of all lanes at these offsets from an address that is a multiple of 4.
std::uint64_t wavefronts(const Offsets& offsets, unsigned bytes) {
    const unsigned words = bytes / 4, parts = std::min(words, 8u), lanes_each = warp_lanes / parts;
    std::uint64_t sum = 0;
    for (unsigned part = 0; part < parts; part++) {
        std::array<std::vector<std::int64_t>, warp_lanes> in_bank;
        std::size_t most = 0;
        for (unsigned lane = part * lanes_each; lane < (part + 1) * lanes_each; lane++) {
            for (unsigned word = 0; word < words; word++) {
                const std::int64_t at = (offsets[lane] >> 2) + word;
                auto& bank = in_bank[static_cast<std::uint64_t>(at) % warp_lanes];
                if (std::ranges::find(bank, at) == bank.end()) bank.push_back(at);
                most = std::max(most, bank.size());
            }
        }
        sum += most;
    }
    return sum;
}

// Functions beyond it count by calls: they compile sooner.
constexpr std::size_t most_instructions = 1000;

}  // namespace

// The pieces of memory that a load of all lanes touches sectors of, or a store fills; none if there are more
// than two.
std::vector<Translator::Span> Translator::spans_of(const Access& access, bool is_load) {
    const std::uint64_t bytes = access.total_bytes;
    const Shape& shape = access.shape;
    if (shape.is_uniform()) return is_load ? std::vector<Span>{{access.address, bytes}} : std::vector<Span>{};
    if (!access.run_hosts.empty() && !shape.is_pattern()) {
        if (run_count() != 2 || (!is_load && access.is_same_in_runs)) return {};
        std::vector<Span> spans;
        for (unsigned run = 0; run < run_count(); run++) {
            const std::uint64_t lane = shape.is_runs() ? run : run * shapes_->run_lanes();
            spans.push_back({b_.CreateExtractElement(access.address, lane),
                             access.is_same_in_runs ? bytes : bytes * shapes_->run_lanes()});
        }
        return spans;
    }
    if (!shape.is_pattern()) return {};
    if (!is_load && !lanes_in_order(shape, warp_lanes, access.total_bytes)) return {};
    // No sector lies between neighbours that are as near.
    constexpr std::int64_t near = std::int64_t{1} << SectorSet::sector_shift;
    Offsets sorted = shape.offsets;
    std::ranges::sort(sorted);
    std::vector<std::pair<std::int64_t, std::int64_t>> pieces;
    for (const std::int64_t offset : sorted) {
        if (pieces.empty() || offset - pieces.back().second > near) pieces.emplace_back(offset, offset);
        pieces.back().second = offset;
        if (pieces.size() > 2) return {};
    }
    std::vector<Span> spans;
    for (const auto& [low, high] : pieces) {
        const auto length = static_cast<std::uint64_t>(high - low) + bytes;
        if (length > (std::uint64_t{1} << SectorSet::window_shift)) return {};
        spans.push_back({b_.CreateAdd(access.address, b_.getInt64(static_cast<std::uint64_t>(low))), length});
    }
    return spans;
}

// Sectors that the footprint has from now on. Windows that it does not have yet are looked after by the call.
void Translator::insert_window(llvm::Value* window, llvm::Value* bits) {
    const auto part = [&](llvm::Value* of, std::size_t offset, llvm::Type* type) {
        return b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), of, offset));
    };
    llvm::Value* table = field(layout_.footprint_table, b_.getPtrTy());
    llvm::Value* slots = part(table, offsetof(SectorSet::Table, slots), b_.getPtrTy());
    llvm::Value* shift = part(table, offsetof(SectorSet::Table, shift), b_.getInt64Ty());
    llvm::Value* place = b_.CreateLShr(b_.CreateMul(window, b_.getInt64(SectorSet::multiplier)), shift);
    llvm::Value* slot =
        b_.CreateGEP(b_.getInt8Ty(), slots, b_.CreateMul(place, b_.getInt64(sizeof(SectorSet::Slot))));
    auto* found = llvm::BasicBlock::Create(context_, "found", made_);
    auto* missing = llvm::BasicBlock::Create(context_, "missing", made_);
    auto* done = llvm::BasicBlock::Create(context_, "inserted", made_);
    llvm::Value* is_there =
        b_.CreateICmpEQ(part(slot, offsetof(SectorSet::Slot, window), b_.getInt64Ty()), window);
    b_.CreateCondBr(is_there, found, missing, likely_);
    b_.SetInsertPoint(found);
    llvm::Value* own = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), slot, offsetof(SectorSet::Slot, bits));
    b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt64Ty(), own), bits), own);
    b_.CreateBr(done);
    b_.SetInsertPoint(missing);
    call_service(offsetof(Services, insert_window), {warp_, window, bits});
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
}

// Each within a window.
void Translator::insert_pieces(const std::vector<Piece>& pieces, bool is_one_sector) {
    const auto number = [this](std::uint64_t n) { return b_.getInt64(n); };
    const auto sector = [&](llvm::Value* address) {
        return b_.CreateLShr(address, number(SectorSet::sector_shift));
    };
    for (const Piece& piece : pieces) {
        llvm::Value* from = b_.CreateAnd(sector(piece.first), number(63));
        llvm::Value* bits = b_.CreateShl(number(is_one_sector ? 1 : ~std::uint64_t{0}), from);
        if (!is_one_sector) {
            llvm::Value* to = b_.CreateAnd(b_.CreateNot(sector(piece.last)), number(63));
            bits = b_.CreateAnd(bits, b_.CreateLShr(number(~std::uint64_t{0}), to));
        }
        insert_window(b_.CreateLShr(piece.first, number(SectorSet::window_shift)), bits);
    }
}

// The first of a row for all of it, if that lies within windows; the others if it has not.
void Translator::insert_of_row(Row& row, std::uint32_t index, const std::vector<Piece>& pieces,
                               bool is_one_sector) {
    auto* alone = llvm::BasicBlock::Create(context_, "alone", made_);
    auto* done = llvm::BasicBlock::Create(context_, "inserted", made_);
    if (row.first != index) {
        b_.CreateCondBr(b_.CreateLoad(b_.getInt1Ty(), row.is_inserted), done, alone, likely_);
    } else {
        const auto& info = *static_cast<const MemoryInfo*>(memory_op(index)->info);
        std::vector<Piece> all;
        llvm::Value* good = b_.getTrue();
        for (const Piece& piece : pieces) {
            // The last byte that the first load's own piece and those behind it have.
            const std::int64_t more = row.high - info.total_bytes;
            llvm::Value* last =
                is_one_sector
                    ? b_.CreateAdd(piece.first, b_.getInt64(static_cast<std::uint64_t>(row.high - 1)))
                    : b_.CreateAdd(piece.last, b_.getInt64(static_cast<std::uint64_t>(more)));
            llvm::Value* first = b_.CreateAdd(piece.first, b_.getInt64(static_cast<std::uint64_t>(row.low)));
            all.push_back({first, last});
            llvm::Value* across =
                b_.CreateLShr(b_.CreateXor(first, last), b_.getInt64(SectorSet::window_shift));
            good = b_.CreateAnd(good, b_.CreateICmpEQ(across, b_.getInt64(0)));
        }
        auto* together = llvm::BasicBlock::Create(context_, "together", made_);
        b_.CreateCondBr(good, together, alone, likely_);
        b_.SetInsertPoint(together);
        insert_pieces(all, false);
        b_.CreateStore(b_.getTrue(), row.is_inserted);
        b_.CreateBr(done);
    }
    b_.SetInsertPoint(alone);
    insert_pieces(pieces, is_one_sector);
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
}

// Of one or two spans; `otherwise`: where they cross windows or share lines, or a store's fill no whole
// segments.
void Translator::count_spans(const Access& access, const std::vector<Span>& spans, std::uint32_t index,
                             llvm::BasicBlock* otherwise) {
    const bool is_load = static_cast<const MemoryInfo*>(access.op->info)->access == emulator::Access::read;
    constexpr unsigned sector_shift = SectorSet::sector_shift, window_shift = SectorSet::window_shift,
                       line_shift = 7;
    const auto number = [this](std::uint64_t n) { return b_.getInt64(n); };
    const auto shifted = [&](llvm::Value* value, unsigned by) { return b_.CreateLShr(value, number(by)); };
    // One element that is aligned as a whole touches one sector.
    const bool is_one_sector = std::ranges::all_of(spans, [&](const Span& span) {
        return span.bytes == access.total_bytes && access.alignment + 1 >= access.total_bytes;
    });
    llvm::Value* good = b_.getTrue();
    std::vector<llvm::Value*> lasts;
    std::uint64_t segments = 0;
    for (const Span& span : spans) {
        llvm::Value* last = is_one_sector ? span.first : b_.CreateAdd(span.first, number(span.bytes - 1));
        lasts.push_back(last);
        if (!is_one_sector) {
            llvm::Value* across = shifted(b_.CreateXor(span.first, last), window_shift);
            good = b_.CreateAnd(good, b_.CreateICmpEQ(across, number(0)));
        }
        if (is_load) continue;
        if (span.bytes % 64 != 0) good = b_.getFalse();
        good = b_.CreateAnd(good, b_.CreateICmpEQ(b_.CreateAnd(span.first, number(63)), number(0)));
        segments += span.bytes / 64;
    }
    if (spans.size() == 2 && !(is_load && is_one_sector)) {
        const auto is_behind = [&](const Span& span, llvm::Value* last) {
            return b_.CreateICmpUGT(shifted(span.first, line_shift), shifted(last, line_shift));
        };
        llvm::Value* in_order = is_behind(spans[1], lasts[0]);
        if (is_load) in_order = b_.CreateOr(in_order, is_behind(spans[0], lasts[1]));
        good = b_.CreateAnd(good, in_order);
    }
    if (good != b_.getTrue()) expect(good, otherwise);
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < spans.size(); i++) pieces.push_back({spans[i].first, lasts[i]});
    const auto row = row_of_.find(index);
    if (is_load && row != row_of_.end() && rows_[row->second].is_dense)
        insert_of_row(rows_[row->second], index, pieces, is_one_sector);
    else
        insert_pieces(pieces, is_one_sector);
    const auto count = [&](unsigned shift) {
        llvm::Value* sum = number(spans.size());
        if (is_one_sector && spans.size() == 2) {
            llvm::Value* apart = b_.CreateICmpNE(shifted(lasts[0], shift), shifted(lasts[1], shift));
            return b_.CreateAdd(number(1), b_.CreateZExt(apart, b_.getInt64Ty()));
        }
        for (std::size_t i = 0; i < spans.size() && !is_one_sector; i++) {
            sum = b_.CreateAdd(sum, b_.CreateSub(shifted(lasts[i], shift), shifted(spans[i].first, shift)));
        }
        return sum;
    };
    add_to_count(access.op, offsetof(InstructionCount, requests), number(1));
    add_to_count(access.op, offsetof(InstructionCount, bytes),
                 number(std::uint64_t{access.total_bytes} * warp_lanes));
    add_to_count(access.op, offsetof(InstructionCount, sectors), count(sector_shift));
    add_to_count(access.op, offsetof(InstructionCount, lines), count(line_shift));
    if (!is_load) add_to_count(access.op, offsetof(InstructionCount, full_segments), number(segments));
    set_active();
}

// By a call: of all lanes, in these spans.
void Translator::call_for_spans(const Access& access, const std::vector<Span>& spans, llvm::Value* op) {
    if (spans.size() == 1) {
        llvm::Value* end = b_.CreateAdd(spans[0].first, b_.getInt64(spans[0].bytes));
        call_service(offsetof(Services, count_span), {warp_, op, spans[0].first, end});
        return;
    }
    if (spans.size() == 2 && spans[0].bytes == spans[1].bytes) {
        for (unsigned i = 0; i < 2; i++) store_address(i * warp_lanes / 2, spans[i].first);
        call_service(offsetof(Services, count_runs),
                     {warp_, op, b_.getInt32(warp_lanes / 2), b_.getInt64(spans[0].bytes)});
        return;
    }
    call_for_lanes(access, op);
}

void Translator::store_address(unsigned lane, llvm::Value* address) {
    b_.CreateAlignedStore(address,
                          b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), warp_,
                                                        layout_.addresses + lane * sizeof(std::uint64_t)),
                          llvm::Align(8));
}

void Translator::store_addresses(const Access& access) {
    b_.CreateAlignedStore(vector({access.shape, access.address}),
                          b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), warp_, layout_.addresses),
                          llvm::Align(64));
}

void Translator::call_for_lanes(const Access& access, llvm::Value* op) {
    store_addresses(access);
    call_service(offsetof(Services, count_lanes), {warp_, op, access.lanes});
}

// A load of all lanes from places far apart. `place`: which of LastRequests.
void Translator::count_far_load(const Access& access, std::uint32_t place, llvm::Value* op) {
    llvm::Value* last = field(layout_.last_requests, b_.getPtrTy());
    auto* again = llvm::BasicBlock::Create(context_, "again", made_);
    auto* other = llvm::BasicBlock::Create(context_, "other", made_);
    auto* done = llvm::BasicBlock::Create(context_, "counted", made_);
    const std::uint64_t own = offsetof(LastRequests, requests) + place * sizeof(LastRequests::Request);
    const auto part = [&](std::uint64_t offset, llvm::Type* type, unsigned alignment) {
        return b_.CreateAlignedLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), last, offset),
                                    llvm::Align(alignment));
    };
    llvm::Value* sectors =
        b_.CreateLShr(access.address, constant_like(access.address, SectorSet::sector_shift));
    llvm::Value* like = b_.CreateICmpEQ(
        sectors, part(own + offsetof(LastRequests::Request, sector), access.address->getType(), 64));
    llvm::Value* is_now =
        b_.CreateICmpEQ(part(own + offsetof(LastRequests::Request, warp), b_.getInt64Ty(), 8),
                        part(offsetof(LastRequests, warp), b_.getInt64Ty(), 8));
    b_.CreateCondBr(b_.CreateAnd(is_now, b_.CreateICmpEQ(bits_of(like), b_.getInt32(all_lanes))), again,
                    other, likely_);
    b_.SetInsertPoint(again);
    add_to_count(access.op, offsetof(InstructionCount, requests), b_.getInt64(1));
    add_to_count(access.op, offsetof(InstructionCount, bytes),
                 b_.getInt64(std::uint64_t{access.total_bytes} * warp_lanes));
    add_to_count(access.op, offsetof(InstructionCount, sectors),
                 part(own + offsetof(LastRequests::Request, sectors), b_.getInt64Ty(), 8));
    add_to_count(access.op, offsetof(InstructionCount, lines),
                 part(own + offsetof(LastRequests::Request, lines), b_.getInt64Ty(), 8));
    set_active();
    b_.CreateBr(done);
    b_.SetInsertPoint(other);
    store_addresses(access);
    call_service(offsetof(Services, count_far_load), {warp_, op, b_.getInt32(place)});
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
}

void Translator::count_shared_access(const Access& access, std::uint64_t passes) {
    add_to_count(access.op, offsetof(InstructionCount, requests), b_.getInt64(1));
    add_to_count(access.op, offsetof(InstructionCount, bytes),
                 b_.getInt64(std::uint64_t{access.total_bytes} * warp_lanes));
    add_to_count(access.op, offsetof(InstructionCount, wavefronts), b_.getInt64(passes));
    set_active();
}

void Translator::count_access(const Access& access, std::uint32_t index) {
    if (!is_counted_) return;
    if (function_.body[index].guard != ptx::no_index) count_guarded(index, access.lanes);
    const Op* op = memory_op(index);
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    if (!info.counted) return;
    llvm::Value* op_place = op_at(static_cast<std::uint32_t>(op - code_.ops.data()));
    const Shape& shape = access.shape;
    const bool is_shared = info.space == ptx::Space::shared, is_load = info.access == emulator::Access::read;
    auto* all = llvm::BasicBlock::Create(context_, "all_lanes", made_);
    auto* some = llvm::BasicBlock::Create(context_, "some_lanes", made_);
    auto* done = llvm::BasicBlock::Create(context_, "counted", made_);
    b_.CreateCondBr(b_.CreateICmpEQ(access.lanes, b_.getInt32(all_lanes)), all, some, likely_);
    b_.SetInsertPoint(all);
    const bool consecutive = shape.is_pattern() && lanes_in_order(shape, warp_lanes, info.total_bytes);
    const bool is_in_place = function_.body.size() <= most_instructions;
    if (is_shared && shape.is_uniform()) {
        count_shared_access(access, 1);
    } else if (is_shared && consecutive) {
        count_shared_access(access, std::max(1u, info.total_bytes / 4u));
    } else if (is_shared && shape.is_pattern() && info.total_bytes >= 4) {
        count_shared_access(access, wavefronts(shape.offsets, info.total_bytes));
    } else if (is_shared) {
        call_for_lanes(access, op_place);
    } else if (const auto spans = spans_of(access, is_load); !spans.empty()) {
        if (is_in_place) {
            auto* otherwise = llvm::BasicBlock::Create(context_, "at_length", made_);
            count_spans(access, spans, index, otherwise);
            b_.CreateBr(done);
            b_.SetInsertPoint(otherwise);
        }
        call_for_spans(access, spans, op_place);
    } else if (!access.run_hosts.empty() && !shape.is_pattern()) {
        for (unsigned run = 0; run < run_count(); run++) {
            const std::uint64_t lane = std::uint64_t{run} * shapes_->run_lanes();
            store_address(static_cast<unsigned>(lane),
                          b_.CreateExtractElement(access.address, shape.is_runs() ? run : lane));
        }
        call_service(offsetof(Services, count_runs),
                     {warp_, op_place, b_.getInt32(shapes_->run_lanes()),
                      b_.getInt64(info.total_bytes * (access.is_same_in_runs ? 1u : shapes_->run_lanes()))});
    } else if (shape.is_general() && is_load && is_in_place) {
        const auto group = group_of_.find(index);
        const std::uint32_t first = group == group_of_.end() ? index : groups_[group->second.first].first;
        count_far_load(access, first % LastRequests::count, op_place);
    } else if (shape.is_uniform()) {
        llvm::Value* end = b_.CreateAdd(access.address, b_.getInt64(info.total_bytes));
        call_service(offsetof(Services, count_span), {warp_, op_place, access.address, end});
    } else {
        call_for_lanes(access, op_place);
    }
    b_.CreateBr(done);
    b_.SetInsertPoint(some);
    call_for_lanes(access, op_place);
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
}

}  // namespace trimtab::emulator::jit
