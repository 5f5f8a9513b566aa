// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/traced_launch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "emulation/emulator/exec/program.h"
#include "emulation/schedule/architecture.h"
#include "emulation/schedule/code_builder.h"
#include "emulation/schedule/machine_trace.h"
#include "emulation/schedule/recorder.h"
#include "emulation/schedule/settled_iterations.h"
#include "emulation/schedule/sharing.h"
#include "emulation/schedule/skip_iterations.h"

namespace trimtab::schedule {

namespace {

constexpr std::uint32_t most_traced_blocks = 16;
// Blocks whose work is counted, so that those traced may stand for all.
constexpr std::uint64_t counted_blocks = 6;
// Warp instructions that a neighbour runs, at most: its first access of each kind is wanted.
constexpr std::uint64_t probe_instructions = 40'000;

class Tracer {
  public:
    explicit Tracer(const TraceRequest& request) : request_(request) {
        launch_.kernel = request.kernel;
        launch_.grid = request.grid;
        launch_.block = request.block;
        launch_.dynamic_shared_bytes = request.dynamic_shared_bytes;
        launch_.parameters = request.parameters;
        launch_.sm_count = sm_count();
        launch_.threads = 1;
        launch_.print = [](std::string_view) {};
        launch_.is_cancelled = request.is_cancelled;
        launch_.is_interpreted = request.is_interpreted;
        blocks_ = std::uint64_t{request.grid.x} * request.grid.y * request.grid.z;
    }

    std::expected<TracedLaunch, Error> run() {
        const emulator::CompiledKernel* kernel = request_.program->kernel(request_.kernel);
        if (kernel == nullptr || !kernel->info().error.empty())
            return std::unexpected(
                Error{.message = kernel == nullptr ? "there is no such kernel" : kernel->info().error});
        if (!request_.runs_every_iteration) counted_ = LoopsBySlot(counted_loops(*kernel));
        skipping_pays_ = !counted_.empty();
        const double active_sms = static_cast<double>(std::min<std::uint64_t>(blocks_, sm_count()));
        out_.machine = machine_of(*request_.device, active_sms);
        const model::Architecture architecture = model::architecture_of(*request_.device);
        stores_ = store_rules(architecture);
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
        Recorder recorder(code, stores_, *request_.program, counted_);
        auto ran = launch(traced, &recorder, request_.instruction_budget);
        if (!ran) return std::unexpected(ran.error());
        *ran += recorder.skipped_instructions();
        out_.block_warp_instructions = static_cast<double>(*ran) / static_cast<double>(traced.size());
        out_.is_cut = recorder.is_cut();
        if (const auto measured = measure_ratio(out_.block_warp_instructions); !measured)
            return std::unexpected(measured.error());
        share(code, recorder);
        if (!take_machine_code(*kernel, code, recorder, architecture)) {
            out_.trace.blocks = std::move(recorder.blocks());
            out_.trace.code = std::move(code.code);
            for (std::size_t l = 0; l < out_.trace.code.loops.size(); ++l)
                out_.trace.code.loops[l].is_cut = recorder.is_cut_short(l);
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
                           const Recorder& recorder, const model::Architecture& architecture) {
        if (request_.code == nullptr) return false;
        auto made = machine_trace(*request_.code, kernel, code, recorder,
                                  {.device = *request_.device, .architecture = architecture});
        if (!made) {
            out_.no_machine_code = made.error();
            return false;
        }
        made->accesses = std::move(out_.trace.accesses);
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

    // Blocks that one SM has at once, in the middle of those that it runs: blocks go to the SMs in turn.
    [[nodiscard]] std::vector<std::uint64_t> choose_blocks() {
        const std::uint64_t sms = sm_count();
        const std::uint64_t at_once =
            std::min<std::uint64_t>({out_.resident, most_traced_blocks, out_.blocks_on_sm});
        const std::uint64_t last_first = out_.blocks_on_sm - at_once;
        const std::uint64_t first = std::min(last_first, request_.first_block.value_or(last_first / 2));
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
            const auto ran = count(own);
            if (!ran || *ran <= most) continue;
            most = *ran;
            busiest = std::move(own);
        }
        return busiest;
    }

    std::expected<std::uint64_t, Error> launch(const std::vector<std::uint64_t>& blocks,
                                               emulator::LaunchObserver* observer, std::uint64_t limit) {
        launch_.blocks = blocks;
        launch_.observer = observer;
        launch_.instruction_limit = limit;
        launch_.counting = {.count = true, .footprints = false, .groups = {}};
        auto result = emulator::launch(*request_.program, *request_.memory, launch_);
        if (!result) return std::unexpected(Error{.message = result.error().message});
        out_.blocks_run += blocks.size();
        out_.warp_instructions += result->warp_instructions;
        return result->warp_instructions;
    }

    // The warp instructions of some blocks. Where most iterations can be left out the launch is watched, and without it
    // compiled, which is some times faster.
    std::expected<std::uint64_t, Error> count(const std::vector<std::uint64_t>& blocks) {
        constexpr std::uint64_t slower = 8;
        if (!skipping_pays_) return launch(blocks, nullptr, request_.instruction_budget);
        TurnSkipper skipper(counted_);
        const auto ran = launch(blocks, &skipper, request_.instruction_budget);
        if (!ran) return std::unexpected(ran.error());
        skipping_pays_ = skipper.skipped_instructions() >= slower * *ran;
        return *ran + skipper.skipped_instructions();
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
            const auto ran = count({index_of(last)});
            if (!ran) return std::unexpected(ran.error());
            const double share = 1 / static_cast<double>(sizes[d]);
            work += share * static_cast<double>(*ran);
            share_of_inside = std::max(0.0, share_of_inside - share);
            shares += share;
        }
        std::vector<std::uint64_t> spread;
        for (std::uint64_t i = 0; i < counted_blocks; ++i)
            spread.push_back(index_of(inside((2 * i + 1) * insides / (2 * counted_blocks))));
        spread.erase(std::unique(spread.begin(), spread.end()), spread.end());
        // Where the first and the last of them do on average just what those traced do, in the middle, so do
        // those between.
        const auto ends = count(spread.size() > 2 ? std::vector{spread.front(), spread.back()} : spread);
        if (!ends) return std::unexpected(ends.error());
        double inside_work =
            static_cast<double>(*ends) / static_cast<double>(std::min<std::size_t>(spread.size(), 2));
        if (spread.size() > 2 && inside_work != of_traced) {
            const auto between = count({spread.begin() + 1, spread.end() - 1});
            if (!between) return std::unexpected(between.error());
            inside_work = static_cast<double>(*ends + *between) / static_cast<double>(spread.size());
        }
        work += share_of_inside * inside_work;
        if (of_traced > 0) out_.work_ratio = work / (share_of_inside + shares) / of_traced;
        return {};
    }

