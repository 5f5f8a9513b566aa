// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Texture and surface objects, against the CUDA C++ Programming Guide's formulas ("Texture Fetching").
#include "emulation/emulator/exec/texture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::test {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

class ObjectMemory : public HostMemory {
  public:
    [[nodiscard]] const Texture* texture(u64 handle) const override {
        return handle == 1 ? &own_texture : nullptr;
    }
    [[nodiscard]] const Surface* surface(u64 handle) const override {
        return handle == 2 ? &own_surface : nullptr;
    }
    Texture own_texture;
    Surface own_surface;
};

template <class T>
Image image_of(std::vector<T>& texels, TexelFormat format, u32 width, u32 height = 1, u32 depth = 1) {
    return {reinterpret_cast<std::byte*>(texels.data()),
            format,
            width,
            height,
            depth,
            u64{width} * format.bytes(),
            u64{width} * height * format.bytes()};
}
constexpr TexelFormat f32{TexelFormat::Kind::real, 1, 4};

// `fetch` computes %r0 to %r3 from the handle %rd4 and the coordinates %f0 to %f3, each lane's own four,
// which are %i0 to %i3 too.
std::vector<u32> fetch(ObjectMemory& memory, const std::string& text, std::vector<float> coordinates,
                       bool expects_fault = false) {
    const auto program = load(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry test(.param .u64 in, .param .u64 out, .param .u64 object) {
.reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b32 %t; .reg .f32 %f<4>; .reg .b32 %i<4>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u64 %rd4, [object];
mov.u32 %t, %tid.x; mul.wide.u32 %rd3, %t, 16; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd1];
cvt.rzi.s32.f32 %i0, %f0; cvt.rzi.s32.f32 %i1, %f1; cvt.rzi.s32.f32 %i2, %f2; cvt.rzi.s32.f32 %i3, %f3;
mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;
)" + text + R"(
st.global.v4.u32 [%rd2], {%r0, %r1, %r2, %r3};
ret;
})");
    if (program == nullptr) return {};
    std::vector<u32> out(coordinates.size());
    const bool surface = text.find("suld") != std::string::npos || text.find("sust") != std::string::npos;
    const Parameters parameters(memory.add(coordinates), memory.add(out), surface ? u64{2} : u64{1});
    const Grid grid{{1, 1, 1}, {static_cast<u32>(coordinates.size() / 4), 1, 1}};
    const auto result = try_run(*program, memory, "test", grid, parameters);
    EXPECT_EQ(result.has_value(), !expects_fault) << (result ? "" : result.error().message);
    if (!result) {
        EXPECT_EQ(result.error().kind, Fault::Kind::illegal_address);
    }
    memory.clear();
    return out;
}

float as_float(u32 bits) {
    return std::bit_cast<float>(bits);
}

TEST(Texture, WholeCoordinatesReadTexels) {
    std::vector<float> texels(100);
    for (u32 i = 0; i < 100; i++) texels[i] = static_cast<float>(i);
    ObjectMemory memory;
    memory.own_texture.levels = {image_of(texels, f32, 100)};
    const auto out = fetch(memory, "tex.1d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%rd4, {%i0}];",
                           {0, 0, 0, 0, 99, 0, 0, 0, 100, 0, 0, 0, -1, 0, 0, 0});
    ASSERT_EQ(out.size(), 16u);
    EXPECT_EQ(as_float(out[0]), 0.0f);
    EXPECT_EQ(as_float(out[3]), 1.0f);  // the channel that is not there
    EXPECT_EQ(as_float(out[4]), 99.0f);
    EXPECT_EQ(out[8], 0u);
    EXPECT_EQ(out[12], 0u);
}

