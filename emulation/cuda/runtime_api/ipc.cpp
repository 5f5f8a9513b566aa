// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory and events of other processes on the same machine.
#include "emulation/cuda/ipc.h"

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "emulation/cuda/memory.h"
#include "emulation/cuda/state.h"

using namespace trimtab::cuda;

namespace {

static_assert(sizeof(IpcMemory) <= sizeof(cudaIpcMemHandle_t));
static_assert(sizeof(IpcEvent) <= sizeof(cudaIpcEventHandle_t));

template <typename Handle, typename Content>
void write(Handle& handle, const Content& content) {
    handle = {};
    std::memcpy(&handle, &content, sizeof content);
}

template <typename Content, typename Handle>
Content read(const Handle& handle) {
    Content content;
    std::memcpy(static_cast<void*>(&content), &handle, sizeof content);
    return content;
}

std::uint64_t number_of(int descriptor) {
    struct stat about{};
    return fstat(descriptor, &about) == 0 ? about.st_ino : 0;
}

// The file that the handle speaks of; -1: it is no longer there.
int open_file(const IpcMemory& memory) {
    const std::string path = fmt::format("/proc/{}/fd/{}", memory.process, memory.descriptor);
    const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return -1;
    struct stat about{};
    if (fstat(descriptor, &about) == 0 && about.st_ino == memory.file &&
        static_cast<std::uint64_t>(about.st_size) == memory.file_bytes)
        return descriptor;
    close(descriptor);
    return -1;
}

bool is_sound(const IpcMemory& memory) {
    return memory.kind == ipc_memory && memory.offset <= memory.file_bytes &&
           memory.size_bytes <= memory.file_bytes - memory.offset;
}

}  // namespace

extern "C" {

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* devPtr) {
    return call([=](State& state) {
        const auto allocation = state.heap.find(devPtr);
        if (handle == nullptr || !allocation || allocation->kind != MemoryKind::device)
            return cudaErrorInvalidValue;
        // Its pages are exchanged: neither a kernel nor another call may write to them meanwhile.
        wait_for_all(state);
        const std::lock_guard lock(state.mutex);
        const auto place = state.heap.share(*allocation);
        if (!place) {
            state.say("cudaIpcGetMemHandle: memory beside it is shared already, or the system refuses");
            return cudaErrorMapBufferObjectFailed;
        }
        write(*handle, IpcMemory{.kind = ipc_memory,
                                 .process = getpid(),
                                 .descriptor = place->descriptor,
                                 .file = number_of(place->descriptor),
                                 .file_bytes = place->file_bytes,
                                 .offset = place->offset,
                                 .size_bytes = allocation->size_bytes});
        return cudaSuccess;
    });
}

cudaError_t cudaIpcOpenMemHandle(void** devPtr, cudaIpcMemHandle_t handle, unsigned flags) {
    return locked_call([=](State& state) {
        const auto memory = read<IpcMemory>(handle);
        if (devPtr == nullptr || flags != cudaIpcMemLazyEnablePeerAccess) return cudaErrorInvalidValue;
        if (!is_sound(memory)) return cudaErrorInvalidResourceHandle;
        // A process has its own memory already.
        if (memory.process == getpid()) return cudaErrorDeviceUninitialized;
        OpenedIpcMemory& opened = state.opened_ipc[{memory.file, memory.offset}];
        if (opened.times == 0) {
            const int descriptor = open_file(memory);
            if (descriptor < 0) return cudaErrorMapBufferObjectFailed;
            opened.place = {
                .descriptor = descriptor, .file_bytes = memory.file_bytes, .offset = memory.offset};
            opened.pointer = state.heap.import(opened.place, memory.size_bytes, state.current().ordinal);
            // The mapping keeps the file.
            close(descriptor);
            if (opened.pointer == nullptr) return cudaErrorMapBufferObjectFailed;
        }
        opened.times++;
        *devPtr = opened.pointer;
        return cudaSuccess;
    });
}

cudaError_t cudaIpcCloseMemHandle(void* devPtr) {
    return call([=](State& state) {
        wait_for_all(state);
        const std::lock_guard lock(state.mutex);
        const auto found = std::ranges::find_if(state.opened_ipc, [devPtr](const auto& entry) {
            return entry.second.times > 0 && entry.second.pointer == devPtr;
        });
        if (found == state.opened_ipc.end()) return cudaErrorInvalidResourceHandle;
        if (--found->second.times > 0) return cudaSuccess;
        state.heap.close_import(found->second.pointer, found->second.place);
        state.opened_ipc.erase(found);
        return cudaSuccess;
    });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
    return locked_call([=](State& state) {
        if (handle == nullptr) return cudaErrorInvalidValue;
        if (!state.events.contains(event)) return cudaErrorInvalidResourceHandle;
        constexpr unsigned needed = cudaEventInterprocess | cudaEventDisableTiming;
        if ((event->flags & needed) != needed) return cudaErrorInvalidResourceHandle;
        write(*handle, IpcEvent{.kind = ipc_event, .process = getpid()});
        return cudaSuccess;
    });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
    const auto content = read<IpcEvent>(handle);
    if (event == nullptr || content.kind != ipc_event) return trimtab::cuda::finish(cudaErrorInvalidValue);
    if (content.process == getpid()) return trimtab::cuda::finish(cudaErrorDeviceUninitialized);
    return cudaEventCreateWithFlags(event, cudaEventDisableTiming);
}

}  // extern "C"
