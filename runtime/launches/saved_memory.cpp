// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/saved_memory.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace trimtab::runtime {
namespace {

// What is hashed is brought to the host piece by piece.
constexpr std::uint64_t piece_bytes = std::uint64_t{16} << 20;

void* at(std::uint64_t address) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the device's
    return reinterpret_cast<void*>(address);
}

}  // namespace

SavedMemory::~SavedMemory() {
    for (const Range& range : ranges_)
        if (range.on_device != nullptr) calls_->timing.free(range.on_device);
}

std::uint64_t SavedMemory::size_bytes() const {
    return std::accumulate(ranges_.begin(), ranges_.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const Range& range) { return sum + range.size_bytes; });
}

bool SavedMemory::add(std::uint64_t first, std::uint64_t size_bytes) {
    if (size_bytes == 0 || std::ranges::any_of(ranges_, [&](const Range& range) {
            return first >= range.first && first + size_bytes <= range.first + range.size_bytes;
        }))
        return true;
    const TimingCalls& calls = calls_->timing;
    Range range{.first = first, .size_bytes = size_bytes};
    if (calls.malloc(&range.on_device, size_bytes) != cudaSuccess) {
        calls_->get_last_error();
        range.on_device = nullptr;
        range.on_host.resize(size_bytes);
    }
    void* const copy = range.on_device != nullptr ? range.on_device : range.on_host.data();
    const bool is_kept = calls.memcpy(copy, at(first), size_bytes, cudaMemcpyDefault) == cudaSuccess;
    ranges_.push_back(std::move(range));
    return is_kept;
}

std::expected<SavedMemory, std::string> SavedMemory::save(const BackendCalls& calls,
                                                          std::span<const std::byte> arguments,
                                                          std::span<const ProgramVariable> variables) {
    if (const cudaError_t status = calls.timing.device_synchronize(); status != cudaSuccess)
        return std::unexpected(fmt::format("the device has an error ({})", calls.get_error_name(status)));
    SavedMemory saved(calls);
    std::uint64_t word = 0;
    for (std::size_t offset = 0; offset + sizeof word <= arguments.size(); offset += sizeof word) {
        std::memcpy(&word, arguments.data() + offset, sizeof word);
        cudaPointerAttributes attributes{};
        if (word == 0) continue;
        if (calls.timing.pointer_get_attributes(&attributes, at(word)) != cudaSuccess) {
            calls.get_last_error();
            continue;  // a number
        }
        if (attributes.type == cudaMemoryTypeUnregistered) continue;
        CUdeviceptr first = 0;
        std::size_t size_bytes = 0;
        if (calls.timing.mem_get_address_range(
                &first, &size_bytes, reinterpret_cast<CUdeviceptr>(attributes.devicePointer)) != CUDA_SUCCESS)
            return std::unexpected(fmt::format(
                "the size of the memory at {:#x} (byte {} of the arguments) is not known", word, offset));
        if (!saved.add(first, size_bytes))
            return std::unexpected(fmt::format("{} bytes at {:#x} cannot be kept", size_bytes, first));
    }
    for (const ProgramVariable& variable : variables) {
        void* place = nullptr;
        if (variable.is_managed)
            place = *static_cast<void* const*>(variable.host);
        else if (calls.timing.get_symbol_address(&place, variable.host) != cudaSuccess)
            calls.get_last_error();
        if (place == nullptr) continue;  // its module is not loaded: no launch has changed it
        if (!saved.add(reinterpret_cast<std::uint64_t>(place), variable.size_bytes))
            return std::unexpected(fmt::format("a variable of {} bytes cannot be kept", variable.size_bytes));
    }
    return saved;
}

bool SavedMemory::restore() const {
    return std::ranges::all_of(ranges_, [this](const Range& range) {
        const void* const copy = range.on_device != nullptr ? range.on_device : range.on_host.data();
        return calls_->timing.memcpy(at(range.first), copy, range.size_bytes, cudaMemcpyDefault) ==
               cudaSuccess;
    });
}

std::expected<std::uint64_t, std::string> SavedMemory::hash() const {
    if (const cudaError_t status = calls_->timing.device_synchronize(); status != cudaSuccess)
        return std::unexpected(fmt::format("it fails ({})", calls_->get_error_name(status)));
    std::uint64_t hash = 0;
    std::vector<std::byte> piece;
    for (const Range& range : ranges_)
        for (std::uint64_t done = 0; done < range.size_bytes; done += piece.size()) {
            piece.resize(std::min(piece_bytes, range.size_bytes - done));
            if (calls_->timing.memcpy(piece.data(), at(range.first + done), piece.size(),
                                      cudaMemcpyDefault) != cudaSuccess)
                return std::unexpected("its memory cannot be read");
            hash = XXH3_64bits_withSeed(piece.data(), piece.size(), hash);
        }
    return hash;
}

}  // namespace trimtab::runtime
