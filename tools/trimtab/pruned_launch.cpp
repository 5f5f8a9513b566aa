// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/pruned_launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "emulation/opencl/pruning/emulated_round.h"
#include "emulation/opencl/pruning/kernel_code.h"
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

Assumptions assumptions_of(const ptx::Module& module, const pruning::KernelCode& code,
                           const pruning::WalkNotes& notes) {
    Assumptions out{.branches = {}, .loops = {}, .addresses = {}, .is_cut = notes.is_cut};
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
    return out;
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
    const auto sm_count = std::max(1u, static_cast<std::uint32_t>(question.device.values.sm_count));
    const pruning::Latencies latencies = pruning::latencies_of(question.device, sm_count);
    const model::Architecture architecture = model::architecture_of(question.device);
    const auto code = pruning::KernelCode::make(*kernel.module, *function, latencies, architecture);
    if (!code) return fault(fmt::format("{}: {}", description.demangled, code.error().message));

    pruning::TracePool pool;
    pruning::StaticTraces traces(*code, question.arguments.bytes, options.walk, latencies, pool);
    pruning::CachedRound cached(latencies, pool);
    std::shared_ptr<emulator::Program> program;
    std::optional<Error> failed;
    if (options.metrics == TraceMetrics::emulated) {
        auto loaded = load_program_of(question);
        if (!loaded) return std::unexpected(loaded.error());
        program = std::move(*loaded);
    }
    const auto emulated = [&](const pruning::GroupPlacement& placement, std::uint32_t local_bytes,
                              double factor) -> std::optional<pruning::Round> {
        const auto launch =
            trace_launch(question, *program, placement.groups, placement.group, local_bytes,
                         placement.at_once, {.from_ptx = true, .first_block = placement.first});
        if (!launch) {
            if (!failed) failed = launch.error();
            return std::nullopt;
        }
        return pruning::emulated_round(*launch, placement.at_once, latencies, factor, cached);
    };
    PrunedLaunch out;
    pruning::PruneRequest request{
        .device = &question.device.values,
        .image = question.image,
        .dynamic_local_bytes = options.dynamic_local_bytes,
        .local_bytes_per_item = options.local_bytes_per_item,
        .global = options.global,
        .sizes = options.sizes,
        .settings = options.settings,
        .traces = [&](const pruning::GroupPlacement& placement, std::uint32_t local_bytes,
                      double factor) -> std::optional<pruning::Round> {
            if (options.metrics == TraceMetrics::emulated) return emulated(placement, local_bytes, factor);
            return traces.round(placement, sm_count, factor);
        },
        .estimate = {},
        .pool = &pool,
        .latencies = &latencies,
        .progress = options.progress};
    if (options.metrics == TraceMetrics::by_static_analysis)
        request.estimate = [&](const pruning::GroupPlacement& placement, double factor) {
            return traces.estimate(placement, sm_count, factor);
        };
    out.result = pruning::prune(request);
    if (failed && out.result.launchable == 0) return std::unexpected(*failed);
    if (options.metrics == TraceMetrics::by_static_analysis)
        out.assumed = assumptions_of(*kernel.module, *code, traces.notes());
    return out;
}

}  // namespace trimtab::tools
