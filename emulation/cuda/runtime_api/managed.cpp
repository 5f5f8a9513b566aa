// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hints about managed memory.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "emulation/cuda/memory.h"
#include "emulation/cuda/runtime_api/alias.h"
#include "emulation/cuda/state.h"

using namespace trimtab::cuda;

namespace {

// The older attributes tell a location as one number.
int number_of(const cudaMemLocation& location) {
    if (location.type == cudaMemLocationTypeDevice) return location.id;
    return location.type == cudaMemLocationTypeInvalid ? cudaInvalidDeviceId : cudaCpuDeviceId;
}

bool exists(const State& state, const cudaMemLocation& location) {
    if (location.type != cudaMemLocationTypeDevice)
        return location.type == cudaMemLocationTypeHost || location.type == cudaMemLocationTypeHostNuma ||
               location.type == cudaMemLocationTypeHostNumaCurrent;
    return location.id >= 0 && static_cast<std::size_t>(location.id) < state.devices.size();
}

// Runs `body` on the hints of the managed allocation that holds the range; under State::mutex.
template <typename Body>
cudaError_t on_managed(const void* pointer, std::size_t bytes, const Body& body) {
    return call([&](State& state) {
        const auto allocation = state.heap.find(pointer);
        if (bytes == 0 || !lies_in_managed(state, pointer, bytes)) return cudaErrorInvalidValue;
        const std::lock_guard lock(state.mutex);
        return body(state, state.managed_hints[allocation->id]);
    });
}

cudaError_t give(const ManagedHints& hints, void* data, std::size_t bytes, cudaMemRangeAttribute attribute) {
    if (data == nullptr) return cudaErrorInvalidValue;
    auto* numbers = static_cast<int*>(data);
    if (attribute == cudaMemRangeAttributeAccessedBy) {
        if (bytes % sizeof(int) != 0 || bytes == 0) return cudaErrorInvalidValue;
        std::fill_n(numbers, bytes / sizeof(int), cudaInvalidDeviceId);
        std::copy_n(hints.accessed_by.begin(), std::min(hints.accessed_by.size(), bytes / sizeof(int)),
                    numbers);
        return cudaSuccess;
    }
    if (bytes != sizeof(int)) return cudaErrorInvalidValue;
    switch (attribute) {
        case cudaMemRangeAttributeReadMostly:
            *numbers = hints.read_mostly ? 1 : 0;
            return cudaSuccess;
        case cudaMemRangeAttributePreferredLocation:
            *numbers = number_of(hints.preferred);
            return cudaSuccess;
        case cudaMemRangeAttributeLastPrefetchLocation:
            *numbers = number_of(hints.last_prefetch);
            return cudaSuccess;
        case cudaMemRangeAttributePreferredLocationType:
            *numbers = hints.preferred.type;
            return cudaSuccess;
        case cudaMemRangeAttributePreferredLocationId:
            *numbers = hints.preferred.id;
            return cudaSuccess;
        case cudaMemRangeAttributeLastPrefetchLocationType:
            *numbers = hints.last_prefetch.type;
            return cudaSuccess;
        case cudaMemRangeAttributeLastPrefetchLocationId:
            *numbers = hints.last_prefetch.id;
            return cudaSuccess;
        default:
            return cudaErrorInvalidValue;
    }
}

}  // namespace

