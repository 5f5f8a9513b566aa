// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/traced_launch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "emulation/emulator/exec/program.h"
#include "emulation/schedule/architecture.h"
#include "emulation/schedule/code_builder.h"
#include "emulation/schedule/emulated_blocks.h"
#include "emulation/schedule/machine_trace.h"
#include "emulation/schedule/settled_iterations.h"
#include "emulation/schedule/sharing.h"

namespace trimtab::schedule {

namespace {

constexpr std::uint32_t most_traced_blocks = 16;
// Blocks whose work is counted, so that those traced may stand for all.
constexpr std::uint64_t counted_blocks = 6, counted_blocks_if_uneven = 32;

class Tracer {
  public:
    Tracer(const TraceRequest& request, BlockSource& source) : request_(request), source_(source) {
        blocks_ = std::uint64_t{request.grid.x} * request.grid.y * request.grid.z;
    }

    std::expected<TracedLaunch, Error> run() {
        const emulator::CompiledKernel* kernel = request_.program->kernel(request_.kernel);
        if (kernel == nullptr || !kernel->info().error.empty())
            return std::unexpected(
                Error{.message = kernel == nullptr ? "there is no such kernel" : kernel->info().error});
        const double active_sms = static_cast<double>(std::min<std::uint64_t>(blocks_, sm_count()));
        out_.machine = machine_of(*request_.device, active_sms);
        const model::Architecture architecture = model::architecture_of(*request_.device);
        out_.machine.policy = request_.policy;
        apply(request_.settings, out_.machine);
        out_.resident = std::max(1u, request_.resident);
        out_.blocks_on_sm = (blocks_ + sm_count() - 1) / sm_count();
        out_.sm_clock_hz = request_.device->values.sm_clock_hz;
        out_.launch_overhead_ns = request_.device->values.launch_overhead_ns;
        settle_l1();
        const CostSettings settings{
            .architecture = architecture,
            .l1_caches_loads = out_.machine.l1_bytes != 0 && !request_.loads_bypass_l1};
        // Read-only loads go through L1 (the texture cache, once) where plain ones do not.
        if (out_.machine.l1_bytes == 0 && out_.machine.has_caches)
            out_.machine.l1_bytes = read_only_cache_bytes;
        BuiltCode code =
            build_code(request_.program->module(), *kernel, out_.machine, settings, request_.edits);
        const std::vector<std::uint64_t> traced = choose_blocks();
        auto recorded = source_.record(code, store_rules(architecture), traced);
        if (!recorded) return std::unexpected(recorded.error());
        for (std::size_t l = 0; l < code.code.loops.size(); ++l)
            code.code.loops[l].kept_iterations = recorded->kept[l];
        out_.block_warp_instructions =
            static_cast<double>(recorded->warp_instructions) / static_cast<double>(traced.size());
        out_.is_cut = recorded->is_cut;
        if (const auto measured = measure_ratio(out_.block_warp_instructions); !measured)
            return std::unexpected(measured.error());
        share(code, *recorded);
        if (!take_machine_code(*kernel, code, *recorded, architecture)) {
            out_.trace.blocks = std::move(recorded->blocks);
            out_.trace.code = std::move(code.code);
            for (std::size_t l = 0; l < out_.trace.code.loops.size(); ++l)
                out_.trace.code.loops[l].is_cut = recorded->cut_short[l];
        }
        settle_iterations(out_.trace);
        out_.places = emulator::instruction_places(*request_.program, request_.kernel);
        return std::move(out_);
    }

  private:
    static constexpr std::uint64_t read_only_cache_bytes = 24 * 1024;  // Mei and Chu, 2017: Maxwell, a half

    [[nodiscard]] std::uint32_t sm_count() const {
        return std::max(1u, static_cast<std::uint32_t>(request_.device->values.sm_count));
    }

    bool take_machine_code(const emulator::CompiledKernel& kernel, const BuiltCode& code,
                           const RecordedBlocks& recorded, const model::Architecture& architecture) {
        if (request_.code == nullptr) return false;
        auto made = machine_trace(*request_.code, kernel, code, recorded,
                                  {.device = *request_.device, .architecture = architecture});
        if (!made) {
            out_.no_machine_code = made.error();
            return false;
        }
        made->accesses = std::move(out_.trace.accesses);
        made->local = out_.trace.local;
        out_.trace = std::move(*made);
        out_.machine_code = request_.code->architecture;
        return true;
    }

    // Shared memory is taken from L1's where they are one memory (Volta and later).
    void settle_l1() {
        const trimtab_device& device = request_.device->values;
        if (device.compute_capability < 70 || out_.machine.l1_bytes == 0) return;
        constexpr double share_of_default = 32 * 1024, least = 16 * 1024;
        const double shared = request_.shared_bytes_of_block * out_.resident;
        const double l1 = device.l1_bytes - std::max(0.0, shared - share_of_default);
        out_.machine.l1_bytes = static_cast<std::uint64_t>(std::max(least, l1));
    }

