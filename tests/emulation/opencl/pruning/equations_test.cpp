// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The paper's equations by hand, and bounds that no simulation leaves.
#include <gmock/gmock.h>

#include <random>

#include "core/model/device.h"
#include "emulation/opencl/pruning/active_groups.h"
#include "emulation/opencl/pruning/bounds.h"
#include "emulation/opencl/pruning/pipeline.h"
#include "emulation/opencl/pruning/prune.h"

namespace trimtab::pruning {
namespace {

using testing::ElementsAre;

// Numbers of cycles that single precision holds exactly.
constexpr double delay = 4, latency = 100;

Operation of(Component component, float busy, float wait = 0) {
    return {.busy_cycles = busy, .wait_cycles = wait, .component = component, .transactions = 1};
}
Operation access() {
    return of(Component::gm, delay, latency - delay);
}

Latencies latencies() {
    Latencies out;
    out.latency_cycles.fill(latency);
    out.delay_cycles.fill(delay);
    return out;
}

struct Rounds : testing::Test {
    TracePool pool;
    Round round(std::size_t warps, const WarpTrace& trace, std::uint32_t per_group = 1) {
        return {.warps_per_group = per_group,
                .warps = std::vector<TraceIndex>(warps, pool.intern(trace)),
                .has_barriers = std::ranges::any_of(trace, &Operation::is_barrier)};
    }
};

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

// Figure 3. kappa accesses of d warps: while d * D <= L a warp's waits decide (equation (14)), else the component (15).
TEST_F(Rounds, TakeWhatFigure3Says) {
    for (const std::size_t warps :
         {std::size_t{1}, std::size_t{5}, std::size_t{25}, std::size_t{26}, std::size_t{64}})
        for (const std::size_t accesses : {std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
            const auto d = static_cast<double>(warps), kappa = static_cast<double>(accesses);
            const double expected = d * delay <= latency ? kappa * latency + (d - 1) * delay
                                                         : kappa * d * delay + latency - delay;
            const Round one = round(warps, WarpTrace(accesses, access()));
            EXPECT_EQ(round_cycles(one, pool), expected) << warps << " warps, " << accesses << " accesses";
            EXPECT_EQ(paper_bounds(one, pool, latencies()).best_cycles, expected);
        }
}

// Figure 2. In case I the arithmetic hides the memory: the FPU's sum decides; in case II the memory's does.
TEST_F(Rounds, TakeWhatFigure2Says) {
    const WarpTrace arithmetic{of(Component::fpu, 32), access(), of(Component::fpu, 32), access(),
                               of(Component::fpu, 32)};
    const Round first = round(16, arithmetic);
    EXPECT_EQ(round_cycles(first, pool), 16 * 3 * 32.0);
    EXPECT_EQ(paper_bounds(first, pool, latencies()).best_cycles, 16 * 3 * 32.0);
    const WarpTrace memory{of(Component::fpu, 1), access(), of(Component::fpu, 1), access()};
    // The first access waits for the FPU's first pass, and the last one ends a latency after the component took it.
    EXPECT_EQ(round_cycles(round(64, memory), pool), 1 + 2 * 64 * delay + latency - delay);
}

TEST_F(Rounds, WaitAtBarriersForTheirOwnGroupAlone) {
    const Operation barrier{.is_barrier = true};
    const TraceIndex quick = pool.intern({of(Component::fpu, 1), barrier, of(Component::sfu, 8)}),
                     slow = pool.intern({of(Component::lm, 50), barrier, of(Component::fpu, 2)});
    EXPECT_EQ(round_cycles({.warps_per_group = 2, .warps = {quick, slow}, .has_barriers = true}, pool), 58);
    EXPECT_EQ(round_cycles({.warps_per_group = 1, .warps = {quick, slow}, .has_barriers = true}, pool), 52);
    // A warp that has ended is not waited for.
    const TraceIndex gone = pool.intern({of(Component::fpu, 1)});
    EXPECT_EQ(round_cycles({.warps_per_group = 2, .warps = {quick, gone}, .has_barriers = true}, pool), 10);
}

TEST_F(Rounds, AreBoundedAsEquations11To21Say) {
    // Three warps of one trace and two of another.
    const TraceIndex a = pool.intern({of(Component::fpu, 2), access(), of(Component::sfu, 8)}),
                     b = pool.intern({of(Component::fpu, 1), access(), access(),
                                      of(Component::gc, delay, latency - delay)});
    const Round mixed{.warps_per_group = 1, .warps = {a, a, a, b, b}};
    const Bounds bounds = paper_bounds(mixed, pool, latencies());
    // (16): a: 1 * max(12, 100) + min(12, 100) - 4 = 108; b: 2 * 100 + 8 - 4 = 204; GC of b: 100 + 8 - 4 = 104.
    EXPECT_EQ(bounds.best_cycles, 204);                                         // (11), (19)
    EXPECT_EQ(bounds.worst_cycles, (3 * 2 + 2 * 1) + 3 * 8 + 108 + 204 + 104);  // (20), (21)
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

class RandomRounds {
  public:
    explicit RandomRounds(std::uint64_t seed) : random_(seed) {}
    Round operator()(TracePool& pool) {
        std::vector<TraceIndex> traces;
        const auto barriers = below(3);
        const bool weighs = below(4) == 0;
        for (unsigned t = 0; t < 1 + below(3); ++t) {
            WarpTrace trace;
            for (unsigned phase = 0; phase <= barriers; ++phase) {
                if (phase != 0) trace.push_back({.is_barrier = true});
                for (unsigned i = below(12); i-- > 0;) {
                    Operation one = of(static_cast<Component>(below(component_count)),
                                       static_cast<float>(1 + below(40)), static_cast<float>(below(300)));
                    if (weighs && below(3) == 0) one.weight = static_cast<float>(1 + below(50));
                    trace.push_back(one);
                }
            }
            traces.push_back(pool.intern(trace));
        }
        Round round{.warps_per_group = 1 + below(8), .warps = {}, .has_barriers = barriers != 0};
        for (unsigned w = (1 + below(8)) * round.warps_per_group; w-- > 0;)
            round.warps.push_back(traces[below(static_cast<unsigned>(traces.size()))]);
        return round;
    }
    unsigned below(unsigned limit) { return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_); }

  private:
    std::mt19937_64 random_;
};

TEST_F(Rounds, StayWithinTheProvedBounds) {
    RandomRounds make(1);
    for (int i = 0; i < 3000; ++i) {
        const Round one = make(pool);
        const Bounds bounds = proved_bounds(one, pool);
        const double cycles = round_cycles(one, pool);
        ASSERT_LE(bounds.best_cycles, cycles * (1 + 1e-9)) << i;
        ASSERT_GE(bounds.worst_cycles, cycles * (1 - 1e-9)) << i;
    }
}

// Sizes with made-up traces: some share theirs.
TEST_F(Rounds, AreNeverPrunedWhereTheBestIs) {
    const model::Device device = model::find_device("gtx645").value();
    const std::vector<trimtab_dim3> sizes = design_space(2, 48);
    RandomRounds make(2);
    std::size_t pruned = 0;
    for (int i = 0; i < 40; ++i) {
        std::vector<Round> rounds;
        for (unsigned r = 0; r < 30; ++r) rounds.push_back(make(pool));
        std::vector<std::size_t> of_size(sizes.size());
        for (std::size_t& one : of_size) one = make.below(30);
        PruneRequest request{.device = &device.values,
                             .image = {.registers_per_thread = 20,
                                       .static_shared_bytes = 0,
                                       .local_bytes_per_thread = 0,
                                       .max_threads_per_block = 0},
                             .global = {1000, 70, 1},
                             .sizes = sizes,
                             .traces = {},
                             .pool = &pool,
                             .latencies = nullptr};
        const Latencies some = latencies();
        request.latencies = &some;
        request.traces = [&](const GroupPlacement& placement, std::uint32_t, double) {
            const auto size = std::ranges::find_if(sizes, [&](const trimtab_dim3& s) {
                return s.x == placement.group.x && s.y == placement.group.y;
            });
            return std::optional(rounds[of_size[static_cast<std::size_t>(size - sizes.begin())]]);
        };
        request.settings.method = Method::exhaustive;
        const PruneResult all = prune(request);
        for (const Method method : {Method::ordered, Method::algorithm_4}) {
            request.settings.method = method;
            request.settings.least_gain = 0.02;
            const PruneResult most = prune(request);
            EXPECT_LE(most.sizes[most.best].ns, 1.02 * all.sizes[all.best].ns);
            EXPECT_LE(most.simulated, all.simulated);
            request.settings.least_gain = 0;
            const PruneResult few = prune(request);
            ASSERT_LT(few.best, sizes.size());
            EXPECT_EQ(few.sizes[few.best].ns, all.sizes[all.best].ns) << name(method);
            EXPECT_EQ(few.launchable, all.launchable);
            for (std::size_t s = 0; s < sizes.size(); ++s)
                if (few.sizes[s].fate == Fate::duplicate && few.sizes[few.sizes[s].representative].ns > 0) {
                    EXPECT_NEAR(few.sizes[s].ns, all.sizes[s].ns, 1e-9 * all.sizes[s].ns);
                    EXPECT_GE(few.sizes[s].rounds, few.sizes[few.sizes[s].representative].rounds);
                }
            pruned += few.launchable - few.simulated;
        }
    }
    EXPECT_GT(pruned, sizes.size());
}

}  // namespace
}  // namespace trimtab::pruning
