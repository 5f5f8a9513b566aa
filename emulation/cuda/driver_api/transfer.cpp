// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies and fills through the driver API.
#include "emulation/cuda/transfer.h"

#include "emulation/cuda/driver_api/call.h"
#include "emulation/cuda/runtime_api/alias.h"

using namespace trimtab::cuda::driver;
using trimtab::cuda::Box;
using trimtab::cuda::linear;
using trimtab::cuda::Side;

namespace {

CUresult forward_linear(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, CUstream stream,
                        bool synchronous) {
    return context_call([=](State&) {
        return synchronous ? cudaMemcpy(to, from, bytes, kind)
                           : cudaMemcpyAsync(to, from, bytes, kind, stream);
    });
}

// One side of a copy between boxes, as the driver's structures give it.
struct Corner {
    CUmemorytype type;
    const void* host;
    CUdeviceptr device;
    CUarray array;
    std::size_t x_bytes, y, z, pitch_bytes, height;
};

std::expected<Side, CUresult> side_of(State& state, const Corner& corner, const Box& box) {
    if (corner.type == CU_MEMORYTYPE_ARRAY) {
        const std::lock_guard lock(state.mutex);
        auto* array = reinterpret_cast<cudaArray_t>(corner.array);
        if (!state.arrays.contains(array)) return std::unexpected(CUDA_ERROR_INVALID_HANDLE);
        if (!trimtab::cuda::fits(*array, corner.x_bytes, corner.y, corner.z, box))
            return std::unexpected(CUDA_ERROR_INVALID_VALUE);
        return trimtab::cuda::in_array(*array, corner.x_bytes, corner.y, corner.z);
    }
    const void* start = corner.type == CU_MEMORYTYPE_HOST ? corner.host : host(corner.device);
    if (corner.type < CU_MEMORYTYPE_HOST || corner.type > CU_MEMORYTYPE_UNIFIED || start == nullptr)
        return std::unexpected(CUDA_ERROR_INVALID_VALUE);
    // A pitch or height of zero is as good as the box's own.
    const std::size_t pitch = corner.pitch_bytes != 0 ? corner.pitch_bytes : corner.x_bytes + box.width_bytes;
    const std::size_t height = corner.height != 0 ? corner.height : corner.y + box.height;
    if (corner.x_bytes + box.width_bytes > pitch || (box.depth > 1 && corner.y + box.height > height))
        return std::unexpected(CUDA_ERROR_INVALID_VALUE);
    const std::size_t slice = pitch * height;
    return linear(static_cast<const std::byte*>(start) + corner.z * slice + corner.y * pitch + corner.x_bytes,
                  pitch, slice);
}

CUresult copy_box(const Corner& to, const Corner& from, const Box& box, CUstream stream, bool synchronous) {
    return context_call([&](State& state) {
        if (box.is_empty()) return CUDA_SUCCESS;
        const auto to_side = side_of(state, to, box);
        if (!to_side) return to_side.error();
        const auto from_side = side_of(state, from, box);
        if (!from_side) return from_side.error();
        return to_result(trimtab::cuda::call([&](State&) {
            return copy(state, *to_side, *from_side, box, cudaMemcpyDefault, stream, synchronous);
        }));
    });
}

CUresult copy_2d(const CUDA_MEMCPY2D* p, CUstream stream, bool synchronous) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return copy_box({.type = p->dstMemoryType,
                     .host = p->dstHost,
                     .device = p->dstDevice,
                     .array = p->dstArray,
                     .x_bytes = p->dstXInBytes,
                     .y = p->dstY,
                     .z = 0,
                     .pitch_bytes = p->dstPitch,
                     .height = 0},
                    {.type = p->srcMemoryType,
                     .host = p->srcHost,
                     .device = p->srcDevice,
                     .array = p->srcArray,
                     .x_bytes = p->srcXInBytes,
                     .y = p->srcY,
                     .z = 0,
                     .pitch_bytes = p->srcPitch,
                     .height = 0},
                    {.width_bytes = p->WidthInBytes, .height = p->Height, .depth = 1}, stream, synchronous);
}

// CUDA_MEMCPY3D, and CUDA_MEMCPY3D_PEER, whose contexts address the same memory.
template <typename Parameters>
CUresult copy_3d(const Parameters* p, CUstream stream, bool synchronous) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return copy_box({.type = p->dstMemoryType,
                     .host = p->dstHost,
                     .device = p->dstDevice,
                     .array = p->dstArray,
                     .x_bytes = p->dstXInBytes,
                     .y = p->dstY,
                     .z = p->dstZ,
                     .pitch_bytes = p->dstPitch,
                     .height = p->dstHeight},
                    {.type = p->srcMemoryType,
                     .host = p->srcHost,
                     .device = p->srcDevice,
                     .array = p->srcArray,
                     .x_bytes = p->srcXInBytes,
                     .y = p->srcY,
                     .z = p->srcZ,
                     .pitch_bytes = p->srcPitch,
                     .height = p->srcHeight},
                    {.width_bytes = p->WidthInBytes, .height = p->Height, .depth = p->Depth}, stream,
                    synchronous);
}

