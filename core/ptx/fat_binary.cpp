// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVIDIA documents no layout for fat binaries; this one was read off what fatbinary (CUDA 13) and clang 22
// write: a container is a header of 16 bytes (magic, version, header size, payload size) and entries; an
// entry is a header of 64 bytes or more (at 0 kind, 4 header size, 8 payload size, 16 size compressed, 28
// architecture, 40 flags, 56 size uncompressed) and the payload, padded to 8 bytes.
#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>

#include "core/ptx/binary.h"
#include "core/ptx/byte_reader.h"
#include "core/ptx/elf.h"

namespace trimtab::ptx {
namespace {

constexpr std::uint32_t magic = 0xba55ed50;
constexpr std::size_t container_header_bytes = 16, entry_header_bytes = 64;
constexpr std::uint16_t kind_ptx = 1, kind_cubin = 2;
constexpr std::uint64_t flag_lz4 = 0x2000, flag_zstd = 0x8000;
constexpr std::uint64_t flag_architecture_specific = 0x100000,
                        flag_family_specific = 0x200000;  // sm_90a, sm_100f
constexpr std::uint64_t max_image_bytes = 0x7fffffff;     // what LZ4 counts in an int

using Bytes = std::span<const std::byte>;

Error error_at(const std::string& origin, std::uint64_t offset, const std::string& message) {
    return {fmt::format("{} at byte {}", message, offset), origin};
}

// Bytes of the container at the start of `header`, which has at least 16; 0: there is none.
std::uint64_t container_bytes(Bytes header) {
    if (read_number_at<std::uint32_t>(header, 0) != magic) return 0;
    const auto own = read_number_at<std::uint16_t>(header, 6);
    const auto payload = read_number_at<std::uint64_t>(header, 8);
    if (own < container_header_bytes || payload > max_image_bytes * 64) return 0;
    return own + payload;
}

std::string hash_of(Bytes container) {
    return fmt::format("{:016x}", XXH3_64bits(container.data(), container.size()));
}

bool decompress_zstd(Bytes payload, std::vector<std::byte>& out, std::uint64_t size) {
    const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
    if (!context) return false;
    ZSTD_inBuffer in{payload.data(), payload.size(), 0};
    // The room grows with what comes, so that a false size costs nothing.
    while (out.size() < size) {
        const std::size_t start = out.size();
        out.resize(std::min<std::uint64_t>(size, start + std::max<std::size_t>(start, 1u << 16)));
        ZSTD_outBuffer buffer{out.data() + start, out.size() - start, 0};
        const std::size_t left = ZSTD_decompressStream(context.get(), &buffer, &in);
        out.resize(start + buffer.pos);
        if (ZSTD_isError(left) != 0) return false;
        if (buffer.pos == 0 || left == 0) break;
    }
    return out.size() == size;
}

bool decompress_lz4(Bytes payload, std::vector<std::byte>& out, std::uint64_t size) {
    // LZ4 makes at most 255 bytes of one.
    if (payload.size() > max_image_bytes || size > payload.size() * 255) return false;
    out.resize(size);
    const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(payload.data()),
                                        reinterpret_cast<char*>(out.data()), static_cast<int>(payload.size()),
                                        static_cast<int>(size));
    return got >= 0 && static_cast<std::uint64_t>(got) == size;
}

std::expected<FatBinaryImage, Error> read_image(Bytes header, Bytes payload, std::uint64_t offset,
                                                const std::string& origin) {
    FatBinaryImage out;
    out.kind = read_number_at<std::uint16_t>(header, 0) == kind_ptx ? FatBinaryImage::Kind::ptx
                                                                    : FatBinaryImage::Kind::cubin;
    out.architecture = read_number_at<std::uint32_t>(header, 28);
    const auto flags = read_number_at<std::uint64_t>(header, 40);
    out.architecture_name = fmt::format("sm_{}{}", out.architecture,
                                        (flags & flag_architecture_specific) != 0 ? "a"
                                        : (flags & flag_family_specific) != 0     ? "f"
                                                                                  : "");
    const auto compressed = read_number_at<std::uint32_t>(header, 16);
    const auto size = read_number_at<std::uint64_t>(header, 56);
    out.compression = (flags & flag_zstd) != 0 ? "zstd" : (flags & flag_lz4) != 0 ? "lz4" : "none";
    if (out.compression == "none") {
        out.bytes.assign(payload.begin(), payload.end());
    } else {
        if (compressed > payload.size()) {
            return std::unexpected(error_at(origin, offset, "an image's compressed size exceeds its room"));
        }
        if (size > max_image_bytes) {
            return std::unexpected(error_at(origin, offset, "an image claims 2 GiB or more"));
        }
        const Bytes data = payload.first(compressed);
        const bool ok = out.compression == "zstd" ? decompress_zstd(data, out.bytes, size)
                                                  : decompress_lz4(data, out.bytes, size);
        if (!ok) {
            return std::unexpected(
                error_at(origin, offset,
                         "an image compressed with " + out.compression + " does not give its bytes back"));
        }
    }
    if (out.kind == FatBinaryImage::Kind::ptx) {
        while (!out.bytes.empty() && out.bytes.back() == std::byte{0}) out.bytes.pop_back();
    }
    return out;
}

// One container, checked to lie in `bytes` whole; `offset` is its own, for errors.
std::expected<void, Error> read_container(Bytes container, std::uint64_t offset, const std::string& origin,
                                          std::vector<FatBinaryImage>& images) {
    std::uint64_t at = read_number_at<std::uint16_t>(container, 6);
    while (at < container.size()) {
        const std::uint64_t left = container.size() - at;
        if (left < entry_header_bytes) {
            return std::unexpected(error_at(origin, offset + at, "a fat binary's entry is cut short"));
        }
        const Bytes header = container.subspan(at);
        const auto kind = read_number_at<std::uint16_t>(header, 0);
        const auto header_size = read_number_at<std::uint32_t>(header, 4);
        const auto payload_size = read_number_at<std::uint64_t>(header, 8);
        if (header_size < entry_header_bytes || header_size > left || payload_size > left - header_size) {
            return std::unexpected(
                error_at(origin, offset + at, "a fat binary's entry does not fit its container"));
        }
        // Others, such as NVVM IR for link-time optimisation, hold nothing to read here.
        if (kind == kind_ptx || kind == kind_cubin) {
            auto image = read_image(header, header.subspan(header_size, payload_size), offset + at, origin);
            if (!image) return std::unexpected(std::move(image.error()));
            images.push_back(std::move(*image));
        }
        at += header_size + payload_size;
    }
    return {};
}

// Containers one after another, each as a fat binary of its own; zeros between them are padding.
std::expected<std::vector<FatBinary>, Error> read_containers(Bytes bytes, std::uint64_t offset,
                                                             const std::string& origin) {
    std::vector<FatBinary> out;
    std::size_t at = 0;
    while (at < bytes.size()) {
        if (bytes[at] == std::byte{0}) {
            ++at;
            continue;
        }
        const std::size_t left = bytes.size() - at;
        if (left < container_header_bytes) {
            return std::unexpected(error_at(origin, offset + at, "a fat binary is cut short"));
        }
        const std::uint64_t size = container_bytes(bytes.subspan(at));
        if (size == 0) return std::unexpected(error_at(origin, offset + at, "there is no fat binary"));
        if (size > left) {
            return std::unexpected(
                error_at(origin, offset + at,
                         fmt::format("a fat binary of {} bytes is cut short after {}", size, left)));
        }
        FatBinary& made = out.emplace_back();
        const Bytes container = bytes.subspan(at, size);
        made.hash = hash_of(container);
        if (auto read = read_container(container, offset + at, origin, made.images); !read) {
            return std::unexpected(std::move(read.error()));
        }
        at += size;
    }
    return out;
}

}  // namespace

