// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies and fills through the driver API.
#include "emulation/cuda/transfer.h"

#include "emulation/cuda/driver_api/call.h"
#include "emulation/cuda/runtime_api/alias.h"

using namespace trimtab::cuda::driver;
using trimtab::cuda::Box;
using trimtab::cuda::linear;
using trimtab::cuda::Order;
using trimtab::cuda::Side;

namespace {

// One side of a copy between boxes, as the driver's structures give it.
struct Corner {
    CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
    const void* host = nullptr;
    CUdeviceptr device = 0;
    CUarray array = nullptr;
    std::size_t x_bytes = 0, y = 0, z = 0, pitch_bytes = 0, height = 0;
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

CUresult copy_box(const Corner& to, const Corner& from, const Box& box, const Order& order) {
    return context_call([&](State& state) {
        if (box.is_empty()) return CUDA_SUCCESS;
        const auto to_side = side_of(state, to, box);
        if (!to_side) return to_side.error();
        const auto from_side = side_of(state, from, box);
        if (!from_side) return from_side.error();
        return to_result(trimtab::cuda::call(
            [&](State&) { return copy(state, {*to_side, *from_side, box, cudaMemcpyDefault}, order); }));
    });
}

// CUDA_MEMCPY2D, CUDA_MEMCPY3D, and CUDA_MEMCPY3D_PEER, whose contexts address the same memory.
template <typename Parameters>
CUresult copy_given(const Parameters* p, const Order& order) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Corner to{p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstXInBytes,
              p->dstY,          0,          p->dstPitch};
    Corner from{p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcXInBytes,
                p->srcY,          0,          p->srcPitch};
    Box box{.width_bytes = p->WidthInBytes, .height = p->Height};
    if constexpr (requires { p->Depth; }) {
        to.z = p->dstZ;
        to.height = p->dstHeight;
        from.z = p->srcZ;
        from.height = p->srcHeight;
        box.depth = p->Depth;
    }
    return copy_box(to, from, box, order);
}

Corner array_corner(CUarray array, std::size_t offset_bytes) {
    return {.type = CU_MEMORYTYPE_ARRAY, .array = array, .x_bytes = offset_bytes};
}
Corner memory_corner(const void* pointer) {
    return {.device = reinterpret_cast<CUdeviceptr>(pointer)};
}
// Of a one-dimensional array, as these calls want it.
CUresult copy_row(const Corner& to, const Corner& from, std::size_t bytes, const Order& order) {
    return copy_box(to, from, {.width_bytes = bytes}, order);
}

CUresult forward_linear(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                        const Order& order) {
    return context_call([&](State&) {
        return order.host_waits ? cudaMemcpy(to, from, bytes, kind)
                                : cudaMemcpyAsync(to, from, bytes, kind, order.stream);
    });
}

// Of `count` values of `value`'s type a row.
template <typename Value>
CUresult fill(CUdeviceptr to, std::size_t pitch, Value value, std::size_t count, std::size_t height,
              const Order& order) {
    return context_call([&](State& state) {
        const std::size_t width = count * sizeof value;
        if (to % sizeof value != 0 || (height > 1 && (pitch < width || pitch % sizeof value != 0)))
            return cudaErrorInvalidValue;
        return trimtab::cuda::call([&](State&) {
            return trimtab::cuda::fill(state, {linear(host(to), pitch), {width, height}, value, sizeof value},
                                       order);
        });
    });
}

}  // namespace