    void share(const BuiltCode& code, const Recorder& recorder) {
        Neighbours neighbours;
        neighbours.block = recorder.traces().front().block;
        neighbours.addresses = recorder.first_addresses().front();
        neighbours.strides.assign(code.access_count, {0, 0, 0});
        const std::uint64_t sizes[3] = {request_.grid.x, request_.grid.y, request_.grid.z};
        std::uint64_t step = 1;
        for (std::size_t d = 0; d < 3; step *= sizes[d], ++d) {
            if (sizes[d] < 2) continue;
            const bool is_last = neighbours.block / step % sizes[d] == sizes[d] - 1;
            Recorder probe(code, stores_, *request_.program, counted_);
            // It may be stopped: what it has done by then is enough.
            [[maybe_unused]] const auto stopped = launch(
                {is_last ? neighbours.block - step : neighbours.block + step}, &probe, probe_instructions);
            for (std::size_t a = 0; a < code.access_count; ++a) {
                const std::uint64_t there =
                    probe.first_addresses().empty() ? 0 : probe.first_addresses().front()[a];
                if (there == 0 || neighbours.addresses[a] == 0) continue;
                const auto stride = static_cast<std::int64_t>(there - neighbours.addresses[a]);
                neighbours.strides[a][d] = is_last ? -stride : stride;
            }
        }
        const Sharing shared = sharing(recorder.traces().front(), code.code, neighbours,
                                       {.size = request_.grid,
                                        .wave_blocks = std::uint64_t{out_.resident} * sm_count(),
                                        .l2_bytes = request_.device->values.l2_bytes,
                                        .resident = out_.resident});
        out_.trace.accesses = shared.accesses;
        if (!out_.machine.has_caches) out_.trace.accesses.assign(shared.accesses.size(), Access{});
        out_.machine.l2_bytes =
            static_cast<std::uint64_t>(static_cast<double>(out_.machine.l2_bytes) * shared.l2_share);
    }

    const TraceRequest& request_;
    emulator::LaunchRequest launch_;
    StoreRules stores_;
    std::uint64_t blocks_ = 1;
    LoopsBySlot counted_{{}};
    bool skipping_pays_ = false;
    TracedLaunch out_;
};

}  // namespace

std::expected<TracedLaunch, Error> trace_launch(const TraceRequest& request) {
    return Tracer(request).run();
}

}  // namespace trimtab::schedule
