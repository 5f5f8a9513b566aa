#include "cuda/graph.h"

#include <algorithm>
#include <map>
#include <set>

namespace trimtab::cuda {
namespace {

void end(Capture& capture) {
    for (CUstream_st* stream : capture.streams) {
        stream->capture.reset();
        stream->capture_dependencies.clear();
    }
    capture.streams.clear();
}

// The nodes in an order in which each comes after those that it waits for; of nodes that wait for each other,
// none.
std::vector<const CUgraphNode_st*> in_order(const CUgraph_st& graph) {
    std::vector<const CUgraphNode_st*> order;
    std::set<const CUgraphNode_st*> placed;
    for (bool progress = true; progress;) {
        progress = false;
        for (const auto& node : graph.nodes) {
            const auto is_placed = [&](const CUgraphNode_st* other) { return placed.contains(other); };
            if (is_placed(node.get()) ||
                !std::all_of(node->dependencies.begin(), node->dependencies.end(), is_placed))
                continue;
            order.push_back(node.get());
            placed.insert(node.get());
            progress = true;
        }
    }
    return order;
}

// Appends the graph's nodes; returns which of them nothing in the graph waits for. Nodes without dependencies
// wait for `before`.
std::vector<std::size_t> lay_open(const CUgraph_st& graph, const std::vector<std::size_t>& before,
                                  CUgraphExec_st& exec) {
    // Where a node's effect is complete: itself, or the last nodes of its child graph.
    std::map<const CUgraphNode_st*, std::vector<std::size_t>> done;
    std::map<const CUgraphNode_st*, bool> has_dependents;
    for (const CUgraphNode_st* node : in_order(graph)) {
        std::vector<std::size_t> dependencies;
        for (const CUgraphNode_st* dependency : node->dependencies) {
            has_dependents[dependency] = true;
            dependencies.insert(dependencies.end(), done[dependency].begin(), done[dependency].end());
        }
        if (node->dependencies.empty()) dependencies = before;
        if (node->child != nullptr) {
            done[node] = lay_open(*node->child, dependencies, exec);
            if (node->child->nodes.empty()) done[node] = dependencies;
            continue;
        }
        exec.nodes.push_back({.original = node,
                              .operation = node->operation,
                              .dependencies = std::move(dependencies),
                              .enabled = node->enabled});
        done[node] = {exec.nodes.size() - 1};
    }
    std::vector<std::size_t> last;
    for (const auto& node : graph.nodes) {
        if (!has_dependents[node.get()])
            last.insert(last.end(), done[node.get()].begin(), done[node.get()].end());
    }
    return last;
}

// The event that a node records or waits for; null where it has none, or the event is gone.
CUevent_st* event_of(const State& state, const Operation& operation) {
    CUevent_st* event = operation.parameters == nullptr ? nullptr : operation.parameters->event;
    return state.events.contains(event) ? event : nullptr;
}

bool embeds(const CUgraph_st& graph, const CUgraph_st* wanted) {
    return std::ranges::any_of(graph.nodes, [wanted](const auto& node) {
        return node->child != nullptr && (node->child.get() == wanted || embeds(*node->child, wanted));
    });
}

}  // namespace

bool is_graph(const State& state, const CUgraph_st* graph) {
    return graph != nullptr &&
           (state.graphs.contains(const_cast<CUgraph_st*>(graph)) ||
            std::ranges::any_of(state.graphs, [graph](const CUgraph_st* of) { return embeds(*of, graph); }));
}

CUgraphNode_st* add_node(CUgraph_st& graph, Operation operation, std::vector<CUgraphNode_st*> dependencies) {
    auto& node = graph.nodes.emplace_back(std::make_unique<CUgraphNode_st>());
    node->graph = &graph;
    node->operation = std::move(operation);
    node->dependencies = std::move(dependencies);
    return node.get();
}

cudaError_t record(CUstream_st& stream, Operation operation) {
    Capture& capture = *stream.capture;
    if (capture.invalidated) return cudaErrorStreamCaptureInvalidated;
    if (operation.synchronous) {
        capture.invalidated = true;
        return cudaErrorStreamCaptureUnsupported;
    }
    operation.synchronous = false;
    CUgraphNode_st* node =
        add_node(*capture.graph, std::move(operation), std::move(stream.capture_dependencies));
    stream.capture_dependencies = {node};
    return cudaSuccess;
}

cudaError_t disturbs_capture(State& state, const CUstream_st& stream) {
    const Device& device = *state.devices[static_cast<std::size_t>(stream.device)];
    if (&stream != &device.legacy_stream) return cudaSuccess;
    for (const CUstream_st* other : state.streams) {
        if (other->capture == nullptr || !other->is_blocking() || other->device != stream.device ||
            other->capture->mode == cudaStreamCaptureModeRelaxed)
            continue;
        other->capture->invalidated = true;
        return cudaErrorStreamCaptureImplicit;
    }
    return cudaSuccess;
}

cudaError_t begin_capture(State& state, CUstream_st& stream, cudaStreamCaptureMode mode) {
    const Device& device = *state.devices[static_cast<std::size_t>(stream.device)];
    if (&stream == &device.legacy_stream) return cudaErrorStreamCaptureUnsupported;
    if (stream.capture != nullptr) return cudaErrorIllegalState;
    auto capture = std::make_shared<Capture>();
    capture->graph = *state.graphs.insert(new CUgraph_st).first;
    capture->origin = &stream;
    capture->mode = mode;
    capture->id = state.next_id++;
    capture->streams = {&stream};
    stream.capture = std::move(capture);
    stream.capture_dependencies.clear();
    return cudaSuccess;
}

cudaError_t end_capture(State& state, CUstream_st& stream, cudaGraph_t& graph) {
    if (stream.capture == nullptr) return cudaErrorIllegalState;
    const std::shared_ptr<Capture> capture = stream.capture;
    if (capture->origin != &stream) return cudaErrorStreamCaptureUnmatched;
    // What the joined streams recorded must be waited for by the origin.
    bool unjoined = false;
    for (const CUstream_st* other : capture->streams) {
        for (const CUgraphNode_st* last : other->capture_dependencies) {
            const auto waits = [&](const CUgraphNode_st* node) {
                return std::find(node->dependencies.begin(), node->dependencies.end(), last) !=
                       node->dependencies.end();
            };
            const auto& own = stream.capture_dependencies;
            const bool joined = other == &stream || std::find(own.begin(), own.end(), last) != own.end() ||
                                std::any_of(capture->graph->nodes.begin(), capture->graph->nodes.end(),
                                            [&](const auto& node) { return waits(node.get()); });
            unjoined = unjoined || !joined;
        }
    }
    end(*capture);
    if (!capture->invalidated && !unjoined) {
        graph = capture->graph;
        return cudaSuccess;
    }
    graph = nullptr;
    if (!capture->into_given_graph) {
        state.graphs.erase(capture->graph);
        delete capture->graph;
    }
    return capture->invalidated ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnjoined;
}

std::unique_ptr<CUgraph_st> clone(const CUgraph_st& graph) {
    auto copy = std::make_unique<CUgraph_st>();
    std::map<const CUgraphNode_st*, CUgraphNode_st*> twins;
    for (const auto& node : graph.nodes) {
        CUgraphNode_st* twin = add_node(*copy, node->operation, {});
        twin->enabled = node->enabled;
        twin->original = node.get();
        if (node->child != nullptr) twin->child = clone(*node->child);
        twins[node.get()] = twin;
    }
    for (const auto& node : graph.nodes) {
        for (const CUgraphNode_st* dependency : node->dependencies)
            twins[node.get()]->dependencies.push_back(twins[dependency]);
    }
    return copy;
}

std::unique_ptr<CUgraphExec_st> instantiate(const CUgraph_st& graph) {
    auto exec = std::make_unique<CUgraphExec_st>();
    static_cast<void>(lay_open(graph, {}, *exec));
    return exec;
}

cudaError_t launch(State& state, CUgraphExec_st& exec, cudaStream_t handle) {
    Device* device = nullptr;
    double begin_ns = 0;
    {
        const std::lock_guard lock(state.mutex);
        CUstream_st* stream = state.stream(handle);
        if (stream == nullptr) return cudaErrorInvalidResourceHandle;
        if (stream->capture != nullptr) return cudaErrorStreamCaptureUnsupported;
        device = state.devices[static_cast<std::size_t>(stream->device)].get();
        begin_ns = earliest_start_ns(state, *stream);
    }
    std::vector<double> end_ns(exec.nodes.size(), begin_ns);
    double last_ns = begin_ns;
    for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
        const CUgraphExec_st::Node& node = exec.nodes[i];
        Work work;
        if (node.enabled && node.operation.run) {
            if (const cudaError_t status = run(*device, node.operation, work); status != cudaSuccess)
                return status;
        }
        const std::lock_guard lock(state.mutex);
        double start_ns = begin_ns;
        for (const std::size_t dependency : node.dependencies)
            start_ns = std::max(start_ns, end_ns[dependency]);
        CUevent_st* event = event_of(state, node.operation);
        if (event != nullptr && node.operation.type == cudaGraphNodeTypeWaitEvent && event->recorded)
            start_ns = std::max(start_ns, event->time_ns);
        end_ns[i] = device->timeline.place(work, start_ns);
        last_ns = std::max(last_ns, end_ns[i]);
        if (event != nullptr && node.operation.type == cudaGraphNodeTypeEventRecord) {
            event->capture.reset();
            event->recorded = true;
            event->time_ns = end_ns[i];
        }
        // What follows a kernel that has faulted does not run.
        if (device->fault != cudaSuccess) break;
    }
    const std::lock_guard lock(state.mutex);
    if (CUstream_st* stream = state.stream(handle)) stream->ready_ns = std::max(stream->ready_ns, last_ns);
    return cudaSuccess;
}

}  // namespace trimtab::cuda
