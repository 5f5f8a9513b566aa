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

// Where a box of an array begins.
struct ArrayCorner {
    cudaArray_const_t array = nullptr;
    std::size_t x_bytes = 0, y = 0;
};
std::expected<Side, cudaError_t> side_of(State& state, const ArrayCorner& corner, const Box& box) {
    const std::lock_guard lock(state.mutex);
    if (!state.arrays.contains(const_cast<cudaArray_t>(corner.array)))
        return std::unexpected(cudaErrorInvalidResourceHandle);
    if (!fits(*corner.array, corner.x_bytes, corner.y, 0, box)) return std::unexpected(cudaErrorInvalidValue);
    return in_array(*corner.array, corner.x_bytes, corner.y, 0);
}

cudaError_t to_array(const ArrayCorner& to, const Side& from, const Box& box, cudaMemcpyKind kind,
                     const Order& order) {
    return call([=](State& state) {
        if (box.width_bytes > from.pitch_bytes) return cudaErrorInvalidPitchValue;
        const auto side = side_of(state, to, box);
        return side ? copy(state, {*side, from, box, kind}, order) : side.error();
    });
}

cudaError_t from_array(const Side& to, const ArrayCorner& from, const Box& box, cudaMemcpyKind kind,
                       const Order& order) {
    return call([=](State& state) {
        if (box.width_bytes > to.pitch_bytes) return cudaErrorInvalidPitchValue;
        const auto side = side_of(state, from, box);
        return side ? copy(state, {to, *side, box, kind}, order) : side.error();
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

cudaError_t rows_to_array(const ArrayCorner& to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                          const Order& order) {
    return call([=](State& state) {
        const auto box = rows_of(state, to.array, to.x_bytes, bytes);
        return box ? to_array(to, linear(from, box->width_bytes), *box, kind, order) : box.error();
    });
}

cudaError_t rows_from_array(void* to, const ArrayCorner& from, std::size_t bytes, cudaMemcpyKind kind,
                            const Order& order) {
    return call([=](State& state) {
        const auto box = rows_of(state, from.array, from.x_bytes, bytes);
        return box ? from_array(linear(to, box->width_bytes), from, *box, kind, order) : box.error();
    });
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

TRIMTAB_TRANSFER(cudaError_t, cudaMemcpy2DToArray, cudaMemcpy2DToArrayAsync,
                 to_array({dst, wOffset, hOffset}, linear(src, spitch), {width, height}, kind, order),
                 cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t spitch,
                 size_t width, size_t height, cudaMemcpyKind kind);
TRIMTAB_TRANSFER(cudaError_t, cudaMemcpy2DFromArray, cudaMemcpy2DFromArrayAsync,
                 from_array(linear(dst, dpitch), {src, wOffset, hOffset}, {width, height}, kind, order),
                 void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                 size_t width, size_t height, cudaMemcpyKind kind);

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                     cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
    return call([=](State& state) {
        const Box box{.width_bytes = width, .height = height, .depth = 1};
        const auto to = side_of(state, {dst, wOffsetDst, hOffsetDst}, box);
        const auto from = side_of(state, {src, wOffsetSrc, hOffsetSrc}, box);
        if (!to || !from) return to ? from.error() : to.error();
        return copy(state, {*to, *from, box, kind}, {});
    });
}
TRIMTAB_SAME_AS(cudaMemcpy2DArrayToArray, cudaMemcpy2DArrayToArray_ptds);

TRIMTAB_TRANSFER(cudaError_t, cudaMemcpyToArray, cudaMemcpyToArrayAsync,
                 rows_to_array({dst, wOffset, hOffset}, src, count, kind, order), cudaArray_t dst,
                 size_t wOffset, size_t hOffset, const void* src, size_t count, cudaMemcpyKind kind);
TRIMTAB_TRANSFER(cudaError_t, cudaMemcpyFromArray, cudaMemcpyFromArrayAsync,
                 rows_from_array(dst, {src, wOffset, hOffset}, count, kind, order), void* dst,
                 cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count, cudaMemcpyKind kind);

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
