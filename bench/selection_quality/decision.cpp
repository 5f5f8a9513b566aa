// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/selection_quality/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/analysis/launches/legal_blocks.h"
#include "emulation/emulator/exec/memory.h"
#include "tools/trimtab/ranking.h"

namespace trimtab::bench {

std::expected<CaseLaunches, Error> launches_of(const ListedKernel& listed, const tools::FileKernel& kernel,
                                               const model::Device& device, std::uint64_t n,
                                               std::size_t most_launches) {
    const analysis::KernelDescription& description = kernel.record.description;
    if (description.reads(2) || (description.reads(1) && listed.extent.size() < 2))
        return std::unexpected(Error{
            .message = fmt::format("{} reads more dimensions than its extent has", description.demangled)});
    CaseLaunches out;
    out.kernel = &kernel;
    out.two_dimensional = description.reads(1);
    out.written = {listed.block[0], listed.block.size() > 1 ? listed.block[1] : 1};
    out.image = analysis::to_driver_image(analysis::image_for(description, device.values.compute_capability));
    std::array<std::uint32_t, 3> extent{1, 1, 1};
    for (std::size_t d = 0; d < listed.extent.size(); ++d)
        extent[d] = static_cast<std::uint32_t>(
            evaluate_size(listed.extent[d], static_cast<std::int64_t>(n)).value_or(1));
    for (const SampledArguments& sampled : launches_at(listed, n, most_launches)) {
        const auto arguments =
            tools::parse_arguments(description, sampled.texts, &emulator::SparseMemory::region_base);
        if (!arguments) return std::unexpected(arguments.error());
        if (const auto complete = tools::require_data(description, *arguments); !complete)
            return std::unexpected(complete.error());
        CaseLaunches::Launch launch{
            .weight = sampled.weight,
            .arguments = *arguments,
            .data = analysis::data_values(description, arguments->bytes, {extent[0], extent[1], 1}),
            .limits = {}};
        // As the tables' programs launch: a grid of just the extent, whatever the block.
        const auto limits = analysis::legal_blocks(description, arguments->bytes, {extent[0], extent[1], 1},
                                                   {1, 1, 1}, device.values, out.image);
        if (!limits) return std::unexpected(Error{.message = limits.error()});
        launch.limits = *limits;
        out.uncertain = out.uncertain || kernel.record.fits->uncertain(launch.data);
        out.launches.push_back(std::move(launch));
    }
    if (out.launches.empty()) return std::unexpected(Error{.message = "no launch at this N"});
    return out;
}

void decide_ties(std::vector<PredictedBlock>& sorted) {
    std::vector<tools::RankedBlock> ranking;
    for (const PredictedBlock& one : sorted)
        ranking.push_back({.block = {one.block.x, one.block.y, 1}, .ns = one.ns});
    tools::decide_ties(ranking);
    for (std::size_t i = 0; i < sorted.size(); ++i)
        sorted[i] = {.block = {ranking[i].block.x, ranking[i].block.y}, .ns = ranking[i].ns};
}

std::vector<PredictedBlock> predict(const CaseLaunches& launches, const model::Device& device,
                                    const model::RationalProgram& program,
                                    const std::vector<MeasuredBlock>& blocks) {
    std::vector<PredictedBlock> sums;
    std::vector<trimtab_dim3> candidates;
    for (const MeasuredBlock& measured : blocks)
        candidates.push_back({measured.block.x, measured.block.y, 1});
    bool first = true;
    for (const CaseLaunches::Launch& launch : launches.launches) {
        const tools::RankedLaunch ranked{.program = &program,
                                         .device = &device,
                                         .image = launches.image,
                                         .fits = &*launches.kernel->record.fits,
                                         .data = launch.data,
                                         .limits = launch.limits,
                                         .dynamic_shared_bytes = 0};
        const auto ranking = tools::rank(ranked, tools::legal_candidates(launch.limits, candidates));
        std::map<Block, double> times;
        for (const tools::RankedBlock& one : ranking) {
            times[{one.block.x, one.block.y}] = one.ns;
            if (first) sums.push_back({.block = {one.block.x, one.block.y}, .ns = 0});
        }
        first = false;
        std::erase_if(sums, [&](const PredictedBlock& sum) { return !times.contains(sum.block); });
        for (PredictedBlock& sum : sums) sum.ns += launch.weight * times[sum.block];
    }
    // As the search of one launch decides: exact ties as the ranking of the first launch, near ones by its
    // rule.
    std::map<Block, std::size_t> place;
    for (const PredictedBlock& sum : sums) place.emplace(sum.block, place.size());
    std::ranges::sort(sums, {},
                      [&](const PredictedBlock& sum) { return std::pair(sum.ns, place[sum.block]); });
    decide_ties(sums);
    return sums;
}

}  // namespace trimtab::bench
