// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/device/driver_layout.h"

#include <algorithm>
#include <iterator>
#include <new>

#include "core/base/align_up.h"

namespace trimtab::emulator {
namespace {

std::uint64_t granule_of(std::uint64_t address) {
    return address / DriverLayout::granule_bytes * DriverLayout::granule_bytes;
}

}  // namespace

std::uint64_t DriverLayout::taken_bytes(std::uint64_t size_bytes) {
    return base::align_up(std::max<std::uint64_t>(size_bytes, 1),
                          size_bytes >= large_bytes ? granule_bytes : block_bytes);
}

std::uint64_t DriverLayout::place_small(std::uint64_t bytes) {
    if (const auto hole = holes_.find(bytes); hole != holes_.end()) {
        const std::uint64_t first = *hole->second.begin();
        hole->second.erase(hole->second.begin());
        if (hole->second.empty()) holes_.erase(hole);
        return first;
    }
    if (small_end_ - small_first_ < bytes) {
        small_first_ = next_granule_;
        small_end_ = next_granule_ += granule_bytes;
    }
    const std::uint64_t first = small_first_;
    small_first_ += bytes;
    return first;
}

std::uint64_t DriverLayout::place(std::uint64_t size_bytes, std::uint64_t owner) {
    const std::uint64_t bytes = taken_bytes(size_bytes);
    std::uint64_t first = next_granule_;
    if (bytes < granule_bytes)
        first = place_small(bytes);
    else
        next_granule_ += bytes;
    blocks_[first] = {.end = first + bytes, .owner = owner};
    for (std::uint64_t at = granule_of(first); at < first + bytes; at += granule_bytes)
        granules_[at].blocks++;
    return first;
}

void DriverLayout::release(std::uint64_t place, const std::byte* left) {
    const auto block = blocks_.find(place);
    if (block == blocks_.end()) return;
    const std::uint64_t end = block->second.end;
    blocks_.erase(block);
    if (end - place >= granule_bytes) {
        granules_.erase(granules_.lower_bound(place), granules_.lower_bound(end));
        return;
    }
    const auto granule = granules_.find(granule_of(place));
    if (--granule->second.blocks > 0) {
        std::copy_n(left, end - place, bytes_of(granule->second) + (place - granule->first));
        holes_[end - place].insert(place);
        return;
    }
    const std::uint64_t first = granule->first;
    granules_.erase(granule);
    for (auto& [bytes, places] : holes_)
        places.erase(places.lower_bound(first), places.lower_bound(first + granule_bytes));
    std::erase_if(holes_, [](const auto& holes) { return holes.second.empty(); });
    if (granule_of(small_end_ - 1) == first) small_first_ = small_end_ = 0;
}

std::byte* DriverLayout::bytes_of(Granule& granule) {
    if (granule.bytes == nullptr) granule.bytes.reset(static_cast<std::byte*>(std::calloc(granule_bytes, 1)));
    if (granule.bytes == nullptr) throw std::bad_alloc();
    return granule.bytes.get();
}

std::optional<DriverLayout::Piece> DriverLayout::piece_at(std::uint64_t address) {
    const auto after = blocks_.upper_bound(address);
    const auto before = after == blocks_.begin() ? blocks_.end() : std::prev(after);
    if (before != blocks_.end() && address < before->second.end)
        return Piece{.first = before->first, .end = before->second.end, .owner = before->second.owner};
    const auto granule = granules_.find(granule_of(address));
    if (granule == granules_.end()) return std::nullopt;
    Piece piece{.first = granule->first, .end = granule->first + granule_bytes};
    if (before != blocks_.end()) piece.first = std::max(piece.first, before->second.end);
    if (after != blocks_.end()) piece.end = std::min(piece.end, after->first);
    piece.host = bytes_of(granule->second) + (piece.first - granule->first);
    return piece;
}

}  // namespace trimtab::emulator