TEST(Texture, LinearFiltersBlendNeighbours) {
    std::vector<float> texels(4 * 3);
    for (u32 i = 0; i < 12; i++) texels[i] = static_cast<float>(i * i);
    ObjectMemory memory;
    memory.own_texture.levels = {image_of(texels, f32, 4, 3)};
    memory.own_texture.linear_filter = true;
    std::vector<float> places;
    for (const float x : {-1.0f, 0.0f, 0.5f, 0.75f, 1.25f, 2.0f, 3.5f, 4.25f})
        for (const float y : {0.25f, 0.5f, 1.125f, 9.0f}) places.insert(places.end(), {x, y, 0, 0});
    const auto out = fetch(memory, "tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%rd4, {%f0, %f1}];", places);
    const auto at = [&](float x, float y) {
        const int column = std::clamp(static_cast<int>(x), 0, 3), row = std::clamp(static_cast<int>(y), 0, 2);
        return texels[static_cast<std::size_t>(row * 4 + column)];
    };
    for (std::size_t i = 0; i < places.size(); i += 4) {
        const float x = places[i] - 0.5f, y = places[i + 1] - 0.5f;
        const float a = x - std::floor(x), b = y - std::floor(y), u = std::floor(x), v = std::floor(y);
        const float expected = (1 - a) * (1 - b) * at(u, v) + a * (1 - b) * at(u + 1, v) +
                               (1 - a) * b * at(u, v + 1) + a * b * at(u + 1, v + 1);
        EXPECT_FLOAT_EQ(as_float(out[i]), expected) << places[i] << ", " << places[i + 1];
    }
}

TEST(Texture, CoordinatesWrapMirrorClampOrMeetTheBorder) {
    std::vector<float> texels = {10, 11, 12, 13};
    ObjectMemory memory;
    memory.own_texture.levels = {image_of(texels, f32, 4)};
    memory.own_texture.border = {7, 0, 0, 0};
    const std::vector<float> places = {-0.3f, 0.0f, 0.6f, 0.99f, 1.0f, 1.3f, 2.8f};
    std::vector<float> coordinates;
    for (const float x : places) coordinates.insert(coordinates.end(), {x, 0, 0, 0});
    const auto expect = [&](Texture::Address address, bool normalized, const std::vector<float>& expected) {
        memory.own_texture.address[0] = address;
        memory.own_texture.normalized_coordinates = normalized;
        const auto out = fetch(memory, "tex.1d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%rd4, {%f0}];", coordinates);
        for (std::size_t i = 0; i < places.size(); i++)
            EXPECT_EQ(as_float(out[4 * i]), expected[i]) << static_cast<int>(address) << " at " << places[i];
    };
    expect(Texture::Address::wrap, true, {12, 10, 12, 13, 10, 11, 13});
    expect(Texture::Address::mirror, true, {11, 10, 12, 13, 13, 12, 13});
    expect(Texture::Address::clamp, true, {10, 10, 12, 13, 13, 13, 13});
    expect(Texture::Address::border, true, {7, 10, 12, 13, 7, 7, 7});
    // Without normalized coordinates there is no period.
    expect(Texture::Address::wrap, false, {10, 10, 10, 10, 11, 11, 12});
}

TEST(Texture, BytesBecomeRealsOrStayIntegers) {
    std::vector<u8> texels = {0, 51, 255, 128};
    ObjectMemory memory;
    memory.own_texture.levels = {image_of(texels, {TexelFormat::Kind::unsigned_integer, 4, 1}, 1)};
    memory.own_texture.normalized_values = true;
    auto out = fetch(memory, "tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%rd4, {%f0, %f1}];", {0, 0, 0, 0});
    EXPECT_FLOAT_EQ(as_float(out[1]), 0.2f);
    EXPECT_EQ(as_float(out[2]), 1.0f);
    memory.own_texture.normalized_values = false;
    memory.own_texture.levels[0].format.kind = TexelFormat::Kind::signed_integer;
    out = fetch(memory, "tex.2d.v4.s32.f32 {%r0, %r1, %r2, %r3}, [%rd4, {%f0, %f1}];", {0, 0, 0, 0});
    EXPECT_EQ(out, (std::vector<u32>{0, 51, ~0u, static_cast<u32>(-128)}));
    memory.own_texture.normalized_values = true;
    out = fetch(memory, "tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%rd4, {%f0, %f1}];", {0, 0, 0, 0});
    EXPECT_EQ(as_float(out[3]), -1.0f);
}

