// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/driver_api/arrays.h"

#include <iterator>

#include "emulation/cuda/driver_api/call.h"

namespace trimtab::cuda::driver {

std::optional<cudaChannelFormatDesc> channels_of(CUarray_format format, unsigned channels) {
    int bits = 0;
    cudaChannelFormatKind kind = cudaChannelFormatKindUnsigned;
    switch (format) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
            bits = 8;
            break;
        case CU_AD_FORMAT_UNSIGNED_INT16:
            bits = 16;
            break;
        case CU_AD_FORMAT_UNSIGNED_INT32:
            bits = 32;
            break;
        case CU_AD_FORMAT_SIGNED_INT8:
            bits = 8;
            kind = cudaChannelFormatKindSigned;
            break;
        case CU_AD_FORMAT_SIGNED_INT16:
            bits = 16;
            kind = cudaChannelFormatKindSigned;
            break;
        case CU_AD_FORMAT_SIGNED_INT32:
            bits = 32;
            kind = cudaChannelFormatKindSigned;
            break;
        case CU_AD_FORMAT_HALF:
            bits = 16;
            kind = cudaChannelFormatKindFloat;
            break;
        case CU_AD_FORMAT_FLOAT:
            bits = 32;
            kind = cudaChannelFormatKindFloat;
            break;
        default:
            return std::nullopt;
    }
    if (channels != 1 && channels != 2 && channels != 4) return std::nullopt;
    return cudaChannelFormatDesc{.x = bits,
                                 .y = channels >= 2 ? bits : 0,
                                 .z = channels == 4 ? bits : 0,
                                 .w = channels == 4 ? bits : 0,
                                 .f = kind};
}

CUarray_format driver_format(const cudaChannelFormatDesc& desc) {
    if (desc.f == cudaChannelFormatKindFloat) return desc.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    const bool is_signed = desc.f == cudaChannelFormatKindSigned;
    if (desc.x == 8) return is_signed ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8;
    if (desc.x == 16) return is_signed ? CU_AD_FORMAT_SIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT16;
    return is_signed ? CU_AD_FORMAT_SIGNED_INT32 : CU_AD_FORMAT_UNSIGNED_INT32;
}

unsigned channel_count(const cudaChannelFormatDesc& desc) {
    unsigned count = 0;
    for (const int bits : {desc.x, desc.y, desc.z, desc.w}) count += bits != 0 ? 1 : 0;
    return count;
}

}  // namespace trimtab::cuda::driver

using namespace trimtab::cuda::driver;

namespace {

cudaArray_t as_runtime(CUarray array) {
    return reinterpret_cast<cudaArray_t>(array);
}
cudaMipmappedArray_t as_runtime(CUmipmappedArray array) {
    return reinterpret_cast<cudaMipmappedArray_t>(array);
}

CUresult describe(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray array) {
    return context_call([=](State&) {
        cudaChannelFormatDesc format{};
        cudaExtent extent{};
        unsigned flags = 0;
        if (out == nullptr) return cudaErrorInvalidValue;
        const cudaError_t status = cudaArrayGetInfo(&format, &extent, &flags, as_runtime(array));
        if (status == cudaSuccess)
            *out = {.Width = extent.width,
                    .Height = extent.height,
                    .Depth = extent.depth,
                    .Format = driver_format(format),
                    .NumChannels = channel_count(format),
                    .Flags = flags};
        return status;
    });
}

}  // namespace

extern "C" {

// The flags of both interfaces are the same numbers.
CUresult cuArray3DCreate_v2(CUarray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* p) {
    return context_call([=](State&) {
        if (pHandle == nullptr || p == nullptr) return cudaErrorInvalidValue;
        const auto format = channels_of(p->Format, p->NumChannels);
        if (!format) return cudaErrorInvalidValue;
        return cudaMalloc3DArray(reinterpret_cast<cudaArray_t*>(pHandle), &*format,
                                 {.width = p->Width, .height = p->Height, .depth = p->Depth}, p->Flags);
    });
}

CUresult cuArrayCreate_v2(CUarray* pHandle, const CUDA_ARRAY_DESCRIPTOR* p) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_ARRAY3D_DESCRIPTOR same{.Width = p->Width,
                                       .Height = p->Height,
                                       .Depth = 0,
                                       .Format = p->Format,
                                       .NumChannels = p->NumChannels,
                                       .Flags = 0};
    return cuArray3DCreate_v2(pHandle, &same);
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* pArrayDescriptor, CUarray hArray) {
    return describe(pArrayDescriptor, hArray);
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* pArrayDescriptor, CUarray hArray) {
    CUDA_ARRAY3D_DESCRIPTOR all{};
    if (pArrayDescriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = describe(&all, hArray);
    if (result == CUDA_SUCCESS)
        *pArrayDescriptor = {
            .Width = all.Width, .Height = all.Height, .Format = all.Format, .NumChannels = all.NumChannels};
    return result;
}

CUresult cuArrayDestroy(CUarray hArray) {
    return context_call([=](State&) {
        return hArray == nullptr ? cudaErrorInvalidResourceHandle : cudaFreeArray(as_runtime(hArray));
    });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* p,
                                unsigned numMipmapLevels) {
    return context_call([=](State&) {
        if (pHandle == nullptr || p == nullptr) return cudaErrorInvalidValue;
        const auto format = channels_of(p->Format, p->NumChannels);
        if (!format) return cudaErrorInvalidValue;
        return cudaMallocMipmappedArray(reinterpret_cast<cudaMipmappedArray_t*>(pHandle), &*format,
                                        {.width = p->Width, .height = p->Height, .depth = p->Depth},
                                        numMipmapLevels, p->Flags);
    });
}
CUresult cuMipmappedArrayGetLevel(CUarray* pLevelArray, CUmipmappedArray hMipmappedArray, unsigned level) {
    return context_call([=](State&) {
        return cudaGetMipmappedArrayLevel(reinterpret_cast<cudaArray_t*>(pLevelArray),
                                          as_runtime(hMipmappedArray), level);
    });
}
CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray) {
    return context_call([=](State&) { return cudaFreeMipmappedArray(as_runtime(hMipmappedArray)); });
}

}  // extern "C"
