// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA arrays: allocation and copies.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "emulation/cuda/memory.h"
#include "emulation/cuda/runtime_api/alias.h"
#include "emulation/cuda/state.h"
#include "emulation/cuda/transfer.h"

using namespace trimtab::cuda;

namespace {

cudaError_t make_array(cudaArray_t* array, const cudaChannelFormatDesc* format, const cudaExtent& extent,
                       unsigned flags) {
    return call([=](State& state) {
        if (array == nullptr || format == nullptr || extent.width == 0) return cudaErrorInvalidValue;
        auto made = std::make_unique<cudaArray>();
        made->format = *format;
        made->extent = extent;
        made->flags = flags;
        made->device = this_thread().device;
        if (made->element_bytes() == 0) return cudaErrorInvalidChannelDescriptor;
        void* bytes = nullptr;
        const cudaError_t status = allocate(state, bytes, made->size_bytes(), MemoryKind::array, flags);
        if (status != cudaSuccess) return status;
        made->bytes = static_cast<std::byte*>(bytes);
        const std::lock_guard lock(state.mutex);
        *array = *state.arrays.insert(made.release()).first;
        return cudaSuccess;
    });
}

// A box of an array, checked; positions along a row are in bytes.
std::expected<Side, cudaError_t> side_of(State& state, cudaArray_const_t array, std::size_t x_bytes,
                                         std::size_t y, const Box& box) {
    const std::lock_guard lock(state.mutex);
    if (!state.arrays.contains(const_cast<cudaArray_t>(array)))
        return std::unexpected(cudaErrorInvalidResourceHandle);
    if (!fits(*array, x_bytes, y, 0, box)) return std::unexpected(cudaErrorInvalidValue);
    return in_array(*array, x_bytes, y, 0);
}

cudaError_t to_array(cudaArray_t to, std::size_t x_bytes, std::size_t y, const void* from, std::size_t pitch,
                     const Box& box, cudaMemcpyKind kind, cudaStream_t stream, bool synchronous) {
    return call([=](State& state) {
        if (box.width_bytes > pitch) return cudaErrorInvalidPitchValue;
        const auto side = side_of(state, to, x_bytes, y, box);
        if (!side) return side.error();
        return copy(state, *side, linear(from, pitch), box, kind, stream, synchronous);
    });
}

cudaError_t from_array(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x_bytes,
                       std::size_t y, const Box& box, cudaMemcpyKind kind, cudaStream_t stream,
                       bool synchronous) {
    return call([=](State& state) {
        if (box.width_bytes > pitch) return cudaErrorInvalidPitchValue;
        const auto side = side_of(state, from, x_bytes, y, box);
        if (!side) return side.error();
        return copy(state, linear(to, pitch), *side, box, kind, stream, synchronous);
    });
}

// The old calls copy so many bytes in row order, from a byte of a row on: here where they stay in whole rows
// or in one.
std::expected<Box, cudaError_t> rows_of(State& state, cudaArray_const_t array, std::size_t x_bytes,
                                        std::size_t bytes) {
    const std::lock_guard lock(state.mutex);
    if (!state.arrays.contains(const_cast<cudaArray_t>(array)))
        return std::unexpected(cudaErrorInvalidResourceHandle);
    const std::size_t row = array->row_bytes();
    if (x_bytes + bytes <= row) return Box{.width_bytes = bytes, .height = 1, .depth = 1};
    if (x_bytes != 0 || bytes % row != 0) return std::unexpected(cudaErrorNotSupported);
    return Box{.width_bytes = row, .height = bytes / row, .depth = 1};
}

}  // namespace

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width,
                            size_t height, unsigned flags) {
    return make_array(array, desc, {.width = width, .height = height, .depth = 0}, flags);
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
                              unsigned flags) {
    return make_array(array, desc, extent, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
    return call([=](State& state) {
        if (array == nullptr) return cudaSuccess;
        {
            const std::lock_guard lock(state.mutex);
            if (state.arrays.erase(array) == 0) return cudaErrorInvalidResourceHandle;
        }
        const std::unique_ptr<cudaArray> owned(array);
        return release(state, owned->bytes);
    });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
    return locked_call([=](State& state) {
        if (!state.arrays.contains(array)) return cudaErrorInvalidResourceHandle;
        if (desc != nullptr) *desc = array->format;
        if (extent != nullptr) *extent = array->extent;
        if (flags != nullptr) *flags = array->flags;
        return cudaSuccess;
    });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
    if (desc == nullptr) return finish(cudaErrorInvalidValue);
    return cudaArrayGetInfo(desc, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
    return {.x = x, .y = y, .z = z, .w = w, .f = f};
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src,
                                size_t spitch, size_t width, size_t height, cudaMemcpyKind kind) {
    return to_array(dst, wOffset, hOffset, src, spitch, {.width_bytes = width, .height = height, .depth = 1},
                    kind, nullptr, true);
}
TRIMTAB_SAME_AS(cudaMemcpy2DToArray, cudaMemcpy2DToArray_ptds);

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src,
                                     size_t spitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
    return to_array(dst, wOffset, hOffset, src, spitch, {.width_bytes = width, .height = height, .depth = 1},
                    kind, stream, false);
}
TRIMTAB_SAME_AS(cudaMemcpy2DToArrayAsync, cudaMemcpy2DToArrayAsync_ptsz);

cudaError_t cudaMemcpy2DFromArray(void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                  size_t hOffset, size_t width, size_t height, cudaMemcpyKind kind) {
    return from_array(dst, dpitch, src, wOffset, hOffset,
                      {.width_bytes = width, .height = height, .depth = 1}, kind, nullptr, true);
}
TRIMTAB_SAME_AS(cudaMemcpy2DFromArray, cudaMemcpy2DFromArray_ptds);

cudaError_t cudaMemcpy2DFromArrayAsync(void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                       size_t hOffset, size_t width, size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
    return from_array(dst, dpitch, src, wOffset, hOffset,
                      {.width_bytes = width, .height = height, .depth = 1}, kind, stream, false);
}
TRIMTAB_SAME_AS(cudaMemcpy2DFromArrayAsync, cudaMemcpy2DFromArrayAsync_ptsz);

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                     cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
    return call([=](State& state) {
        const Box box{.width_bytes = width, .height = height, .depth = 1};
        const auto to = side_of(state, dst, wOffsetDst, hOffsetDst, box);
        const auto from = side_of(state, src, wOffsetSrc, hOffsetSrc, box);
        if (!to || !from) return to ? from.error() : to.error();
        return copy(state, *to, *from, box, kind, nullptr, true);
    });
}
TRIMTAB_SAME_AS(cudaMemcpy2DArrayToArray, cudaMemcpy2DArrayToArray_ptds);

cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t count,
                              cudaMemcpyKind kind) {
    return call([=](State& state) {
        const auto box = rows_of(state, dst, wOffset, count);
        if (!box) return box.error();
        return to_array(dst, wOffset, hOffset, src, box->width_bytes, *box, kind, nullptr, true);
    });
}
TRIMTAB_SAME_AS(cudaMemcpyToArray, cudaMemcpyToArray_ptds);

cudaError_t cudaMemcpyFromArray(void* dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                size_t count, cudaMemcpyKind kind) {
    return call([=](State& state) {
        const auto box = rows_of(state, src, wOffset, count);
        if (!box) return box.error();
        return from_array(dst, box->width_bytes, src, wOffset, hOffset, *box, kind, nullptr, true);
    });
}
TRIMTAB_SAME_AS(cudaMemcpyFromArray, cudaMemcpyFromArray_ptds);

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src,
                                   size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
    return call([=](State& state) {
        const auto box = rows_of(state, dst, wOffset, count);
        if (!box) return box.error();
        return to_array(dst, wOffset, hOffset, src, box->width_bytes, *box, kind, stream, false);
    });
}
TRIMTAB_SAME_AS(cudaMemcpyToArrayAsync, cudaMemcpyToArrayAsync_ptsz);

cudaError_t cudaMemcpyFromArrayAsync(void* dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                     size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
    return call([=](State& state) {
        const auto box = rows_of(state, src, wOffset, count);
        if (!box) return box.error();
        return from_array(dst, box->width_bytes, src, wOffset, hOffset, *box, kind, stream, false);
    });
}
TRIMTAB_SAME_AS(cudaMemcpyFromArrayAsync, cudaMemcpyFromArrayAsync_ptsz);

cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                   cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc, size_t count,
                                   cudaMemcpyKind kind) {
    return call([=](State& state) {
        const auto box = rows_of(state, src, wOffsetSrc, count);
        if (!box) return box.error();
        return cudaMemcpy2DArrayToArray(dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc,
                                        box->width_bytes, box->height, kind);
    });
}
TRIMTAB_SAME_AS(cudaMemcpyArrayToArray, cudaMemcpyArrayToArray_ptds);

}  // extern "C"