TEST(Texture, LayersVolumesLevelsAndCubes) {
    std::vector<float> texels(4 * 4 * 6);
    for (u32 i = 0; i < texels.size(); i++) texels[i] = static_cast<float>(i);
    ObjectMemory memory;
    Texture& texture = memory.own_texture;
    texture.levels = {image_of(texels, f32, 4, 4, 6)};
    auto out = fetch(memory, "tex.a2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%rd4, {%i0, %f1, %f2, %f2}];",
                     {2, 1.5f, 3.5f, 0, 9, 0.5f, 0.5f, 0});
    EXPECT_EQ(as_float(out[0]), 2.0f * 16 + 3 * 4 + 1);
    EXPECT_EQ(as_float(out[4]), 5.0f * 16);  // the last layer there is
    out = fetch(memory, "tex.3d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%rd4, {%f0, %f1, %f2, %f3}];",
                {1.5f, 2.5f, 4.5f, 0});
    EXPECT_EQ(as_float(out[0]), 4.0f * 16 + 2 * 4 + 1);
    // The middle of a face is between its four middle texels: nearest takes the one below and right.
    out = fetch(memory, "tex.cube.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%rd4, {%f0, %f1, %f2, %f3}];",
                {1, 0, 0, 0, -1, 0, 0, 0, 0, 2, 0, 0, 0, -2, 0, 0, 0, 0, 3, 0, 0, 0, -3, 0, 1, 0.9f, 0, 0});
    for (u32 face = 0; face < 6; face++)
        EXPECT_EQ(as_float(out[4 * face]), static_cast<float>(face * 16 + 10));
    EXPECT_EQ(as_float(out[24]), 2.0f);  // up on face 0: its first row
    std::vector<float> half = {100, 101, 102, 103}, quarter = {200};
    texture.levels = {image_of(texels, f32, 4, 4), image_of(half, f32, 2, 2), image_of(quarter, f32, 1, 1)};
    texture.normalized_coordinates = true;
    const std::string by_level = "tex.level.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%rd4, {%f0, %f1}], %f2;";
    out =
        fetch(memory, by_level, {0.9f, 0.9f, 0, 0, 0.9f, 0.9f, 1, 0, 0.9f, 0.1f, 1.4f, 0, 0.5f, 0.5f, 8, 0});
    EXPECT_EQ(as_float(out[0]), 15.0f);
    EXPECT_EQ(as_float(out[4]), 103.0f);
    EXPECT_EQ(as_float(out[8]), 101.0f);
    EXPECT_EQ(as_float(out[12]), 200.0f);
    texture.linear_level_filter = true;
    out = fetch(memory, by_level, {0.9f, 0.9f, 1.25f, 0});
    EXPECT_FLOAT_EQ(as_float(out[0]), 0.75f * 103 + 0.25f * 200);
    out = fetch(memory,
                "tex.grad.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%rd4, {%f0, %f1}], {%f2, %f3}, {%f3, %f3};",
                {0.9f, 0.9f, 0.5f, 0});  // two texels a step: level 1
    EXPECT_EQ(as_float(out[0]), 103.0f);
}

