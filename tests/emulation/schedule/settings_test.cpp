// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What if: numbers that are set are those that the answer follows.
#include "emulation/schedule/settings.h"

#include <gmock/gmock.h>

#include "emulation/schedule/architecture.h"
#include "emulation/schedule/bounds.h"
#include "tests/emulation/schedule/generated_kernels.h"

namespace trimtab::schedule {
namespace {

using testing::HasSubstr;

Settings set(std::initializer_list<std::string_view> texts) {
    Settings out;
    for (const std::string_view text : texts) out.numbers.push_back(number_from(text).value());
    return out;
}

Settings hit_rates(std::optional<double> l1, std::optional<double> l2) {
    Settings out;
    out.l1_hit_rate = l1;
    out.l2_hit_rate = l2;
    return out;
}

Settings without_caches() {
    Settings out;
    out.no_caches = true;
    return out;
}

// Two blocks of 1024 threads for each SM, whose iterations each load floats side by side that nobody loads again.
constexpr std::uint32_t iterations = 400, warps = 2 * 32;
const std::string stream = loop(own_float(1024),
                                "    ld.global.f32 %f2, [%rd4];\n    add.f32 %f1, %f1, %f2;\n    add.s64 "
                                "%rd4, %rd4, 4194304;\n");
// The same floats in each iteration.
const std::string again =
    loop(own_float(1024), "    ld.global.f32 %f2, [%rd4];\n    add.f32 %f1, %f1, %f2;\n");

TracedLaunch traced(const std::string& body, const Settings& settings = {}) {
    const model::Device device = *model::find_device("rtx2070super");
    auto out = trace(body, iterations, {80, 1, 1}, {1024, 1, 1}, device, 1, false, settings);
    EXPECT_TRUE(out) << out.error().text();
    return std::move(out->launch);
}

double cycles(const std::string& body, const Settings& settings = {}) {
    return estimate(traced(body, settings)).cycles;
}

// Cycles that DRAM is taken: a gap a sector, four for a warp's floats.
double dram_cycles(const std::string& body, const Settings& settings) {
    const Estimate answer = estimate(traced(body, settings));
    return answer.utilisation[index(Resource::dram)] * answer.cycles;
}

TEST(Settings, AreReadFromText) {
    const auto number = number_from("dram.gap=2.5");
    ASSERT_TRUE(number) << number.error();
    EXPECT_EQ(number->resource, Resource::dram);
    EXPECT_TRUE(number->is_gap);
    EXPECT_EQ(number->cycles, 2.5);
    EXPECT_EQ(name(*number), "dram.gap");
    EXPECT_FALSE(number_from("special_function.latency=0")->is_gap);
    EXPECT_THAT(number_from("drma.gap=2").error(),
                HasSubstr("drma: there is no such resource, but fp32, fp64"));
    EXPECT_THAT(number_from("dram.speed=2").error(), HasSubstr("has a latency and a gap"));
    EXPECT_THAT(number_from("issue.latency=2").error(), HasSubstr("issue has only a gap"));
    for (const char* text : {"", "dram", "dram=2", "gap=2", "="})
        EXPECT_THAT(number_from(text).error(), HasSubstr("RESOURCE.gap=V")) << text;
    for (const char* value : {"", "x", "2x", "-1", "nan", "inf", "0", "1e300", " 2"})
        EXPECT_THAT(number_from(std::string("dram.gap=") + value).error(),
                    HasSubstr("not a number of cycles"))
            << value;
}

TEST(Settings, ADoubledGapDoublesWhatItBounds) {
    const TracedLaunch base = traced(stream);
    const double gap = base.machine.of(Resource::dram).gap_cycles, usual = estimate(base).cycles;
    ASSERT_GT(estimate(base).utilisation[index(Resource::dram)], 0.9);
    const Settings twice = set({fmt::format("dram.gap={}", 2 * gap)});
    EXPECT_NEAR(cycles(stream, twice) / usual, 2, 0.05);
    EXPECT_EQ(traced(stream, twice).machine.of(Resource::dram).gap_source, "set on the command line");
    // Nothing else of the machine changes, and setting what is there changes nothing.
    EXPECT_EQ(cycles(stream, set({fmt::format("dram.gap={}", gap)})), usual);
    EXPECT_EQ(cycles(fma_loop, twice), cycles(fma_loop));
}

TEST(Settings, ADoubledLatencyDoublesAChain) {
    std::string chain;
    for (int i = 0; i < 32; ++i) chain += "    fma.rn.f32 %f1, %f1, %f1, %f1;\n";
    const auto of = [&](const Settings& settings) {
        const auto out = trace(loop("", chain), 1000, {1, 1, 1}, {32, 1, 1},
                               *model::find_device("rtx2070super"), 1, false, settings);
        EXPECT_TRUE(out) << out.error().text();
        return estimate(out->launch).cycles;
    };
    // 32 of a chain in each of 1000 iterations.
    EXPECT_NEAR(of(set({"fp32.latency=40"})) / (1000 * 32 * 40), 1, 0.03);
    EXPECT_NEAR(of(set({"fp32.latency=80"})) / (1000 * 32 * 80), 1, 0.03);
    EXPECT_EQ(of(set({"fp32.latency=40", "fp32.latency=80"})), of(set({"fp32.latency=80"})));
}

TEST(Settings, HitRatesDecideWhatGoesToDram) {
    const double gap = traced(stream).machine.of(Resource::dram).gap_cycles;
    const double all = gap * 4 * warps * iterations;
    for (const std::string& body : {stream, again}) {
        EXPECT_EQ(dram_cycles(body, hit_rates(1, {})), 0);
        EXPECT_EQ(dram_cycles(body, hit_rates({}, 1)), 0);
        EXPECT_NEAR(dram_cycles(body, hit_rates(0, 0)) / all, 1, 0.01);
        EXPECT_NEAR(dram_cycles(body, hit_rates(0.5, 0)) / all, 0.5, 0.01);
        EXPECT_NEAR(dram_cycles(body, hit_rates(0.5, 0.75)) / all, 0.125, 0.01);
        EXPECT_NEAR(dram_cycles(body, hit_rates(0, 0.9)) / all, 0.1, 0.01);
    }
    EXPECT_LT(cycles(stream, hit_rates(1, {})), 0.3 * cycles(stream, hit_rates(0, 0)));
    EXPECT_NEAR(cycles(stream, hit_rates(0, 0)) / cycles(stream), 1, 0.05);
}

TEST(Settings, WithoutCachesEveryAccessGoesToDram) {
    const double gap = traced(again).machine.of(Resource::dram).gap_cycles;
    EXPECT_LT(dram_cycles(again, {}), 0.01 * gap * 4 * warps * iterations);
    EXPECT_NEAR(dram_cycles(again, without_caches()) / (gap * 4 * warps * iterations), 1, 0.01);
    EXPECT_NEAR(cycles(again, without_caches()) / cycles(stream), 1, 0.05);
    // What is written too, once for each time.
    const std::string stores = loop(own_float(1024), "    st.global.f32 [%rd4], %f1;\n");
    EXPECT_LT(dram_cycles(stores, {}), 0.01 * gap * 4 * warps * iterations);
    EXPECT_NEAR(dram_cycles(stores, without_caches()) / (gap * 4 * warps * iterations), 1, 0.01);
    // A thread's own memory.
    const std::string own =
        "    .local .align 4 .b8 own[64];\n" +
        loop("    mov.u32 %r5, own;\n", "    ld.local.f32 %f2, [%r5];\n    add.f32 %f1, %f1, %f2;\n");
    EXPECT_LT(dram_cycles(own, {}), 0.01 * gap * 4 * warps * iterations);
    EXPECT_NEAR(dram_cycles(own, without_caches()) / (gap * 4 * warps * iterations), 1, 0.01);
}

TEST(Settings, AnswersStayWithinTheirBounds) {
    for (const Settings& settings :
         {without_caches(), hit_rates(0.5, 0.5), hit_rates(1, 1), hit_rates({}, 0.3), hit_rates(0.9, {}),
          set({"dram.gap=50", "l2.latency=900", "issue.gap=3"}), set({"l1.gap=0.5", "dram.latency=0"})})
        for (const GeneratedKernel& kernel : generated_kernels(64)) {
            const auto out = trace(kernel.body, 200, {160, 1, 1}, {64, 1, 1},
                                   *model::find_device("rtx2070super"), 2, false, settings);
            ASSERT_TRUE(out) << kernel.name << ": " << out.error().text();
            const Bounds allowed = bounds(out->launch);
            const double found = emulated_cycles(estimate(out->launch));
            EXPECT_GE(found, (1 - bound_tolerance) * allowed.least_cycles) << kernel.name;
            EXPECT_LE(found, (1 + bound_tolerance) * allowed.most_cycles) << kernel.name;
        }
}

TEST(Settings, TheDeviceTakesWhatItsDescriptionHas) {
    const Settings settings =
        set({"fp32.latency=9", "fp32.gap=0.5", "fp64.gap=16", "integer.gap=4", "special_function.gap=16",
             "load_store.gap=3", "shared.latency=50", "shared.gap=2", "l1.latency=60", "l2.latency=400",
             "l2.gap=20", "dram.latency=700", "dram.gap=30"});
    for (const char* slug : {"c2050", "k20c", "rtx2070super", "h100"}) {
        const model::Device device = *model::find_device(slug);
        const model::Device other = with_settings(device, settings);
        const Machine machine = machine_of(other, device.values.sm_count);
        for (const Settings::Number& number : settings.numbers) {
            const Pipe& pipe = machine.of(number.resource);
            EXPECT_NEAR(number.is_gap ? pipe.gap_cycles : pipe.latency_cycles, number.cycles,
                        1e-9 * number.cycles)
                << slug << ": " << name(number);
            EXPECT_THAT(number.is_gap ? pipe.gap_source : pipe.latency_source,
                        HasSubstr("set on the command line"));
        }
        EXPECT_EQ(other.values.sm_clock_hz, device.values.sm_clock_hz);
    }
}

TEST(Settings, MachineCodeStatesTheLatenciesOfItsPipes) {
    EXPECT_FALSE(in_machine_code(set({"dram.latency=3", "fp32.gap=2", "shared.latency=9"})));
    EXPECT_EQ(in_machine_code(set({"dram.latency=3", "integer.latency=9"}))->resource, Resource::integer);
}

}  // namespace
}  // namespace trimtab::schedule
