// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices: which there are, what they can do, which is current.
#include "emulation/cuda/device.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emulation/cuda/memory.h"
#include "emulation/cuda/state.h"

using namespace trimtab::cuda;

namespace {

template <typename Body>
cudaError_t query_device(int ordinal, const Body& body) {
    return query([&](State& state) {
        Device* device = device_at(state, ordinal);
        return device == nullptr ? cudaErrorInvalidDevice : body(state, *device);
    });
}

}  // namespace

extern "C" {

// For libtrimtab.so: H of a device, and its slug; null past the last.
const trimtab_device* trimtab_cudart_device(int ordinal, const char** slug) {
    const Device* device = device_at(State::instance(), ordinal);
    if (device == nullptr) return nullptr;
    if (slug != nullptr) *slug = device->description.slug.c_str();
    return &device->description.values;
}

cudaError_t cudaGetDeviceCount(int* count) {
    if (count == nullptr) return finish(cudaErrorInvalidValue);
    const std::size_t devices = State::instance().devices.size();
    *count = static_cast<int>(devices);
    return finish(devices == 0 ? cudaErrorNoDevice : cudaSuccess);
}

cudaError_t cudaGetDevice(int* device) {
    return query([=](State&) {
        if (device == nullptr) return cudaErrorInvalidValue;
        *device = this_thread().device;
        return cudaSuccess;
    });
}

cudaError_t cudaSetDevice(int device) {
    return query_device(device, [=](State& state, Device& found) {
        ThreadState& thread = this_thread();
        thread.device = device;
        // Since CUDA 12 it makes the primary context and makes it current.
        if (thread.contexts.empty()) thread.contexts.emplace_back();
        thread.contexts.back() = &found.primary;
        found.primary.used_by_runtime = true;
        state.initialised = true;
        return cudaSuccess;
    });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
    return query_device(device, [](State&, Device&) { return cudaSuccess; });
}

cudaError_t cudaSetValidDevices(int* device_arr, int len) {
    return query([=](State& state) {
        if (len < 0 || (len > 0 && device_arr == nullptr)) return cudaErrorInvalidValue;
        const bool all = std::all_of(device_arr, device_arr + len,
                                     [&](int ordinal) { return device_at(state, ordinal) != nullptr; });
        if (!all) return cudaErrorInvalidDevice;
        if (len > 0) this_thread().device = device_arr[0];
        return cudaSuccess;
    });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
    return query_device(device, [=](State&, const Device& found) {
        if (prop == nullptr) return cudaErrorInvalidValue;
        *prop = properties_of(found);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attr, int device) {
    return query_device(device, [=](State&, const Device& found) {
        return value != nullptr && attribute_of(found, attr, *value) ? cudaSuccess : cudaErrorInvalidValue;
    });
}

// The device of the wanted compute capability with the most SMs; without such, the first.
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop) {
    return query([=](State& state) {
        if (device == nullptr || prop == nullptr) return cudaErrorInvalidValue;
        *device = 0;
        double most = 0;
        for (const auto& candidate : state.devices) {
            const auto& description = candidate->description;
            const bool is_enough =
                std::pair(static_cast<int>(description.compute_major),
                          static_cast<int>(description.compute_minor)) >= std::pair(prop->major, prop->minor);
            if (!is_enough || description.values.sm_count <= most) continue;
            most = description.values.sm_count;
            *device = candidate->ordinal;
        }
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetPCIBusId(char* pciBusId, int len, int device) {
    return query_device(device, [=](State&, const Device& found) {
        const std::string id = fmt::format("0000:{:02x}:00.0", found.ordinal + 1);
        if (pciBusId == nullptr || len <= static_cast<int>(id.size())) return cudaErrorInvalidValue;
        std::memcpy(pciBusId, id.c_str(), id.size() + 1);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* pciBusId) {
    return query([=](State& state) {
        if (device == nullptr || pciBusId == nullptr) return cudaErrorInvalidValue;
        for (const auto& candidate : state.devices) {
            // With or without the domain in front.
            if (!std::string_view(pciBusId).contains(fmt::format("{:02x}:00", candidate->ordinal + 1)))
                continue;
            *device = candidate->ordinal;
            return cudaSuccess;
        }
        return cudaErrorInvalidDevice;
    });
}

cudaError_t cudaDeviceSynchronize() {
    const cudaError_t status = call([](State& state) {
        Device& device = state.current();
        {
            const std::lock_guard lock(state.mutex);
            for (const CUstream_st* stream : state.streams) {
                if (stream->device == device.ordinal && stream->capture != nullptr &&
                    stream->capture->mode != cudaStreamCaptureModeRelaxed) {
                    stream->capture->invalidated = true;
                    return cudaErrorStreamCaptureUnsupported;
                }
            }
        }
        wait_for_execution(device);
        const std::lock_guard lock(state.mutex);
        device.host_ns = std::max(device.host_ns, device.legacy_stream.ready_ns);
        for (const CUstream_st* stream : state.streams) {
            if (stream->device == device.ordinal) device.host_ns = std::max(device.host_ns, stream->ready_ns);
        }
        return device.fault;
    });
    return status;
}

cudaError_t cudaDeviceReset() {
    State& state = State::instance();
    if (state.devices.empty()) return finish(cudaErrorNoDevice);
    Device& device = state.current();
    forget_launch_times(state);
    const std::lock_guard lock(state.mutex);
    state.heap.release_device(device.ordinal);
    std::erase_if(state.graph_memory,
                  [&](const auto& entry) { return entry.second.device == device.ordinal; });
    device.graph_used_bytes = device.graph_reserved_bytes = 0;
    state.modules.unload(device.ordinal);
    std::erase_if(state.streams, [&](CUstream_st* stream) {
        const bool is_its = stream->device == device.ordinal;
        if (is_its) delete stream;
        return is_its;
    });
    std::erase_if(state.events, [&](CUevent_st* event) {
        const bool is_its = event->device == device.ordinal;
        if (is_its) delete event;
        return is_its;
    });
    std::erase_if(state.arrays, [&](cudaArray* array) {
        const bool is_its = array->device == device.ordinal;
        if (is_its) delete array;
        return is_its;
    });
    device.fault = cudaSuccess;
    device.fault_told = false;
    device.used_bytes = 0;
    device.peers.clear();
    device.current_pool = &device.default_pool;
    this_thread().last_error = cudaSuccess;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t* pValue, cudaLimit limit) {
    return locked_call([=](State& state) {
        const Device& device = state.current();
        if (pValue == nullptr) return cudaErrorInvalidValue;
        if (limit < 0 || limit > cudaLimitPersistingL2CacheSize) return cudaErrorUnsupportedLimit;
        *pValue = device.limits[limit];
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    return locked_call([=](State& state) {
        if (limit < 0 || limit > cudaLimitPersistingL2CacheSize) return cudaErrorUnsupportedLimit;
        state.current().limits[limit] = value;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* pCacheConfig) {
    return locked_call([=](State& state) {
        if (pCacheConfig == nullptr) return cudaErrorInvalidValue;
        *pCacheConfig = state.current().cache_config;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache cacheConfig) {
    return locked_call([=](State& state) {
        state.current().cache_config = cacheConfig;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* pConfig) {
    return locked_call([=](State&) {
        if (pConfig == nullptr) return cudaErrorInvalidValue;
        *pConfig = cudaSharedMemBankSizeFourByte;
        return cudaSuccess;
    });
}

// Banks are four bytes wide on every device that is current: the call changes nothing, as there.
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
    return locked_call([](State&) { return cudaSuccess; });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
    return query([=](State& state) {
        if (flags == nullptr) return cudaErrorInvalidValue;
        *flags = state.current().flags | cudaDeviceMapHost;
        return cudaSuccess;
    });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
    return query([=](State& state) {
        if ((flags & ~static_cast<unsigned>(cudaDeviceMask)) != 0) return cudaErrorInvalidValue;
        state.current().flags = flags;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
    return locked_call([=](State&) {
        if (leastPriority != nullptr) *leastPriority = 0;
        if (greatestPriority != nullptr) *greatestPriority = -5;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceCanAccessPeer(int* canAccessPeer, int device, int peerDevice) {
    return query_device(device, [=](State& state, const Device& found) {
        const Device* peer = device_at(state, peerDevice);
        if (peer == nullptr) return cudaErrorInvalidDevice;
        if (canAccessPeer == nullptr) return cudaErrorInvalidValue;
        *canAccessPeer = can_be_peers(found, *peer) ? 1 : 0;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned flags) {
    return locked_call([=](State& state) {
        const Device* peer = device_at(state, peerDevice);
        if (peer == nullptr || peer == &state.current()) return cudaErrorInvalidDevice;
        if (flags != 0) return cudaErrorInvalidValue;
        return state.current().peers.insert(peerDevice).second ? cudaSuccess
                                                               : cudaErrorPeerAccessAlreadyEnabled;
    });
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice) {
    return locked_call([=](State& state) {
        if (device_at(state, peerDevice) == nullptr) return cudaErrorInvalidDevice;
        return state.current().peers.erase(peerDevice) == 1 ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
    });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attr, int srcDevice, int dstDevice) {
    return query_device(srcDevice, [=](State& state, const Device& found) {
        const Device* peer = device_at(state, dstDevice);
        if (peer == nullptr || peer == &found) return cudaErrorInvalidDevice;
        if (value == nullptr) return cudaErrorInvalidValue;
        *value = attr == cudaDevP2PAttrAccessSupported && can_be_peers(found, *peer) ? 1 : 0;
        return cudaSuccess;
    });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
    return locked_call([](State&) { return cudaSuccess; });
}

}  // extern "C"