TEST(Texture, GathersFourNeighboursAndTellsItsSize) {
    std::vector<float> texels(12);
    for (u32 i = 0; i < 12; i++) texels[i] = static_cast<float>(i);
    ObjectMemory memory;
    memory.own_texture.levels = {image_of(texels, f32, 4, 3)};
    auto out = fetch(memory, "tld4.r.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%rd4, {%f0, %f1}];", {2, 1, 0, 0});
    // Of the texels around (2, 1): below left, below right, above right, above left.
    EXPECT_EQ(as_float(out[0]), 5.0f);
    EXPECT_EQ(as_float(out[1]), 6.0f);
    EXPECT_EQ(as_float(out[2]), 2.0f);
    EXPECT_EQ(as_float(out[3]), 1.0f);
    out =
        fetch(memory,
              "txq.width.b32 %r0, [%rd4]; txq.height.b32 %r1, [%rd4]; txq.num_mipmap_levels.b32 %r2, [%rd4];",
              {0, 0, 0, 0});
    EXPECT_EQ(out, (std::vector<u32>{4, 3, 1, 0}));
}

TEST(Texture, AHandleOfNothingIsAnError) {
    ObjectMemory memory;
    (void)fetch(memory, "mov.u64 %rd4, 77; tex.1d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%rd4, {%i0}];",
                {0, 0, 0, 0}, true);
    (void)fetch(memory, "mov.u64 %rd4, 77; suld.b.1d.b32.zero %r0, [%rd4, {%i0}];", {0, 0, 0, 0}, true);
}

TEST(Surface, ReadsAndWritesByByteCoordinates) {
    std::vector<u32> texels(8 * 4 * 2);
    for (u32 i = 0; i < texels.size(); i++) texels[i] = 100 + i;
    ObjectMemory memory;
    memory.own_surface.image = image_of(texels, {TexelFormat::Kind::unsigned_integer, 1, 4}, 8, 4, 2);
    auto out = fetch(memory, "suld.b.2d.v2.b32.trap {%r0, %r1}, [%rd4, {%i0, %i1}];", {8, 3, 0, 0});
    EXPECT_EQ(out[0], 100u + 3 * 8 + 2);
    EXPECT_EQ(out[1], 100u + 3 * 8 + 3);
    out = fetch(memory, "suld.b.2d.b8.trap %h0, [%rd4, {%i0, %i1}]; cvt.u32.u16 %r0, %h0;", {4, 1, 0, 0});
    EXPECT_EQ(out[0], 109u);
    out = fetch(memory,
                "suld.b.3d.b32.trap %r0, [%rd4, {%i0, %i1, %i2, %i3}]; suld.b.a2d.b32.trap %r1, [%rd4, {%i2, "
                "%i0, %i1, %i3}];",
                {4, 2, 1, 0});
    EXPECT_EQ(out[0], 100u + 32 + 16 + 1);
    EXPECT_EQ(out[1], out[0]);
    // Outside: zero, the nearest, or an error.
    out = fetch(memory,
                "suld.b.2d.b32.zero %r0, [%rd4, {%i0, %i1}]; suld.b.2d.b32.clamp %r1, [%rd4, {%i0, %i1}];",
                {32, -1, 0, 0});
    EXPECT_EQ(out[0], 0u);
    EXPECT_EQ(out[1], 107u);
    (void)fetch(memory, "suld.b.2d.b32.trap %r0, [%rd4, {%i0, %i1}];", {32, 0, 0, 0}, true);
    (void)fetch(memory, "suld.b.2d.b32.zero %r0, [%rd4, {%i0, %i1}];", {2, 0, 0, 0}, true);  // misaligned
    (void)fetch(memory,
                "mov.u32 %r2, 5; mov.u16 %h0, 6; sust.b.2d.b32.zero [%rd4, {%i0, %i1}], {%r2}; "
                "sust.b.2d.b8.trap [%rd4, {%i2, %i3}], {%h0};",
                {4, 0, 1, 0, 32, 0, 2, 0, 4, 4, 3, 0});
    EXPECT_EQ(texels[1], 5u);
    EXPECT_EQ(texels[0], 0x06060664u);
    EXPECT_EQ(texels[8], 108u);
}

}  // namespace
}  // namespace trimtab::emulator::test
