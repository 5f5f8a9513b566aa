// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/memory_snapshot.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace trimtab::cuda {
namespace {

constexpr std::size_t page_bytes = 16 * 1024;
constexpr std::size_t word_bytes = 8;
alignas(64) constexpr std::array<std::byte, page_bytes> zeros{};

std::byte* at(std::uint64_t address) {
    return reinterpret_cast<std::byte*>(address);
}

std::uint64_t word_at(const std::byte* from, std::size_t size) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, size);
    return word;
}

}  // namespace

MemorySnapshot::MemorySnapshot(std::vector<MemoryRegion> regions) {
    pieces_.reserve(regions.size());
    for (MemoryRegion& region : regions) {
        Piece piece{.region = std::move(region), .pages = {}};
        for (std::uint64_t offset = 0; offset < piece.region.size_bytes; offset += page_bytes) {
            const std::size_t size = std::min<std::uint64_t>(page_bytes, piece.region.size_bytes - offset);
            const std::byte* from = at(piece.region.first + offset);
            Page& page = piece.pages.emplace_back();
            if (std::memcmp(from, zeros.data(), size) == 0) continue;
            page = std::make_unique_for_overwrite<std::byte[]>(size);
            std::memcpy(page.get(), from, size);
        }
        pieces_.push_back(std::move(piece));
    }
}

void MemorySnapshot::restore() const {
    for (const Piece& piece : pieces_) {
        for (std::size_t i = 0; i < piece.pages.size(); ++i) {
            const std::uint64_t offset = i * page_bytes;
            const std::size_t size = std::min<std::uint64_t>(page_bytes, piece.region.size_bytes - offset);
            std::byte* to = at(piece.region.first + offset);
            const std::byte* from = piece.pages[i] == nullptr ? zeros.data() : piece.pages[i].get();
            if (std::memcmp(to, from, size) != 0) std::memcpy(to, from, size);
        }
    }
}

void MemorySnapshot::compare(const std::function<bool(const ChangedWord&)>& visit) const {
    for (const Piece& piece : pieces_) {
        for (std::size_t i = 0; i < piece.pages.size(); ++i) {
            const std::uint64_t offset = i * page_bytes;
            const std::size_t size = std::min<std::uint64_t>(page_bytes, piece.region.size_bytes - offset);
            const std::byte* now = at(piece.region.first + offset);
            const std::byte* then = piece.pages[i] == nullptr ? zeros.data() : piece.pages[i].get();
            if (std::memcmp(now, then, size) == 0) continue;
            for (std::size_t byte = 0; byte < size; byte += word_bytes) {
                const std::size_t part = std::min(word_bytes, size - byte);
                const ChangedWord word{.region = &piece.region,
                                       .address = piece.region.first + offset + byte,
                                       .size_bytes = part,
                                       .then = word_at(then + byte, part),
                                       .now = word_at(now + byte, part)};
                if (word.then != word.now && !visit(word)) return;
            }
        }
    }
}

}  // namespace trimtab::cuda
