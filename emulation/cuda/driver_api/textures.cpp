// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Texture and surface objects of the driver API: the runtime's, described in the driver's structures.
#include <algorithm>
#include <cstring>

#include "emulation/cuda/driver_api/arrays.h"
#include "emulation/cuda/driver_api/call.h"

using namespace trimtab::cuda::driver;

namespace {

std::optional<cudaResourceDesc> to_runtime(const CUDA_RESOURCE_DESC& desc) {
    cudaResourceDesc out{};
    switch (desc.resType) {
        case CU_RESOURCE_TYPE_ARRAY:
            out.resType = cudaResourceTypeArray;
            out.res.array.array = reinterpret_cast<cudaArray_t>(desc.res.array.hArray);
            return out;
        case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
            out.resType = cudaResourceTypeMipmappedArray;
            out.res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(desc.res.mipmap.hMipmappedArray);
            return out;
        case CU_RESOURCE_TYPE_LINEAR: {
            const auto format = channels_of(desc.res.linear.format, desc.res.linear.numChannels);
            if (!format) return std::nullopt;
            out.resType = cudaResourceTypeLinear;
            out.res.linear.devPtr = host(desc.res.linear.devPtr);
            out.res.linear.desc = *format;
            out.res.linear.sizeInBytes = desc.res.linear.sizeInBytes;
            return out;
        }
        case CU_RESOURCE_TYPE_PITCH2D: {
            const auto format = channels_of(desc.res.pitch2D.format, desc.res.pitch2D.numChannels);
            if (!format) return std::nullopt;
            out.resType = cudaResourceTypePitch2D;
            out.res.pitch2D.devPtr = host(desc.res.pitch2D.devPtr);
            out.res.pitch2D.desc = *format;
            out.res.pitch2D.width = desc.res.pitch2D.width;
            out.res.pitch2D.height = desc.res.pitch2D.height;
            out.res.pitch2D.pitchInBytes = desc.res.pitch2D.pitchInBytes;
            return out;
        }
    }
    return std::nullopt;
}

CUDA_RESOURCE_DESC to_driver(const cudaResourceDesc& desc) {
    CUDA_RESOURCE_DESC out{};
    switch (desc.resType) {
        case cudaResourceTypeArray:
            out.resType = CU_RESOURCE_TYPE_ARRAY;
            out.res.array.hArray = reinterpret_cast<CUarray>(desc.res.array.array);
            break;
        case cudaResourceTypeMipmappedArray:
            out.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
            out.res.mipmap.hMipmappedArray = reinterpret_cast<CUmipmappedArray>(desc.res.mipmap.mipmap);
            break;
        case cudaResourceTypeLinear:
            out.resType = CU_RESOURCE_TYPE_LINEAR;
            out.res.linear.devPtr = reinterpret_cast<CUdeviceptr>(desc.res.linear.devPtr);
            out.res.linear.format = driver_format(desc.res.linear.desc);
            out.res.linear.numChannels = channel_count(desc.res.linear.desc);
            out.res.linear.sizeInBytes = desc.res.linear.sizeInBytes;
            break;
        case cudaResourceTypePitch2D:
            out.resType = CU_RESOURCE_TYPE_PITCH2D;
            out.res.pitch2D.devPtr = reinterpret_cast<CUdeviceptr>(desc.res.pitch2D.devPtr);
            out.res.pitch2D.format = driver_format(desc.res.pitch2D.desc);
            out.res.pitch2D.numChannels = channel_count(desc.res.pitch2D.desc);
            out.res.pitch2D.width = desc.res.pitch2D.width;
            out.res.pitch2D.height = desc.res.pitch2D.height;
            out.res.pitch2D.pitchInBytes = desc.res.pitch2D.pitchInBytes;
            break;
    }
    return out;
}

// 8 and 16-bit integers read as fractions, unless they are to be read as integers.
bool reads_fractions(const cudaResourceDesc& resource, unsigned flags) {
    if ((flags & CU_TRSF_READ_AS_INTEGER) != 0) return false;
    cudaChannelFormatDesc format{};
    switch (resource.resType) {
        case cudaResourceTypeArray:
            if (cudaGetChannelDesc(&format, resource.res.array.array) != cudaSuccess) return false;
            break;
        case cudaResourceTypeMipmappedArray: {
            cudaArray_t level = nullptr;
            if (cudaGetMipmappedArrayLevel(&level, resource.res.mipmap.mipmap, 0) != cudaSuccess ||
                cudaGetChannelDesc(&format, level) != cudaSuccess)
                return false;
            break;
        }
        case cudaResourceTypeLinear:
            format = resource.res.linear.desc;
            break;
        case cudaResourceTypePitch2D:
            format = resource.res.pitch2D.desc;
            break;
    }
    return format.f != cudaChannelFormatKindFloat && format.x < 32;
}

cudaTextureDesc to_runtime(const CUDA_TEXTURE_DESC& desc, const cudaResourceDesc& resource) {
    cudaTextureDesc out{};
    for (int i = 0; i < 3; ++i) out.addressMode[i] = static_cast<cudaTextureAddressMode>(desc.addressMode[i]);
    out.filterMode = static_cast<cudaTextureFilterMode>(desc.filterMode);
    out.readMode =
        reads_fractions(resource, desc.flags) ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    out.sRGB = (desc.flags & CU_TRSF_SRGB) != 0 ? 1 : 0;
    std::copy_n(desc.borderColor, 4, out.borderColor);
    out.normalizedCoords = (desc.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
    out.maxAnisotropy = desc.maxAnisotropy;
    out.mipmapFilterMode = static_cast<cudaTextureFilterMode>(desc.mipmapFilterMode);
    out.mipmapLevelBias = desc.mipmapLevelBias;
    out.minMipmapLevelClamp = desc.minMipmapLevelClamp;
    out.maxMipmapLevelClamp = desc.maxMipmapLevelClamp;
    out.disableTrilinearOptimization = (desc.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0 ? 1 : 0;
    out.seamlessCubemap = (desc.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0 ? 1 : 0;
    return out;
}

CUDA_TEXTURE_DESC to_driver(const cudaTextureDesc& desc) {
    CUDA_TEXTURE_DESC out{};
    for (int i = 0; i < 3; ++i) out.addressMode[i] = static_cast<CUaddress_mode>(desc.addressMode[i]);
    out.filterMode = static_cast<CUfilter_mode>(desc.filterMode);
    out.flags = (desc.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0U) |
                (desc.sRGB != 0 ? CU_TRSF_SRGB : 0U) |
                (desc.normalizedCoords != 0 ? CU_TRSF_NORMALIZED_COORDINATES : 0U);
    std::copy_n(desc.borderColor, 4, out.borderColor);
    out.maxAnisotropy = desc.maxAnisotropy;
    out.mipmapFilterMode = static_cast<CUfilter_mode>(desc.mipmapFilterMode);
    out.mipmapLevelBias = desc.mipmapLevelBias;
    out.minMipmapLevelClamp = desc.minMipmapLevelClamp;
    out.maxMipmapLevelClamp = desc.maxMipmapLevelClamp;
    return out;
}

}  // namespace

extern "C" {

CUresult cuTexObjectCreate(CUtexObject* pTexObject, const CUDA_RESOURCE_DESC* pResDesc,
                           const CUDA_TEXTURE_DESC* pTexDesc, const CUDA_RESOURCE_VIEW_DESC* pResViewDesc) {
    return context_call([=](State&) {
        if (pTexObject == nullptr || pResDesc == nullptr || pTexDesc == nullptr) return cudaErrorInvalidValue;
        const auto resource = to_runtime(*pResDesc);
        if (!resource) return cudaErrorInvalidValue;
        const cudaTextureDesc description = to_runtime(*pTexDesc, *resource);
        cudaResourceViewDesc view{};
        if (pResViewDesc != nullptr) {
            // Laid out alike, formats numbered alike.
            static_assert(sizeof(CUDA_RESOURCE_VIEW_DESC) == sizeof(cudaResourceViewDesc));
            std::memcpy(&view, pResViewDesc, sizeof view);
        }
        return cudaCreateTextureObject(pTexObject, &*resource, &description,
                                       pResViewDesc != nullptr ? &view : nullptr);
    });
}

CUresult cuTexObjectDestroy(CUtexObject texObject) {
    return forward(cudaDestroyTextureObject, texObject);
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUtexObject texObject) {
    return context_call([=](State&) {
        cudaResourceDesc desc{};
        if (pResDesc == nullptr) return cudaErrorInvalidValue;
        const cudaError_t status = cudaGetTextureObjectResourceDesc(&desc, texObject);
        if (status == cudaSuccess) *pResDesc = to_driver(desc);
        return status;
    });
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* pTexDesc, CUtexObject texObject) {
    return context_call([=](State&) {
        cudaTextureDesc desc{};
        if (pTexDesc == nullptr) return cudaErrorInvalidValue;
        const cudaError_t status = cudaGetTextureObjectTextureDesc(&desc, texObject);
        if (status == cudaSuccess) *pTexDesc = to_driver(desc);
        return status;
    });
}

CUresult cuSurfObjectCreate(CUsurfObject* pSurfObject, const CUDA_RESOURCE_DESC* pResDesc) {
    return context_call([=](State&) {
        if (pResDesc == nullptr) return cudaErrorInvalidValue;
        const auto resource = to_runtime(*pResDesc);
        return resource ? cudaCreateSurfaceObject(pSurfObject, &*resource) : cudaErrorInvalidValue;
    });
}

CUresult cuSurfObjectDestroy(CUsurfObject surfObject) {
    return forward(cudaDestroySurfaceObject, surfObject);
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUsurfObject surfObject) {
    return context_call([=](State&) {
        cudaResourceDesc desc{};
        if (pResDesc == nullptr) return cudaErrorInvalidValue;
        const cudaError_t status = cudaGetSurfaceObjectResourceDesc(&desc, surfObject);
        if (status == cudaSuccess) *pResDesc = to_driver(desc);
        return status;
    });
}

}  // extern "C"
