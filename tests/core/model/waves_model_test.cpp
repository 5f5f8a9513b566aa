// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <ranges>

#include "core/model/device_fields.h"
#include "core/model/performance_model.h"

namespace trimtab::model {
namespace {

constexpr trimtab_image waves_image{.registers_per_thread = 20,
                                    .static_shared_bytes = 0,
                                    .local_bytes_per_thread = 0,
                                    .max_threads_per_block = 0};

const RationalProgram& waves() {
    return **performance_model("waves");
}

// A kernel as a table of metrics, and a footprint of so many bytes a thread, none of them shared.
struct TabledKernel {
    std::map<Metric, double> metrics;
    double bytes_per_thread = 44;

    [[nodiscard]] RationalProgram::MetricFunction function() const {
        return [this](Metric metric, double x, double y, double z) {
            if (metric == Metric::footprint_sectors) return x * y * z * bytes_per_thread / 32;
            const auto found = metrics.find(metric);
            return found == metrics.end() ? 0.0 : found->second;
        };
    }
};

// Ten coalesced loads in five rounds, one store, and arithmetic.
TabledKernel streaming() {
    using enum Metric;
    return {.metrics = {{warp_instructions, 100},
                        {fp32_instructions, 40},
                        {load_requests, 10},
                        {load_sectors, 40},
                        {load_lines, 10},
                        {store_requests, 1},
                        {store_sectors, 4},
                        {store_lines, 1},
                        {dependent_rounds, 5},
                        {instruction_parallelism, 2},
                        {active_lanes, 32},
                        {active_warps, 8},
                        {active_blocks, 84}}};
}

constexpr Launch full_wave{.extent = {84 * 256, 1, 1}, .block = {256, 1, 1}};

double time_ns(const TabledKernel& kernel, const Launch& launch, std::string_view device = "c2050") {
    const std::vector<double> inputs =
        input_values(waves(), find_device(device)->values, waves_image, launch);
    return waves().evaluate(inputs, kernel.function()).time_ns;
}

std::map<std::string, double> named_values(const TabledKernel& kernel, const Launch& launch) {
    const std::vector<double> inputs =
        input_values(waves(), find_device("c2050")->values, waves_image, launch);
    const std::vector<double> values = waves().trace(inputs, kernel.function());
    std::map<std::string, double> named;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!waves().nodes[i].label.empty()) named[waves().nodes[i].label] = values[i];
    return named;
}

TEST(Models, AreFoundByName) {
    EXPECT_TRUE(performance_model(default_model));
    EXPECT_EQ(performance_model("gpupref").error().text(),
              "performance model \"gpupref\" is not known; did you mean \"gpuperf\"?");
    for (std::string_view name : performance_model_names()) EXPECT_EQ((*performance_model(name))->name, name);
}

TEST(InputValues, BindEveryInputOfTheModels) {
    const Launch launch{.extent = {1000, 30, 5}, .block = {32, 8, 2}, .dynamic_shared_bytes = 16};
    const Device device = *find_device("c2050");
    for (std::string_view name : performance_model_names()) {
        const RationalProgram& program = **performance_model(name);
        const std::vector<double> values = input_values(program, device.values, waves_image, launch);
        ASSERT_EQ(values.size(), program.inputs.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            EXPECT_TRUE(std::isfinite(values[i])) << program.inputs[i];
    }
    RationalProgramBuilder builder("test");
    const Value gx = builder.input("grid.x"), gy = builder.input("grid.y"), gz = builder.input("grid.z");
    const Value sms = builder.input("device.sm_count"), shared = builder.input("dynamic_shared_bytes");
    const RationalProgram program = std::move(builder).finish(gx + gy + gz + sms + shared, gx);
    EXPECT_EQ(input_values(program, device.values, waves_image, launch),
              (std::vector<double>{32, 4, 3, 14, 16}));
}

// Worked by hand on a Tesla C2050: 6 blocks of 8 warps on each of 14 SMs, one full wave.
TEST(WavesModel, FollowsItsEquationsOnATeslaC2050) {
    const auto v = named_values(streaming(), full_wave);
    const auto expect = [&](const char* label, double value) {
        ASSERT_TRUE(v.contains(label)) << label;
        EXPECT_NEAR(v.at(label) / value, 1, 1e-4) << label << " is " << v.at(label);
    };
    expect("blocks_per_sm", 6);  // 48 warps / 8
    expect("full_waves", 1);
    EXPECT_EQ(v.at("last_wave_blocks"), 0);
    expect("N (full wave)", 48);
    expect("pipe_cycles", 100);  // one warp instruction a clock; FP32: 40 * 32 / 32
    expect("W_latency", 900);    // 100 * 18 / 2
    expect("W_parallel (full wave)", 4800);
    // 45 slots of 0.55 for loads; stores 4 * 0.7 + 0.9.
    expect("departure_cycles", 40 * 0.55 + 10 * 0.55 + 4 * 0.7 + 0.9);
    expect("T_comp (full wave)", (4800 + 48 * 31.2) * (1 + 0.48 / (36 * 5)));
    // 946176 bytes against 0.8 of 768 KiB: 1 - 1 / (1 + 1.50391^4).
    expect("does_not_fit_L2", 0.836479);
    expect("miss_ratio", 0.836479);  // nothing is asked for twice
    expect("avg_trans_warp", 8.8);
    expect("avg_DRAM_lat", 440 + 7.8 * 1.1);
    expect("AMAT", 397.887);  // 0.163521 * 138.58 + 0.836479 * 448.58
    expect("T_mem (full wave)", 5 * 397.887);
    expect("CWP (full wave)", 16.1231);  // (1989.44 + 131.55) / 131.55
    expect("MWP (full wave)", 48);       // N: 397.887 * 11 / 31.2 is 140
    expect("exposed (full wave)", 131.55);
    // sqrt(6314.39^2 + (1989.44 + 900)^2) + 131.55 + 2 clocks for each of 48 warps
    expect("T_exec (full wave)", 7171.64);
    expect("DRAM_cycles", 791451 / (0.85 * 144e9) * 1.15e9);
    // (7171.64^4 + 7436.07^4 + (84 * 2)^4)^(1/4) / 1.15 + 6000
    expect("time", 13556.6);
}

TEST(WavesModel, AddsAPartialLastWave) {
    // One more block than a wave holds: one SM runs a seventh block by itself.
    TabledKernel kernel = streaming();
    kernel.metrics[Metric::active_blocks] = 85;
    const Launch launch{.extent = {85 * 256, 1, 1}, .block = {256, 1, 1}};
    const auto v = named_values(kernel, launch);
    EXPECT_EQ(v.at("full_waves"), 1);
    EXPECT_EQ(v.at("last_wave_blocks"), 1);
    EXPECT_EQ(v.at("N (last wave)"), 8);
    EXPECT_GT(v.at("SM_cycles"), v.at("T_exec (full wave)") + 5 * v.at("AMAT"));
    EXPECT_GT(time_ns(kernel, launch), time_ns(streaming(), full_wave) * 1.1);
}

TEST(WavesModel, WorkingHarderIsNeverFaster) {
    using enum Metric;
    for (const char* device : {"c2050", "gtx1080ti", "rtx2070super", "h100"}) {
        for (Metric metric :
             {warp_instructions, fp32_instructions, fp64_instructions, integer_instructions,
              special_function_instructions, load_sectors, store_sectors, load_lines, dependent_rounds,
              shared_requests, shared_wavefronts, barriers, local_requests}) {
            TabledKernel kernel = streaming();
            double last = 0;
            for (double factor = 1; factor < 3000; factor *= 1.7) {
                kernel.metrics[metric] = std::max(streaming().metrics[metric], 1.0) * factor;
                // More sectors are new ones; the same asked for again would raise the hit ratios.
                if (metric == load_sectors || metric == store_sectors)
                    kernel.bytes_per_thread = streaming().bytes_per_thread * factor;
                const double now = time_ns(kernel, full_wave, device);
                // The rest of equation 10's ratio shifts as special functions leave #insts.
                const double slack = metric == special_function_instructions ? 0.02 : 1e-9;
                EXPECT_GE(now, last * (1 - slack)) << device << ", " << name(metric) << " * " << factor;
                last = now;
            }
            EXPECT_GT(last, time_ns(streaming(), full_wave, device)) << device << ", " << name(metric);
        }
    }
}

TEST(WavesModel, UncoalescedLoadsCostMore) {
    TabledKernel kernel = streaming();
    kernel.metrics[Metric::load_sectors] = 320;
    kernel.metrics[Metric::load_lines] = 320;
    for (const Device& device : devices()) {
        EXPECT_GT(time_ns(kernel, full_wave, device.slug), 1.2 * time_ns(streaming(), full_wave, device.slug))
            << device.slug;
    }
}

TEST(WavesModel, PascalStoresInFragmentsCostMore) {
    // Four rows of 32 bytes against one of 128, as many sectors.
    TabledKernel rows = streaming(), row = streaming();
    rows.metrics[Metric::store_requests] = row.metrics[Metric::store_requests] = 50;
    rows.metrics[Metric::store_sectors] = row.metrics[Metric::store_sectors] = 200;
    row.metrics[Metric::store_lines] = 50;
    rows.metrics[Metric::store_lines] = 200;
    const auto ratio = [&](const char* device) {
        return time_ns(rows, full_wave, device) / time_ns(row, full_wave, device);
    };
    EXPECT_GT(ratio("gtx1080ti"), 1.5 * ratio("rtx2070super"));
}

TEST(WavesModel, SaysWhichBlocksCannotBeLaunched) {
    const Device device = *find_device("rtx2070super");
    const TabledKernel kernel = streaming();
    const auto launchable = [&](const Launch& launch, const trimtab_image& of = waves_image) {
        return waves()
            .evaluate(input_values(waves(), device.values, of, launch), kernel.function())
            .launchable;
    };
    EXPECT_TRUE(launchable({.extent = {4096, 4096, 1}, .block = {32, 32, 1}}));
    EXPECT_FALSE(launchable({.extent = {4096, 4096, 1}, .block = {64, 32, 1}}));
    EXPECT_FALSE(launchable({.extent = {64, 1, 128}, .block = {1, 1, 128}}));   // max_block_z is 64
    EXPECT_FALSE(launchable({.extent = {32, 65536, 1}, .block = {32, 1, 1}}));  // max_grid_y is 65535
    EXPECT_TRUE(launchable({.extent = {32, 65536, 1}, .block = {32, 2, 1}}));
    EXPECT_FALSE(launchable({.extent = {64, 1, 1}, .block = {64, 1, 1}, .dynamic_shared_bytes = 70000}));
    trimtab_image heavy = waves_image;
    heavy.registers_per_thread = 128;
    EXPECT_TRUE(launchable({.extent = {4096, 1, 1}, .block = {512, 1, 1}}, heavy));
    EXPECT_FALSE(launchable({.extent = {4096, 1, 1}, .block = {1024, 1, 1}}, heavy));
    trimtab_image bounded = waves_image;
    bounded.max_threads_per_block = 128;
    EXPECT_FALSE(launchable({.extent = {4096, 1, 1}, .block = {256, 1, 1}}, bounded));
}

TEST(WavesModel, EvaluateIsTheLastOfTrace) {
    const TabledKernel kernel = streaming();
    const std::vector<double> inputs =
        input_values(waves(), devices().front().values, waves_image, full_wave);
    const std::vector<double> values = waves().trace(inputs, kernel.function());
    const RationalProgram::Result result = waves().evaluate(inputs, kernel.function());
    EXPECT_EQ(result.time_ns, values[waves().time_ns]);
    EXPECT_EQ(result.launchable, values[waves().unlaunchable] == 0);
}

TEST(WavesModel, IsAProgramOfEarlierOperandsAndNamesEveryDecision) {
    const std::vector<Node>& nodes = waves().nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].op == Op::constant || nodes[i].op == Op::input) continue;
        EXPECT_LT(std::max({nodes[i].a, nodes[i].b, nodes[i].c}), i);
        // C's pow is not the same everywhere.
        EXPECT_NE(nodes[i].op, Op::power);
    }
}

