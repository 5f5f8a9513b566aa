// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/modules/module_image.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "core/ptx/carried_ptx.h"

namespace trimtab::choosing {
namespace {

constexpr std::uint32_t fat_binary_magic = 0xba55ed50;
constexpr std::uint32_t wrapper_magic = 0x466243b1;
constexpr std::size_t fat_binary_header_bytes = 16;

// fatbinary_section.h of the toolkit.
struct Wrapper {
    std::uint32_t magic, version;
    const void* data;
    const void* more;
};

template <typename Number>
Number read(const std::byte* at) {
    Number value{};
    std::memcpy(&value, at, sizeof value);
    return value;
}

ModuleImage none(std::string why) {
    ModuleImage image;
    image.why_none = std::move(why);
    return image;
}

ModuleImage some(ModuleImage::Kind kind, std::span<const std::byte> bytes) {
    return {.kind = kind,
            .bytes = bytes,
            .hash = fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size())),
            .why_none = {}};
}

ModuleImage too_large() {
    return none(fmt::format("its module is larger than {} MiB", max_module_bytes >> 20));
}

// `known` bytes are there to be read; SIZE_MAX where nobody knows.
ModuleImage fat_binary(const std::byte* start, std::size_t known) {
    if (known < fat_binary_header_bytes) return none("its module is cut short");
    const auto header = read<std::uint16_t>(start + 6);
    const auto payload = read<std::uint64_t>(start + 8);
    if (header < fat_binary_header_bytes) return none("its module is of an unknown kind");
    if (payload > max_module_bytes) return too_large();
    const std::size_t bytes = header + payload;
    if (bytes > known) return none("its module is cut short");
    return some(ModuleImage::Kind::fat_binary, {start, bytes});
}

// PTX is printable text and white space, and names its version before any other directive.
ModuleImage ptx_text(const std::byte* start, std::size_t known) {
    const auto* text = reinterpret_cast<const char*>(start);
    const std::size_t most = std::min(known, max_module_bytes + 1);
    std::size_t size = 0;
    for (; size < most && text[size] != '\0'; ++size) {
        const auto c = static_cast<unsigned char>(text[size]);
        if (c < ' ' && (c < '\t' || c > '\r')) return none("its module is of an unknown kind");
    }
    if (size > max_module_bytes) return too_large();
    if (!std::string_view(text, size).contains(".version")) return none("its module is of an unknown kind");
    return some(ModuleImage::Kind::ptx, {start, size});
}

ModuleImage recognise(const std::byte* start, std::size_t known) {
    if (start == nullptr) return none("its module is not known");
    if (known < sizeof(std::uint32_t)) return none("its module is cut short");
    if (std::memcmp(start,
                    "\x7f"
                    "ELF",
                    4) == 0) {
        const auto carried = ptx::carried_ptx(start, known);
        return carried.empty() ? none("its module is machine code alone, without PTX")
                               : ptx_text(carried.data(), carried.size());
    }
    const auto magic = read<std::uint32_t>(start);
    if (magic == fat_binary_magic) return fat_binary(start, known);
    return ptx_text(start, known);
}

}  // namespace

ModuleImage recognise_module(const void* image) {
    if (image == nullptr) return none("its module is not known");
    const auto* start = static_cast<const std::byte*>(image);
    // Byte by byte: text may end before a fourth.
    for (std::size_t i = 0; i < sizeof(std::uint32_t); ++i)
        if (start[i] == std::byte{0}) return none("its module is of an unknown kind");
    if (read<std::uint32_t>(start) == wrapper_magic) {
        Wrapper wrapper{};
        std::memcpy(&wrapper, image, sizeof wrapper);
        return recognise(static_cast<const std::byte*>(wrapper.data), SIZE_MAX);
    }
    return recognise(start, SIZE_MAX);
}

ModuleImage recognise_module(std::span<const std::byte> bytes) {
    return recognise(bytes.data(), bytes.size());
}

std::string why_blocks_are_fixed(const ModuleImage& image) {
    if (image.kind != ModuleImage::Kind::ptx) return {};
    constexpr std::string_view entry = ".entry ", required = ".reqntid ";
    std::string_view rest(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size());
    std::string blocks;
    for (std::size_t at = rest.find(entry); at != std::string_view::npos; at = rest.find(entry)) {
        rest.remove_prefix(at + entry.size());
        const std::string_view head = rest.substr(0, rest.find('{'));
        const std::size_t place = head.find(required);
        if (place == std::string_view::npos) return {};
        const std::string_view sizes = head.substr(place + required.size());
        std::string block(sizes.substr(0, sizes.find_first_not_of("0123456789, ")));
        for (std::size_t comma = 0; (comma = block.find(", ")) != std::string::npos;)
            block.replace(comma, 2, " x ");
        if (!blocks.contains(block)) blocks += (blocks.empty() ? "" : "; ") + block;
    }
    return blocks.empty() ? "" : fmt::format("the kernel is compiled for blocks of {} (.reqntid)", blocks);
}

std::string_view extension(ModuleImage::Kind kind) {
    return kind == ModuleImage::Kind::ptx ? ".ptx" : ".fatbin";
}

}  // namespace trimtab::choosing
