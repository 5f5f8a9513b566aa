// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel nodes of graphs. A graph holds what the program wrote, always: it may read that back, change it,
// copy it. Blocks are chosen for executable graphs alone, which CUDA lets nobody read: when one is
// instantiated, updated from a graph, or given other parameters for a node.
#pragma once

#include <cuda.h>

#include <functional>
#include <vector>

#include "runtime/launches/packed_arguments.h"
#include "runtime/process.h"

namespace trimtab::runtime {

class GraphChoices {
  public:
    explicit GraphChoices(Process& process)
        : process_(process), loaded_(process.loaded()), calls_(loaded_.backend.calls()) {}

    // `graph` was instantiated as `exec`, whose kernel nodes get their blocks. Nodes in the bodies of
    // conditional nodes keep what was written, and so do all that the device may launch or change.
    void choose(CUgraphExec exec, CUgraph graph, unsigned long long flags);

    // Calls `set` with a copy of the graph whose kernel nodes have their blocks; where nothing of it may be
    // changed, or that fails, with the graph itself. For calls that give an executable graph what a graph
    // holds. Gives a CUresult or a cudaError_t, as `set` does.
    template <typename Set>
    auto with_choices(CUgraph graph, const Set& set) -> decltype(set(graph)) {
        CUgraph copy = changed_copy(graph);
        if (copy == nullptr) return set(graph);
        const PendingError pending(calls_);
        const auto status = set(copy);
        static_cast<void>(calls_.graphs.driver.destroy(copy));
        if (static_cast<int>(status) == 0) return status;
        // The program's own answer, which speaks of its own nodes.
        pending.restore();
        return set(graph);
    }

    // Gives a node of an executable graph a launch: `set(grid, block, dynamic_shared_bytes)` does it.
    template <typename Set>
    cudaError_t set(CUgraphNode node, RegisteredKernel* kernel, choosing::LaunchShape shape, void** arguments,
                    void** extra, const Set& set) {
        ArgumentPointers pointers{};
        const char* keep = kernel == nullptr ? nullptr : keeps_its_shape(node);
        if (const char* reason =
                point_at_arguments(loaded_.launcher, kernel, arguments, extra, pointers, shape))
            keep = reason;
        return loaded_.launcher.launch(kernel, shape, keep, set);
    }

  private:
    // Sets what a node launches; of an executable graph, or of the copy of a graph.
    using SetNode = std::function<CUresult(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS& launch)>;

    void choose_for_node(CUgraphNode node, const SetNode& set);
    // Of a copy: its own nodes and those of its child graphs.
    void choose_in_copy(CUgraph copy);
    // Null: no kernel of it may be changed, or it cannot be copied.
    [[nodiscard]] CUgraph changed_copy(CUgraph graph);
    [[nodiscard]] bool may_change(CUgraph graph);

    [[nodiscard]] std::vector<CUgraphNode> nodes_of(CUgraph graph) const;
    [[nodiscard]] CUgraphNodeType type_of(CUgraphNode node) const;
    [[nodiscard]] CUgraph child_of(CUgraphNode node) const;
    // What a kernel node launches; null: a kernel that Trimtab knows nothing of.
    [[nodiscard]] RegisteredKernel* kernel_of(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS& launch);
    // Why a node must launch what was written, as its attributes and edges say; null: it need not.
    [[nodiscard]] const char* keeps_its_shape(CUgraphNode node) const;

    Process& process_;
    Loaded& loaded_;
    const BackendCalls& calls_;
};

}  // namespace trimtab::runtime