// Whatever fits say, beyond the points they were made from: a number, and a positive one.
TEST(WavesModel, IsFiniteForAnyMetricsAndAnyLegalBlock) {
    std::mt19937_64 random(20240607);
    std::uniform_real_distribution<double> exponent(-8, 12), choice(0, 1);
    const auto value = [&] {
        const double pick = choice(random);
        if (pick < 0.03) return std::numeric_limits<double>::quiet_NaN();
        if (pick < 0.06) return std::numeric_limits<double>::infinity();
        if (pick < 0.09) return -std::numeric_limits<double>::infinity();
        if (pick < 0.25) return 0.0;
        const double magnitude = std::pow(10.0, exponent(random));
        return pick < 0.35 ? -magnitude : magnitude;
    };
    for (const Device& device : devices()) {
        for (int i = 0; i < 400; ++i) {
            const auto draw = [&](std::uint32_t most) {
                return 1 + static_cast<std::uint32_t>(std::pow(most, choice(random)) - 1);
            };
            Launch launch{.extent = {draw(1u << 30), draw(1u << 16), draw(1u << 10)},
                          .block = {draw(1024), draw(32), draw(4)}};
            if (launch.block.x * launch.block.y * launch.block.z > 1024) launch.block = {draw(1024), 1, 1};
            std::map<Metric, double> metrics;
            for (const MetricInfo& info : metric_table()) metrics[info.metric] = value();
            const auto result =
                waves().evaluate(input_values(waves(), device.values, waves_image, launch),
                                 [&](Metric metric, double, double, double) { return metrics[metric]; });
            ASSERT_TRUE(std::isfinite(result.time_ns) && result.time_ns > 0) << device.slug << " " << i;
        }
    }
}

}  // namespace
}  // namespace trimtab::model
