// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/capture/texture_contents.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>

namespace trimtab::emulator::capture {
namespace {

constexpr std::uint64_t image_bytes = 48, texture_bytes = 72, surface_bytes = 8 + image_bytes;

enum Flag : std::uint32_t {
    linear_filter = 1,
    linear_level_filter = 2,
    normalized_coordinates = 4,
    normalized_values = 8,
    srgb = 16
};

std::uint64_t address_of(const Image& image) {
    return reinterpret_cast<std::uint64_t>(image.host);
}

void write_image(Writer& contents, const Image& image) {
    contents.number(address_of(image));
    contents.number(static_cast<std::uint32_t>(image.format.kind));
    for (const std::uint32_t value :
         {std::uint32_t{image.format.channels}, std::uint32_t{image.format.channel_bytes}, image.width,
          image.height, image.depth})
        contents.number(value);
    contents.number(image.row_bytes);
    contents.number(image.slice_bytes);
}

// What a byte cannot hold becomes a value that none has, and is told as such.
template <typename Small>
Small small(std::uint32_t value) {
    return static_cast<Small>(std::min<std::uint32_t>(value, 255));
}

Image read_image(Reader& reader) {
    Image out;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the address that the launch knows
    out.host = reinterpret_cast<std::byte*>(reader.number<std::uint64_t>());
    out.format.kind = small<TexelFormat::Kind>(reader.number<std::uint32_t>());
    out.format.channels = small<std::uint8_t>(reader.number<std::uint32_t>());
    out.format.channel_bytes = small<std::uint8_t>(reader.number<std::uint32_t>());
    for (std::uint32_t* const size : {&out.width, &out.height, &out.depth})
        *size = reader.number<std::uint32_t>();
    out.row_bytes = reader.number<std::uint64_t>();
    out.slice_bytes = reader.number<std::uint64_t>();
    return out;
}

void write_texture(Writer& contents, const Texture& texture) {
    for (const Texture::Address mode : texture.address) contents.number(static_cast<std::uint32_t>(mode));
    contents.number((texture.linear_filter ? linear_filter : 0u) |
                    (texture.linear_level_filter ? linear_level_filter : 0u) |
                    (texture.normalized_coordinates ? normalized_coordinates : 0u) |
                    (texture.normalized_values ? normalized_values : 0u) | (texture.srgb ? srgb : 0u));
    for (const float value : texture.border) contents.number(std::bit_cast<std::uint32_t>(value));
    for (const float value : {texture.level_bias, texture.least_level, texture.greatest_level})
        contents.number(std::bit_cast<std::uint32_t>(value));
    contents.number<std::uint64_t>(texture.levels.size());
    for (const Image& level : texture.levels) write_image(contents, level);
}

Texture read_texture(Reader& reader) {
    Texture out;
    for (Texture::Address& mode : out.address) mode = small<Texture::Address>(reader.number<std::uint32_t>());
    const auto flags = reader.number<std::uint32_t>();
    out.linear_filter = (flags & linear_filter) != 0;
    out.linear_level_filter = (flags & linear_level_filter) != 0;
    out.normalized_coordinates = (flags & normalized_coordinates) != 0;
    out.normalized_values = (flags & normalized_values) != 0;
    out.srgb = (flags & srgb) != 0;
    for (float& value : out.border) value = std::bit_cast<float>(reader.number<std::uint32_t>());
    for (float* const value : {&out.level_bias, &out.least_level, &out.greatest_level})
        *value = std::bit_cast<float>(reader.number<std::uint32_t>());
    for (std::uint64_t left = reader.count(image_bytes); left > 0; --left)
        out.levels.push_back(read_image(reader));
    return out;
}

// From the first texel to the end of the last one, in at most that many bytes.
bool fits_in(const Image& image, std::uint64_t bytes) {
    const std::uint64_t row = std::uint64_t{image.width} * image.format.bytes();
    if (row > bytes) return false;
    std::uint64_t left = bytes - row;
    for (const auto& [count, stride] :
         {std::pair{image.height, image.row_bytes}, {image.depth, image.slice_bytes}}) {
        if (count <= 1) continue;
        if (stride > left / (count - 1)) return false;
        left -= stride * (count - 1);
    }
    return true;
}

bool is_held(const Capture& capture, const Image& image) {
    const TexelFormat& format = image.format;
    const bool is_format =
        format.kind <= TexelFormat::Kind::real &&
        (format.channels == 1 || format.channels == 2 || format.channels == 4) &&
        (format.channel_bytes == 1 || format.channel_bytes == 2 || format.channel_bytes == 4) &&
        (format.kind != TexelFormat::Kind::real || format.channel_bytes > 1);
    return is_format && image.width > 0 && image.height > 0 && image.depth > 0 &&
           !region_of(capture, image).bytes.empty();
}

}  // namespace

Region region_of(const Capture& capture, const Image& image) {
    const std::uint64_t address = address_of(image);
    const auto holds = [&](const Region& region) {
        return address >= region.address && address - region.address < region.bytes.size() &&
               fits_in(image, region.bytes.size() - (address - region.address));
    };
    const auto after = std::ranges::upper_bound(capture.allocations, address, {}, &Region::address);
    if (after != capture.allocations.begin() && holds(*std::prev(after))) return *std::prev(after);
    for (const Variable& variable : capture.variables)
        if (holds(variable.region)) return variable.region;
    return {};
}

void write_objects(Writer& contents, const Capture& capture) {
    contents.number<std::uint64_t>(capture.textures.size());
    for (const TextureObject& object : capture.textures) {
        contents.number(object.handle);
        write_texture(contents, object.texture);
    }
    contents.number<std::uint64_t>(capture.surfaces.size());
    for (const SurfaceObject& object : capture.surfaces) {
        contents.number(object.handle);
        write_image(contents, object.surface.image);
    }
}

void read_objects(Reader& reader, Capture& out) {
    for (std::uint64_t left = reader.count(texture_bytes); left > 0; --left) {
        const auto handle = reader.number<std::uint64_t>();
        out.textures.push_back({.handle = handle, .texture = read_texture(reader)});
    }
    for (std::uint64_t left = reader.count(surface_bytes); left > 0; --left) {
        const auto handle = reader.number<std::uint64_t>();
        out.surfaces.push_back({.handle = handle, .surface = {.image = read_image(reader)}});
    }
}

std::string_view defect_of_objects(const Capture& capture) {
    std::set<std::uint64_t> handles;
    for (const TextureObject& object : capture.textures) {
        const Texture& texture = object.texture;
        if (!handles.insert(object.handle).second) return "two texture or surface objects have one handle";
        if (std::ranges::any_of(texture.address,
                                [](Texture::Address mode) { return mode > Texture::Address::border; }))
            return "a texture's address mode is unknown";
        if (texture.levels.empty() ||
            !std::ranges::all_of(texture.levels, [&](const Image& level) { return is_held(capture, level); }))
            return "a texture has no texels, or the capture does not hold their memory";
    }
    for (const SurfaceObject& object : capture.surfaces) {
        if (!handles.insert(object.handle).second) return "two texture or surface objects have one handle";
        if (!is_held(capture, object.surface.image))
            return "a surface has no texels, or the capture does not hold their memory";
    }
    return {};
}

}  // namespace trimtab::emulator::capture
