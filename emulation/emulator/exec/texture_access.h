// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a lowered texture or surface instruction knows.
#pragma once

#include <array>
#include <cstdint>

#include "core/ptx/types.h"
#include "emulation/emulator/exec/op.h"
#include "emulation/emulator/exec/texture.h"

namespace trimtab::emulator {

// PTX ISA, "tex": .1d, .2d, .3d, .a1d, .a2d, .cube, .acube.
struct Geometry {
    std::uint8_t dimensions = 1;  // of a place within a slice or volume; a cube's direction has 3
    bool layered = false;         // the first coordinate is a layer's number
    bool cube = false;
};

struct TextureAccess {
    enum class Mode : std::uint8_t { base, level, gradient, gather };
    Geometry geometry;
    Mode mode = Mode::base;
    bool integer_coordinates = false;
    std::uint8_t component = 0;  // gather
    ptx::Type type = ptx::Type::f32;
    OperandRef handle = no_operand;
    std::array<OperandRef, 4> coordinates{no_operand, no_operand, no_operand, no_operand};
    std::array<OperandRef, 6> more{no_operand, no_operand, no_operand, no_operand, no_operand, no_operand};
    std::array<OperandRef, 4> results{no_operand, no_operand, no_operand, no_operand};
};

struct SurfaceAccess {
    enum class Outside : std::uint8_t { trap, clamp, zero };
    Geometry geometry;
    Outside outside = Outside::trap;
    bool stores = false;
    std::uint8_t element_bytes = 4, element_count = 1;
    std::uint8_t register_bytes = 4;
    OperandRef handle = no_operand;
    std::array<OperandRef, 4> coordinates{no_operand, no_operand, no_operand, no_operand};
    std::array<OperandRef, 4> values{no_operand, no_operand, no_operand, no_operand};
};

// txq, suq
struct ImageQuery {
    enum class What : std::uint8_t {
        width,
        height,
        depth,
        array_size,
        levels,
        samples,
        normalized,
        channel_order,
        channel_type
    };
    What what = What::width;
    bool of_surface = false;
};

// A texel or a blend of texels (CUDA C++ Programming Guide, "Texture Fetching"): four channels, reals as
// binary32 and integers as 32 bits. `lod` is the mipmap level, before the texture's own bias and bounds.
[[nodiscard]] std::array<std::uint32_t, 4> fetch_texels(const Texture& texture, const Geometry& geometry,
                                                        std::array<float, 3> at, std::uint32_t layer,
                                                        float lod);
[[nodiscard]] std::array<std::uint32_t, 4> fetch_texel(const Texture& texture, const Geometry& geometry,
                                                       std::array<std::int32_t, 3> at, std::uint32_t layer,
                                                       std::uint32_t level);
// One channel of the four texels that a linear filter would blend (PTX ISA, "tld4").
[[nodiscard]] std::array<std::uint32_t, 4> gather_texels(const Texture& texture, std::array<float, 3> at,
                                                         unsigned component);
// The level that differences between neighbours ask for.
[[nodiscard]] float level_of_gradient(const Texture& texture, unsigned dimensions, std::array<float, 3> dx,
                                      std::array<float, 3> dy);

}  // namespace trimtab::emulator
