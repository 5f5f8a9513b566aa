// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contexts: the primary one of each device, which the runtime uses too, and those that programs create. All
// contexts of a device share its memory; a fault ends with the context that is destroyed or reset.
#include <algorithm>

#include "emulation/cuda/driver_api/call.h"

using namespace trimtab::cuda::driver;

namespace {

template <typename Body>
CUresult on_primary(CUdevice ordinal, const Body& body) {
    return initialised_call([&](State& state) {
        Device* device = device_at(state, ordinal);
        if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
        const std::lock_guard lock(state.mutex);
        return body(state, *device);
    });
}

bool is_known(State& state, CUcontext context) {
    const std::lock_guard lock(state.mutex);
    return std::any_of(state.devices.begin(), state.devices.end(),
                       [=](const auto& device) { return &device->primary == context; }) ||
           std::any_of(state.contexts.begin(), state.contexts.end(),
                       [=](const auto& entry) { return entry.get() == context && !entry->destroyed; });
}

// The device follows the context on top of the thread's stack.
void follow_top() {
    auto& thread = this_thread();
    thread.device = thread.contexts.empty() ? 0 : thread.contexts.back()->device;
}

CUresult create(CUcontext* context, unsigned flags, CUdevice ordinal) {
    return initialised_call([=](State& state) {
        Device* device = device_at(state, ordinal);
        if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
        if (context == nullptr || (flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) != 0)
            return CUDA_ERROR_INVALID_VALUE;
        const std::lock_guard lock(state.mutex);
        auto& made = state.contexts.emplace_back(std::make_unique<CUctx_st>());
        made->device = ordinal;
        made->flags = flags;
        made->id = state.next_id++;
        *context = made.get();
        this_thread().contexts.push_back(made.get());
        follow_top();
        return CUDA_SUCCESS;
    });
}

// Runs a call of the runtime's with another context current.
template <typename Body>
CUresult in_context(CUcontext context, const Body& body) {
    return initialised_call([&](State& state) {
        if (!is_known(state, context)) return CUDA_ERROR_INVALID_CONTEXT;
        this_thread().contexts.push_back(context);
        follow_top();
        const CUresult result = context_call([&](State&) { return body(); });
        this_thread().contexts.pop_back();
        follow_top();
        return result;
    });
}

}  // namespace

