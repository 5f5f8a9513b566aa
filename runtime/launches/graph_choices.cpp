// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/graph_choices.h"

#include <algorithm>
#include <array>

namespace trimtab::runtime {
namespace {

std::uint64_t volume(unsigned x, unsigned y, unsigned z) {
    return std::uint64_t{x} * y * z;
}

choosing::LaunchShape shape_of(const CUDA_KERNEL_NODE_PARAMS& launch) {
    return {.written = {.grid = {.x = launch.gridDimX, .y = launch.gridDimY, .z = launch.gridDimZ},
                        .block = {.x = launch.blockDimX, .y = launch.blockDimY, .z = launch.blockDimZ},
                        .dynamic_shared_bytes = launch.sharedMemBytes},
            .of_driver_api = true};
}

// Attributes that a launch with another shape would not keep.
struct BindingAttribute {
    CUlaunchAttributeID id;
    bool (*is_set)(const CUlaunchAttributeValue& value);
};
constexpr auto binding_attributes = std::to_array<BindingAttribute>({
    {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, [](const auto& value) { return value.cooperative != 0; }},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
     [](const auto& value) {
         return volume(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z) > 1;
     }},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
     [](const auto& value) {
         return volume(value.preferredClusterDim.x, value.preferredClusterDim.y,
                       value.preferredClusterDim.z) > 1;
     }},
    {CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
     [](const auto& value) { return value.deviceUpdatableKernelNode.deviceUpdatable != 0; }},
});

}  // namespace

std::vector<CUgraphNode> GraphChoices::nodes_of(CUgraph graph) const {
    std::size_t count = 0;
    if (calls_.graphs.driver.get_nodes(graph, nullptr, &count) != CUDA_SUCCESS) return {};
    std::vector<CUgraphNode> nodes(count);
    if (calls_.graphs.driver.get_nodes(graph, nodes.data(), &count) != CUDA_SUCCESS) return {};
    nodes.resize(std::min(count, nodes.size()));
    return nodes;
}

CUgraphNodeType GraphChoices::type_of(CUgraphNode node) const {
    auto type = CU_GRAPH_NODE_TYPE_EMPTY;
    return calls_.graphs.driver.node_get_type(node, &type) == CUDA_SUCCESS ? type : CU_GRAPH_NODE_TYPE_EMPTY;
}

CUgraph GraphChoices::child_of(CUgraphNode node) const {
    CUgraph child = nullptr;
    return calls_.graphs.driver.child_graph_node_get_graph(node, &child) == CUDA_SUCCESS ? child : nullptr;
}

RegisteredKernel* GraphChoices::kernel_of(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS& launch) {
    launch = {};
    if (calls_.graphs.driver.kernel_node_get_params(node, &launch) != CUDA_SUCCESS) return nullptr;
    const void* handle = launch.func != nullptr ? static_cast<const void*>(launch.func)
                                                : static_cast<const void*>(launch.kern);
    if (RegisteredKernel* kernel = process_.registrations().find(handle)) return kernel;
    // The runtime knows which host function the driver's handle stands for.
    const PendingError pending(calls_);
    cudaKernelNodeParams of_runtime{};
    if (calls_.graphs.kernel_node_get_params(node, &of_runtime) == cudaSuccess)
        return process_.kernel_of(of_runtime.func);
    pending.restore();
    return nullptr;
}

const char* GraphChoices::keeps_its_shape(CUgraphNode node) const {
    for (const BindingAttribute& attribute : binding_attributes) {
        CUlaunchAttributeValue value{};
        if (calls_.graphs.driver.kernel_node_get_attribute(node, attribute.id, &value) == CUDA_SUCCESS &&
            attribute.is_set(value))
            return "its node has cluster, cooperative or device-updatable attributes";
    }
    // An edge that is not a plain one starts a kernel before the one ahead has ended.
    const auto has_early_edge = [node](const auto& query) {
        std::size_t count = 0;
        if (query(node, nullptr, nullptr, &count) != CUDA_SUCCESS) return true;
        std::vector<CUgraphNode> nodes(count);
        std::vector<CUgraphEdgeData> edges(count);
        if (count > 0 && query(node, nodes.data(), edges.data(), &count) != CUDA_SUCCESS) return true;
        return std::ranges::any_of(
            edges, [](const CUgraphEdgeData& edge) { return edge.type != 0 || edge.from_port != 0; });
    };
    if (has_early_edge(calls_.graphs.driver.node_get_dependencies) ||
        has_early_edge(calls_.graphs.driver.node_get_dependent_nodes))
        return "its node has a programmatic dependency";
    return nullptr;
}