    // Where `count` of an SM's blocks begin of which none lies at the launch's edges, the nearest to the middle: at an edge
    // blocks may do less than others. The middle where there are none.
    [[nodiscard]] std::uint64_t inner_blocks(std::uint64_t last, std::uint64_t count) const {
        constexpr std::uint64_t most_tries = 64;
        const auto is_inner = [](std::uint64_t index, std::uint64_t size) {
            return size < 3 || (index != 0 && index != size - 1);
        };
        const std::uint64_t x = request_.grid.x, y = request_.grid.y, z = request_.grid.z;
        const auto are_inner = [&](std::uint64_t first) {
            for (std::uint64_t b = first * sm_count(); b < (first + count) * sm_count(); b += sm_count())
                if (!is_inner(b % x, x) || !is_inner(b / x % y, y) || !is_inner(b / x / y, z)) return false;
            return true;
        };
        const std::uint64_t middle = last / 2;
        for (std::uint64_t i = 0; i < most_tries; ++i) {
            const std::uint64_t away = (i + 1) / 2;
            if (away > middle || middle + away > last) break;
            const std::uint64_t first = i % 2 != 0 ? middle + away : middle - away;
            if (are_inner(first)) return first;
        }
        return middle;
    }

    // Blocks that one SM has at once, in the middle of those that it runs: blocks go to the SMs in turn.
    [[nodiscard]] std::vector<std::uint64_t> choose_blocks() {
        const std::uint64_t sms = sm_count();
        const std::uint64_t at_once =
            std::min<std::uint64_t>({out_.resident, most_traced_blocks, out_.blocks_on_sm});
        const std::uint64_t last_first = out_.blocks_on_sm - at_once;
        const std::uint64_t first =
            std::min(last_first, request_.first_block.value_or(inner_blocks(last_first, at_once)));
        std::vector<std::uint64_t> chosen;
        for (std::uint64_t i = 0; i < at_once; ++i) chosen.push_back((first + i) * sms);
        if (request_.first_block || out_.blocks_on_sm > out_.resident || blocks_ == 1) return chosen;
        // Everything is resident at once, and the busiest SM decides: one in the middle, the first or the last. Of equals
        // the one in the middle, for blocks at a border, the first above all, may find what only they would.
        std::uint64_t most = 0;
        std::vector<std::uint64_t> busiest = chosen;
        const std::uint64_t last = std::min<std::uint64_t>(sms, blocks_) - 1;
        for (const std::uint64_t sm : {last / 2, std::uint64_t{0}, last}) {
            std::vector<std::uint64_t> own;
            for (std::uint64_t i = 0; i < at_once && sm + i * sms < blocks_; ++i) own.push_back(sm + i * sms);
            const auto ran = source_.count(own);
            if (!ran || *ran <= most) continue;
            most = *ran;
            busiest = std::move(own);
        }
        return busiest;
    }

