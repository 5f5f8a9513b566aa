// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a texture unit computes: addresses, formats, filters.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "emulation/emulator/exec/half.h"
#include "emulation/emulator/exec/texture_access.h"

namespace trimtab::emulator {
namespace {

using u32 = std::uint32_t;
using s64 = std::int64_t;
using Texel = std::array<float, 4>;
using Words = std::array<u32, 4>;

constexpr s64 outside = -1;

// One coordinate to a texel's index, or `outside`.
s64 addressed(s64 index, u32 size, Texture::Address mode) {
    switch (mode) {
        case Texture::Address::wrap: {
            const s64 rest = index % size;
            return rest < 0 ? rest + size : rest;
        }
        case Texture::Address::mirror: {
            const s64 period = 2 * s64{size};
            s64 rest = index % period;
            if (rest < 0) rest += period;
            return rest < size ? rest : period - 1 - rest;
        }
        case Texture::Address::border:
            return index < 0 || index >= size ? outside : index;
        default:
            return std::clamp<s64>(index, 0, s64{size} - 1);
    }
}

// Wrapping and mirroring are for normalized coordinates alone.
Texture::Address mode_of(const Texture& texture, unsigned dimension) {
    const Texture::Address mode = texture.address[dimension];
    const bool periodic = mode == Texture::Address::wrap || mode == Texture::Address::mirror;
    return periodic && !texture.normalized_coordinates ? Texture::Address::clamp : mode;
}

const std::byte* texel_at(const Image& image, s64 x, s64 y, s64 z) {
    return image.host + static_cast<std::uint64_t>(x) * image.format.bytes() +
           static_cast<std::uint64_t>(y) * image.row_bytes +
           static_cast<std::uint64_t>(z) * image.slice_bytes;
}

u32 raw_channel(const std::byte* texel, const TexelFormat& format, unsigned channel) {
    u32 raw = 0;
    std::memcpy(&raw, texel + std::size_t{channel} * format.channel_bytes, format.channel_bytes);
    return raw;
}

s64 extended(u32 raw, const TexelFormat& format) {
    if (format.kind != TexelFormat::Kind::signed_integer) return raw;
    const unsigned shift = 64 - 8u * format.channel_bytes;
    return static_cast<s64>(static_cast<std::uint64_t>(raw) << shift) >> shift;
}

float linear_of_srgb(float value) {
    return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
}

// A texel's channels as integers or reals; those that the format lacks are 0, the last 1.
Words words_of(const Texture& texture, const Image& image, const std::byte* texel) {
    const TexelFormat& format = image.format;
    const bool real = format.kind == TexelFormat::Kind::real || texture.normalized_values;
    Words out{0, 0, 0, real ? std::bit_cast<u32>(1.0f) : 1u};
    for (unsigned channel = 0; channel < format.channels; channel++) {
        const u32 raw = raw_channel(texel, format, channel);
        if (format.kind == TexelFormat::Kind::real) {
            out[channel] =
                format.channel_bytes == 4
                    ? raw
                    : std::bit_cast<u32>(static_cast<float>(half_to_real(static_cast<std::uint16_t>(raw))));
        } else if (texture.normalized_values) {
            const bool is_signed = format.kind == TexelFormat::Kind::signed_integer;
            const unsigned bits = 8u * format.channel_bytes - (is_signed ? 1 : 0);
            const auto greatest = static_cast<float>((std::uint64_t{1} << bits) - 1);
            float value = std::max(static_cast<float>(extended(raw, format)) / greatest, -1.0f);
            if (texture.srgb && channel < 3 && format.channel_bytes == 1) value = linear_of_srgb(value);
            out[channel] = std::bit_cast<u32>(value);
        } else {
            out[channel] = static_cast<u32>(extended(raw, format));
        }
    }
    constexpr std::array in_order{Channel::first, Channel::second, Channel::third, Channel::fourth};
    if (texture.channels == in_order) return out;
    const std::array<u32, 6> found{out[0], out[1], out[2], out[3], 0, real ? std::bit_cast<u32>(1.0f) : 1u};
    for (unsigned i = 0; i < 4; i++) out[i] = found[static_cast<std::size_t>(texture.channels[i])];
    return out;
}

Words border_of(const Texture& texture, const Image& image) {
    const bool real = image.format.kind == TexelFormat::Kind::real || texture.normalized_values;
    Words out{};
    for (unsigned i = 0; i < 4; i++) {
        out[i] = real ? std::bit_cast<u32>(texture.border[i])
                      : static_cast<u32>(
                            static_cast<s64>(std::clamp(texture.border[i], -2147483648.0f, 4294967040.0f)));
    }
    return out;
}

// The volume's slices are a dimension; layers and faces are chosen beforehand.
Words read_texel(const Texture& texture, const Image& image, unsigned dimensions, std::array<s64, 3> at,
                 u32 slice) {
    const u32 sizes[3] = {image.width, image.height, image.depth};
    for (unsigned i = 0; i < dimensions; i++) {
        at[i] = addressed(at[i], sizes[i], mode_of(texture, i));
        if (at[i] == outside) return border_of(texture, image);
    }
    // What is read as a cube or as layers may have fewer slices.
    const s64 y = dimensions > 1 ? at[1] : 0,
              z = dimensions > 2 ? at[2] : s64{std::min(slice, image.depth - 1)};
    return words_of(texture, image, texel_at(image, at[0], y, z));
}

s64 floored(float value) {
    return std::isnan(value) ? 0 : static_cast<s64>(std::floor(std::clamp(value, -1e9f, 1e9f)));
}

// A coordinate in texels. Periods are taken off first, so that far ones keep their fraction.
float scaled(const Texture& texture, float value, u32 size, unsigned dimension) {
    if (std::isnan(value)) value = 0;
    if (!texture.normalized_coordinates) return value;
    const Texture::Address mode = texture.address[dimension];
    if (mode == Texture::Address::wrap) value -= std::floor(value);
    if (mode == Texture::Address::mirror) value -= 2 * std::floor(value / 2);
    return value * static_cast<float>(size);
}

// PTX ISA and the guide: the weights of a linear filter have 8 fractional bits.
float weight_of(float fraction) {
    return std::floor(fraction * 256 + 0.5f) / 256;
}

Words filtered(const Texture& texture, const Image& image, unsigned dimensions, std::array<float, 3> at,
               u32 slice) {
    const u32 sizes[3] = {image.width, image.height, image.depth};
    std::array<s64, 3> first{};
    std::array<float, 3> weight{};
    for (unsigned i = 0; i < dimensions; i++) {
        const float place = scaled(texture, at[i], sizes[i], i) - (texture.linear_filter ? 0.5f : 0.0f);
        first[i] = floored(place);
        weight[i] = weight_of(place - std::floor(place));
    }
    if (!texture.linear_filter) return read_texel(texture, image, dimensions, first, slice);
    Texel sum{};
    for (unsigned corner = 0; corner < (1u << dimensions); corner++) {
        std::array<s64, 3> place = first;
        float share = 1;
        for (unsigned i = 0; i < dimensions; i++) {
            const bool far = (corner >> i & 1u) != 0;
            place[i] += far ? 1 : 0;
            share *= far ? weight[i] : 1 - weight[i];
        }
        if (share == 0) continue;
        const Words texel = read_texel(texture, image, dimensions, place, slice);
        for (unsigned c = 0; c < 4; c++) sum[c] += share * std::bit_cast<float>(texel[c]);
    }
    Words out{};
    for (unsigned c = 0; c < 4; c++) out[c] = std::bit_cast<u32>(sum[c]);
    return out;
}

// The guide's table of a cube's faces.
unsigned face_of(std::array<float, 3>& at) {
    const float x = at[0], y = at[1], z = at[2];
    const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    float s = 0, t = 0, m = 1;
    unsigned face = 0;
    if (ax >= ay && ax >= az) {
        face = x >= 0 ? 0 : 1;
        s = x >= 0 ? -z : z;
        t = -y;
        m = ax;
    } else if (ay >= az) {
        face = y >= 0 ? 2 : 3;
        s = x;
        t = y >= 0 ? z : -z;
        m = ay;
    } else {
        face = z >= 0 ? 4 : 5;
        s = z >= 0 ? x : -x;
        t = -y;
        m = az;
    }
    at = {(s / m + 1) / 2, (t / m + 1) / 2, 0};
    return face;
}

}  // namespace

Words fetch_texel(const Texture& texture, const Geometry& geometry, std::array<std::int32_t, 3> at, u32 layer,
                  u32 level) {
    const Image& image = texture.levels[std::min<std::size_t>(level, texture.levels.size() - 1)];
    const u32 sizes[3] = {image.width, image.height, image.depth};
    // Whole coordinates know no wrapping: what is outside is zero, or the border's colour.
    for (unsigned i = 0; i < geometry.dimensions; i++) {
        if (at[i] < 0 || static_cast<u32>(at[i]) >= sizes[i]) return border_of(texture, image);
    }
    const u32 slice = geometry.layered ? std::min(layer, image.depth - 1) : 0;
    return read_texel(texture, image, geometry.dimensions, {at[0], at[1], at[2]}, slice);
}

Words fetch_texels(const Texture& texture, const Geometry& geometry, std::array<float, 3> at, u32 layer,
                   float lod) {
    unsigned dimensions = geometry.dimensions;
    u32 slice = 0;
    Texture cube;
    const Texture* used = &texture;
    if (geometry.cube) {
        const unsigned face = face_of(at);
        const u32 cubes = std::max(texture.levels[0].depth / 6, 1u);
        slice = face + 6 * (geometry.layered ? std::min(layer, cubes - 1) : 0);
        dimensions = 2;
        cube = texture;
        cube.normalized_coordinates = true;
        cube.address = {Texture::Address::clamp, Texture::Address::clamp, Texture::Address::clamp};
        used = &cube;
    } else if (geometry.layered) {
        slice = std::min(layer, texture.levels[0].depth - 1);
    }
    const auto deepest = static_cast<float>(texture.levels.size() - 1);
    const float wanted = std::clamp(lod + texture.level_bias, texture.least_level,
                                    std::max(texture.least_level, texture.greatest_level));
    const float level = std::isnan(wanted) ? 0 : std::clamp(wanted, 0.0f, deepest);
    const auto of_level = [&](float number) {
        return filtered(*used, texture.levels[static_cast<std::size_t>(number)], dimensions, at, slice);
    };
    if (!texture.linear_level_filter) return of_level(std::floor(level + 0.5f));
    const float weight = weight_of(level - std::floor(level));
    const Words near = of_level(std::floor(level));
    if (weight == 0) return near;
    const Words far = of_level(std::min(std::floor(level) + 1, deepest));
    Words out{};
    for (unsigned c = 0; c < 4; c++) {
        out[c] = std::bit_cast<u32>((1 - weight) * std::bit_cast<float>(near[c]) +
                                    weight * std::bit_cast<float>(far[c]));
    }
    return out;
}

Words gather_texels(const Texture& texture, std::array<float, 3> at, unsigned component) {
    const Image& image = texture.levels[0];
    const s64 x = floored(scaled(texture, at[0], image.width, 0) - 0.5f);
    const s64 y = floored(scaled(texture, at[1], image.height, 1) - 0.5f);
    const std::pair<int, int> corners[4] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    Words out{};
    for (unsigned i = 0; i < 4; i++)
        out[i] =
            read_texel(texture, image, 2, {x + corners[i].first, y + corners[i].second, 0}, 0)[component];
    return out;
}

float level_of_gradient(const Texture& texture, unsigned dimensions, std::array<float, 3> dx,
                        std::array<float, 3> dy) {
    const Image& image = texture.levels[0];
    const u32 sizes[3] = {image.width, image.height, image.depth};
    float x = 0, y = 0;
    for (unsigned i = 0; i < dimensions; i++) {
        const float scale = texture.normalized_coordinates ? static_cast<float>(sizes[i]) : 1.0f;
        x += dx[i] * scale * dx[i] * scale;
        y += dy[i] * scale * dy[i] * scale;
    }
    const float longest = std::sqrt(std::max(x, y));
    return longest > 0 ? std::log2(longest) : 0;
}

}  // namespace trimtab::emulator
