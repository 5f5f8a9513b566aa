// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images and samplers, against what the specification has for them (OpenCL 1.2, section 8), worked out on the CPU.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "tests/emulation/opencl/platform/host.h"

namespace trimtab::opencl::test {
namespace {

using Place = std::array<std::size_t, 3>;

Memory make_image(const Host& host, cl_image_format format, const cl_image_desc& description, void* texels,
                  cl_mem_flags flags = CL_MEM_READ_WRITE) {
    cl_int status = -1;
    Memory image(clCreateImage(host.context(), flags | (texels != nullptr ? CL_MEM_COPY_HOST_PTR : 0),
                               &format, &description, texels, &status));
    EXPECT_EQ(status, CL_SUCCESS);
    return image;
}

cl_image_desc plane(std::size_t width, std::size_t height) {
    cl_image_desc description{};
    description.image_type = CL_MEM_OBJECT_IMAGE2D;
    description.image_width = width;
    description.image_height = height;
    return description;
}

Sampler make_sampler(const Host& host, bool normalized, cl_addressing_mode addressing,
                     cl_filter_mode filter) {
    cl_int status = -1;
    Sampler sampler(
        clCreateSampler(host.context(), normalized ? CL_TRUE : CL_FALSE, addressing, filter, &status));
    EXPECT_EQ(status, CL_SUCCESS);
    return sampler;
}

TEST(OpenClImages, EveryAddressingModeFindsItsTexels) {
    const Host host;
    constexpr int width = 5, height = 3;
    std::vector<float> texels(width * height);
    std::iota(texels.begin(), texels.end(), 1.0f);
    const Memory image = make_image(host, {CL_R, CL_FLOAT}, plane(width, height), texels.data());
    const Program program = host.build(
        "kernel void fetch(read_only image2d_t image, sampler_t s, global const float2* at, global float4* "
        "out) {"
        "  out[get_global_id(0)] = read_imagef(image, s, at[get_global_id(0)]); }");
    const Kernel kernel = host.kernel(program, "fetch");
    std::vector<cl_float2> at;
    for (float y = -1.6f; y < 3; y += 0.31f)
        for (float x = -1.7f; x < 3; x += 0.23f) at.push_back({{x, y}});
    const Memory places = host.buffer(at), out = host.buffer(std::vector<cl_float4>(at.size()));
    const auto wrapped = [](float u, int size, cl_addressing_mode mode) {
        switch (mode) {
            case CL_ADDRESS_REPEAT:
                u -= std::floor(u);
                return std::min(static_cast<int>(std::floor(u * static_cast<float>(size))), size - 1);
            case CL_ADDRESS_MIRRORED_REPEAT: {
                const float nearest = 2 * std::rint(0.5f * u);
                u = std::fabs(u - nearest);
                return std::min(static_cast<int>(std::floor(u * static_cast<float>(size))), size - 1);
            }
            default:
                return static_cast<int>(std::floor(u * static_cast<float>(size)));
        }
    };
    for (const cl_addressing_mode mode :
         {CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP, CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT}) {
        const Sampler sampler = make_sampler(host, true, mode, CL_FILTER_NEAREST);
        set_arguments(kernel, image, sampler, places, out);
        ASSERT_EQ(host.run(kernel, {at.size()}), CL_SUCCESS);
        const auto found = host.read<cl_float4>(out, at.size());
        for (std::size_t i = 0; i < at.size(); ++i) {
            int x = wrapped(at[i].s[0], width, mode), y = wrapped(at[i].s[1], height, mode);
            float expected = 0, alpha = 1;
            if (mode == CL_ADDRESS_CLAMP_TO_EDGE) {
                x = std::clamp(x, 0, width - 1);
                y = std::clamp(y, 0, height - 1);
            }
            if (x >= 0 && y >= 0 && x < width && y < height)
                expected = texels[static_cast<std::size_t>(y * width + x)];
            ASSERT_EQ(found[i].s[0], expected) << mode << " at " << at[i].s[0] << ", " << at[i].s[1];
            ASSERT_EQ(found[i].s[1], 0);
            ASSERT_EQ(found[i].s[3], alpha) << "a format without alpha has a border of 1";
        }
    }
}

TEST(OpenClImages, LinearFiltersBlendNeighbours) {
    const Host host;
    std::vector<float> texels{0, 10, 20, 30};  // 2 x 2
    const Memory image = make_image(host, {CL_R, CL_FLOAT}, plane(2, 2), texels.data());
    const Program program = host.build(
        "constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;"
        "kernel void fetch(read_only image2d_t image, global float* out) {"
        "  out[0] = read_imagef(image, s, (float2)(1.0f, 1.0f)).x;"
        "  out[1] = read_imagef(image, s, (float2)(0.75f, 0.5f)).x;"
        "  out[2] = read_imagef(image, s, (float2)(-3.0f, 9.0f)).x; }");
    const Kernel kernel = host.kernel(program, "fetch");
    const Memory out = host.buffer(std::vector<float>(3));
    set_arguments(kernel, image, out);
    ASSERT_EQ(host.run(kernel, {1}), CL_SUCCESS);
    EXPECT_THAT(host.read<float>(out, 3), testing::ElementsAre(15.0f, 2.5f, 20.0f));
}

// A kernel writes every format, another reads it; what lies in memory is what the specification's conversions give.
struct FormatCase {
    cl_image_format format;
    std::vector<unsigned char> bytes;  // of (1, 0.5, 0, 0.25)
};

TEST(OpenClImages, ColoursAreConvertedToTheFormatAndBack) {
    const Host host;
    const Program program = host.build(
        "kernel void put(write_only image2d_t image) {"
        "  write_imagef(image, (int2)(get_global_id(0), get_global_id(1)), (float4)(1.0f, 0.5f, 0.0f, "
        "0.25f)); }"
        "kernel void get(read_only image2d_t image, global float4* out, global int4* about) {"
        "  out[0] = read_imagef(image, (int2)(2, 1));"
        "  about[0] = (int4)(get_image_width(image), get_image_height(image), get_image_channel_order(image),"
        "                    get_image_channel_data_type(image)); }");
    const Kernel put = host.kernel(program, "put"), get = host.kernel(program, "get");
    const std::vector<FormatCase> cases{
        {{CL_RGBA, CL_UNORM_INT8}, {255, 128, 0, 64}},
        {{CL_BGRA, CL_UNORM_INT8}, {0, 128, 255, 64}},
        {{CL_ARGB, CL_UNORM_INT8}, {64, 255, 128, 0}},
        {{CL_RGBA, CL_SNORM_INT8}, {127, 64, 0, 32}},
        {{CL_RGBA, CL_UNORM_INT16}, {0xff, 0xff, 0x00, 0x80, 0, 0, 0x00, 0x40}},
        {{CL_RGBA, CL_HALF_FLOAT}, {0x00, 0x3c, 0x00, 0x38, 0, 0, 0x00, 0x34}},
        {{CL_RG, CL_UNORM_INT8}, {255, 128}},
        {{CL_RA, CL_UNORM_INT8}, {255, 64}},
        {{CL_A, CL_UNORM_INT8}, {64}},
        {{CL_LUMINANCE, CL_UNORM_INT8}, {255}},
        {{CL_INTENSITY, CL_UNORM_INT8}, {255}},
        {{CL_R, CL_HALF_FLOAT}, {0x00, 0x3c}}};
    for (const FormatCase& one : cases) {
        const Memory image = make_image(host, one.format, plane(4, 3), nullptr);
        const Memory out = host.buffer(std::vector<cl_float4>(1)),
                     about = host.buffer(std::vector<cl_int4>(1));
        set_arguments(put, image);
        set_arguments(get, image, out, about);
        ASSERT_EQ(host.run(put, {4, 3}), CL_SUCCESS);
        ASSERT_EQ(host.run(get, {1}), CL_SUCCESS);
        std::vector<unsigned char> texel(one.bytes.size());
        const Place origin{3, 2, 0}, region{1, 1, 1};
        ASSERT_EQ(clEnqueueReadImage(host.queue(), image.get(), CL_TRUE, origin.data(), region.data(), 0, 0,
                                     texel.data(), 0, nullptr, nullptr),
                  CL_SUCCESS);
        EXPECT_EQ(texel, one.bytes) << std::hex << one.format.image_channel_order << " "
                                    << one.format.image_channel_data_type;
        const cl_float4 color = host.read<cl_float4>(out, 1)[0];
        const auto order = one.format.image_channel_order;
        const bool has_red = order != CL_A,
                   has_all = order == CL_RGBA || order == CL_BGRA || order == CL_ARGB;
        EXPECT_NEAR(color.s[0], has_red ? 1 : 0, 0.005);
        if (has_all || order == CL_RG) EXPECT_NEAR(color.s[1], 0.5, 0.005);
        if (has_all || order == CL_RA || order == CL_A) EXPECT_NEAR(color.s[3], 0.25, 0.005);
        if (order == CL_R || order == CL_RG || order == CL_LUMINANCE) EXPECT_EQ(color.s[3], 1);
        EXPECT_THAT(std::vector<int>(host.read<int>(about, 4)),
                    testing::ElementsAre(4, 3, static_cast<int>(order),
                                         static_cast<int>(one.format.image_channel_data_type)));
    }
}

TEST(OpenClImages, WholeNumbersSaturate) {
    const Host host;
    const Program program = host.build(
        "kernel void signed_ones(write_only image2d_t w) { write_imagei(w, (int2)(0), (int4)(-300, 300, 5, "
        "-6)); }"
        "kernel void unsigned_ones(write_only image2d_t w) { write_imageui(w, (int2)(0), (uint4)(70000, 3, "
        "5, 6)); }"
        "kernel void get(read_only image2d_t r, global int4* out) { out[0] = read_imagei(r, (int2)(0)); }"
        "kernel void get_unsigned(read_only image2d_t r, global uint4* out) { out[0] = read_imageui(r, "
        "(int2)(0)); }");
    const Memory out = host.buffer(std::vector<cl_int4>(1));
    const Memory bytes = make_image(host, {CL_RGBA, CL_SIGNED_INT8}, plane(1, 1), nullptr);
    const Kernel put = host.kernel(program, "signed_ones"), get = host.kernel(program, "get");
    set_arguments(put, bytes);
    set_arguments(get, bytes, out);
    ASSERT_EQ(host.run(put, {1}), CL_SUCCESS);
    ASSERT_EQ(host.run(get, {1}), CL_SUCCESS);
    EXPECT_THAT(host.read<int>(out, 4), testing::ElementsAre(-128, 127, 5, -6));
    const Memory words = make_image(host, {CL_RGBA, CL_UNSIGNED_INT16}, plane(1, 1), nullptr);
    const Kernel put_unsigned = host.kernel(program, "unsigned_ones"),
                 get_unsigned = host.kernel(program, "get_unsigned");
    set_arguments(put_unsigned, words);
    set_arguments(get_unsigned, words, out);
    ASSERT_EQ(host.run(put_unsigned, {1}), CL_SUCCESS);
    ASSERT_EQ(host.run(get_unsigned, {1}), CL_SUCCESS);
    EXPECT_THAT(host.read<int>(out, 4), testing::ElementsAre(65535, 3, 5, 6));
}

TEST(OpenClImages, VolumesArraysLinesAndBuffers) {
    const Host host;
    const Program program = host.build(
        "constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;"
        "kernel void volume(read_only image3d_t a, write_only image2d_array_t b, global int* out) {"
        "  int4 p = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);"
        "  write_imagef(b, p, read_imagef(a, s, p) + 1.0f);"
        "  if (p.x + p.y + p.z == 0) { int4 d = get_image_dim(a); out[0] = d.x; out[1] = d.y; out[2] = d.z;"
        "    out[3] = get_image_depth(a); out[4] = (int)get_image_array_size(b); } }"
        "kernel void layers(read_only image2d_array_t a, write_only image1d_array_t b) {"
        "  int x = get_global_id(0), l = get_global_id(1);"
        "  write_imagef(b, (int2)(x, l), read_imagef(a, s, (float4)(x + 0.5f, 1.5f, l + 0.2f, 0)) * 2.0f); }"
        "kernel void line(read_only image1d_array_t a, write_only image1d_t b, read_only image1d_buffer_t c) "
        "{"
        "  int x = get_global_id(0);"
        "  write_imagef(b, x, read_imagef(a, s, (int2)(x, 1)) + read_imagef(c, x)); }");
    cl_image_desc cube{};
    cube.image_type = CL_MEM_OBJECT_IMAGE3D;
    cube.image_width = 4;
    cube.image_height = 3;
    cube.image_depth = 2;
    std::vector<float> texels(24);
    std::iota(texels.begin(), texels.end(), 0.0f);
    const Memory volume = make_image(host, {CL_R, CL_FLOAT}, cube, texels.data());
    cl_image_desc layered{};
    layered.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY;
    layered.image_width = 4;
    layered.image_height = 3;
    layered.image_array_size = 2;
    const Memory layers = make_image(host, {CL_R, CL_FLOAT}, layered, nullptr);
    cl_image_desc lines{};
    lines.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY;
    lines.image_width = 4;
    lines.image_array_size = 2;
    const Memory rows = make_image(host, {CL_R, CL_FLOAT}, lines, nullptr);
    cl_image_desc line{};
    line.image_type = CL_MEM_OBJECT_IMAGE1D;
    line.image_width = 4;
    const Memory row = make_image(host, {CL_R, CL_FLOAT}, line, nullptr);
    const Memory buffer = host.buffer(std::vector<float>{100, 200, 300, 400});
    cl_image_desc over{};
    over.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
    over.image_width = 4;
    over.mem_object = buffer.get();
    const Memory in_buffer = make_image(host, {CL_R, CL_FLOAT}, over, nullptr);
    const Memory about = host.buffer(std::vector<int>(5));
    const Kernel first = host.kernel(program, "volume"), second = host.kernel(program, "layers"),
                 third = host.kernel(program, "line");
    set_arguments(first, volume, layers, about);
    set_arguments(second, layers, rows);
    set_arguments(third, rows, row, in_buffer);
    ASSERT_EQ(host.run(first, {4, 3, 2}), CL_SUCCESS);
    ASSERT_EQ(host.run(second, {4, 2}), CL_SUCCESS);
    ASSERT_EQ(host.run(third, {4}), CL_SUCCESS);
    EXPECT_THAT(host.read<int>(about, 5), testing::ElementsAre(4, 3, 2, 2, 2));
    std::vector<float> found(4);
    const Place origin{0, 0, 0}, region{4, 1, 1};
    ASSERT_EQ(clEnqueueReadImage(host.queue(), row.get(), CL_TRUE, origin.data(), region.data(), 0, 0,
                                 found.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    for (std::size_t x = 0; x < 4; ++x)
        EXPECT_EQ(found[x], (texels[12 + 4 + x] + 1) * 2 + 100.0f * static_cast<float>(x + 1)) << x;
}

TEST(OpenClImages, CopiesFillsAndMaps) {
    const Host host;
    const Memory image = make_image(host, {CL_RGBA, CL_UNSIGNED_INT8}, plane(8, 8), nullptr);
    const Memory other = make_image(host, {CL_RGBA, CL_UNSIGNED_INT8}, plane(8, 8), nullptr);
    const cl_uint4 color{{1, 2, 3, 400}};
    const Place zero{0, 0, 0}, whole{8, 8, 1}, part{2, 3, 1}, at{5, 4, 0};
    ASSERT_EQ(
        clEnqueueFillImage(host.queue(), image.get(), &color, zero.data(), whole.data(), 0, nullptr, nullptr),
        CL_SUCCESS);
    ASSERT_EQ(clEnqueueCopyImage(host.queue(), image.get(), other.get(), zero.data(), at.data(), part.data(),
                                 0, nullptr, nullptr),
              CL_SUCCESS);
    constexpr std::array<int, 4> texel_of_color{1, 2, 3, 255};
    std::size_t row_pitch = 0, slice_pitch = 7;
    cl_int status = -1;
    auto* mapped = static_cast<unsigned char*>(
        clEnqueueMapImage(host.queue(), other.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, at.data(),
                          part.data(), &row_pitch, &slice_pitch, 0, nullptr, nullptr, &status));
    ASSERT_EQ(status, CL_SUCCESS);
    for (std::size_t y = 0; y < 3; ++y)
        for (std::size_t x = 0; x < 8; ++x) ASSERT_EQ(mapped[y * row_pitch + x], texel_of_color[x % 4]);
    mapped[0] = 77;
    ASSERT_EQ(clEnqueueUnmapMemObject(host.queue(), other.get(), mapped, 0, nullptr, nullptr), CL_SUCCESS);
    const Memory buffer = host.buffer(std::vector<unsigned char>(100, 9));
    ASSERT_EQ(clEnqueueCopyImageToBuffer(host.queue(), other.get(), buffer.get(), at.data(), part.data(), 4,
                                         0, nullptr, nullptr),
              CL_SUCCESS);
    const auto bytes = host.read<unsigned char>(buffer, 32);
    EXPECT_EQ(bytes[3], 9);
    EXPECT_EQ(bytes[4], 77);
    EXPECT_EQ(bytes[5], 2);
    EXPECT_EQ(bytes[27], 255);
    EXPECT_EQ(bytes[28], 9);
    ASSERT_EQ(clEnqueueCopyBufferToImage(host.queue(), buffer.get(), image.get(), 4, zero.data(), part.data(),
                                         0, nullptr, nullptr),
              CL_SUCCESS);
    std::vector<unsigned char> texel(4);
    const Place one{1, 1, 1};
    ASSERT_EQ(clEnqueueReadImage(host.queue(), image.get(), CL_TRUE, zero.data(), one.data(), 0, 0,
                                 texel.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_THAT(texel, testing::ElementsAre(77, 2, 3, 255));
    const Place beside{1, 1, 0};
    EXPECT_EQ(clEnqueueCopyImage(host.queue(), image.get(), image.get(), zero.data(), beside.data(),
                                 part.data(), 0, nullptr, nullptr),
              CL_MEM_COPY_OVERLAP);
    EXPECT_EQ(clEnqueueCopyImage(host.queue(), image.get(), other.get(), zero.data(), at.data(), whole.data(),
                                 0, nullptr, nullptr),
              CL_INVALID_VALUE);
}

TEST(OpenClImages, WhatCannotBeAnImageIsNone) {
    const Host host;
    const auto status_of = [&](cl_image_format format, const cl_image_desc& description,
                               cl_mem_flags flags = 0) {
        cl_int status = -1;
        const Memory image(clCreateImage(host.context(), flags, &format, &description, nullptr, &status));
        return status;
    };
    EXPECT_EQ(status_of({CL_RGBA, CL_FLOAT}, plane(0, 4)), CL_INVALID_IMAGE_SIZE);
    EXPECT_EQ(status_of({CL_RGBA, CL_FLOAT}, plane(100000, 4)), CL_INVALID_IMAGE_SIZE);
    EXPECT_EQ(status_of({CL_RGBA, 0x1234}, plane(4, 4)), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    EXPECT_EQ(status_of({CL_BGRA, CL_FLOAT}, plane(4, 4)), CL_IMAGE_FORMAT_NOT_SUPPORTED);
    EXPECT_EQ(status_of({CL_RGBA, CL_FLOAT}, plane(4, 4), CL_MEM_COPY_HOST_PTR), CL_INVALID_HOST_PTR);
    cl_uint count = 0;
    ASSERT_EQ(clGetSupportedImageFormats(host.context(), CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, 0, nullptr,
                                         &count),
              CL_SUCCESS);
    std::vector<cl_image_format> formats(count);
    ASSERT_EQ(clGetSupportedImageFormats(host.context(), CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, count,
                                         formats.data(), nullptr),
              CL_SUCCESS);
    for (const cl_image_format& format : formats) EXPECT_EQ(status_of(format, plane(2, 2)), CL_SUCCESS);
    EXPECT_GE(count, 23u) << "the least that there may be (OpenCL 1.2, table 5.8)";
}

}  // namespace
}  // namespace trimtab::opencl::test
