// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What CUDA's opaque handles point to.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulation/cuda/machine.h"

namespace trimtab::cuda {

// What a node of a graph was made with, as programs ask for it back.
struct NodeParameters {
    cudaKernelNodeParams kernel{};  // its arguments lie in `arguments`
    std::vector<std::byte> argument_bytes;
    std::vector<void*> arguments;
    std::vector<cudaLaunchAttribute> attributes;  // likewise of a kernel; one entry an attribute
    int device = 0;                               // that the kernel runs on
    cudaMemcpy3DParms copy{};
    cudaMemsetParams fill{};
    cudaHostNodeParams host{};
    cudaEvent_t event = nullptr;        // recorded or waited for
    cudaMemAllocNodeParams memory{};    // of an allocation; its pointer, of a release
    std::shared_ptr<const void> keeps;  // the addresses of that memory, as long as a node knows them
};

// The value that a conditional node looks at. Its handle is its address, which device code stores to.
struct ConditionalValue {
    unsigned* value = nullptr;
    unsigned default_value = 0;
    bool is_assigned_at_launch = false;  // of each graph that has it
    std::shared_ptr<const void> keeps;   // its address
};

struct Conditional {
    cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
    const unsigned* value = nullptr;
    std::vector<std::unique_ptr<CUgraph_st>> bodies;
    std::vector<cudaGraph_t> handles;  // of the bodies, as programs get them
};

// One thing that a stream does. It runs when it is submitted; where the stream is capturing, it becomes a
// node of a graph and runs at each launch of that.
struct Operation {
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    // Does it, and says what work it was. An error is the call's own, of a bad argument.
    std::function<cudaError_t(Work&)> run;
    // The host waits until it is done.
    bool synchronous = false;
    // Calls the program's code: no lock is held meanwhile.
    bool calls_program = false;
    std::shared_ptr<const NodeParameters> parameters = nullptr;  // where a program may ask for them
};

// The graph that one or several streams are recording.
struct Capture {
    CUgraph_st* graph = nullptr;
    CUstream_st* origin = nullptr;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    unsigned long long id = 0;
    bool into_given_graph = false;  // cudaStreamBeginCaptureToGraph
    bool invalidated = false;
    std::vector<CUstream_st*> streams;  // origin and those that joined by an event
};

}  // namespace trimtab::cuda

// A context of the driver API; the runtime uses each device's primary one.
struct CUctx_st {
    int device = 0;
    unsigned flags = 0;
    unsigned long long id = 0;
    unsigned retained = 0;         // of a primary context
    bool used_by_runtime = false;  // likewise
    bool destroyed = false;        // kept, since other threads may still have it current
};

struct CUstream_st {
    int device = 0;
    unsigned flags = 0;
    int priority = 0;
    unsigned long long id = 0;
    double ready_ns = 0;  // modelled time at which all it was given is done
    std::shared_ptr<trimtab::cuda::Capture> capture;
    std::vector<CUgraphNode_st*> capture_dependencies;  // what the next captured node waits for
    std::vector<cudaLaunchAttribute> attributes;        // hints, told back; one entry an attribute

    [[nodiscard]] bool is_blocking() const { return (flags & cudaStreamNonBlocking) == 0; }
};

struct CUevent_st {
    int device = 0;
    unsigned flags = 0;
    bool recorded = false;
    double time_ns = 0;
    std::shared_ptr<trimtab::cuda::Capture> capture;  // last recorded in a capturing stream
    std::vector<CUgraphNode_st*> capture_dependencies;
};

struct CUgraphNode_st {
    CUgraph_st* graph = nullptr;
    trimtab::cuda::Operation operation;
    std::vector<CUgraphNode_st*> dependencies;
    std::unique_ptr<CUgraph_st> child;
    std::unique_ptr<trimtab::cuda::Conditional> conditional;
    bool enabled = true;
    const CUgraphNode_st* original = nullptr;  // of a node of a clone
};

struct CUgraph_st {
    std::vector<CUuserObject_st*> user_objects;  // one entry a reference
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
    std::vector<trimtab::cuda::ConditionalValue> conditional_values;
};

struct CUgraphExec_st {
    struct Condition {
        cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
        const unsigned* value = nullptr;
        std::vector<CUgraphExec_st> bodies;
    };
    struct Node {
        const CUgraphNode_st* original = nullptr;
        trimtab::cuda::Operation operation;
        std::vector<std::size_t> dependencies;
        bool enabled = true;
        std::shared_ptr<const Condition> condition = nullptr;  // of a conditional node
    };
    std::vector<Node> nodes;
    std::vector<trimtab::cuda::ConditionalValue> conditional_values;  // of child graphs and bodies, too
    unsigned long long flags = 0;
};

// What a program has said of an allocation of managed memory: it is told back, and changes nothing else, for
// host and device see the same bytes.
struct ManagedHints {
    bool read_mostly = false;
    cudaMemLocation preferred{.type = cudaMemLocationTypeInvalid, .id = 0};
    cudaMemLocation last_prefetch{.type = cudaMemLocationTypeInvalid, .id = 0};
    std::vector<int> accessed_by;  // devices, or cudaCpuDeviceId
};

struct CUmemPoolHandle_st {
    int device = 0;
    bool is_default = false;
    unsigned long long release_threshold = 0;
    unsigned long long used_bytes = 0, used_high_bytes = 0;
    int reuse_follow_event = 1, reuse_opportunistic = 1, reuse_internal = 1;
};

// A CUDA array: rows of elements, without padding.
struct cudaArray {
    cudaChannelFormatDesc format{};
    cudaExtent extent{};  // in elements; 0 height or depth: fewer dimensions
    unsigned flags = 0;
    int device = 0;
    std::byte* bytes = nullptr;

    [[nodiscard]] std::size_t element_bytes() const {
        return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
    }
    [[nodiscard]] std::size_t row_bytes() const { return extent.width * element_bytes(); }
    [[nodiscard]] std::size_t rows() const { return extent.height == 0 ? 1 : extent.height; }
    [[nodiscard]] std::size_t planes() const { return extent.depth == 0 ? 1 : extent.depth; }
    [[nodiscard]] std::size_t size_bytes() const { return row_bytes() * rows() * planes(); }
};

struct cudaMipmappedArray {
    std::vector<cudaArray*> levels;  // the largest first
};
