// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cudaMemcpy in its linear, pitched, boxed and peer forms, and cudaMemset.
#include <cuda_runtime_api.h>

#include "emulation/cuda/runtime_api/alias.h"
#include "emulation/cuda/state.h"
#include "emulation/cuda/transfer.h"

using namespace trimtab::cuda;

namespace {

cudaError_t copy_linear(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                        const Order& order) {
    return call([=](State& state) { return copy(state, linear_copy(to, from, bytes, kind), order); });
}

cudaError_t copy_pitched(const Side& to, const Side& from, const Box& box, cudaMemcpyKind kind,
                         const Order& order) {
    return call([=](State& state) {
        if (box.height > 0 && (box.width_bytes > to.pitch_bytes || box.width_bytes > from.pitch_bytes))
            return cudaErrorInvalidPitchValue;
        return copy(state, {to, from, box, kind}, order);
    });
}

cudaError_t copy_box(const cudaMemcpy3DParms* parameters, const Order& order) {
    return call([=](State& state) {
        if (parameters == nullptr) return cudaErrorInvalidValue;
        std::expected<Copy, cudaError_t> box;
        {
            const std::lock_guard lock(state.mutex);
            box = box_copy_of(state, *parameters);
        }
        return box ? copy(state, *box, order) : box.error();
    });
}

cudaError_t copy_box_peer(const cudaMemcpy3DPeerParms* p, const Order& order) {
    if (p == nullptr) return finish(cudaErrorInvalidValue);
    const cudaMemcpy3DParms parameters{.srcArray = p->srcArray,
                                       .srcPos = p->srcPos,
                                       .srcPtr = p->srcPtr,
                                       .dstArray = p->dstArray,
                                       .dstPos = p->dstPos,
                                       .dstPtr = p->dstPtr,
                                       .extent = p->extent,
                                       .kind = cudaMemcpyDefault};
    return copy_box(&parameters, order);
}

cudaError_t copy_peer(const Copy& made, int to_device, int from_device, const Order& order) {
    return call([=](State& state) {
        const int count = static_cast<int>(state.devices.size());
        if (to_device < 0 || from_device < 0 || to_device >= count || from_device >= count)
            return cudaErrorInvalidDevice;
        return copy(state, made, order);
    });
}

cudaError_t fill_box(const Side& to, int value, const Box& box, const Order& order) {
    return call([=](State& state) {
        if (box.height > 1 && box.width_bytes > to.pitch_bytes) return cudaErrorInvalidPitchValue;
        return fill(state, {.to = to, .box = box, .value = static_cast<unsigned>(value)}, order);
    });
}

cudaError_t fill_pitched(const cudaPitchedPtr& to, int value, const cudaExtent& extent, const Order& order) {
    return fill_box(linear(to.ptr, to.pitch, to.pitch * to.ysize), value,
                    {.width_bytes = extent.width, .height = extent.height, .depth = extent.depth}, order);
}

}  // namespace

extern "C" {

TRIMTAB_TRANSFER(cudaError_t, cudaMemcpy, cudaMemcpyAsync, copy_linear(dst, src, count, kind, order),
                 void* dst, const void* src, size_t count, cudaMemcpyKind kind);
TRIMTAB_TRANSFER(cudaError_t, cudaMemcpy2D, cudaMemcpy2DAsync,
                 copy_pitched(linear(dst, dpitch), linear(src, spitch), {width, height}, kind, order),
                 void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                 cudaMemcpyKind kind);
TRIMTAB_TRANSFER(cudaError_t, cudaMemcpy3D, cudaMemcpy3DAsync, copy_box(p, order),
                 const cudaMemcpy3DParms* p);
TRIMTAB_TRANSFER(cudaError_t, cudaMemcpy3DPeer, cudaMemcpy3DPeerAsync, copy_box_peer(p, order),
                 const cudaMemcpy3DPeerParms* p);

cudaError_t cudaMemcpyPeer(void* dst, int dstDevice, const void* src, int srcDevice, size_t count) {
    return copy_peer(linear_copy(dst, src, count, cudaMemcpyDefault), dstDevice, srcDevice, {});
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int dstDevice, const void* src, int srcDevice, size_t count,
                                cudaStream_t stream) {
    return copy_peer(linear_copy(dst, src, count, cudaMemcpyDefault), dstDevice, srcDevice, {stream, false});
}

cudaError_t cudaMemcpyBatchAsync(void* const* dsts, const void* const* srcs, const size_t* sizes,
                                 size_t count, cudaMemcpyAttributes*, size_t*, size_t, cudaStream_t stream) {
    if (count > 0 && (dsts == nullptr || srcs == nullptr || sizes == nullptr))
        return finish(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; ++i) {
        const cudaError_t status =
            copy_linear(dsts[i], srcs[i], sizes[i], cudaMemcpyDefault, {stream, false});
        if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
}
TRIMTAB_SAME_AS(cudaMemcpyBatchAsync, cudaMemcpyBatchAsync_ptsz);

TRIMTAB_TRANSFER(cudaError_t, cudaMemset, cudaMemsetAsync,
                 fill_box(linear(devPtr, count), value, {count}, order), void* devPtr, int value,
                 size_t count);
TRIMTAB_TRANSFER(cudaError_t, cudaMemset2D, cudaMemset2DAsync,
                 fill_box(linear(devPtr, pitch), value, {width, height}, order), void* devPtr, size_t pitch,
                 int value, size_t width, size_t height);
TRIMTAB_TRANSFER(cudaError_t, cudaMemset3D, cudaMemset3DAsync,
                 fill_pitched(pitchedDevPtr, value, extent, order), cudaPitchedPtr pitchedDevPtr, int value,
                 cudaExtent extent);

}  // extern "C"
