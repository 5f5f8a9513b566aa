// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Texture and surface objects: what the handles that kernels fetch through stand for. Whoever owns the memory
// of a launch makes them (GlobalMemory::texture and ::surface); reading them is textures.cpp's business.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace trimtab::emulator {

// A texel: 1, 2 or 4 channels of one width and kind (cudaChannelFormatDesc).
struct TexelFormat {
    enum class Kind : std::uint8_t { signed_integer, unsigned_integer, real };
    Kind kind = Kind::real;
    std::uint8_t channels = 1;
    std::uint8_t channel_bytes = 4;  // 1, 2 or 4; real: 2 or 4
    [[nodiscard]] std::uint32_t bytes() const { return std::uint32_t{channels} * channel_bytes; }
};

// Texels in the host's memory, x fastest: of one level of a CUDA array, or of linear or pitched memory.
struct Image {
    std::byte* host = nullptr;
    TexelFormat format;
    std::uint32_t width = 1, height = 1;  // texels; height 1: one-dimensional
    std::uint32_t depth = 1;              // slices: of a volume, layers, a cube's 6 faces, or 6 a cube layer
    std::uint64_t row_bytes = 0;          // from one row to the next
    std::uint64_t slice_bytes = 0;        // likewise; 0 where there is one slice
    // OpenCL's numbers for the order and the type of channels, of which kernels may ask (PTX ISA, "txq"); 0: they
    // are not known.
    std::uint32_t channel_order = 0, channel_type = 0;
};

// What a fetch finds in a channel: one of the texel's, or a constant.
enum class Channel : std::uint8_t { first, second, third, fourth, zero, one };

// A texture object (cudaResourceDesc with cudaTextureDesc).
struct Texture {
    enum class Address : std::uint8_t { wrap, clamp, mirror, border };  // cudaTextureAddressMode, in order
    std::vector<Image> levels;  // mipmap levels, the largest first; at least one
    std::array<Address, 3> address{Address::clamp, Address::clamp, Address::clamp};
    bool linear_filter = false;           // cudaFilterModeLinear
    bool linear_level_filter = false;     // between mipmap levels
    bool normalized_coordinates = false;  // over [0, 1)
    bool normalized_values = false;       // cudaReadModeNormalizedFloat: 8 and 16-bit integers become reals
    // Of red, green, blue and alpha, as a fetch gives them; where a texel has fewer channels, those it lacks are 0, the
    // last 1.
    std::array<Channel, 4> channels{Channel::first, Channel::second, Channel::third, Channel::fourth};
    bool srgb = false;              // 8-bit channels but the fourth hold sRGB values
    std::array<float, 4> border{};  // texels outside, in Address::border
    float level_bias = 0, least_level = 0, greatest_level = 1e6f;
};

// A surface object: a CUDA array, read and written by byte coordinates in x.
struct Surface {
    Image image;
};

}  // namespace trimtab::emulator
