// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Texture and surface objects: made of arrays, mipmapped arrays, linear and pitched memory.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "emulation/cuda/memory.h"
#include "emulation/cuda/state.h"

using namespace trimtab::cuda;
using trimtab::emulator::Image;
using trimtab::emulator::TexelFormat;
using trimtab::emulator::Texture;

namespace {

// Channels are alike in width; 3 of them are no texel.
std::expected<TexelFormat, cudaError_t> format_of(const cudaChannelFormatDesc& desc) {
    const int bits[] = {desc.x, desc.y, desc.z, desc.w};
    const auto channels = std::find(std::begin(bits), std::end(bits), 0) - std::begin(bits);
    const bool alike = std::all_of(bits, bits + channels, [&](int value) { return value == desc.x; });
    if (!alike || (channels != 1 && channels != 2 && channels != 4) ||
        (desc.x != 8 && desc.x != 16 && desc.x != 32))
        return std::unexpected(cudaErrorInvalidChannelDescriptor);
    TexelFormat out{.kind = TexelFormat::Kind::real,
                    .channels = static_cast<std::uint8_t>(channels),
                    .channel_bytes = static_cast<std::uint8_t>(desc.x / 8)};
    switch (desc.f) {
        case cudaChannelFormatKindSigned:
            out.kind = TexelFormat::Kind::signed_integer;
            return out;
        case cudaChannelFormatKindUnsigned:
            out.kind = TexelFormat::Kind::unsigned_integer;
            return out;
        case cudaChannelFormatKindFloat:
            if (desc.x == 8) break;
            return out;
        default:
            break;
    }
    return std::unexpected(cudaErrorInvalidChannelDescriptor);
}

std::expected<Image, cudaError_t> image_of(const cudaArray& array) {
    const auto format = format_of(array.format);
    if (!format) return std::unexpected(format.error());
    return Image{.host = array.bytes,
                 .format = *format,
                 .width = static_cast<std::uint32_t>(array.extent.width),
                 .height = static_cast<std::uint32_t>(array.rows()),
                 .depth = static_cast<std::uint32_t>(array.planes()),
                 .row_bytes = array.row_bytes(),
                 .slice_bytes = array.row_bytes() * array.rows()};
}

std::expected<Image, cudaError_t> image_of(const State& state, const cudaChannelFormatDesc& desc,
                                           void* pointer, std::size_t width, std::size_t height,
                                           std::size_t row_bytes) {
    const auto format = format_of(desc);
    if (!format) return std::unexpected(format.error());
    const std::size_t reach = (height - 1) * row_bytes + width * format->bytes();
    const auto allocation = state.heap.find(pointer);
    const bool is_memory =
        allocation && reach <= allocation->end() - reinterpret_cast<std::uint64_t>(pointer);
    if (width == 0 || height == 0 || (!is_memory && state.modules.variable_bytes_at(pointer) < reach))
        return std::unexpected(cudaErrorInvalidValue);
    return Image{.host = static_cast<std::byte*>(pointer),
                 .format = *format,
                 .width = static_cast<std::uint32_t>(width),
                 .height = static_cast<std::uint32_t>(height),
                 .depth = 1,
                 .row_bytes = row_bytes,
                 .slice_bytes = 0};
}

// What the resource holds: one image, or one a mipmap level. With State::mutex.
std::expected<std::vector<Image>, cudaError_t> images_of(const State& state,
                                                         const cudaResourceDesc& resource) {
    std::vector<Image> out;
    const auto add = [&out](const std::expected<Image, cudaError_t>& image) {
        if (image) out.push_back(*image);
        return image ? cudaSuccess : image.error();
    };
    cudaError_t status = cudaErrorInvalidValue;
    switch (resource.resType) {
        case cudaResourceTypeArray:
            if (!state.arrays.contains(resource.res.array.array))
                return std::unexpected(cudaErrorInvalidResourceHandle);
            status = add(image_of(*resource.res.array.array));
            break;
        case cudaResourceTypeMipmappedArray:
            if (!state.mipmapped_arrays.contains(resource.res.mipmap.mipmap))
                return std::unexpected(cudaErrorInvalidResourceHandle);
            for (cudaArray* level : resource.res.mipmap.mipmap->levels) {
                if (status = add(image_of(*level)); status != cudaSuccess) break;
            }
            break;
        case cudaResourceTypeLinear: {
            const auto& linear = resource.res.linear;
            const auto format = format_of(linear.desc);
            if (!format) return std::unexpected(format.error());
            status = add(image_of(state, linear.desc, linear.devPtr, linear.sizeInBytes / format->bytes(), 1,
                                  linear.sizeInBytes));
            break;
        }
        case cudaResourceTypePitch2D: {
            const auto& pitched = resource.res.pitch2D;
            if (pitched.height == 0) return std::unexpected(cudaErrorInvalidValue);
            status = add(image_of(state, pitched.desc, pitched.devPtr, pitched.width, pitched.height,
                                  pitched.pitchInBytes));
            break;
        }
    }
    if (status != cudaSuccess) return std::unexpected(status);
    return out;
}

// The part of the levels and layers that a view shows. The texels are as the resource has them.
cudaError_t apply(const cudaResourceViewDesc& view, std::vector<Image>& levels) {
    if (view.firstMipmapLevel > view.lastMipmapLevel || view.lastMipmapLevel >= levels.size() ||
        view.firstLayer > view.lastLayer)
        return cudaErrorInvalidValue;
    levels.erase(levels.begin() + view.lastMipmapLevel + 1, levels.end());
    levels.erase(levels.begin(), levels.begin() + view.firstMipmapLevel);
    if (view.firstLayer == 0 && view.lastLayer == 0) return cudaSuccess;
    for (Image& image : levels) {
        if (view.lastLayer >= image.depth) return cudaErrorInvalidValue;
        image.host += view.firstLayer * image.slice_bytes;
        image.depth = view.lastLayer - view.firstLayer + 1;
    }
    return cudaSuccess;
}

Texture::Address address_of(cudaTextureAddressMode mode) {
    switch (mode) {
        case cudaAddressModeWrap:
            return Texture::Address::wrap;
        case cudaAddressModeMirror:
            return Texture::Address::mirror;
        case cudaAddressModeBorder:
            return Texture::Address::border;
        case cudaAddressModeClamp:
            break;
    }
    return Texture::Address::clamp;
}

std::expected<Texture, cudaError_t> texture_of(std::vector<Image> levels, const cudaTextureDesc& desc) {
    const TexelFormat& format = levels.front().format;
    const bool is_real = format.kind == TexelFormat::Kind::real;
    const bool normalized_values = desc.readMode == cudaReadModeNormalizedFloat && !is_real;
    if (normalized_values && format.channel_bytes == 4) return std::unexpected(cudaErrorInvalidNormSetting);
    if (desc.filterMode == cudaFilterModeLinear && !is_real && !normalized_values)
        return std::unexpected(cudaErrorInvalidFilterSetting);
    Texture out;
    out.levels = std::move(levels);
    for (std::size_t i = 0; i < 3; ++i) {
        out.address[i] = address_of(desc.addressMode[i]);
        // Wrapping and mirroring are of normalized coordinates alone: without them, they clamp.
        if (desc.normalizedCoords == 0 &&
            (out.address[i] == Texture::Address::wrap || out.address[i] == Texture::Address::mirror))
            out.address[i] = Texture::Address::clamp;
    }
    out.linear_filter = desc.filterMode == cudaFilterModeLinear;
    out.linear_level_filter = desc.mipmapFilterMode == cudaFilterModeLinear;
    out.normalized_coordinates = desc.normalizedCoords != 0;
    out.normalized_values = normalized_values;
    out.srgb = desc.sRGB != 0;
    std::copy_n(desc.borderColor, 4, out.border.begin());
    out.level_bias = desc.mipmapLevelBias;
    out.least_level = desc.minMipmapLevelClamp;
    // A description filled with zeros allows the first level alone.
    out.greatest_level = desc.maxMipmapLevelClamp;
    return out;
}

template <typename T>
cudaError_t give(T* out, const T& value) {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = value;
    return cudaSuccess;
}

template <typename Body>
cudaError_t on_texture(cudaTextureObject_t handle, const Body& body) {
    return call([&](State& state) {
        const TextureObject* object = state.textures.texture(handle);
        return object == nullptr ? cudaErrorInvalidValue : body(*object);
    });
}

}  // namespace

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* pTexObject, const cudaResourceDesc* pResDesc,
                                    const cudaTextureDesc* pTexDesc,
                                    const cudaResourceViewDesc* pResViewDesc) {
    return locked_call([=](State& state) {
        if (pTexObject == nullptr || pResDesc == nullptr || pTexDesc == nullptr) return cudaErrorInvalidValue;
        auto levels = images_of(state, *pResDesc);
        if (!levels) return levels.error();
        TextureObject object{
            .texture = {}, .resource = *pResDesc, .description = *pTexDesc, .view = {}, .has_view = false};
        if (pResViewDesc != nullptr) {
            if (const cudaError_t status = apply(*pResViewDesc, *levels); status != cudaSuccess)
                return status;
            object.view = *pResViewDesc;
            object.has_view = true;
        }
        auto texture = texture_of(std::move(*levels), *pTexDesc);
        if (!texture) return texture.error();
        object.texture = std::move(*texture);
        *pTexObject = state.textures.add(std::move(object));
        return cudaSuccess;
    });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texObject) {
    return call([=](State& state) {
        wait_for_all(state);
        return texObject == 0 || state.textures.remove_texture(texObject) ? cudaSuccess
                                                                          : cudaErrorInvalidValue;
    });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* pResDesc, cudaTextureObject_t texObject) {
    return on_texture(texObject,
                      [=](const TextureObject& object) { return give(pResDesc, object.resource); });
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* pTexDesc, cudaTextureObject_t texObject) {
    return on_texture(texObject,
                      [=](const TextureObject& object) { return give(pTexDesc, object.description); });
}
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* pResViewDesc,
                                                 cudaTextureObject_t texObject) {
    return on_texture(texObject, [=](const TextureObject& object) {
        return object.has_view ? give(pResViewDesc, object.view) : cudaErrorInvalidValue;
    });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* pSurfObject, const cudaResourceDesc* pResDesc) {
    return locked_call([=](State& state) {
        if (pSurfObject == nullptr || pResDesc == nullptr || pResDesc->resType != cudaResourceTypeArray)
            return cudaErrorInvalidValue;
        cudaArray_t array = pResDesc->res.array.array;
        if (!state.arrays.contains(array)) return cudaErrorInvalidResourceHandle;
        if ((array->flags & cudaArraySurfaceLoadStore) == 0) return cudaErrorInvalidValue;
        const auto image = image_of(*array);
        if (!image) return image.error();
        *pSurfObject = state.textures.add(SurfaceObject{.surface = {.image = *image}, .resource = *pResDesc});
        return cudaSuccess;
    });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surfObject) {
    return call([=](State& state) {
        wait_for_all(state);
        return surfObject == 0 || state.textures.remove_surface(surfObject) ? cudaSuccess
                                                                            : cudaErrorInvalidValue;
    });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* pResDesc, cudaSurfaceObject_t surfObject) {
    return call([=](State& state) {
        const SurfaceObject* object = state.textures.surface(surfObject);
        return object == nullptr ? cudaErrorInvalidValue : give(pResDesc, object->resource);
    });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* maxWidthInElements,
                                                 const cudaChannelFormatDesc* fmtDesc, int device) {
    return query([=](const State& state) {
        if (maxWidthInElements == nullptr || fmtDesc == nullptr) return cudaErrorInvalidValue;
        if (device < 0 || static_cast<std::size_t>(device) >= state.devices.size())
            return cudaErrorInvalidDevice;
        const auto format = format_of(*fmtDesc);
        if (!format) return format.error();
        // Compute capability 5.0 and later (CUDA C++ Programming Guide, technical specifications): 2^28
        // texels.
        *maxWidthInElements = std::size_t{1} << 28;
        return cudaSuccess;
    });
}

}  // extern "C"
