// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Captures as files: what is read is what was written, and whatever else a file holds is one clear line.
#include "emulation/emulator/capture/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <tuple>

#include "core/base/temporary_folder.h"

namespace trimtab::emulator::capture {

bool operator==(const Region& a, const Region& b) {
    return a.address == b.address && std::ranges::equal(a.bytes, b.bytes);
}
bool operator==(const Variable& a, const Variable& b) {
    return a.name == b.name && a.region == b.region;
}
bool operator==(const Parameter& a, const Parameter& b) {
    return a.offset_bytes == b.offset_bytes && a.size_bytes == b.size_bytes;
}
bool equal(const Image& a, const Image& b) {
    const auto key = [](const Image& image) {
        return std::tuple(image.host, image.format.kind, image.format.channels, image.format.channel_bytes,
                          image.width, image.height, image.depth, image.row_bytes, image.slice_bytes);
    };
    return key(a) == key(b);
}
bool operator==(const TextureObject& a, const TextureObject& b) {
    const auto key = [](const TextureObject& object) {
        const Texture& texture = object.texture;
        return std::tuple(object.handle, texture.address, texture.linear_filter, texture.linear_level_filter,
                          texture.normalized_coordinates, texture.normalized_values, texture.srgb,
                          texture.border, texture.level_bias, texture.least_level, texture.greatest_level);
    };
    return key(a) == key(b) && std::ranges::equal(a.texture.levels, b.texture.levels, equal);
}
bool operator==(const SurfaceObject& a, const SurfaceObject& b) {
    return a.handle == b.handle && equal(a.surface.image, b.surface.image);
}
bool operator==(const Capture& a, const Capture& b) {
    return a.kernel == b.kernel && a.device == b.device && a.grid == b.grid && a.block == b.block &&
           a.cluster == b.cluster && a.dynamic_shared_bytes == b.dynamic_shared_bytes &&
           a.cooperative == b.cooperative && a.parameters == b.parameters &&
           std::ranges::equal(a.arguments, b.arguments) && a.allocations == b.allocations &&
           a.variables == b.variables && a.textures == b.textures && a.surfaces == b.surfaces &&
           std::ranges::equal(a.images, b.images,
                              [](const auto& x, const auto& y) { return std::ranges::equal(x, y); });
}

namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::byte> noise(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::byte> out(size);
    for (std::byte& byte : out) byte = static_cast<std::byte>(random() & 0xff);
    return out;
}

// A fat binary's header before what none holds.
std::vector<std::byte> fat_binary(std::size_t size, unsigned seed) {
    auto out = noise(size, seed);
    const std::uint32_t words[] = {0xba55ed50, 0x00100001, static_cast<std::uint32_t>(size - 16), 0};
    std::memcpy(out.data(), words, sizeof words);
    return out;
}

class CaptureFile : public ::testing::Test {
  protected:
    std::vector<std::byte> first_ = noise(3000, 1), second_ = noise(70, 2), arguments_ = noise(20, 3),
                           image_ = fat_binary(400, 4), variable_ = noise(12, 5);

    Capture made() const {
        Capture out;
        out.kernel = "_Z4stepPfi";
        out.device = "k20c";
        out.grid = {7, 2, 1};
        out.block = {64, 1, 2};
        out.dynamic_shared_bytes = 96;
        out.cooperative = true;
        out.parameters = {{.offset_bytes = 0, .size_bytes = 8}, {.offset_bytes = 16, .size_bytes = 4}};
        out.arguments = arguments_;
        out.images = {image_, image_};
        out.allocations = {{.address = 0x7f0000001000, .bytes = first_},
                           {.address = 0x7f0000002000, .bytes = second_}};
        out.variables = {{.name = "factor", .region = {.address = 0x5000, .bytes = variable_}}};
        return out;
    }

    static Image image_at(std::uint64_t address, std::uint32_t width, std::uint32_t height) {
        return {.host = reinterpret_cast<std::byte*>(address),
                .format = {.kind = TexelFormat::Kind::signed_integer, .channels = 2, .channel_bytes = 2},
                .width = width,
                .height = height,
                .row_bytes = 4 * width};
    }
    // With a texture of two levels, one in a variable, and a surface.
    Capture made_with_objects() const {
        Capture out = made();
        Texture texture;
        texture.levels = {image_at(0x7f0000001004, 7, 11), image_at(0x5004, 2, 1)};
        texture.address = {Texture::Address::wrap, Texture::Address::border, Texture::Address::mirror};
        texture.linear_level_filter = texture.normalized_values = texture.srgb = true;
        texture.border = {.5f, -1, 0, 2};
        texture.level_bias = -.25f;
        texture.greatest_level = 3;
        out.textures = {{.handle = 3, .texture = texture}};
        out.surfaces = {{.handle = 1, .surface = {.image = image_at(0x7f0000002000, 17, 1)}}};
        return out;
    }