Corner in_array(CUarray array, std::size_t offset_bytes) {
    return {.type = CU_MEMORYTYPE_ARRAY,
            .host = nullptr,
            .device = 0,
            .array = array,
            .x_bytes = offset_bytes,
            .y = 0,
            .z = 0,
            .pitch_bytes = 0,
            .height = 0};
}

Corner in_memory(const void* pointer) {
    return {.type = CU_MEMORYTYPE_UNIFIED,
            .host = nullptr,
            .device = reinterpret_cast<CUdeviceptr>(pointer),
            .array = nullptr,
            .x_bytes = 0,
            .y = 0,
            .z = 0,
            .pitch_bytes = 0,
            .height = 0};
}

// Of a one-dimensional array, as these calls want it.
CUresult copy_row(const Corner& to, const Corner& from, std::size_t bytes, CUstream stream,
                  bool synchronous) {
    return copy_box(to, from, {.width_bytes = bytes, .height = 1, .depth = 1}, stream, synchronous);
}

CUresult fill(CUdeviceptr to, std::size_t pitch, unsigned value, unsigned value_bytes, std::size_t width,
              std::size_t height, CUstream stream, bool synchronous) {
    return context_call([=](State& state) {
        if (to % value_bytes != 0) return cudaErrorInvalidValue;
        if (height > 1 && (pitch < width * value_bytes || pitch % value_bytes != 0))
            return cudaErrorInvalidValue;
        return trimtab::cuda::call([&](State&) {
            return trimtab::cuda::fill(state, linear(host(to), pitch),
                                       {.width_bytes = width * value_bytes, .height = height, .depth = 1},
                                       value, value_bytes, stream, synchronous);
        });
    });
}

}  // namespace

extern "C" {

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t byteCount) {
    return forward_linear(host(dst), host(src), byteCount, cudaMemcpyDefault, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemcpy, cuMemcpy_ptds);
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t byteCount, CUstream hStream) {
    return forward_linear(host(dst), host(src), byteCount, cudaMemcpyDefault, hStream, false);
}
TRIMTAB_SAME_AS(cuMemcpyAsync, cuMemcpyAsync_ptsz);
CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext, CUdeviceptr srcDevice, CUcontext, size_t byteCount) {
    return forward_linear(host(dstDevice), host(srcDevice), byteCount, cudaMemcpyDefault, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemcpyPeer, cuMemcpyPeer_ptds);
CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext, CUdeviceptr srcDevice, CUcontext,
                           size_t byteCount, CUstream hStream) {
    return forward_linear(host(dstDevice), host(srcDevice), byteCount, cudaMemcpyDefault, hStream, false);
}
TRIMTAB_SAME_AS(cuMemcpyPeerAsync, cuMemcpyPeerAsync_ptsz);

CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void* srcHost, size_t byteCount) {
    return forward_linear(host(dstDevice), srcHost, byteCount, cudaMemcpyHostToDevice, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void* srcHost, size_t byteCount,
                              CUstream hStream) {
    return forward_linear(host(dstDevice), srcHost, byteCount, cudaMemcpyHostToDevice, hStream, false);
}
TRIMTAB_SAME_AS(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz);
CUresult cuMemcpyDtoH_v2(void* dstHost, CUdeviceptr srcDevice, size_t byteCount) {
    return forward_linear(dstHost, host(srcDevice), byteCount, cudaMemcpyDeviceToHost, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds);
CUresult cuMemcpyDtoHAsync_v2(void* dstHost, CUdeviceptr srcDevice, size_t byteCount, CUstream hStream) {
    return forward_linear(dstHost, host(srcDevice), byteCount, cudaMemcpyDeviceToHost, hStream, false);
}
TRIMTAB_SAME_AS(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz);
CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t byteCount) {
    return forward_linear(host(dstDevice), host(srcDevice), byteCount, cudaMemcpyDeviceToDevice, nullptr,
                          true);
}
TRIMTAB_SAME_AS(cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t byteCount,
                              CUstream hStream) {
    return forward_linear(host(dstDevice), host(srcDevice), byteCount, cudaMemcpyDeviceToDevice, hStream,
                          false);
}
TRIMTAB_SAME_AS(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz);

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* pCopy) {
    return copy_2d(pCopy, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemcpy2D_v2, cuMemcpy2D_v2_ptds);
TRIMTAB_SAME_AS(cuMemcpy2D_v2, cuMemcpy2DUnaligned_v2);
TRIMTAB_SAME_AS(cuMemcpy2D_v2, cuMemcpy2DUnaligned_v2_ptds);
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* pCopy, CUstream hStream) {
    return copy_2d(pCopy, hStream, false);
}
TRIMTAB_SAME_AS(cuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2_ptsz);
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* pCopy) {
    return copy_3d(pCopy, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemcpy3D_v2, cuMemcpy3D_v2_ptds);
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* pCopy, CUstream hStream) {
    return copy_3d(pCopy, hStream, false);
}
TRIMTAB_SAME_AS(cuMemcpy3DAsync_v2, cuMemcpy3DAsync_v2_ptsz);
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* pCopy) {
    return copy_3d(pCopy, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemcpy3DPeer, cuMemcpy3DPeer_ptds);
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* pCopy, CUstream hStream) {
    return copy_3d(pCopy, hStream, false);
}
TRIMTAB_SAME_AS(cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync_ptsz);

