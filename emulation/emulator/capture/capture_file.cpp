// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The format: docs/captures.md.
#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>

#include "core/base/kept_file.h"
#include "emulation/emulator/capture/capture.h"
#include "emulation/emulator/capture/contents.h"
#include "emulation/emulator/capture/texture_contents.h"

namespace trimtab::emulator::capture {
namespace {

constexpr std::string_view magic = "TRIMCAPT";
constexpr std::size_t header_bytes = 24;
constexpr int compression_level = 3;
// No frame of zstd's says more with a byte: blocks of 128 KiB in 4 bytes.
constexpr std::uint64_t most_ratio = 32768;

bool fits(const Region& region) {
    return region.bytes.size() <= std::numeric_limits<std::uint64_t>::max() - region.address;
}

// A fat binary no longer than it says, or a text with its NUL: whoever loads device code goes by that alone.
bool is_device_code(std::span<const std::byte> image) {
    constexpr std::uint32_t fat_binary_magic = 0xba55ed50;
    constexpr std::size_t fat_header_bytes = 16;
    if (image.size() < fat_header_bytes) return false;
    if (number_at<std::uint32_t>(image) == fat_binary_magic) {
        const std::uint64_t header_size = number_at<std::uint16_t>(image.subspan(6));
        return header_size <= image.size() &&
               number_at<std::uint64_t>(image.subspan(8)) <= image.size() - header_size;
    }
    // What begins otherwise may be taken for an image of another kind.
    constexpr std::string_view beginnings = "./ \t\r\n";
    return beginnings.contains(static_cast<char>(image[0])) &&
           std::ranges::find(image, std::byte{0}) == image.end() - 1;
}

// What the parts must be for a launch.
std::string_view defect_of(const Capture& capture) {
    if (capture.kernel.empty()) return "the kernel's name is missing";
    if (capture.images.empty()) return "the device code is missing";
    if (!std::ranges::all_of(capture.images, is_device_code))
        return "its device code is neither a whole fat binary nor a text of PTX";
    for (const auto* sizes : {&capture.grid, &capture.block, &capture.cluster})
        if (std::ranges::count(*sizes, 0u) != 0) return "a dimension is 0";
    for (const Parameter& parameter : capture.parameters)
        if (std::uint64_t{parameter.offset_bytes} + parameter.size_bytes > capture.arguments.size())
            return "a parameter lies outside the arguments";
    std::uint64_t end = 0;
    for (const Region& region : capture.allocations) {
        if (region.address < end || !fits(region)) return "memory overlaps or is not in order";
        end = region.address + region.bytes.size();
    }
    for (const Variable& variable : capture.variables)
        if (!fits(variable.region) || variable.name.empty()) return "a variable has no name or no address";
    return defect_of_objects(capture);
}

void read_contents(Reader& reader, std::uint32_t version, Capture& out) {
    out.kernel = reader.text();
    out.device = reader.text();
    out.grid = reader.sizes();
    out.block = reader.sizes();
    out.cluster = reader.sizes();
    out.dynamic_shared_bytes = reader.number<std::uint32_t>();
    out.cooperative = reader.number<std::uint32_t>() != 0;
    for (std::uint64_t left = reader.count(8); left > 0; --left) {
        const auto offset_bytes = reader.number<std::uint32_t>();
        out.parameters.push_back(
            {.offset_bytes = offset_bytes, .size_bytes = reader.number<std::uint32_t>()});
    }
    out.arguments = reader.bytes();
    for (std::uint64_t left = reader.count(8); left > 0; --left) out.images.push_back(reader.bytes());
    for (std::uint64_t left = reader.count(16); left > 0; --left) out.allocations.push_back(reader.region());
    for (std::uint64_t left = reader.count(24); left > 0; --left) {
        std::string name = reader.text();
        out.variables.push_back({.name = std::move(name), .region = reader.region()});
    }
    if (version > 1) read_objects(reader, out);
    if (!reader.at_end()) reader.fail("bytes follow the end of the capture");
}

std::expected<ReadCapture, Error> contents_of(std::span<const std::byte> bytes, const std::string& file) {
    const auto fail = [&file](std::string message) {
        return std::unexpected(Error{.message = std::move(message), .file = file});
    };
    if (bytes.size() < header_bytes)
        return fail(fmt::format("it ends at byte {}, too short for a capture", bytes.size()));
    if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
        return fail("byte 0: not a capture (its first bytes are others)");
    const auto version = number_at<std::uint32_t>(bytes.subspan(8));
    if (version == 0 || version > format_version)
        return fail(fmt::format("byte 8: format version {}; this trimtab reads versions up to {}", version,
                                format_version));
    if (number_at<std::uint32_t>(bytes.subspan(12)) != 0) return fail("byte 12: must be 0");
    const auto plain_bytes = number_at<std::uint64_t>(bytes.subspan(16));
    const auto frame = bytes.subspan(header_bytes);
    if (plain_bytes / most_ratio > frame.size() ||
        plain_bytes != ZSTD_getFrameContentSize(frame.data(), frame.size()))
        return fail("byte 16: the size given is not the size of the contents");
    ReadCapture out;
    out.storage.resize(plain_bytes);
    const std::size_t got =
        ZSTD_decompress(out.storage.data(), out.storage.size(), frame.data(), frame.size());
    if (ZSTD_isError(got) != 0)
        return fail(
            fmt::format("byte {}: its contents are damaged ({})", header_bytes, ZSTD_getErrorName(got)));
    if (got != plain_bytes) return fail(fmt::format("byte {}: its contents are cut short", header_bytes));
    Reader reader(out.storage);
    read_contents(reader, version, out.capture);
    if (reader.failed()) return fail(*reader.failed());
    if (const std::string_view defect = defect_of(out.capture); !defect.empty())
        return fail(std::string(defect));
    return out;
}

}  // namespace

std::uint64_t Capture::memory_bytes() const {
    std::uint64_t sum = 0;
    for (const Region& region : allocations) sum += region.bytes.size();
    for (const Variable& variable : variables) sum += variable.region.bytes.size();
    return sum;
}

std::expected<std::vector<std::byte>, Error> to_bytes(const Capture& capture) {
    Writer contents;
    contents.text(capture.kernel);
    contents.text(capture.device);
    contents.sizes(capture.grid);
    contents.sizes(capture.block);
    contents.sizes(capture.cluster);
    contents.number(capture.dynamic_shared_bytes);
    contents.number<std::uint32_t>(capture.cooperative ? 1 : 0);
    contents.number<std::uint64_t>(capture.parameters.size());
    for (const Parameter& parameter : capture.parameters) {
        contents.number(parameter.offset_bytes);
        contents.number(parameter.size_bytes);
    }
    contents.bytes(capture.arguments);
    contents.number<std::uint64_t>(capture.images.size());
    for (const auto& image : capture.images) contents.bytes(image);
    contents.number<std::uint64_t>(capture.allocations.size());
    for (const Region& region : capture.allocations) contents.region(region);
    contents.number<std::uint64_t>(capture.variables.size());
    for (const Variable& variable : capture.variables) {
        contents.text(variable.name);
        contents.region(variable.region);
    }
    const bool has_objects = !capture.textures.empty() || !capture.surfaces.empty();
    if (has_objects) write_objects(contents, capture);
    const std::vector<std::byte> plain = contents.take();

    Writer header;
    for (const char c : magic) header.number<std::uint8_t>(static_cast<std::uint8_t>(c));
    header.number<std::uint32_t>(has_objects ? format_version : 1);
    header.number<std::uint32_t>(0);
    header.number<std::uint64_t>(plain.size());
    std::vector<std::byte> out = header.take();
    out.resize(header_bytes + ZSTD_compressBound(plain.size()));
    ZSTD_CCtx* const context = ZSTD_createCCtx();
    if (context == nullptr) return std::unexpected(Error{.message = "out of memory while compressing"});
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, compression_level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    const std::size_t size = ZSTD_compress2(context, out.data() + header_bytes, out.size() - header_bytes,
                                            plain.data(), plain.size());
    ZSTD_freeCCtx(context);
    if (ZSTD_isError(size) != 0)
        return std::unexpected(
            Error{.message = fmt::format("it cannot be compressed: {}", ZSTD_getErrorName(size))});
    out.resize(header_bytes + size);
    return out;
}

std::expected<ReadCapture, Error> from_bytes(std::span<const std::byte> bytes, const std::string& file) {
    try {
        return contents_of(bytes, file);
    } catch (const std::bad_alloc&) {
        return std::unexpected(Error{.message = "out of memory: its contents are too large", .file = file});
    }
}

std::expected<void, Error> write(const std::string& file, const Capture& capture) {
    const auto bytes = to_bytes(capture);
    if (!bytes) return std::unexpected(Error{.message = bytes.error().message, .file = file});
    return base::write_whole(file, *bytes);
}

std::expected<ReadCapture, Error> read(const std::string& file) {
    std::ifstream stream(file, std::ios::binary | std::ios::ate);
    const auto size = stream ? static_cast<std::streamoff>(stream.tellg()) : -1;
    // Of a folder it is the largest number there is.
    if (size < 0 || size == std::numeric_limits<std::streamoff>::max())
        return std::unexpected(Error{.message = "it cannot be read", .file = file});
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    stream.seekg(0);
    if (!stream.read(reinterpret_cast<char*>(bytes.data()), size))
        return std::unexpected(Error{.message = "it cannot be read", .file = file});
    return from_bytes(bytes, file);
}

}  // namespace trimtab::emulator::capture