    // Borders, tails and triangles: other blocks may do more or less than those in the middle. The last of each
    // dimension are counted apart, for what a block size leaves over is in them alone, and few of many blocks would hit
    // them too often or not at all.
    std::expected<void, Error> measure_ratio(double of_traced) {
        if (out_.blocks_on_sm <= out_.resident) return {};
        const std::array<std::uint64_t, 3> sizes{request_.grid.x, request_.grid.y, request_.grid.z};
        std::array<std::uint64_t, 3> inner = sizes;
        for (std::uint64_t& size : inner) size -= size > 1 ? 1 : 0;
        const auto index_of = [&](const std::array<std::uint64_t, 3>& at) {
            return at[0] + sizes[0] * (at[1] + sizes[1] * at[2]);
        };
        const auto inside = [&](std::uint64_t i) {
            return std::array{i % inner[0], i / inner[0] % inner[1], i / inner[0] / inner[1]};
        };
        const std::uint64_t insides = inner[0] * inner[1] * inner[2];
        double share_of_inside = 1, shares = 0, work = 0;
        for (std::size_t d = 0; d < 3; ++d) {
            if (sizes[d] < 2) continue;
            auto last = inside(insides / 2);
            last[d] = sizes[d] - 1;
            const std::uint64_t index = index_of(last);
            const auto ran = source_.count({&index, 1});
            if (!ran) return std::unexpected(ran.error());
            const double share = 1 / static_cast<double>(sizes[d]);
            work += share * static_cast<double>(*ran);
            share_of_inside = std::max(0.0, share_of_inside - share);
            shares += share;
        }
        // Not evenly along the grid's order: one that is as wide as the distance would show one of its columns alone. Each
        // dimension has steps of its own (Roberts' sequence in three dimensions), which spread well however many are taken.
        const auto spread_over = [&](std::uint64_t count) {
            constexpr std::array steps{0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
            std::vector<std::uint64_t> spread;
            for (std::uint64_t i = 0; i < count; ++i) {
                if (count == insides) {
                    spread.push_back(index_of(inside(i)));
                    continue;
                }
                std::array<std::uint64_t, 3> at{};
                for (std::size_t d = 0; d < 3; ++d)
                    at[d] = static_cast<std::uint64_t>(
                        std::fmod(0.5 + steps[d] * static_cast<double>(i + 1), 1.0) *
                        static_cast<double>(inner[d]));
                spread.push_back(index_of(at));
            }
            std::ranges::sort(spread);
            spread.erase(std::unique(spread.begin(), spread.end()), spread.end());
            return spread;
        };
        const std::vector<std::uint64_t> spread = spread_over(counted_blocks);
        // Where the first and the last of them do on average just what those traced do, in the middle, so do
        // those between.
        const auto ends =
            source_.count(spread.size() > 2 ? std::vector{spread.front(), spread.back()} : spread);
        if (!ends) return std::unexpected(ends.error());
        double inside_work =
            static_cast<double>(*ends) / static_cast<double>(std::min<std::size_t>(spread.size(), 2));
        if (spread.size() > 2 && inside_work != of_traced) {
            const auto between = source_.count(std::span(spread).subspan(1, spread.size() - 2));
            if (!between) return std::unexpected(between.error());
            inside_work = static_cast<double>(*ends + *between) / static_cast<double>(spread.size());
        }
        // A few may miss what few others do; more of them are cheap where they do little.
        constexpr double even = 0.1, little = 1000;
        if (std::abs(inside_work - of_traced) > even * of_traced || inside_work < little) {
            const std::vector<std::uint64_t> more = spread_over(std::min(insides, counted_blocks_if_uneven));
            const auto all = source_.count(more);
            if (!all) return std::unexpected(all.error());
            inside_work = static_cast<double>(*all) / static_cast<double>(more.size());
        }
        work += share_of_inside * inside_work;
        if (of_traced > 0) out_.work_ratio = work / (share_of_inside + shares) / of_traced;
        return {};
    }

    void share(const BuiltCode& code, const RecordedBlocks& recorded) {
        Neighbours neighbours;
        neighbours.block = recorded.blocks.front().block;
        neighbours.addresses = recorded.first_addresses.front();
        neighbours.strides.assign(code.access_count, {0, 0, 0});
        const std::uint64_t sizes[3] = {request_.grid.x, request_.grid.y, request_.grid.z};
        std::uint64_t step = 1;
        for (std::size_t d = 0; d < 3; step *= sizes[d], ++d) {
            if (sizes[d] < 2) continue;
            const std::uint64_t at = neighbours.block / step % sizes[d];
            // The block behind is asked, and the one before it of the accesses that there are none of: at a launch's edge
            // blocks may do nothing.
            std::vector<bool> is_known(code.access_count, false);
            for (const bool ahead : {true, false}) {
                if ((ahead ? at + 1 == sizes[d] : at == 0) || std::ranges::all_of(is_known, std::identity{}))
                    continue;
                const std::vector<std::uint64_t> there =
                    source_.first_addresses(code, ahead ? neighbours.block + step : neighbours.block - step);
                if (there.empty()) continue;
                for (std::size_t a = 0; a < code.access_count; ++a) {
                    if (is_known[a]) continue;
                    is_known[a] = there[a] != 0 || neighbours.addresses[a] == 0;
                    if (there[a] == 0 || neighbours.addresses[a] == 0) continue;
                    const auto stride = static_cast<std::int64_t>(there[a] - neighbours.addresses[a]);
                    neighbours.strides[a][d] = ahead ? stride : -stride;
                }
            }
        }
        const Sharing shared = sharing(recorded.blocks.front(), code.code, neighbours,
                                       {.size = request_.grid,
                                        .wave_blocks = std::uint64_t{out_.resident} * sm_count(),
                                        .l2_bytes = request_.device->values.l2_bytes,
                                        .resident = out_.resident});
        out_.trace.accesses = shared.accesses;
        const double threads =
            double{1} * request_.block.x * request_.block.y * request_.block.z * out_.resident * sm_count();
        const double local = threads * request_.program->kernel(request_.kernel)->info().local_bytes;
        if (local > 0) out_.trace.local = local_access(local, request_.device->values.l2_bytes);
        if (!out_.machine.has_caches) {
            out_.trace.accesses.assign(shared.accesses.size(), Access{});
            out_.trace.local = {};
        }
        out_.machine.l2_bytes =
            static_cast<std::uint64_t>(static_cast<double>(out_.machine.l2_bytes) * shared.l2_share);
    }

    const TraceRequest& request_;
    BlockSource& source_;
    std::uint64_t blocks_ = 1;
    TracedLaunch out_;
};

}  // namespace

std::expected<TracedLaunch, Error> trace_launch(const TraceRequest& request, BlockSource& source) {
    return Tracer(request, source).run();
}

std::expected<TracedLaunch, Error> trace_launch(const TraceRequest& request) {
    EmulatedBlocks source(request);
    auto out = trace_launch(request, source);
    if (!out) return out;
    out->blocks_run = source.blocks_run();
    out->warp_instructions = source.warp_instructions();
    return out;
}

}  // namespace trimtab::schedule
