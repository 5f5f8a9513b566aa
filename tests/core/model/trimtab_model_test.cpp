// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/trimtab_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>

#include "core/model/performance_model.h"

namespace trimtab::model {
namespace {

constexpr trimtab_image image{.registers_per_thread = 24,
                              .static_shared_bytes = 0,
                              .local_bytes_per_thread = 0,
                              .max_threads_per_block = 0};

// A kernel as metrics that follow from its block, and a footprint of so many bytes a thread.
struct Kernel {
    std::map<Metric, double> metrics;
    std::function<double(double x, double y)> footprint_bytes = [](double x, double y) { return 8 * x * y; };
    double extent_x = 4096, extent_y = 4096;

    [[nodiscard]] RationalProgram::MetricFunction at(trimtab_dim3 block) const {
        return [this, block](Metric metric, double x, double y, double) {
            if (metric == Metric::footprint_sectors) return footprint_bytes(x, y) / 32;
            if (metric == Metric::active_warps) return std::ceil(block.x * block.y / 32.0);
            if (metric == Metric::active_blocks)
                return std::ceil(extent_x / block.x) * std::ceil(extent_y / block.y);
            const auto found = metrics.find(metric);
            return found == metrics.end() ? 0.0 : found->second;
        };
    }
};

using enum Metric;

// One coalesced load and store a thread.
Kernel copy() {
    return {.metrics = {{warp_instructions, 12},
                        {fp32_instructions, 0},
                        {integer_instructions, 6},
                        {load_requests, 1},
                        {store_requests, 1},
                        {load_sectors, 4},
                        {load_lines, 1},
                        {store_sectors, 4},
                        {store_lines, 1},
                        {dependent_rounds, 1},
                        {instruction_parallelism, 2},
                        {active_lanes, 32}}};
}

// A loop of n rounds that loads a sector in each of 4 lines and stores whole lines, all of it in L2.
Kernel product(double n) {
    Kernel kernel{.metrics = {{warp_instructions, 6 * n},
                              {load_requests, 2 * n},
                              {store_requests, n},
                              {load_sectors, 5 * n},
                              {load_lines, 2 * n},
                              {store_sectors, 4 * n},
                              {store_lines, n},
                              {dependent_rounds, n},
                              {instruction_parallelism, 2},
                              {active_lanes, 32}}};
    kernel.footprint_bytes = [](double, double) { return 100e3; };
    kernel.extent_x = kernel.extent_y = 1024;
    return kernel;
}

double time_ns(const RationalProgram& program, const Kernel& kernel, const Device& device, trimtab_dim3 block,
               const trimtab_image& compiled = image) {
    const Launch launch{.extent = {static_cast<std::uint32_t>(kernel.extent_x),
                                   static_cast<std::uint32_t>(kernel.extent_y), 1},
                        .block = block};
    const auto result =
        program.evaluate(input_values(program, device.values, compiled, launch), kernel.at(block));
    EXPECT_TRUE(result.launchable);
    return result.time_ns;
}

const RationalProgram& model() {
    return **performance_model("trimtab");
}
Device device_of(const char* slug) {
    return *find_device(slug);
}

TEST(TrimtabModel, IsTheDefaultAndEachTermCanBeLeftOut) {
    EXPECT_EQ(default_model, "trimtab");
    for (const NamedTerm& term : trimtab_terms()) {
        const std::string name = "trimtab-without-" + std::string(term.name);
        const auto without = performance_model(name);
        ASSERT_TRUE(without) << name;
        EXPECT_EQ((*without)->name, name);
    }
}

TEST(TrimtabModel, StreamsRunAtTheMemorysBandwidth) {
    // 4096 x 4096 threads load and store 4 bytes each.
    for (const char* slug : {"gtx1080ti", "rtx2070super", "a100-pcie-40gb"}) {
        const Device device = device_of(slug);
        const double least_ns = 4096.0 * 4096 * 8 / device.values.dram_bytes_per_s * 1e9;
        const double predicted_ns = time_ns(model(), copy(), device, {32, 8, 1});
        EXPECT_GT(predicted_ns, least_ns) << slug;
        EXPECT_LT(predicted_ns, 1.5 * least_ns) << slug;
    }
}

TEST(TrimtabModel, LoopsInL2RunAtItsThroughput) {
    // By hand, RTX 2070 SUPER: 9 sectors and half of 3 lines are 10.5 units; 32 bytes of a unit over an SM's
    // share of 0.85 * 1024 / 40 bytes are 1.47 clocks.
    constexpr double n = 1024;
    Device device = device_of("rtx2070super");
    device.values.l1_caches_global_loads = 0;
    const double cycles = 10.5 * (32 * 40 / (0.85 * 1024)) * n * (1024.0 * 1024 / 32 / 40);
    const double least_ns = cycles / device.values.sm_clock_hz * 1e9;
    const double predicted_ns = time_ns(model(), product(n), device, {32, 8, 1});
    EXPECT_GT(predicted_ns, least_ns);
    EXPECT_LT(predicted_ns, 1.25 * least_ns);
    const RationalProgram& without = **performance_model("trimtab-without-l2_bandwidth");
    EXPECT_LT(time_ns(without, product(n), device, {32, 8, 1}), 0.8 * predicted_ns);
}

TEST(TrimtabModel, SectorsWrittenInPartCostMore) {
    Kernel parts = product(256);
    parts.metrics[store_partial_sectors] = parts.metrics[store_sectors];
    const Device turing = device_of("rtx2070super");
    EXPECT_GT(time_ns(model(), parts, turing, {32, 8, 1}),
              1.2 * time_ns(model(), product(256), turing, {32, 8, 1}));
    // Pascal: what does not fill 64 bytes goes four lanes at a time, partial sectors or not.
    Kernel narrow = product(256);
    narrow.metrics[store_lines] = narrow.metrics[store_sectors];
    const Device pascal = device_of("gtx1080ti");
    EXPECT_GT(time_ns(model(), narrow, pascal, {32, 8, 1}),
              1.7 * time_ns(model(), product(256), pascal, {32, 8, 1}));
}

TEST(TrimtabModel, LargeBlocksPayAtTheirEnds) {
    // One round, SM-bound: with a single block resident nothing covers its end.
    Kernel kernel = copy();
    kernel.footprint_bytes = [](double, double) { return 100e3; };
    for (auto& [metric, value] : kernel.metrics)
        if (metric == load_requests || metric == load_sectors || metric == load_lines) value *= 9;
    const Device device = device_of("rtx2070super");
    const double small = time_ns(model(), kernel, device, {32, 4, 1});
    const double large = time_ns(model(), kernel, device, {32, 32, 1});
    EXPECT_GT(large, 1.2 * small);
    EXPECT_LT(large, 1.6 * small);
    const RationalProgram& without = **performance_model("trimtab-without-ending");
    EXPECT_LT(time_ns(without, kernel, device, {32, 32, 1}), 1.1 * small);
}

TEST(TrimtabModel, SpilledRegistersAreMemoryTraffic) {
    // 256 words a thread, each written and read once, and far more of them resident than L2 holds: 64 KiB a
    // warp.
    trimtab_image spilled = image;
    spilled.local_bytes_per_thread = 1024;
    const Device device = device_of("rtx2070super");
    const double least_ns = 4096.0 * 4096 / 32 * 64 * 1024 / device.values.dram_bytes_per_s * 1e9;
    const double predicted_ns = time_ns(model(), copy(), device, {32, 8, 1}, spilled);
    EXPECT_GT(predicted_ns, least_ns);
    EXPECT_LT(predicted_ns, 1.6 * least_ns);
    // An array of the program's is no spill: its accesses are counted.
    Kernel array = copy();
    array.metrics[local_requests] = 1;
    EXPECT_LT(time_ns(model(), array, device, {32, 8, 1}, spilled), 0.1 * predicted_ns);
    const RationalProgram& without = **performance_model("trimtab-without-spills");
    EXPECT_LT(time_ns(without, copy(), device, {32, 8, 1}, spilled), 0.1 * predicted_ns);
}

TEST(TrimtabModel, OnlyOtherBlocksFillTheTimeBetweenBarriers) {
    // As much work for the load-store path as for FP32.
    Kernel kernel{.metrics = {{warp_instructions, 2200},
                              {fp32_instructions, 2000},
                              {load_requests, 200},
                              {load_sectors, 800},
                              {load_lines, 800},
                              {dependent_rounds, 5},
                              {instruction_parallelism, 4},
                              {active_lanes, 32}}};
    kernel.footprint_bytes = [](double, double) { return 100e3; };
    Kernel parted = kernel;
    parted.metrics[barriers] = 1;
    const Device device = device_of("rtx2070super");
    const auto slower = [&](double shared_bytes) {
        trimtab_image compiled = image;
        compiled.static_shared_bytes = shared_bytes;
        return time_ns(model(), parted, device, {32, 4, 1}, compiled) /
               time_ns(model(), kernel, device, {32, 4, 1}, compiled);
    };
    EXPECT_GT(slower(40e3), 1.2);  // one block on an SM
    EXPECT_LT(slower(8e3), 1.1);   // eight
}

TEST(TrimtabModel, FewLargeBlocksLeaveSmsIdle) {
    // 4096 threads in a row, each walking a long loop.
    Kernel row = product(4096);
    row.extent_x = 4096;
    row.extent_y = 1;
    const Device device = device_of("gtx1080ti");
    EXPECT_GT(time_ns(model(), row, device, {1024, 1, 1}), 1.4 * time_ns(model(), row, device, {32, 1, 1}));
    const RationalProgram& without = **performance_model("trimtab-without-waves");
    EXPECT_LT(time_ns(without, row, device, {1024, 1, 1}), 1.2 * time_ns(without, row, device, {32, 1, 1}));
}

TEST(TrimtabModel, L1ServesRepeatedSectorsWhereItCachesLoads) {
    Kernel kernel = product(512);
    for (const Metric metric : {store_requests, store_sectors, store_lines}) kernel.metrics[metric] = 0;
    Device device = device_of("rtx2070super");
    kernel.footprint_bytes = [](double x, double y) { return std::min(16e3, 64 * x * y); };
    const double cached = time_ns(model(), kernel, device, {32, 8, 1});
    device.values.l1_caches_global_loads = 0;
    EXPECT_GT(time_ns(model(), kernel, device, {32, 8, 1}), 1.5 * cached);
}

// Never a time that is no number, whatever the metrics say.
TEST(TrimtabModel, AnyMetricsGiveAFiniteTime) {
    std::mt19937 random(7);
    const auto draw = [&](double most) {
        return std::exp(std::uniform_real_distribution(-3.0, std::log(most))(random));
    };
    for (const std::string_view name : performance_model_names()) {
        const RationalProgram& program = **performance_model(name);
        for (int trial = 0; trial < 200; ++trial) {
            Kernel kernel;
            for (const MetricInfo& info : metric_table())
                kernel.metrics[info.metric] = trial % 5 == 0 ? -draw(1e9) : draw(1e13);
            const double bytes = draw(1e6);
            kernel.footprint_bytes = [bytes](double x, double y) { return bytes * x * y; };
            const double ns =
                time_ns(program, kernel, devices()[static_cast<std::size_t>(trial) % devices().size()],
                        {32, 1u << (trial % 5), 1});
            EXPECT_TRUE(std::isfinite(ns) && ns > 0) << name << " trial " << trial;
        }
    }
}

// The driver program and the interpreter must agree on every machine: no transcendental function.
TEST(TrimtabModel, IsRational) {
    for (const Node& node : model().nodes) EXPECT_NE(node.op, Op::power);
}

}  // namespace
}  // namespace trimtab::model
