// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The paper's equations by hand, beside the SM that times are emulated on; and what each search leaves out.
#include <gmock/gmock.h>

#include <random>

#include "core/model/device.h"
#include "emulation/opencl/pruning/active_groups.h"
#include "emulation/opencl/pruning/paper_round.h"
#include "emulation/opencl/pruning/prune.h"
#include "emulation/schedule/estimate.h"
#include "tests/emulation/schedule/made_up_trace.h"

namespace trimtab::pruning {
namespace {

using schedule::MadeUpTrace;
using schedule::Resource;
using testing::ElementsAre;

constexpr double delay = 4, latency = 100;

Latencies latencies() {
    Latencies out;
    out.latency_cycles.fill(latency);
    out.delay_cycles.fill(delay);
    return out;
}

CountedTrace counted(double warps, std::initializer_list<std::pair<Component, double>> busy,
                     std::initializer_list<std::pair<Component, double>> accesses) {
    CountedTrace out{.warps = warps};
    for (const auto& [component, cycles] : busy) out.busy_cycles[index(component)] = cycles;
    for (const auto& [component, count] : accesses) {
        out.accesses[index(component)] = count;
        out.busy_cycles[index(component)] = count * delay;
    }
    return out;
}

// An SM that issues at once, whose special function unit stands for a memory of that delay and latency.
schedule::Machine machine() {
    schedule::Machine out = schedule::simple_machine(schedule::Policy::loose_round_robin);
    out.of(Resource::issue).gap_cycles = 1e-6;
    out.of(Resource::special_function) = {.latency_cycles = latency, .gap_cycles = delay};
    return out;
}
double cycles_of(MadeUpTrace& trace, const schedule::Machine& machine, std::size_t warps) {
    return schedule::emulate(machine, {.trace = &trace.once(1, warps)}).cycles;
}

// A Quadro K620: 64 warps and 32 groups an SM, 65 536 registers in units of 256, 64 KiB of local memory in units of 256.
TEST(ActiveGroups, AreTheLeastOfEquations1To7) {
    const trimtab_device device = model::find_device("k620").value().values;
    const auto groups = [&](double registers, double local, std::uint32_t size) {
        const trimtab_image image{.registers_per_thread = registers,
                                  .static_shared_bytes = local,
                                  .local_bytes_per_thread = 0,
                                  .max_threads_per_block = 0};
        return active_groups(device, image, size, 0);
    };
    // (2) ceil(96 / 32) = 3; (1) min(32, floor(64 / 3)) = 21.
    EXPECT_EQ(groups(16, 0, 96).warps_per_group, 3u);
    EXPECT_EQ(groups(16, 0, 96).by_architecture, 21u);
    // (4) floor(floor(65536 / ceil(40 * 32, 256)), 4) = floor(51, 4) = 48; (3) floor(48 / 3) * 1 = 16.
    EXPECT_EQ(groups(40, 0, 96).by_registers, 16u);
    // (6) ceil(5000, 256) = 5120; (5) floor(65536 / 5120) = 12.
    EXPECT_EQ(groups(16, 5000, 96).by_local_memory, 12u);
    EXPECT_EQ(groups(40, 5000, 96).groups, 12u);
    EXPECT_EQ(groups(40, 5000, 96).warps(), 36u);  // (9)
    EXPECT_EQ(groups(256, 0, 32).groups, 0u);      // more registers than a work item gets
    EXPECT_EQ(groups(16, 50000, 32).groups, 0u);   // more local memory than a group gets
    EXPECT_EQ(groups(80, 0, 1024).groups, 0u);     // 32 warps of 2560 registers do not fit
}

// Figure 3. kappa accesses of d warps: while d * D <= L a warp's waits decide (equation (14)), else the component (15). The
// one SM that times are emulated on does as the figure says.
TEST(PaperBounds, AndTheEmulatedSmTakeWhatFigure3Says) {
    for (const std::size_t warps :
         {std::size_t{1}, std::size_t{5}, std::size_t{25}, std::size_t{26}, std::size_t{64}})
        for (const std::size_t accesses : {std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
            const auto d = static_cast<double>(warps), kappa = static_cast<double>(accesses);
            const double expected = d * delay <= latency ? kappa * latency + (d - 1) * delay
                                                         : kappa * d * delay + latency - delay;
            const CountedTrace one = counted(d, {}, {{Component::gm, kappa}});
            EXPECT_EQ(paper_bounds({&one, 1}, latencies()).best_cycles, expected);
            MadeUpTrace trace;
            for (std::size_t a = 0; a < accesses; ++a) trace.add(Resource::special_function, {0}, {0});
            EXPECT_NEAR(cycles_of(trace, machine(), warps), expected, 0.01)
                << warps << " warps, " << accesses << " accesses";
        }
}

// Figure 2. In case I the arithmetic hides the memory: the FPU's sum decides; in case II the memory's does.
TEST(PaperBounds, AndTheEmulatedSmTakeWhatFigure2Says) {
    const auto alternating = [](int arithmetic, int accesses) {
        MadeUpTrace trace;
        for (int i = 0; i < arithmetic; ++i) {
            trace.add(Resource::fp32, {0}, {0});
            if (i < accesses) trace.add(Resource::special_function, {0}, {0});
        }
        return trace;
    };
    schedule::Machine sm = machine();
    sm.of(Resource::fp32) = {.latency_cycles = 32, .gap_cycles = 32};
    const CountedTrace first = counted(16, {{Component::fpu, 3 * 32}}, {{Component::gm, 2}});
    EXPECT_EQ(paper_bounds({&first, 1}, latencies()).best_cycles, 16 * 3 * 32.0);
    MadeUpTrace arithmetic = alternating(3, 2);
    EXPECT_NEAR(cycles_of(arithmetic, sm, 16), 16 * 3 * 32.0, 0.01);
    sm.of(Resource::fp32) = {.latency_cycles = 1, .gap_cycles = 1};
    MadeUpTrace memory = alternating(2, 2);
    // The first access waits for the FPU's first pass, and the last one ends a latency after the component took it.
    EXPECT_NEAR(cycles_of(memory, sm, 64), 1 + 2 * 64 * delay + latency - delay, 0.01);
}

TEST(PaperBounds, AreThoseOfEquations11To21) {
    // Three warps of one trace and two of another.
    const CountedTrace mixed[] = {
        counted(3, {{Component::fpu, 2}, {Component::sfu, 8}}, {{Component::gm, 1}}),
        counted(2, {{Component::fpu, 1}}, {{Component::gm, 2}, {Component::gc, 1}})};
    const Bounds bounds = paper_bounds(mixed, latencies());
    // (16): a: 1 * max(12, 100) + min(12, 100) - 4 = 108; b: 2 * 100 + 8 - 4 = 204; GC of b: 100 + 8 - 4 = 104.
    EXPECT_EQ(bounds.best_cycles, 204);                                         // (11), (19)
    EXPECT_EQ(bounds.worst_cycles, (3 * 2 + 2 * 1) + 3 * 8 + 108 + 204 + 104);  // (20), (21)
}

// What a launch's trace holds is counted as the equations want it, iterations included that the trace lacks.
TEST(PaperRound, CountsAWarpsOperationsOfAllIterations) {
    MadeUpTrace made;
    made.begin_stretch(1);
    made.add(Resource::fp32, {0}, {0});
    made.add(Resource::special_function, {1}, {0}).slots = 2;
    schedule::TracedLaunch launch;
    launch.trace = made.looped(2, 3, schedule::kept_iterations);
    for (schedule::BlockTrace& block : launch.trace.blocks)
        for (schedule::WarpTrace& warp : block.warps) warp.iterations[0] = 1000;
    launch.machine = machine();
    launch.machine.of(Resource::fp32).gap_cycles = 1;
    const PaperRound round(launch, 5, nullptr);
    ASSERT_EQ(round.traces().size(), 1u);
    EXPECT_EQ(round.traces()[0].warps, 15);
    EXPECT_DOUBLE_EQ(round.traces()[0].busy_cycles[index(Component::fpu)], 1000);
    EXPECT_DOUBLE_EQ(round.traces()[0].busy_cycles[index(Component::sfu)], 1000 * 2 * delay);
    EXPECT_EQ(round.signature(), PaperRound(launch, 5, nullptr).signature());
    EXPECT_NE(round.signature(), PaperRound(launch, 4, nullptr).signature()) << "fewer active warps";
    for (schedule::BlockTrace& block : launch.trace.blocks) block.warps[1].iterations[0] = 999;
    EXPECT_NE(round.signature(), PaperRound(launch, 5, nullptr).signature()) << "another trace";
}

TEST(Algorithm4, KeepsWhatNoOtherIsSurelyBetterThan) {
    const std::vector<double> best{10, 31, 30, 5}, worst{40, 90, 35, 30};
    EXPECT_THAT(not_inferior(best, worst), ElementsAre(true, false, true, true));
    EXPECT_TRUE(not_inferior({}, {}).empty());
}

TEST(DesignSpace, HasThePapersSizes) {
    EXPECT_EQ(design_space(1, 1024).size(), 1024u);
    EXPECT_EQ(design_space(2, 1024).size(), 7262u);
    for (const trimtab_dim3& size : design_space(3, 64)) ASSERT_LE(size.x * size.y * size.z, 64u);
}

// Launches of made-up traces.
class RandomLaunches {
  public:
    explicit RandomLaunches(std::uint64_t seed) : random_(seed) {}
    schedule::TracedLaunch operator()() {
        MadeUpTrace made;
        for (unsigned i = 1 + below(12); i-- > 0;)
            made.add(below(2) == 0 ? Resource::fp32 : Resource::special_function, {below(3)}, {below(3)})
                .slots = static_cast<float>(1 + below(4));
        schedule::TracedLaunch out;
        out.trace = made.once(1 + below(2), 1 + below(8));
        out.machine = machine();
        out.machine.of(Resource::fp32) = {.latency_cycles = 6, .gap_cycles = 1};
        out.resident = 1 + below(4);
        out.blocks_on_sm = 1 + below(30);
        out.sm_clock_hz = 1e9;
        return out;
    }
    unsigned below(unsigned limit) { return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_); }

  private:
    std::mt19937_64 random_;
};

// Sizes with made-up traces: some share theirs.
TEST(Prune, NeverLeavesOutTheBestInTheOrderOfBounds) {
    const model::Device device = model::find_device("gtx645").value();
    const std::vector<trimtab_dim3> sizes = design_space(2, 48);
    RandomLaunches make(2);
    std::size_t pruned = 0;
    for (int i = 0; i < 10; ++i) {
        std::vector<schedule::TracedLaunch> launches;
        for (unsigned r = 0; r < 30; ++r) launches.push_back(make());
        std::vector<std::size_t> of_size(sizes.size());
        for (std::size_t& one : of_size) one = make.below(30);
        PruneRequest request{
            .device = &device.values,
            .image = {.registers_per_thread = 20,
                      .static_shared_bytes = 0,
                      .local_bytes_per_thread = 0,
                      .max_threads_per_block = 0},
            .global = {1000, 70, 1},
            .sizes = sizes,
            .trace = [&](const GroupPlacement& placed) -> std::expected<schedule::TracedLaunch, Error> {
                const auto size = std::ranges::find_if(sizes, [&](const trimtab_dim3& s) {
                    return s.x == placed.group.x && s.y == placed.group.y;
                });
                return launches[of_size[static_cast<std::size_t>(size - sizes.begin())]];
            }};
        request.settings.method = Method::exhaustive;
        const PruneResult all = prune(request);
        EXPECT_EQ(all.simulated, all.launchable);
        request.settings.method = Method::ordered;
        request.settings.least_gain = 0.02;
        const PruneResult most = prune(request);
        EXPECT_LE(most.sizes[most.best].ns, 1.02 * all.sizes[all.best].ns);
        EXPECT_LE(most.simulated, all.simulated);
        request.settings.least_gain = 0;
        const PruneResult few = prune(request);
        ASSERT_LT(few.best, sizes.size());
        EXPECT_EQ(few.sizes[few.best].ns, all.sizes[all.best].ns);
        EXPECT_EQ(few.launchable, all.launchable);
        for (std::size_t s = 0; s < sizes.size(); ++s)
            if (few.sizes[s].fate != Fate::refused) {
                EXPECT_LE(few.sizes[s].best_ns, all.sizes[s].ns);
                EXPECT_GE(few.sizes[s].worst_ns, all.sizes[s].ns);
            }
        pruned += few.launchable - few.simulated;
        // Of equal traces and active warps one is left, that of the fewest rounds.
        request.settings.method = Method::algorithm_4;
        const PruneResult paper = prune(request);
        EXPECT_LE(paper.batches, 30u);
        for (const SizeResult& one : paper.sizes)
            if (one.fate == Fate::duplicate) {
                const SizeResult& kept = paper.sizes[one.representative];
                EXPECT_GE(one.rounds, kept.rounds);
            }
        // A few are simulated, that of the least estimate among them.
        request.settings = {.method = Method::screened, .most_simulated = 5};
        request.estimate = [&](const GroupPlacement& placed) {
            return 1000.0 + 5.0 * placed.group.x * placed.group.y;
        };
        const PruneResult screened = prune(request);
        EXPECT_LE(screened.simulated, 5u);
        EXPECT_EQ(screened.sizes[0].fate, Fate::simulated);
        for (const SizeResult& one : screened.sizes) {
            if (one.fate == Fate::duplicate) {
                EXPECT_EQ(screened.sizes[one.representative].warps_at_once, one.warps_at_once);
            }
        }
    }
    EXPECT_GT(pruned, sizes.size());
}

}  // namespace
}  // namespace trimtab::pruning
