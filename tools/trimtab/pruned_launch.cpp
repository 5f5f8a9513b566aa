// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/pruned_launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "emulation/opencl/pruning/kernel_code.h"
#include "emulation/opencl/pruning/launch_estimate.h"
#include "emulation/opencl/pruning/walked_blocks.h"
#include "tools/trimtab/emulated_schedule.h"

namespace trimtab::tools {

namespace {

// Places of the source, each once.
class Places {
  public:
    explicit Places(const ptx::Module& module) : module_(module) {}
    void add(std::vector<std::string>& to, const ptx::SourceLocation& location,
             std::string_view otherwise) const {
        std::string text = module_.source_text(location);
        if (text.empty()) text = otherwise;
        if (std::ranges::find(to, text) == to.end()) to.push_back(std::move(text));
    }

  private:
    const ptx::Module& module_;
};

void add_assumptions(Assumptions& out, const ptx::Module& module, const pruning::KernelCode& code,
                     const pruning::WalkNotes& notes) {
    out.is_cut = notes.is_cut;
    const Places places(module);
    const auto end_of = [&](ptx::BlockIndex b) {
        const ptx::BasicBlock& block = code.flow.blocks[b];
        return block.first == block.last ? ptx::SourceLocation{}
                                         : code.function.body[block.last - 1].location;
    };
    for (std::size_t l = 0; l < notes.undecided_loops.size(); ++l)
        if (notes.undecided_loops[l])
            places.add(out.loops, end_of(code.flow.loops[l].latches.front()), "a loop");
    for (ptx::BlockIndex b = 0; b < notes.undecided_branches.size(); ++b)
        if (notes.undecided_branches[b]) places.add(out.branches, end_of(b), "a branch");
    for (std::size_t a = 0; a < notes.unknown_addresses.size(); ++a)
        if (notes.unknown_addresses[a]) places.add(out.addresses, code.accesses[a].location, "an access");
}

}  // namespace

std::expected<PrunedLaunch, Error> prune_launch(const LaunchQuestion& question, const PruneOptions& options) {
    const FileKernel& kernel = question.file.kernels[question.kernel];
    const analysis::KernelDescription& description = kernel.record.description;
    const auto fault = [&](const std::string& message) {
        return std::unexpected(Error{.message = message, .file = question.file.path});
    };
    if (kernel.module == nullptr)
        return fault(fmt::format("holds no PTX of {}, so no trace of it can be made", description.demangled));
    const ptx::Function* const function = kernel.module->function(description.name);
    if (function == nullptr) return fault(fmt::format("its PTX has no kernel {}", description.name));
    const auto code = pruning::KernelCode::make(*kernel.module, *function);
    if (!code) return fault(fmt::format("{}: {}", description.demangled, code.error().message));

    pruning::WarpWalk walk(*code, question.arguments.bytes, options.walk);
    std::optional<Error> failed;
    const ScheduleOptions how{.loads_bypass_l1 = options.loads_bypass_l1, .from_ptx = options.from_ptx};
    const auto machine_code = machine_code_of(question, how);
    const auto request_of = [&](const pruning::GroupPlacement& placed) {
        return schedule::TraceRequest{
            .program = code->program.get(),
            .kernel = code->name,
            .grid = placed.groups,
            .block = placed.group,
            .dynamic_shared_bytes = placed.local_bytes,
            .parameters = question.arguments.bytes,
            .device = &question.device,
            .resident = placed.at_once,
            .shared_bytes_of_block = question.image.static_shared_bytes + placed.local_bytes,
            .loads_bypass_l1 = options.loads_bypass_l1,
            .code = machine_code ? &*machine_code : nullptr};
    };
    PrunedLaunch out;
    const auto traced =
        [&](const pruning::GroupPlacement& placed) -> std::expected<schedule::TracedLaunch, Error> {
        if (options.metrics == TraceMetrics::emulated)
            return trace_launch(question, *code->program, {placed.groups, placed.group, placed.local_bytes},
                                placed.at_once, how);
        pruning::WalkedBlocks blocks(walk, placed.groups, placed.group);
        auto launch = schedule::trace_launch(request_of(placed), blocks);
        const std::uint32_t beyond = walk.take_beyond_local();
        if (beyond == ptx::no_index) return launch;
        ++out.assumed.contradicted;
        const ptx::SourceLocation& place = code->accesses[beyond].location;
        Places(*kernel.module).add(out.assumed.beyond_local, place, "an access");
        return std::unexpected(
            Error{.message = fmt::format("{} goes past its local memory at {}", description.demangled,
                                         out.assumed.beyond_local.front())});
    };
    pruning::PruneRequest request{.device = &question.device.values,
                                  .image = question.image,
                                  .dynamic_local_bytes = options.dynamic_local_bytes,
                                  .local_bytes_per_item = options.local_bytes_per_item,
                                  .global = options.global,
                                  .sizes = options.sizes,
                                  .settings = options.settings,
                                  .trace =
                                      [&](const pruning::GroupPlacement& placed) {
                                          auto launch = traced(placed);
                                          if (!launch && !failed) failed = launch.error();
                                          return launch;
                                      },
                                  .code = &*code,
                                  .progress = options.progress};
    std::optional<pruning::LaunchEstimate> estimate;
    if (options.metrics == TraceMetrics::by_static_analysis) {
        estimate.emplace(*code, walk, question.device, options.loads_bypass_l1);
        request.estimate = [&](const pruning::GroupPlacement& placed) { return (*estimate)(placed); };
    }
    out.result = pruning::prune(request);
    if (failed && out.result.launchable == 0) return std::unexpected(*failed);
    if (options.metrics == TraceMetrics::by_static_analysis)
        add_assumptions(out.assumed, *kernel.module, *code, walk.notes());
    return out;
}

}  // namespace trimtab::tools
