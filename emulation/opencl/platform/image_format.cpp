// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formats of images, and what the emulator's texture unit makes of them.
#include <algorithm>
#include <array>

#include "emulation/opencl/platform/memory.h"

namespace trimtab::opencl {
namespace {

using emulator::Channel;
using emulator::TexelFormat;

struct ChannelType {
    cl_channel_type type;
    TexelFormat::Kind kind;
    std::uint8_t bytes;
    bool is_normalized;
};
constexpr ChannelType channel_types[] = {{CL_SNORM_INT8, TexelFormat::Kind::signed_integer, 1, true},
                                         {CL_SNORM_INT16, TexelFormat::Kind::signed_integer, 2, true},
                                         {CL_UNORM_INT8, TexelFormat::Kind::unsigned_integer, 1, true},
                                         {CL_UNORM_INT16, TexelFormat::Kind::unsigned_integer, 2, true},
                                         {CL_SIGNED_INT8, TexelFormat::Kind::signed_integer, 1, false},
                                         {CL_SIGNED_INT16, TexelFormat::Kind::signed_integer, 2, false},
                                         {CL_SIGNED_INT32, TexelFormat::Kind::signed_integer, 4, false},
                                         {CL_UNSIGNED_INT8, TexelFormat::Kind::unsigned_integer, 1, false},
                                         {CL_UNSIGNED_INT16, TexelFormat::Kind::unsigned_integer, 2, false},
                                         {CL_UNSIGNED_INT32, TexelFormat::Kind::unsigned_integer, 4, false},
                                         {CL_HALF_FLOAT, TexelFormat::Kind::real, 2, false},
                                         {CL_FLOAT, TexelFormat::Kind::real, 4, false}};

struct ChannelOrder {
    cl_channel_order order;
    std::uint8_t channels;
    std::array<Channel, 4> read;  // what a kernel reads, of the texel's channels in memory
    bool has_alpha;
};
constexpr ChannelOrder channel_orders[] = {
    {CL_R, 1, {Channel::first, Channel::zero, Channel::zero, Channel::one}, false},
    {CL_A, 1, {Channel::zero, Channel::zero, Channel::zero, Channel::first}, true},
    {CL_INTENSITY, 1, {Channel::first, Channel::first, Channel::first, Channel::first}, true},
    {CL_LUMINANCE, 1, {Channel::first, Channel::first, Channel::first, Channel::one}, false},
    {CL_RG, 2, {Channel::first, Channel::second, Channel::zero, Channel::one}, false},
    {CL_RA, 2, {Channel::first, Channel::zero, Channel::zero, Channel::second}, true},
    {CL_RGBA, 4, {Channel::first, Channel::second, Channel::third, Channel::fourth}, true},
    {CL_BGRA, 4, {Channel::third, Channel::second, Channel::first, Channel::fourth}, true},
    {CL_ARGB, 4, {Channel::second, Channel::third, Channel::fourth, Channel::first}, true}};

const ChannelType* type_of(cl_channel_type type) {
    const auto* place = std::ranges::find(channel_types, type, &ChannelType::type);
    return place == std::end(channel_types) ? nullptr : place;
}

const ChannelOrder* order_of(cl_channel_order order) {
    const auto* place = std::ranges::find(channel_orders, order, &ChannelOrder::order);
    return place == std::end(channel_orders) ? nullptr : place;
}

}  // namespace

std::size_t texel_bytes(const cl_image_format& format) {
    const ChannelType* type = type_of(format.image_channel_data_type);
    const ChannelOrder* order = order_of(format.image_channel_order);
    return type == nullptr || order == nullptr ? 0 : std::size_t{type->bytes} * order->channels;
}

bool is_supported(const cl_image_format& format) {
    const ChannelType* type = type_of(format.image_channel_data_type);
    if (type == nullptr || order_of(format.image_channel_order) == nullptr) return false;
    switch (format.image_channel_order) {  // OpenCL 1.2, table 5.7
        case CL_INTENSITY:
        case CL_LUMINANCE:
            return type->is_normalized || type->kind == TexelFormat::Kind::real;
        case CL_BGRA:
        case CL_ARGB:
            return type->bytes == 1;
        default:
            return true;
    }
}

std::vector<cl_image_format> supported_formats() {
    std::vector<cl_image_format> out;
    for (const ChannelOrder& order : channel_orders) {
        for (const ChannelType& type : channel_types) {
            const cl_image_format format{.image_channel_order = order.order,
                                         .image_channel_data_type = type.type};
            if (is_supported(format)) out.push_back(format);
        }
    }
    return out;
}

emulator::Image emulated_image(const _cl_mem& memory) {
    const ImageLayout& layout = *memory.image;
    const ChannelType& type = *type_of(layout.format.image_channel_data_type);
    emulator::Image image;
    image.host = memory.bytes;
    image.format = {.kind = type.kind,
                    .channels = order_of(layout.format.image_channel_order)->channels,
                    .channel_bytes = type.bytes};
    image.width = static_cast<std::uint32_t>(layout.width);
    image.height = static_cast<std::uint32_t>(layout.height);
    image.depth = static_cast<std::uint32_t>(std::max(layout.depth, layout.layers));
    image.row_bytes = layout.row_bytes;
    image.slice_bytes = layout.slice_bytes;
    image.channel_order = layout.format.image_channel_order;
    image.channel_type = layout.format.image_channel_data_type;
    return image;
}

emulator::Texture emulated_texture(const _cl_mem& memory, std::uint32_t sampler) {
    using Address = emulator::Texture::Address;
    const ImageLayout& layout = *memory.image;
    const ChannelOrder& order = *order_of(layout.format.image_channel_order);
    emulator::Texture texture;
    texture.levels = {emulated_image(memory)};
    texture.channels = order.read;
    texture.normalized_values = type_of(layout.format.image_channel_data_type)->is_normalized;
    texture.normalized_coordinates = (sampler & 1) != 0;
    texture.linear_filter = (sampler & 0x20) != 0;
    switch (sampler & 0xe) {
        case 4:
            texture.address.fill(Address::border);
            break;
        case 6:
            texture.address.fill(Address::wrap);
            break;
        case 8:
            texture.address.fill(Address::mirror);
            break;
        default:
            texture.address.fill(Address::clamp);
    }
    texture.border = {0, 0, 0, order.has_alpha ? 0.0f : 1.0f};
    return texture;
}

const emulator::Texture* LaunchMemory::texture(std::uint64_t handle) const {
    const std::lock_guard lock(mutex_);
    if (const auto known = textures_.find(handle); known != textures_.end()) return &known->second;
    const _cl_mem* image = Images::instance().find(handle >> sampler_bits);
    if (image == nullptr) return nullptr;
    const auto bits = static_cast<std::uint32_t>(handle & ((std::uint64_t{1} << sampler_bits) - 1));
    return &textures_.emplace(handle, emulated_texture(*image, bits)).first->second;
}

const emulator::Surface* LaunchMemory::surface(std::uint64_t handle) const {
    const std::lock_guard lock(mutex_);
    if (const auto known = surfaces_.find(handle); known != surfaces_.end()) return &known->second;
    const _cl_mem* image = Images::instance().find(handle >> sampler_bits);
    if (image == nullptr) return nullptr;
    return &surfaces_.emplace(handle, emulator::Surface{.image = emulated_image(*image)}).first->second;
}

Images& Images::instance() {
    static Images& images = *new Images;
    return images;
}

std::uint64_t Images::add(_cl_mem& image) {
    const std::lock_guard lock(mutex_);
    images_[next_] = &image;
    return next_++;
}

void Images::remove(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    images_.erase(id);
}

_cl_mem* Images::find(std::uint64_t id) const {
    const std::lock_guard lock(mutex_);
    const auto place = images_.find(id);
    return place == images_.end() ? nullptr : place->second;
}

}  // namespace trimtab::opencl
