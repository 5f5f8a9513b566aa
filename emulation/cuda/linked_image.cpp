// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/linked_image.h"

#include <cstring>

namespace trimtab::cuda {
namespace {

constexpr std::uint32_t magic = 0x4c4d4954;  // "TIML"

struct LinkedHeader {
    std::uint32_t magic;
    std::uint32_t parts;
};

}  // namespace

std::vector<std::byte> join(const std::vector<std::vector<std::byte>>& parts) {
    std::vector<std::byte> out;
    const auto append = [&out](const void* data, std::size_t bytes) {
        const std::size_t before = out.size();
        out.resize(before + bytes);
        if (bytes != 0) std::memcpy(out.data() + before, data, bytes);
    };
    const LinkedHeader header{.magic = magic, .parts = static_cast<std::uint32_t>(parts.size())};
    append(&header, sizeof header);
    for (const auto& part : parts) {
        const std::uint64_t bytes = part.size();
        append(&bytes, sizeof bytes);
        append(part.data(), part.size());
    }
    return out;
}

std::optional<std::vector<std::vector<std::byte>>> parts_of(const std::byte* image, std::size_t known_bytes) {
    LinkedHeader header{};
    std::memcpy(&header.magic, image, sizeof header.magic);
    if (header.magic != magic || known_bytes < sizeof header) return std::nullopt;
    std::memcpy(&header, image, sizeof header);
    std::vector<std::vector<std::byte>> out;
    std::size_t offset = sizeof header;
    for (std::uint32_t i = 0; i < header.parts; ++i) {
        std::uint64_t bytes = 0;
        if (known_bytes - offset < sizeof bytes) return std::nullopt;
        std::memcpy(&bytes, image + offset, sizeof bytes);
        offset += sizeof bytes;
        if (bytes > known_bytes - offset) return std::nullopt;
        out.emplace_back(image + offset, image + offset + bytes);
        offset += bytes;
    }
    return out;
}

}  // namespace trimtab::cuda
