// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/crosscheck/moved_pointers.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

namespace trimtab::choosing {
namespace {

// Far from null, and from the addresses that the emulator gives a meaning of their own.
constexpr std::uint64_t lowest_address = std::uint64_t{1} << 40;
// What the lowest pointer keeps of its address: no line or vector is larger.
constexpr std::uint64_t kept_bytes = 512;

}  // namespace

std::vector<std::byte> with_moved_pointers(const analysis::KernelDescription& description,
                                           std::vector<std::byte> parameters) {
    const auto for_each_pointer = [&](const auto& visit) {
        for (const auto& parameter : description.parameters) {
            std::uint64_t address = 0;
            if (!parameter.is_pointer || parameter.offset + sizeof address > parameters.size()) continue;
            std::memcpy(&address, &parameters[parameter.offset], sizeof address);
            if (address != 0) visit(parameter.offset, address);
        }
    };
    std::optional<std::uint64_t> lowest;
    for_each_pointer(
        [&](std::size_t, std::uint64_t address) { lowest = std::min(lowest.value_or(address), address); });
    for_each_pointer([&](std::size_t offset, std::uint64_t address) {
        const std::uint64_t moved = address - *lowest / kept_bytes * kept_bytes + lowest_address;
        std::memcpy(&parameters[offset], &moved, sizeof moved);
    });
    return parameters;
}

}  // namespace trimtab::choosing
