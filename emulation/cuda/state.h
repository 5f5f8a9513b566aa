// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emulated CUDA runtime of this process, and the frame that every API call runs in.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emulation/cuda/device.h"
#include "emulation/cuda/ipc.h"
#include "emulation/cuda/launch_profiles.h"
#include "emulation/cuda/machine.h"
#include "emulation/cuda/modules.h"
#include "emulation/cuda/objects.h"
#include "emulation/cuda/program_checks.h"
#include "emulation/cuda/texture_objects.h"
#include "emulation/cuda/virtual_memory.h"

namespace trimtab::cuda {

struct CallConfiguration {
    dim3 grid, block;
    std::size_t dynamic_shared_bytes = 0;
    cudaStream_t stream = nullptr;
};

// Addresses that nodes of graphs have for themselves, from the making of the graph on.
struct GraphMemory {
    std::uint64_t size_bytes = 0;
    int device = 0;
    bool exists = false;              // a launch has allocated it, and nothing has freed it since
    std::weak_ptr<const void> nodes;  // that know the addresses, in graphs and executable ones
};

struct ThreadState {
    int device = 0;  // of the current context; without one, what the next call of the runtime takes
    std::vector<CUctx_st*> contexts;              // the driver API's stack, the current one last
    std::map<int, CUstream_st*> default_streams;  // cudaStreamPerThread, by device
    cudaError_t last_error = cudaSuccess;
    std::vector<CallConfiguration> configurations;
    cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
};
[[nodiscard]] ThreadState& this_thread();

class State {
  public:
    // Made on the first call, never destroyed: programs free memory while they end.
    [[nodiscard]] static State& instance();

    std::mutex mutex;  // guards everything below; never held while work runs
    std::vector<std::unique_ptr<Device>> devices;
    Heap heap;                                 // has its own lock
    std::unique_ptr<check::Checker> checker;   // null: nothing is checked; has its own lock
    std::unique_ptr<OutsideAccesses> outside;  // never null; has its own lock
    std::unique_ptr<LaunchProfiles> profiles;  // null: none are kept; has its own lock
    Modules modules;
    std::set<cudaStream_t> streams;
    std::set<cudaEvent_t> events;
    std::set<cudaGraph_t> graphs;
    std::set<cudaGraphExec_t> graph_execs;
    std::map<const void*, GraphMemory> graph_memory;  // of allocations in graphs, by address
    VirtualMemory virtual_memory;
    OpenedIpc opened_ipc;
    std::set<cudaMemPool_t> pools;
    std::set<cudaArray_t> arrays;
    std::set<cudaMipmappedArray_t> mipmapped_arrays;
    TextureObjects textures;  // has its own lock
    std::set<Module*> libraries;
    std::map<std::uint64_t, ManagedHints> managed_hints;  // by Allocation::id
    std::vector<std::unique_ptr<CUctx_st>> contexts;      // but the primary ones
    std::atomic<bool> initialised = false;                // cuInit, or any call of the runtime's
    unsigned long long next_id = 1;

    [[nodiscard]] Device& current() { return *devices[static_cast<std::size_t>(this_thread().device)]; }
    // The stream of a handle: the current device's default stream for 0 and the reserved handles; null where
    // it is no stream.
    [[nodiscard]] CUstream_st* stream(cudaStream_t handle);
    // One line on stderr, once each.
    void say(const std::string& line);
    // Says why and returns the code.
    cudaError_t failed(const LoadError& error);

  private:
    State();
    std::mutex say_mutex_;
    std::set<std::string, std::less<>> said_;
};

// Sets the thread's last error.
cudaError_t finish(cudaError_t status);

// The runtime works in the thread's current context; where there is none, in its device's primary one, which
// becomes current.
inline void enter_context(State& state) {
    ThreadState& thread = this_thread();
    if (!thread.contexts.empty()) return;
    CUctx_st& primary = state.current().primary;
    thread.contexts.push_back(&primary);
    primary.used_by_runtime = true;
    state.initialised = true;
}

// Runs the body of an API call: turns exceptions into errors, and fails at once where there is no device or a
// kernel has faulted. Without State::mutex.
template <typename Body>
cudaError_t call(const Body& body) noexcept {
    try {
        State& state = State::instance();
        if (state.devices.empty()) return finish(cudaErrorNoDevice);
        enter_context(state);
        {
            const std::lock_guard lock(state.mutex);
            if (const cudaError_t fault = state.current().fault; fault != cudaSuccess) {
                state.current().fault_told = true;
                return finish(fault);
            }
        }
        return finish(body(state));
    } catch (const std::bad_alloc&) {
        return finish(cudaErrorMemoryAllocation);
    } catch (...) {
        return finish(cudaErrorUnknown);
    }
}

// The same, holding State::mutex: for calls that run no work.
template <typename Body>
cudaError_t locked_call(const Body& body) noexcept {
    return call([&body](State& state) {
        const std::lock_guard lock(state.mutex);
        return body(state);
    });
}

// For calls that answer whatever state the device is in.
template <typename Body>
cudaError_t query(const Body& body) noexcept {
    try {
        State& state = State::instance();
        if (state.devices.empty()) return finish(cudaErrorNoDevice);
        const std::lock_guard lock(state.mutex);
        return finish(body(state));
    } catch (const std::bad_alloc&) {
        return finish(cudaErrorMemoryAllocation);
    } catch (...) {
        return finish(cudaErrorUnknown);
    }
}

// Does the operation in stream order, or records it where the stream is capturing. Without State::mutex.
cudaError_t submit(State& state, cudaStream_t stream, Operation operation);

// Runs an operation on a device now.
cudaError_t run(Device& device, const Operation& operation, Work& work);

// When work given to the stream now may begin. With State::mutex.
[[nodiscard]] double earliest_start_ns(State& state, const CUstream_st& stream);

// Device code has gone: what was measured of its kernels must not be taken for another's. Without
// State::mutex.
void forget_launch_times(State& state);

// Waits until no host thread is running work on the device. Without State::mutex.
void wait_for_execution(Device& device);

// Of a number that CUDA's calls give; null: there is no such device.
[[nodiscard]] inline Device* device_at(State& state, int ordinal) {
    const bool exists = ordinal >= 0 && static_cast<std::size_t>(ordinal) < state.devices.size();
    return exists ? state.devices[static_cast<std::size_t>(ordinal)].get() : nullptr;
}

}  // namespace trimtab::cuda
