// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/state.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "emulation/cuda/closed_libraries.h"
#include "emulation/cuda/graph.h"

namespace trimtab::cuda {

ThreadState& this_thread() {
    thread_local ThreadState state;
    return state;
}

State& State::instance() {
    static State& state = *new State;
    return state;
}

State::State() {
    const char* slugs = secure_getenv("TRIMTAB_DEVICE");
    auto made = make_devices(slugs == nullptr ? "" : slugs);
    if (made) {
        devices = std::move(*made);
    } else {
        say("TRIMTAB_DEVICE: " + made.error().text());
    }
    checker = checker_of_environment(*this);
    outside = std::make_unique<OutsideAccesses>(secure_getenv("TRIMTAB_OUT_OF_BOUNDS"),
                                                [this](const std::string& line) { say(line); });
    if (checker != nullptr && checker->checks().memory) outside->make_errors();
    profiles = profiles_of_environment();
    for (const std::string& library : loaded_closed_libraries())
        say(library + " runs on a GPU alone: what the program asks of it fails on the emulator");
}

CUstream_st* State::stream(cudaStream_t handle) {
    if (handle == nullptr || handle == cudaStreamLegacy) return &current().legacy_stream;
    if (handle == cudaStreamPerThread) {
        // An ordinary stream of this thread and device, made when it is first used.
        CUstream_st*& own = this_thread().default_streams[current().ordinal];
        if (!streams.contains(own)) {
            auto made = std::make_unique<CUstream_st>();
            made->device = current().ordinal;
            made->id = next_id++;
            own = *streams.insert(made.release()).first;
        }
        return own;
    }
    return streams.contains(handle) ? handle : nullptr;
}

void State::say(const std::string& line) {
    const std::lock_guard lock(say_mutex_);
    if (said_.insert(line).second) std::fprintf(stderr, "trimtab: %s\n", line.c_str());
}

cudaError_t State::failed(const LoadError& error) {
    say(error.line);
    return error.code;
}

cudaError_t finish(cudaError_t status) {
    // Neither is an error of the program's.
    if (status != cudaSuccess && status != cudaErrorNotReady) this_thread().last_error = status;
    return status;
}

void wait_for_execution(Device& device) {
    const std::lock_guard lock(device.execution);
}

void forget_launch_times(State& state) {
    for (const auto& device : state.devices) {
        const std::lock_guard lock(device->execution);
        device->launch_times = {};
    }
}

double earliest_start_ns(State& state, const CUstream_st& stream) {
    const Device& device = *state.devices[static_cast<std::size_t>(stream.device)];
    double earliest = std::max(device.host_ns, stream.ready_ns);
    // The legacy default stream waits for every blocking stream, and they for it (CUDA C++ Programming Guide,
    // default stream).
    if (&stream == &device.legacy_stream) {
        for (const CUstream_st* other : state.streams) {
            if (other->device == stream.device && other->is_blocking())
                earliest = std::max(earliest, other->ready_ns);
        }
    } else if (stream.is_blocking()) {
        earliest = std::max(earliest, device.legacy_stream.ready_ns);
    }
    return earliest;
}

cudaError_t run(Device& device, const Operation& operation, Work& work) {
    if (!operation.run) return cudaSuccess;  // nothing to do, but in its order
    if (operation.calls_program) return operation.run(work);
    const std::lock_guard lock(device.execution);
    return operation.run(work);
}

cudaError_t submit(State& state, cudaStream_t handle, Operation operation) {
    Device* device = nullptr;
    {
        const std::lock_guard lock(state.mutex);
        CUstream_st* stream = state.stream(handle);
        if (stream == nullptr) return cudaErrorInvalidResourceHandle;
        if (stream->capture != nullptr) return record(*stream, std::move(operation));
        if (const cudaError_t status = disturbs_capture(state, *stream); status != cudaSuccess) return status;
        device = state.devices[static_cast<std::size_t>(stream->device)].get();
    }
    Work work;
    if (const cudaError_t status = run(*device, operation, work); status != cudaSuccess) return status;
    const std::lock_guard lock(state.mutex);
    CUstream_st* stream = state.stream(handle);
    if (stream == nullptr) {
        // The program's own code, called back, has destroyed it. What waits for all streams waits for the
        // work.
        const double end_ns = device->timeline.place(work, device->host_ns);
        device->legacy_stream.ready_ns = std::max(device->legacy_stream.ready_ns, end_ns);
        return cudaSuccess;
    }
    stream->ready_ns = device->timeline.place(work, earliest_start_ns(state, *stream));
    if (operation.synchronous) device->host_ns = std::max(device->host_ns, stream->ready_ns);
    return cudaSuccess;
}

}  // namespace trimtab::cuda