void GraphChoices::choose_for_node(CUgraphNode node, const SetNode& set_node) {
    CUDA_KERNEL_NODE_PARAMS launch;
    RegisteredKernel* kernel = kernel_of(node, launch);
    if (kernel == nullptr || !loaded_.launcher.may_change(*kernel)) return;
    const void* handle = launch.func != nullptr ? static_cast<const void*>(launch.func)
                                                : static_cast<const void*>(launch.kern);
    choosing::LaunchShape shape = shape_of(launch);
    shape.function = handle;
    static_cast<void>(
        set(node, kernel, shape, launch.kernelParams, launch.extra,
            [&](const trimtab_dim3& grid, const trimtab_dim3& block, std::uint64_t shared_bytes,
                const RegisteredKernel* body) {
                // The emulator may have been asked to check the launch that is set now.
                if (calls_.check_next_launch == nullptr && body == nullptr &&
                    is_written(shape, {.grid = grid, .block = block, .dynamic_shared_bytes = shared_bytes}))
                    return cudaSuccess;
                CUDA_KERNEL_NODE_PARAMS changed = launch;
                if (body != nullptr) {
                    changed.kern = nullptr;
                    const cudaError_t status = calls_.get_func_by_symbol(&changed.func, body->host_function);
                    if (status != cudaSuccess) return status;
                }
                changed.gridDimX = grid.x;
                changed.gridDimY = grid.y;
                changed.gridDimZ = grid.z;
                changed.blockDimX = block.x;
                changed.blockDimY = block.y;
                changed.blockDimZ = block.z;
                changed.sharedMemBytes = static_cast<unsigned>(shared_bytes);
                return static_cast<cudaError_t>(set_node(node, changed));
            }));
}

void GraphChoices::choose(CUgraphExec exec, CUgraph graph, unsigned long long flags) {
    if (!loaded_.launcher.is_active() || (flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) return;
    for (CUgraphNode node : nodes_of(graph)) {
        const CUgraphNodeType type = type_of(node);
        if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
            choose_for_node(node, [&](CUgraphNode of, const CUDA_KERNEL_NODE_PARAMS& launch) {
                return calls_.graphs.driver.exec_kernel_node_set_params(exec, of, &launch);
            });
        } else if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
            CUgraph copy = changed_copy(child_of(node));
            if (copy == nullptr) continue;
            // Where it fails, the child graph is as it was instantiated: as written.
            static_cast<void>(calls_.graphs.driver.exec_child_graph_node_set_params(exec, node, copy));
            static_cast<void>(calls_.graphs.driver.destroy(copy));
        }
    }
}

void GraphChoices::choose_in_copy(CUgraph copy) {
    for (CUgraphNode node : nodes_of(copy)) {
        const CUgraphNodeType type = type_of(node);
        if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
            choose_for_node(node, [this](CUgraphNode of, const CUDA_KERNEL_NODE_PARAMS& launch) {
                return calls_.graphs.driver.kernel_node_set_params(of, &launch);
            });
        } else if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
            if (CUgraph child = child_of(node)) choose_in_copy(child);
        }
    }
}

bool GraphChoices::may_change(CUgraph graph) {
    return std::ranges::any_of(nodes_of(graph), [this](CUgraphNode node) {
        const CUgraphNodeType type = type_of(node);
        if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
            CUgraph child = child_of(node);
            return child != nullptr && may_change(child);
        }
        if (type != CU_GRAPH_NODE_TYPE_KERNEL) return false;
        CUDA_KERNEL_NODE_PARAMS launch;
        RegisteredKernel* kernel = kernel_of(node, launch);
        return kernel != nullptr && loaded_.launcher.may_change(*kernel);
    });
}

CUgraph GraphChoices::changed_copy(CUgraph graph) {
    if (graph == nullptr || !loaded_.launcher.is_active() || !may_change(graph)) return nullptr;
    CUgraph copy = nullptr;
    if (calls_.graphs.driver.clone(&copy, graph) != CUDA_SUCCESS) return nullptr;
    choose_in_copy(copy);
    return copy;
}

}  // namespace trimtab::runtime