bool is_fat_binary(std::span<const std::byte> bytes) {
    return bytes.size() >= container_header_bytes && container_bytes(bytes) != 0;
}

std::expected<FatBinary, Error> read_fat_binary(std::span<const std::byte> bytes, const std::string& origin) {
    if (bytes.empty() || bytes[0] == std::byte{0}) {
        return std::unexpected(error_at(origin, 0, "there is no fat binary"));
    }
    auto containers = read_containers(bytes, 0, origin);
    if (!containers) return std::unexpected(std::move(containers.error()));
    FatBinary out = std::move(containers->front());
    for (std::size_t i = 1; i < containers->size(); ++i) {
        std::vector<FatBinaryImage>& more = (*containers)[i].images;
        out.images.insert(out.images.end(), std::make_move_iterator(more.begin()),
                          std::make_move_iterator(more.end()));
    }
    return out;
}

std::expected<std::string, Error> fat_binary_hash(const std::byte* bytes) {
    const std::uint64_t size = bytes == nullptr ? 0 : container_bytes({bytes, container_header_bytes});
    if (size == 0) return std::unexpected(Error{"there is no fat binary in memory"});
    return hash_of({bytes, size});
}

std::expected<std::vector<FatBinary>, Error> read_fat_binaries(const std::string& path) {
    const auto elf = ElfFile::open(path);
    if (!elf) return std::unexpected(elf.error());
    std::vector<FatBinary> out;
    for (const ElfSection& section : elf->sections()) {
        // Linked device code, and relocatable code as nvcc and clang keep it.
        if (section.name != ".nv_fatbin" && section.name != "__nv_relfatbin") continue;
        const auto bytes = elf->contents(section);
        if (!bytes) return std::unexpected(bytes.error());
        auto found = read_containers(*bytes, section.offset, path);
        if (!found) return std::unexpected(std::move(found.error()));
        out.insert(out.end(), std::make_move_iterator(found->begin()), std::make_move_iterator(found->end()));
    }
    return out;
}

}  // namespace trimtab::ptx