extern "C" {

CUresult cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice dev) {
    return on_primary(dev, [=](State& state, Device& device) {
        if (pctx == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (device.primary.id == 0) device.primary.id = state.next_id++;
        ++device.primary.retained;
        *pctx = &device.primary;
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
    return on_primary(dev, [](State&, Device& device) {
        if (device.primary.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
        if (--device.primary.retained == 0) {
            device.fault = cudaSuccess;
            device.fault_told = false;
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned flags) {
    return on_primary(dev, [=](State&, Device& device) {
        if ((flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) != 0) return CUDA_ERROR_INVALID_VALUE;
        device.primary.flags = flags;
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned* flags, int* active) {
    return on_primary(dev, [=](State&, const Device& device) {
        if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *flags = device.primary.flags;
        *active = device.primary.retained > 0 || device.primary.used_by_runtime ? 1 : 0;
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) {
    return initialised_call([=](State& state) {
        if (device_at(state, dev) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
        const int current = this_thread().device;
        this_thread().device = dev;
        const cudaError_t status = cudaDeviceReset();
        this_thread().device = current;
        return to_result(status);
    });
}

#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuDevicePrimaryCtxSetFlags
CUresult cuDevicePrimaryCtxRelease(CUdevice dev) {
    return cuDevicePrimaryCtxRelease_v2(dev);
}
CUresult cuDevicePrimaryCtxReset(CUdevice dev) {
    return cuDevicePrimaryCtxReset_v2(dev);
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned flags) {
    return cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

CUresult cuCtxCreate_v4(CUcontext* pctx, CUctxCreateParams*, unsigned flags, CUdevice dev) {
    return create(pctx, flags, dev);
}
CUresult cuCtxCreate_v3(CUcontext* pctx, CUexecAffinityParam*, int, unsigned flags, CUdevice dev) {
    return create(pctx, flags, dev);
}
CUresult cuCtxCreate_v2(CUcontext* pctx, unsigned flags, CUdevice dev) {
    return create(pctx, flags, dev);
}

CUresult cuCtxDestroy_v2(CUcontext ctx) {
    return initialised_call([=](State& state) {
        const std::lock_guard lock(state.mutex);
        const auto place = std::find_if(state.contexts.begin(), state.contexts.end(),
                                        [=](const auto& entry) { return entry.get() == ctx; });
        if (place == state.contexts.end()) return CUDA_ERROR_INVALID_CONTEXT;
        if (ctx->destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        // Other threads may have it on their stacks: their calls will say that it is gone.
        ctx->destroyed = true;
        Device& device = *state.devices[static_cast<std::size_t>(ctx->device)];
        device.fault = cudaSuccess;
        device.fault_told = false;
        auto& stack = this_thread().contexts;
        if (!stack.empty() && stack.back() == ctx) stack.pop_back();
        follow_top();
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx) {
    return initialised_call([=](State& state) {
        if (!is_known(state, ctx)) return CUDA_ERROR_INVALID_CONTEXT;
        this_thread().contexts.push_back(ctx);
        follow_top();
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxPopCurrent_v2(CUcontext* pctx) {
    return initialised_call([=](State&) {
        auto& stack = this_thread().contexts;
        if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
        if (pctx != nullptr) *pctx = stack.back();
        stack.pop_back();
        follow_top();
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSetCurrent(CUcontext ctx) {
    return initialised_call([=](State& state) {
        auto& stack = this_thread().contexts;
        if (ctx != nullptr && !is_known(state, ctx)) return CUDA_ERROR_INVALID_CONTEXT;
        if (!stack.empty()) stack.pop_back();
        if (ctx != nullptr) stack.push_back(ctx);
        follow_top();
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetCurrent(CUcontext* pctx) {
    return initialised_call([=](State&) {
        if (pctx == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const auto& stack = this_thread().contexts;
        *pctx = stack.empty() ? nullptr : stack.back();
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetDevice(CUdevice* device) {
    return context_call([=](State&) {
        if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *device = this_thread().device;
        return CUDA_SUCCESS;
    });
}
CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext ctx) {
    if (ctx == nullptr) return cuCtxGetDevice(device);
    return in_context(ctx, [=] { return cuCtxGetDevice(device); });
}

CUresult cuCtxGetFlags(unsigned* flags) {
    return context_call([=](State&) {
        if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *flags = this_thread().contexts.back()->flags;
        return CUDA_SUCCESS;
    });
}
CUresult cuCtxSetFlags(unsigned flags) {
    return context_call([=](State&) {
        if ((flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) != 0) return CUDA_ERROR_INVALID_VALUE;
        this_thread().contexts.back()->flags = flags;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long* ctxId) {
    return initialised_call([=](State& state) {
        CUcontext asked = ctx;
        if (asked == nullptr && !this_thread().contexts.empty()) asked = this_thread().contexts.back();
        if (asked == nullptr || !is_known(state, asked)) return CUDA_ERROR_INVALID_CONTEXT;
        if (ctxId == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (asked->id == 0) asked->id = state.next_id++;
        *ctxId = asked->id;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetApiVersion(CUcontext, unsigned* version) {
    return context_call([=](State&) {
        if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *version = 3020;  // of cuCtxCreate_v2 and later
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSynchronize() {
    return forward(cudaDeviceSynchronize);
}
CUresult cuCtxSynchronize_v2(CUcontext ctx) {
    if (ctx == nullptr) return cuCtxSynchronize();
    return in_context(ctx, [] { return cudaDeviceSynchronize(); });
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    return forward(cudaDeviceSetLimit, static_cast<cudaLimit>(limit), value);
}
CUresult cuCtxGetLimit(size_t* pvalue, CUlimit limit) {
    return forward(cudaDeviceGetLimit, pvalue, static_cast<cudaLimit>(limit));
}
CUresult cuCtxGetCacheConfig(CUfunc_cache* pconfig) {
    return forward(cudaDeviceGetCacheConfig, reinterpret_cast<cudaFuncCache*>(pconfig));
}
CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    return forward(cudaDeviceSetCacheConfig, static_cast<cudaFuncCache>(config));
}
CUresult cuCtxGetSharedMemConfig(CUsharedconfig* pConfig) {
    return forward(cudaDeviceGetSharedMemConfig, reinterpret_cast<cudaSharedMemConfig*>(pConfig));
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
    return forward(cudaDeviceSetSharedMemConfig, static_cast<cudaSharedMemConfig>(config));
}
CUresult cuCtxGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
    return forward(cudaDeviceGetStreamPriorityRange, leastPriority, greatestPriority);
}
CUresult cuCtxResetPersistingL2Cache() {
    return forward(cudaCtxResetPersistingL2Cache);
}

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned flags) {
    return context_call([=](State& state) {
        if (!is_known(state, peerContext)) return CUDA_ERROR_INVALID_CONTEXT;
        return to_result(cudaDeviceEnablePeerAccess(peerContext->device, flags));
    });
}
CUresult cuCtxDisablePeerAccess(CUcontext peerContext) {
    return context_call([=](State& state) {
        if (!is_known(state, peerContext)) return CUDA_ERROR_INVALID_CONTEXT;
        return to_result(cudaDeviceDisablePeerAccess(peerContext->device));
    });
}

CUresult cuCtxAttach(CUcontext* pctx, unsigned flags) {
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : cuCtxGetCurrent(pctx);
}
CUresult cuCtxDetach(CUcontext ctx) {
    return cuCtxDestroy_v2(ctx);
}

}  // extern "C"