CUresult cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t byteCount) {
    return copy_row(in_array(dstArray, dstOffset), in_memory(host(srcDevice)), byteCount, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemcpyDtoA_v2, cuMemcpyDtoA_v2_ptds);
CUresult cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t byteCount) {
    return copy_row(in_memory(host(dstDevice)), in_array(srcArray, srcOffset), byteCount, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemcpyAtoD_v2, cuMemcpyAtoD_v2_ptds);
CUresult cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void* srcHost, size_t byteCount) {
    return copy_row(in_array(dstArray, dstOffset), in_memory(srcHost), byteCount, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemcpyHtoA_v2, cuMemcpyHtoA_v2_ptds);
CUresult cuMemcpyAtoH_v2(void* dstHost, CUarray srcArray, size_t srcOffset, size_t byteCount) {
    return copy_row(in_memory(dstHost), in_array(srcArray, srcOffset), byteCount, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemcpyAtoH_v2, cuMemcpyAtoH_v2_ptds);
CUresult cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
                         size_t byteCount) {
    return copy_row(in_array(dstArray, dstOffset), in_array(srcArray, srcOffset), byteCount, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemcpyAtoA_v2, cuMemcpyAtoA_v2_ptds);
CUresult cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void* srcHost, size_t byteCount,
                              CUstream hStream) {
    return copy_row(in_array(dstArray, dstOffset), in_memory(srcHost), byteCount, hStream, false);
}
TRIMTAB_SAME_AS(cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync_v2_ptsz);
CUresult cuMemcpyAtoHAsync_v2(void* dstHost, CUarray srcArray, size_t srcOffset, size_t byteCount,
                              CUstream hStream) {
    return copy_row(in_memory(dstHost), in_array(srcArray, srcOffset), byteCount, hStream, false);
}
TRIMTAB_SAME_AS(cuMemcpyAtoHAsync_v2, cuMemcpyAtoHAsync_v2_ptsz);

CUresult cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N) {
    return fill(dstDevice, 0, uc, 1, N, 1, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemsetD8_v2, cuMemsetD8_v2_ptds);
CUresult cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N) {
    return fill(dstDevice, 0, us, 2, N, 1, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemsetD16_v2, cuMemsetD16_v2_ptds);
CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned ui, size_t N) {
    return fill(dstDevice, 0, ui, 4, N, 1, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemsetD32_v2, cuMemsetD32_v2_ptds);
CUresult cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t width,
                         size_t height) {
    return fill(dstDevice, dstPitch, uc, 1, width, height, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemsetD2D8_v2, cuMemsetD2D8_v2_ptds);
CUresult cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t width,
                          size_t height) {
    return fill(dstDevice, dstPitch, us, 2, width, height, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemsetD2D16_v2, cuMemsetD2D16_v2_ptds);
CUresult cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned ui, size_t width, size_t height) {
    return fill(dstDevice, dstPitch, ui, 4, width, height, nullptr, true);
}
TRIMTAB_SAME_AS(cuMemsetD2D32_v2, cuMemsetD2D32_v2_ptds);
CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream) {
    return fill(dstDevice, 0, uc, 1, N, 1, hStream, false);
}
TRIMTAB_SAME_AS(cuMemsetD8Async, cuMemsetD8Async_ptsz);
CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream) {
    return fill(dstDevice, 0, us, 2, N, 1, hStream, false);
}
TRIMTAB_SAME_AS(cuMemsetD16Async, cuMemsetD16Async_ptsz);
CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned ui, size_t N, CUstream hStream) {
    return fill(dstDevice, 0, ui, 4, N, 1, hStream, false);
}
TRIMTAB_SAME_AS(cuMemsetD32Async, cuMemsetD32Async_ptsz);
CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t width,
                           size_t height, CUstream hStream) {
    return fill(dstDevice, dstPitch, uc, 1, width, height, hStream, false);
}
TRIMTAB_SAME_AS(cuMemsetD2D8Async, cuMemsetD2D8Async_ptsz);
CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t width,
                            size_t height, CUstream hStream) {
    return fill(dstDevice, dstPitch, us, 2, width, height, hStream, false);
}
TRIMTAB_SAME_AS(cuMemsetD2D16Async, cuMemsetD2D16Async_ptsz);
CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned ui, size_t width, size_t height,
                            CUstream hStream) {
    return fill(dstDevice, dstPitch, ui, 4, width, height, hStream, false);
}
TRIMTAB_SAME_AS(cuMemsetD2D32Async, cuMemsetD2D32Async_ptsz);

}  // extern "C"
