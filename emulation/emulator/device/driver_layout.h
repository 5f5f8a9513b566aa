// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where CUDA's driver would have put allocations: it maps memory in granules of 2 MiB, in which small allocations
// lie side by side at multiples of 512 bytes, and large ones have granules of their own. What an access past an
// array meets on a GPU follows from that. Addresses of the layout are numbers of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace trimtab::emulator {

class DriverLayout {
  public:
    static constexpr std::uint64_t granule_bytes = std::uint64_t{2} << 20;
    static constexpr std::uint64_t block_bytes = 512;  // what small allocations are multiples of
    static constexpr std::uint64_t large_bytes = granule_bytes / 2;  // from here on: granules of their own

    // How much of the layout an allocation takes.
    [[nodiscard]] static std::uint64_t taken_bytes(std::uint64_t size_bytes);

    // Places an allocation; `owner` is anything but 0 that tells it apart.
    [[nodiscard]] std::uint64_t place(std::uint64_t size_bytes, std::uint64_t owner);
    // `left`: what was in the allocation's bytes, and stays there while its granule is mapped.
    void release(std::uint64_t place, const std::byte* left);

    // [first, end) around an address: an allocation's block (then `owner` is its own, and `host` is null), or
    // mapped memory between blocks, which lies at `host`.
    struct Piece {
        std::uint64_t first = 0, end = 0, owner = 0;
        std::byte* host = nullptr;  // of `first`
    };
    // Nothing: no memory is mapped there.
    [[nodiscard]] std::optional<Piece> piece_at(std::uint64_t address);

  private:
    struct Free {
        void operator()(std::byte* bytes) const { std::free(bytes); }
    };
    struct Granule {
        std::uint64_t blocks = 0;                // live ones that lie in it
        std::unique_ptr<std::byte, Free> bytes;  // of what is no block; made when it is first asked for
    };
    struct Block {
        std::uint64_t end = 0, owner = 0;
    };
    [[nodiscard]] std::byte* bytes_of(Granule& granule);
    [[nodiscard]] std::uint64_t place_small(std::uint64_t bytes);

    std::map<std::uint64_t, Granule> granules_;               // mapped ones, by address
    std::map<std::uint64_t, Block> blocks_;                   // live, by address
    std::map<std::uint64_t, std::set<std::uint64_t>> holes_;  // size -> places in mapped granules
    std::uint64_t next_granule_ = granule_bytes;              // no allocation begins at 0
    std::uint64_t small_first_ = 0, small_end_ = 0;  // room in the granule of the latest small allocation
};

}  // namespace trimtab::emulator
