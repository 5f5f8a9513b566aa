// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cudaMemcpy in its linear, pitched, boxed and peer forms, and cudaMemset.
#include <cuda_runtime_api.h>

#include "emulation/cuda/runtime_api/alias.h"
#include "emulation/cuda/state.h"
#include "emulation/cuda/transfer.h"

using namespace trimtab::cuda;

namespace {

cudaError_t copy_linear(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                        cudaStream_t stream, bool synchronous) {
    return call([=](State& state) {
        return copy(state, linear(to), linear(from), {.width_bytes = bytes, .height = 1, .depth = 1}, kind,
                    stream, synchronous);
    });
}

cudaError_t copy_pitched(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                         bool synchronous) {
    return call([=](State& state) {
        if (height > 0 && (width > to_pitch || width > from_pitch)) return cudaErrorInvalidPitchValue;
        return copy(state, linear(to, to_pitch), linear(from, from_pitch),
                    {.width_bytes = width, .height = height, .depth = 1}, kind, stream, synchronous);
    });
}

cudaError_t copy_box(const cudaMemcpy3DParms* parameters, cudaStream_t stream, bool synchronous) {
    return call([=](State& state) {
        if (parameters == nullptr) return cudaErrorInvalidValue;
        std::expected<BoxCopy, cudaError_t> box;
        {
            const std::lock_guard lock(state.mutex);
            box = box_copy_of(state, *parameters);
        }
        if (!box) return box.error();
        return copy(state, box->to, box->from, box->box, box->kind, stream, synchronous);
    });
}

cudaError_t copy_box_peer(const cudaMemcpy3DPeerParms* p, cudaStream_t stream, bool synchronous) {
    if (p == nullptr) return finish(cudaErrorInvalidValue);
    const cudaMemcpy3DParms parameters{.srcArray = p->srcArray,
                                       .srcPos = p->srcPos,
                                       .srcPtr = p->srcPtr,
                                       .dstArray = p->dstArray,
                                       .dstPos = p->dstPos,
                                       .dstPtr = p->dstPtr,
                                       .extent = p->extent,
                                       .kind = cudaMemcpyDefault};
    return copy_box(&parameters, stream, synchronous);
}

bool are_devices(const State& state, int a, int b) {
    const int count = static_cast<int>(state.devices.size());
    return a >= 0 && b >= 0 && a < count && b < count;
}

cudaError_t copy_peer(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                      cudaStream_t stream, bool synchronous) {
    return call([=](State& state) {
        if (!are_devices(state, to_device, from_device)) return cudaErrorInvalidDevice;
        return copy(state, linear(to), linear(from), {.width_bytes = bytes, .height = 1, .depth = 1},
                    cudaMemcpyDefault, stream, synchronous);
    });
}

cudaError_t fill_box(void* to, std::size_t pitch, std::size_t slice, int value, const Box& box,
                     cudaStream_t stream, bool synchronous) {
    return call([=](State& state) {
        if (box.height > 1 && box.width_bytes > pitch) return cudaErrorInvalidPitchValue;
        return fill(state, linear(to, pitch, slice), box, static_cast<unsigned>(value), 1, stream,
                    synchronous);
    });
}

cudaError_t fill_pitched(const cudaPitchedPtr& to, int value, const cudaExtent& extent, cudaStream_t stream,
                         bool synchronous) {
    return fill_box(to.ptr, to.pitch, to.pitch * to.ysize, value,
                    {.width_bytes = extent.width, .height = extent.height, .depth = extent.depth}, stream,
                    synchronous);
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
    return copy_linear(dst, src, count, kind, nullptr, true);
}
TRIMTAB_SAME_AS(cudaMemcpy, cudaMemcpy_ptds);

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return copy_linear(dst, src, count, kind, stream, false);
}
TRIMTAB_SAME_AS(cudaMemcpyAsync, cudaMemcpyAsync_ptsz);

cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
    return copy_pitched(dst, dpitch, src, spitch, width, height, kind, nullptr, true);
}
TRIMTAB_SAME_AS(cudaMemcpy2D, cudaMemcpy2D_ptds);

cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_pitched(dst, dpitch, src, spitch, width, height, kind, stream, false);
}
TRIMTAB_SAME_AS(cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz);

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
    return copy_box(p, nullptr, true);
}
TRIMTAB_SAME_AS(cudaMemcpy3D, cudaMemcpy3D_ptds);

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
    return copy_box(p, stream, false);
}
TRIMTAB_SAME_AS(cudaMemcpy3DAsync, cudaMemcpy3DAsync_ptsz);

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) {
    return copy_box_peer(p, nullptr, true);
}
TRIMTAB_SAME_AS(cudaMemcpy3DPeer, cudaMemcpy3DPeer_ptds);

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
    return copy_box_peer(p, stream, false);
}
TRIMTAB_SAME_AS(cudaMemcpy3DPeerAsync, cudaMemcpy3DPeerAsync_ptsz);

cudaError_t cudaMemcpyPeer(void* dst, int dstDevice, const void* src, int srcDevice, size_t count) {
    return copy_peer(dst, dstDevice, src, srcDevice, count, nullptr, true);
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int dstDevice, const void* src, int srcDevice, size_t count,
                                cudaStream_t stream) {
    return copy_peer(dst, dstDevice, src, srcDevice, count, stream, false);
}

cudaError_t cudaMemcpyBatchAsync(void* const* dsts, const void* const* srcs, const size_t* sizes,
                                 size_t count, cudaMemcpyAttributes*, size_t*, size_t, cudaStream_t stream) {
    if (count > 0 && (dsts == nullptr || srcs == nullptr || sizes == nullptr))
        return finish(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; ++i) {
        const cudaError_t status = copy_linear(dsts[i], srcs[i], sizes[i], cudaMemcpyDefault, stream, false);
        if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
}
TRIMTAB_SAME_AS(cudaMemcpyBatchAsync, cudaMemcpyBatchAsync_ptsz);

cudaError_t cudaMemset(void* devPtr, int value, size_t count) {
    return fill_box(devPtr, count, 0, value, {.width_bytes = count, .height = 1, .depth = 1}, nullptr, true);
}
TRIMTAB_SAME_AS(cudaMemset, cudaMemset_ptds);

cudaError_t cudaMemsetAsync(void* devPtr, int value, size_t count, cudaStream_t stream) {
    return fill_box(devPtr, count, 0, value, {.width_bytes = count, .height = 1, .depth = 1}, stream, false);
}
TRIMTAB_SAME_AS(cudaMemsetAsync, cudaMemsetAsync_ptsz);

cudaError_t cudaMemset2D(void* devPtr, size_t pitch, int value, size_t width, size_t height) {
    return fill_box(devPtr, pitch, 0, value, {.width_bytes = width, .height = height, .depth = 1}, nullptr,
                    true);
}
TRIMTAB_SAME_AS(cudaMemset2D, cudaMemset2D_ptds);

cudaError_t cudaMemset2DAsync(void* devPtr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    return fill_box(devPtr, pitch, 0, value, {.width_bytes = width, .height = height, .depth = 1}, stream,
                    false);
}
TRIMTAB_SAME_AS(cudaMemset2DAsync, cudaMemset2DAsync_ptsz);

cudaError_t cudaMemset3D(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent) {
    return fill_pitched(pitchedDevPtr, value, extent, nullptr, true);
}
TRIMTAB_SAME_AS(cudaMemset3D, cudaMemset3D_ptds);

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent,
                              cudaStream_t stream) {
    return fill_pitched(pitchedDevPtr, value, extent, stream, false);
}
TRIMTAB_SAME_AS(cudaMemset3DAsync, cudaMemset3DAsync_ptsz);

}  // extern "C"
