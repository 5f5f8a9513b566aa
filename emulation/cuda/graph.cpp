// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "emulation/cuda/graph_memory.h"

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

// The values of a body's own conditional nodes join those of the whole.
std::shared_ptr<const CUgraphExec_st::Condition> condition_of(const CUgraphNode_st& node,
                                                              CUgraphExec_st& exec) {
    if (node.conditional == nullptr) return nullptr;
    auto condition = std::make_shared<CUgraphExec_st::Condition>();
    condition->type = node.conditional->type;
    condition->value = node.conditional->value;
    for (const auto& body : node.conditional->bodies) {
        const auto& made = condition->bodies.emplace_back(std::move(*instantiate(*body)));
        exec.conditional_values.insert(exec.conditional_values.end(), made.conditional_values.begin(),
                                       made.conditional_values.end());
    }
    return condition;
}

// Appends the graph's nodes; returns which of them nothing in the graph waits for. Nodes without dependencies
// wait for `before`.
std::vector<std::size_t> lay_open(const CUgraph_st& graph, const std::vector<std::size_t>& before,
                                  CUgraphExec_st& exec) {
    exec.conditional_values.insert(exec.conditional_values.end(), graph.conditional_values.begin(),
                                   graph.conditional_values.end());
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
                              .enabled = node->enabled,
                              .condition = condition_of(*node, exec)});
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
    const auto is_or_embeds = [wanted](const auto& inner) {
        return inner != nullptr && (inner.get() == wanted || embeds(*inner, wanted));
    };
    return std::ranges::any_of(graph.nodes, [&](const auto& node) {
        return is_or_embeds(node->child) ||
               (node->conditional != nullptr && std::ranges::any_of(node->conditional->bodies, is_or_embeds));
    });
}

std::expected<double, cudaError_t> run_nodes(State& state, Device& device, const CUgraphExec_st& exec,
                                             double begin_ns);

// The bodies that a conditional node runs, one after the other; when they are done.
std::expected<double, cudaError_t> run_condition(State& state, Device& device,
                                                 const CUgraphExec_st::Condition& condition,
                                                 double begin_ns) {
    const auto has_faulted = [&] {
        const std::lock_guard lock(state.mutex);
        return device.fault != cudaSuccess;
    };
    const unsigned value = *condition.value;
    switch (condition.type) {
        case cudaGraphCondTypeIf:
            if (value != 0) return run_nodes(state, device, condition.bodies[0], begin_ns);
            if (condition.bodies.size() < 2) return begin_ns;
            return run_nodes(state, device, condition.bodies[1], begin_ns);
        case cudaGraphCondTypeWhile:
            while (*condition.value != 0 && !has_faulted()) {
                const auto end_ns = run_nodes(state, device, condition.bodies[0], begin_ns);
                if (!end_ns) return end_ns;
                begin_ns = *end_ns;
            }
            return begin_ns;
        case cudaGraphCondTypeSwitch:
            if (value >= condition.bodies.size()) return begin_ns;
            return run_nodes(state, device, condition.bodies[value], begin_ns);
    }
    return begin_ns;
}

// Every node, in order; modelled time runs along the dependencies. When the last is done.
std::expected<double, cudaError_t> run_nodes(State& state, Device& device, const CUgraphExec_st& exec,
                                             double begin_ns) {
    std::vector<double> end_ns(exec.nodes.size(), begin_ns);
    double last_ns = begin_ns;
    for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
        const CUgraphExec_st::Node& node = exec.nodes[i];
        double start_ns = begin_ns;
        for (const std::size_t dependency : node.dependencies)
            start_ns = std::max(start_ns, end_ns[dependency]);
        Work work;
        if (node.enabled && node.condition != nullptr) {
            const auto done_ns = run_condition(state, device, *node.condition, start_ns);
            if (!done_ns) return done_ns;
            start_ns = *done_ns;
        } else if (node.enabled && node.operation.run) {
            if (const cudaError_t status = run(device, node.operation, work); status != cudaSuccess)
                return std::unexpected(status);
        }
        const std::lock_guard lock(state.mutex);
        CUevent_st* event = event_of(state, node.operation);
        if (event != nullptr && node.operation.type == cudaGraphNodeTypeWaitEvent && event->recorded)
            start_ns = std::max(start_ns, event->time_ns);
        end_ns[i] = device.timeline.place(work, start_ns);
        last_ns = std::max(last_ns, end_ns[i]);
        if (event != nullptr && node.operation.type == cudaGraphNodeTypeEventRecord) {
            event->capture.reset();
            event->recorded = true;
            event->time_ns = end_ns[i];
        }
        // What follows a kernel that has faulted does not run.
        if (device.fault != cudaSuccess) break;
    }
    return last_ns;
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
    copy->conditional_values = graph.conditional_values;
    std::map<const CUgraphNode_st*, CUgraphNode_st*> twins;
    for (const auto& node : graph.nodes) {
        CUgraphNode_st* twin = add_node(*copy, node->operation, {});
        twin->enabled = node->enabled;
        twin->original = node.get();
        if (node->child != nullptr) twin->child = clone(*node->child);
        if (node->conditional != nullptr) {
            twin->conditional = std::make_unique<Conditional>();
            twin->conditional->type = node->conditional->type;
            twin->conditional->value = node->conditional->value;
            for (const auto& body : node->conditional->bodies)
                twin->conditional->handles.push_back(
                    twin->conditional->bodies.emplace_back(clone(*body)).get());
        }
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
        if (const cudaError_t status = prepare_graph_memory(state, exec); status != cudaSuccess)
            return status;
        device = state.devices[static_cast<std::size_t>(stream->device)].get();
        begin_ns = earliest_start_ns(state, *stream);
    }
    for (const ConditionalValue& value : exec.conditional_values) {
        if (value.is_assigned_at_launch) *value.value = value.default_value;
    }
    const auto last_ns = run_nodes(state, *device, exec, begin_ns);
    if (!last_ns) return last_ns.error();
    const std::lock_guard lock(state.mutex);
    if (CUstream_st* stream = state.stream(handle)) stream->ready_ns = std::max(stream->ready_ns, *last_ns);
    return cudaSuccess;
}

}  // namespace trimtab::cuda