extern "C" {

TRIMTAB_TRANSFER(CUresult, cuMemcpy, cuMemcpyAsync,
                 forward_linear(host(to), host(from), bytes, cudaMemcpyDefault, order), CUdeviceptr to,
                 CUdeviceptr from, size_t bytes);
TRIMTAB_TRANSFER(CUresult, cuMemcpyPeer, cuMemcpyPeerAsync,
                 forward_linear(host(to), host(from), bytes, cudaMemcpyDefault, order), CUdeviceptr to,
                 CUcontext, CUdeviceptr from, CUcontext, size_t bytes);
TRIMTAB_TRANSFER(CUresult, cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2,
                 forward_linear(host(to), from, bytes, cudaMemcpyHostToDevice, order), CUdeviceptr to,
                 const void* from, size_t bytes);
TRIMTAB_TRANSFER(CUresult, cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2,
                 forward_linear(to, host(from), bytes, cudaMemcpyDeviceToHost, order), void* to,
                 CUdeviceptr from, size_t bytes);
TRIMTAB_TRANSFER(CUresult, cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2,
                 forward_linear(host(to), host(from), bytes, cudaMemcpyDeviceToDevice, order), CUdeviceptr to,
                 CUdeviceptr from, size_t bytes);

TRIMTAB_TRANSFER(CUresult, cuMemcpy2D_v2, cuMemcpy2DAsync_v2, copy_given(p, order), const CUDA_MEMCPY2D* p);
TRIMTAB_SAME_AS(cuMemcpy2D_v2, cuMemcpy2DUnaligned_v2);
TRIMTAB_SAME_AS(cuMemcpy2D_v2, cuMemcpy2DUnaligned_v2_ptds);
TRIMTAB_TRANSFER(CUresult, cuMemcpy3D_v2, cuMemcpy3DAsync_v2, copy_given(p, order), const CUDA_MEMCPY3D* p);
TRIMTAB_TRANSFER(CUresult, cuMemcpy3DPeer, cuMemcpy3DPeerAsync, copy_given(p, order),
                 const CUDA_MEMCPY3D_PEER* p);

TRIMTAB_TRANSFER(CUresult, cuMemcpyHtoA_v2, cuMemcpyHtoAAsync_v2,
                 copy_row(array_corner(to, at), memory_corner(from), bytes, order), CUarray to, size_t at,
                 const void* from, size_t bytes);
TRIMTAB_TRANSFER(CUresult, cuMemcpyAtoH_v2, cuMemcpyAtoHAsync_v2,
                 copy_row(memory_corner(to), array_corner(from, at), bytes, order), void* to, CUarray from,
                 size_t at, size_t bytes);
CUresult cuMemcpyDtoA_v2(CUarray to, size_t at, CUdeviceptr from, size_t bytes) {
    return copy_row(array_corner(to, at), memory_corner(host(from)), bytes, {});
}
TRIMTAB_SAME_AS(cuMemcpyDtoA_v2, cuMemcpyDtoA_v2_ptds);
CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t at, size_t bytes) {
    return copy_row(memory_corner(host(to)), array_corner(from, at), bytes, {});
}
TRIMTAB_SAME_AS(cuMemcpyAtoD_v2, cuMemcpyAtoD_v2_ptds);
CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_at, CUarray from, size_t from_at, size_t bytes) {
    return copy_row(array_corner(to, to_at), array_corner(from, from_at), bytes, {});
}
TRIMTAB_SAME_AS(cuMemcpyAtoA_v2, cuMemcpyAtoA_v2_ptds);

TRIMTAB_TRANSFER(CUresult, cuMemsetD8_v2, cuMemsetD8Async, fill(to, 0, value, count, 1, order),
                 CUdeviceptr to, unsigned char value, size_t count);
TRIMTAB_TRANSFER(CUresult, cuMemsetD16_v2, cuMemsetD16Async, fill(to, 0, value, count, 1, order),
                 CUdeviceptr to, unsigned short value, size_t count);
TRIMTAB_TRANSFER(CUresult, cuMemsetD32_v2, cuMemsetD32Async, fill(to, 0, value, count, 1, order),
                 CUdeviceptr to, unsigned value, size_t count);
TRIMTAB_TRANSFER(CUresult, cuMemsetD2D8_v2, cuMemsetD2D8Async, fill(to, pitch, value, width, height, order),
                 CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height);
TRIMTAB_TRANSFER(CUresult, cuMemsetD2D16_v2, cuMemsetD2D16Async, fill(to, pitch, value, width, height, order),
                 CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height);
TRIMTAB_TRANSFER(CUresult, cuMemsetD2D32_v2, cuMemsetD2D32Async, fill(to, pitch, value, width, height, order),
                 CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height);

}  // extern "C"