    std::string error_of(const Capture& capture) const {
        const auto read = from_bytes(to_bytes(capture).value(), "x.capture");
        return read ? "" : read.error().text();
    }
};

TEST_F(CaptureFile, IsReadAsItWasWritten) {
    const auto folder = base::TemporaryFolder::make();
    ASSERT_TRUE(folder);
    const std::string file = folder->file("a.capture");
    ASSERT_TRUE(write(file, made()));
    const auto read = capture::read(file);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->capture, made());
    EXPECT_EQ(read->capture.memory_bytes(), 3000u + 70u + 12u);
    const auto with_objects = to_bytes(made_with_objects());
    ASSERT_TRUE(with_objects);
    const auto read_objects = from_bytes(*with_objects, file);
    ASSERT_TRUE(read_objects) << read_objects.error().text();
    EXPECT_EQ(read_objects->capture, made_with_objects());
    // Only what readers of version 1 would misunderstand is of version 2.
    EXPECT_EQ(to_bytes(made()).value()[8], std::byte{1});
    EXPECT_EQ((*with_objects)[8], std::byte{2});
}

TEST_F(CaptureFile, ObjectsWithoutTheirTexelsAreTold) {
    const auto expect = [&](const std::string& why, const auto& change) {
        Capture capture = made_with_objects();
        change(capture);
        EXPECT_THAT(error_of(capture), HasSubstr(why));
    };
    using C = Capture&;
    for (const std::string kind : {"a texture", "a surface"}) {
        const auto expect_image = [&](const auto& change) {
            expect(kind + " has no texels, or the capture does not hold", [&](C capture) {
                change(kind == "a surface" ? capture.surfaces[0].surface.image
                                           : capture.textures[0].texture.levels[0]);
            });
        };
        expect_image([](Image& image) { image.width = 0; });
        expect_image([](Image& image) { image.width = 4'000'000'000; });
        expect_image([](Image& image) { image.height = 4'000'000'000; });
        expect_image([](Image& image) {
            image.depth = 2;
            image.slice_bytes = ~std::uint64_t{0};
        });
        expect_image([](Image& image) { image.host += 5000; });
        expect_image([](Image& image) { image.format.channels = 3; });
        expect_image([](Image& image) { image.format.channel_bytes = 8; });
        expect_image([](Image& image) { image.format.kind = static_cast<TexelFormat::Kind>(3); });
    }
    expect("a texture has no texels", [](C capture) { capture.textures[0].texture.levels.clear(); });
    expect("a texture has no texels", [](C capture) { capture.textures[0].texture.levels[1].width = 3; });
    expect("address mode is unknown",
           [](C capture) { capture.textures[0].texture.address[2] = static_cast<Texture::Address>(4); });
    expect("have one handle", [](C capture) { capture.surfaces[0].handle = 3; });
}

// Every byte in turn, and random handfuls.
TEST_F(CaptureFile, ADamagedFileIsToldOrReadsTheSame) {
    const std::vector<std::byte> whole = to_bytes(made_with_objects()).value();
    unsigned told = 0, tries = 0;
    const auto look = [&](const std::vector<std::byte>& bytes) {
        ++tries;
        const auto read = from_bytes(bytes, "x.capture");
        if (read) {
            // A bit of the frame that nothing depends on.
            EXPECT_EQ(read->capture, made_with_objects());
            return;
        }
        ++told;
        EXPECT_THAT(read.error().text(), StartsWith("x.capture: "));
        EXPECT_EQ(read.error().text().find('\n'), std::string::npos);
    };
    for (std::size_t at = 0; at < whole.size(); ++at) {
        auto bytes = whole;
        bytes[at] ^= static_cast<std::byte>(1u << at % 8);
        look(bytes);
    }
    std::mt19937 random(7);
    for (int i = 0; i < 1000; ++i) {
        auto bytes = whole;
        for (unsigned n = 0; n <= random() % 8; ++n)
            bytes[random() % bytes.size()] = static_cast<std::byte>(random() & 0xff);
        look(bytes);
    }
    EXPECT_GT(told, tries * 9 / 10);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto read = from_bytes(std::span(whole).first(size), "x.capture");
        ASSERT_FALSE(read) << size;
        EXPECT_THAT(read.error().text(), StartsWith("x.capture: "));
    }
}

// Whole frames whose contents no writer makes: every cut and many changes of the contents themselves.
TEST_F(CaptureFile, ContentsThatDoNotHoldTogetherAreTold) {
    Capture capture = made();
    capture.allocations[1].address = capture.allocations[0].address + 8;
    EXPECT_THAT(error_of(capture), HasSubstr("overlaps"));
    capture = made();
    capture.allocations[1].address = ~std::uint64_t{0} - 3;
    EXPECT_THAT(error_of(capture), HasSubstr("overlaps"));
    capture = made();
    capture.parameters[1].offset_bytes = 17;
    EXPECT_THAT(error_of(capture), HasSubstr("outside the arguments"));
    capture = made();
    capture.block[1] = 0;
    EXPECT_THAT(error_of(capture), HasSubstr("a dimension is 0"));
    capture = made();
    capture.images.clear();
    EXPECT_THAT(error_of(capture), HasSubstr("the device code is missing"));
    // Longer than it is; a text without an end; and what only this process could have made, with pointers in it.
    for (const std::size_t at : {0u, 9u}) {
        auto image = image_;
        image[at] ^= std::byte{0xff};
        image.back() = std::byte{0};
        capture = made();
        capture.images[1] = image;
        EXPECT_THAT(error_of(capture), HasSubstr("its device code is neither")) << at;
    }
    const std::string text = ".version 8.0 .target sm_75";
    capture.images = {std::as_bytes(std::span(text.data(), text.size()))};
    EXPECT_THAT(error_of(capture), HasSubstr("its device code is neither"));
    capture.images = {std::as_bytes(std::span(text.data(), text.size() + 1))};
    EXPECT_EQ(error_of(capture), "");
    const std::string other = "TIML and more, and then its end";
    capture.images = {std::as_bytes(std::span(other.data(), other.size() + 1))};
    EXPECT_THAT(error_of(capture), HasSubstr("its device code is neither"));
    capture = made();
    capture.kernel.clear();
    EXPECT_THAT(error_of(capture), HasSubstr("the kernel's name is missing"));
}

TEST_F(CaptureFile, AnotherVersionIsNamed) {
    auto bytes = to_bytes(made()).value();
    bytes[8] = std::byte{9};
    EXPECT_EQ(from_bytes(bytes, "x.capture").error().text(),
              "x.capture: byte 8: format version 9; this trimtab reads versions up to 2");
}

// It would be 2^60 bytes: told before it is believed.
TEST_F(CaptureFile, ASizeThatCannotBeIsNotBelieved) {
    auto bytes = to_bytes(made()).value();
    bytes[23] = std::byte{0x10};
    EXPECT_THAT(from_bytes(bytes, "x.capture").error().text(), HasSubstr("byte 16"));
}

TEST(CaptureFiles, WhatIsNoFileIsTold) {
    const auto folder = base::TemporaryFolder::make();
    ASSERT_TRUE(folder);
    EXPECT_THAT(read(folder->file("none")).error().text(), HasSubstr("none: it cannot be read"));
    const std::string below = folder->file("folder");
    std::filesystem::create_directory(below);
    EXPECT_FALSE(read(below));
    std::ofstream(folder->file("empty"));
    EXPECT_THAT(read(folder->file("empty")).error().text(), HasSubstr("it ends at byte 0"));
}

TEST(CaptureRequest, NamesAKernelAndALaunch) {
    EXPECT_EQ(parse_request("step")->kernel, "step");
    EXPECT_EQ(parse_request("step")->launch, 1u);
    EXPECT_EQ(parse_request("step:12")->kernel, "step");
    EXPECT_EQ(parse_request("step:12")->launch, 12u);
    EXPECT_EQ(parse_request("ns::step")->kernel, "ns::step");
    EXPECT_EQ(parse_request("ns::step:3")->launch, 3u);
    for (const char* const wrong :
         {"", ":2", "step:", "step:0", "step:x", "step:2x", "step:99999999999999999999"})
        EXPECT_FALSE(parse_request(wrong)) << wrong;
}

TEST(CaptureRequest, MeansAKernelByAnyOfItsNames) {
    for (const char* const asked :
         {"_Z4stepIfEvPT_i", "void step<float>(float*, int)", "step<float>(float*, int)", "step<float>"})
        EXPECT_TRUE(names_kernel(asked, "_Z4stepIfEvPT_i", "void step<float>(float*, int)")) << asked;
    EXPECT_FALSE(names_kernel("step", "_Z4stepIfEvPT_i", "void step<float>(float*, int)"));
    EXPECT_FALSE(names_kernel("ste", "_Z4stepPf", "step(float*)"));
}

}  // namespace
}  // namespace trimtab::emulator::capture
