// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory that an emulated kernel sees. Global addresses are 64-bit numbers; who owns them is an
// implementation's business: emulation/cuda/ backs them with the host memory that cudaMalloc gave out, the profiler
// with sparse pages filled on demand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace trimtab::emulator {

struct Surface;  // texture.h
struct Texture;

enum class Access : std::uint8_t { read, write, read_write };

class GlobalMemory {
  public:
    virtual ~GlobalMemory() = default;

    // A contiguous piece of valid memory around an address.
    struct Range {
        std::uint64_t first = 0, end = 0;  // addresses [first, end)
        std::byte* host = nullptr;         // of `first`; nullptr: no valid memory at the address
    };
    // The largest range that holds `address` (whole allocation, or page), valid until the memory is next
    // freed. Thread-safe.
    [[nodiscard]] virtual Range range_of(std::uint64_t address, Access access) = 0;
    // "12 bytes past the end of an allocation of 400 bytes at 0x...", for the fault's message.
    [[nodiscard]] virtual std::string explain(std::uint64_t address) const = 0;
    // Memory at an address that range_of knows none for, where a GPU's driver would have mapped some: what lies
    // behind an allocation's end, or a neighbour (a granule is larger than an allocation). host nullptr: none.
    // Valid until the memory is next freed. Thread-safe.
    [[nodiscard]] virtual Range mapped_outside(std::uint64_t address) {
        (void)address;
        return {};
    }
    // What the handle of a texture or surface object stands for; nullptr: there is no such object. Valid
    // until the launch ends. Thread-safe.
    [[nodiscard]] virtual const Texture* texture(std::uint64_t handle) const {
        (void)handle;
        return nullptr;
    }
    [[nodiscard]] virtual const Surface* surface(std::uint64_t handle) const {
        (void)handle;
        return nullptr;
    }
};

// For profiling: any address is valid. Pages appear when first touched and are filled
// deterministically from the address. Region i (argument i's) begins at region_base(i); regions are 2^40
// bytes apart and addresses below a region's base belong to it too.
class SparseMemory : public GlobalMemory {
  public:
    enum class Fill : std::uint8_t {
        zero,
        f32,
        f64,
        f16,
        integer,
        integer64
    };  // floats in [0.5, 1.5), integers of 32 and 64 bits in [0, 16)
    static constexpr std::uint64_t page_bytes = 4u << 10;
    explicit SparseMemory(std::uint64_t page_limit_bytes = std::uint64_t{4} << 30);
    ~SparseMemory() override;
    [[nodiscard]] static std::uint64_t region_base(std::uint32_t region);
    void set_fill(std::uint32_t region, Fill fill);  // before anything runs
    [[nodiscard]] Range range_of(std::uint64_t address, Access access) override;
    [[nodiscard]] std::string explain(std::uint64_t address) const override;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace trimtab::emulator