extern "C" {

cudaError_t cudaMemPrefetchAsync(const void* devPtr, size_t count, cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream) {
    const cudaError_t status = on_managed(devPtr, count, [=](const State& state, ManagedHints& hints) {
        if (flags != 0 || !exists(state, location)) return cudaErrorInvalidValue;
        hints.last_prefetch = location;
        return cudaSuccess;
    });
    if (status != cudaSuccess) return status;
    return call([=](State& state) { return submit(state, stream, {}); });
}
TRIMTAB_SAME_AS(cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz);

cudaError_t cudaMemAdvise(const void* devPtr, size_t count, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
    return on_managed(devPtr, count, [=](const State& state, ManagedHints& hints) {
        const int place = number_of(location);
        switch (advice) {
            case cudaMemAdviseSetReadMostly:
                hints.read_mostly = true;
                return cudaSuccess;
            case cudaMemAdviseUnsetReadMostly:
                hints.read_mostly = false;
                return cudaSuccess;
            case cudaMemAdviseSetPreferredLocation:
                if (!exists(state, location)) return cudaErrorInvalidValue;
                hints.preferred = location;
                return cudaSuccess;
            case cudaMemAdviseUnsetPreferredLocation:
                hints.preferred = {.type = cudaMemLocationTypeInvalid, .id = 0};
                return cudaSuccess;
            case cudaMemAdviseSetAccessedBy:
            case cudaMemAdviseUnsetAccessedBy:
                if (!exists(state, location)) return cudaErrorInvalidValue;
                std::erase(hints.accessed_by, place);
                if (advice == cudaMemAdviseSetAccessedBy) hints.accessed_by.push_back(place);
                return cudaSuccess;
        }
        return cudaErrorInvalidValue;
    });
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t dataSize, cudaMemRangeAttribute attribute,
                                     const void* devPtr, size_t count) {
    return on_managed(devPtr, count, [=](const State&, const ManagedHints& hints) {
        return give(hints, data, dataSize, attribute);
    });
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* dataSizes, cudaMemRangeAttribute* attributes,
                                      size_t numAttributes, const void* devPtr, size_t count) {
    return on_managed(devPtr, count, [=](const State&, const ManagedHints& hints) {
        if (data == nullptr || dataSizes == nullptr || attributes == nullptr || numAttributes == 0)
            return cudaErrorInvalidValue;
        for (size_t i = 0; i < numAttributes; ++i) {
            if (const cudaError_t status = give(hints, data[i], dataSizes[i], attributes[i]);
                status != cudaSuccess)
                return status;
        }
        return cudaSuccess;
    });
}

// What is discarded may hold anything: it keeps what it held.
cudaError_t cudaMemDiscardBatchAsync(void** dptrs, size_t* sizes, size_t count, unsigned long long flags,
                                     cudaStream_t stream) {
    return call([=](State& state) {
        if (dptrs == nullptr || sizes == nullptr || count == 0 || flags != 0) return cudaErrorInvalidValue;
        for (size_t i = 0; i < count; ++i) {
            if (!lies_in_managed(state, dptrs[i], sizes[i])) return cudaErrorInvalidValue;
        }
        return submit(state, stream, {});
    });
}
TRIMTAB_SAME_AS(cudaMemDiscardBatchAsync, cudaMemDiscardBatchAsync_ptsz);

cudaError_t cudaMemPrefetchBatchAsync(void** dptrs, size_t* sizes, size_t count,
                                      cudaMemLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                      size_t numPrefetchLocs, unsigned long long flags, cudaStream_t stream) {
    if (dptrs == nullptr || sizes == nullptr || prefetchLocs == nullptr || prefetchLocIdxs == nullptr ||
        count == 0 || numPrefetchLocs == 0 || numPrefetchLocs > count || prefetchLocIdxs[0] != 0 ||
        flags != 0)
        return finish(cudaErrorInvalidValue);
    size_t location = 0;
    for (size_t i = 0; i < count; ++i) {
        // Entry k of the locations holds from index prefetchLocIdxs[k] on.
        if (location + 1 < numPrefetchLocs && prefetchLocIdxs[location + 1] == i) ++location;
        if (const cudaError_t status =
                cudaMemPrefetchAsync(dptrs[i], sizes[i], prefetchLocs[location], 0, stream);
            status != cudaSuccess)
            return status;
    }
    return cudaSuccess;
}
TRIMTAB_SAME_AS(cudaMemPrefetchBatchAsync, cudaMemPrefetchBatchAsync_ptsz);

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** dptrs, size_t* sizes, size_t count,
                                                cudaMemLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                                size_t numPrefetchLocs, unsigned long long flags,
                                                cudaStream_t stream) {
    return cudaMemPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs,
                                     flags, stream);
}
TRIMTAB_SAME_AS(cudaMemDiscardAndPrefetchBatchAsync, cudaMemDiscardAndPrefetchBatchAsync_ptsz);

}  // extern "C"
